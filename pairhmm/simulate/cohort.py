"""Draws a cohort whose relations, exchanged labels, duplicates and contaminated samples are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FREQUENCIES = 0.05, 0.95
"""Least and greatest frequency of the alternative allele; frequencies are uniform between them."""

CHILDREN = 2
"""Children of each family."""


@dataclass(frozen=True, slots=True)
class Individual:
    """Somebody of a cohort. `father` and `mother` are empty where they are no part of it."""

    name: str
    father: str = ""
    mother: str = ""


@dataclass(frozen=True, slots=True)
class CohortSample:
    """A sample of a cohort.

    Attributes
    ----------
    name : str
    individual : str
        Whose sample it is by the sheet.
    true_individual : str
        Whose DNA it is.
    swapped_with, duplicate_of : str
        Names of samples; empty where there is none.
    contamination : float
        Share of reads of another individual, whose name is `source`. It is no relative, who would share alleles.
    source : str
        Empty where there is no contamination.
    """

    name: str
    individual: str
    true_individual: str
    swapped_with: str = ""
    duplicate_of: str = ""
    contamination: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True)
class AlleleCounts:
    """Reads of each allele: uint16 (sites, samples) each."""

    reference: NDArray[np.uint16]
    alternative: NDArray[np.uint16]


def plan_individuals(families: int, individuals: int) -> list[Individual]:
    """The members of `families` families of two parents and `CHILDREN` children, and further unrelated individuals."""
    people: list[Individual] = []
    for number in range(1, families + 1):
        father, mother = f"family{number}_father", f"family{number}_mother"
        people += [Individual(father), Individual(mother)]
        people += [Individual(f"family{number}_child{child}", father, mother) for child in range(1, CHILDREN + 1)]
    return people + [Individual(f"individual{number}") for number in range(1, individuals + 1)]


def plan_samples(
    rng: np.random.Generator,
    people: Sequence[Individual],
    families: int,
    samples_each: int,
    swaps: int,
    duplicates: int,
    contamination: Sequence[float],
) -> tuple[list[Individual], list[CohortSample]]:
    """Plan the samples of a cohort: one of each member of a family, several of each other individual.

    No sample has two faults. Each fault is of a sample that the sheet can tell something about: labels are exchanged
    between children, or samples of individuals with three samples or more. A duplicate is an individual of its own in
    the sheet.

    Parameters
    ----------
    rng : numpy.random.Generator
    people : sequence of Individual
        From `plan_individuals`.
    families, samples_each : int
        How many families there are, and how many samples each other individual has.
    swaps : int
        Pairs of samples with exchanged labels.
    duplicates : int
        Samples that are added, of an individual who is in the sheet under another name.
    contamination : sequence of float
        A share of foreign reads for each contaminated sample.

    Returns
    -------
    people : list of Individual
        With those that duplicates are said to be.
    samples : list of CohortSample

    Raises
    ------
    ValueError
        Where too few samples can have the faults.
    """
    of_families = families * (2 + CHILDREN)
    samples = [CohortSample(one.name, one.name, one.name) for one in people[:of_families]]
    for one in people[of_families:]:
        samples += [CohortSample(f"{one.name}_{copy}", one.name, one.name) for copy in range(1, samples_each + 1)]
    parents = {one.name: one.father for one in people}
    groups = [parents[one.individual] or one.individual for one in samples]
    children = [index for index, one in enumerate(samples) if parents[one.individual]]
    others = list(range(of_families, len(samples)))
    free = rng.permutation(children + (others if samples_each > 2 else [])).tolist()
    for _ in range(swaps):
        _exchange(samples, groups, free)
    added = [Individual(f"duplicate{number}") for number in range(1, duplicates + 1)]
    for one in added:
        original = samples[_take(free, lambda index: index >= of_families, "individuals with 3 samples")]
        samples.append(CohortSample(one.name, one.name, original.true_individual, duplicate_of=original.name))
    for share in contamination:
        index = _take(free, lambda _: True, "children, or individuals with 3 samples")
        own = samples[index].true_individual
        sources = sorted({one.true_individual for one in samples} - _relatives(people, own))
        if not sources:
            raise ValueError(f"there is no stranger whose reads {samples[index].name} could have")
        source = sources[int(rng.integers(len(sources)))]
        samples[index] = replace(samples[index], contamination=share, source=source)
    return [*people, *added], samples


def _relatives(people: Sequence[Individual], name: str) -> set[str]:
    """An individual with its parents, siblings and children."""
    parents = {one.name: {one.father, one.mother} - {""} for one in people}
    return {
        other for other, above in parents.items() if other == name or name in above or parents[name] & above
    } | parents[name]


def _take(free: list[int], is_fit: Callable[[int], bool], of_what: str) -> int:
    """Remove the first index that is fit, and return it."""
    for index in free:
        if is_fit(index):
            free.remove(index)
            return index
    raise ValueError(f"there are too few samples of {of_what}")


def _exchange(samples: list[CohortSample], groups: list[str], free: list[int]) -> None:
    """Exchange the DNA of two samples of different groups; no other sample of these groups stays free."""
    kind = "children of different families, or of individuals with 3 samples"
    one = _take(free, lambda _: True, kind)
    other = _take(free, lambda index: groups[index] != groups[one], kind)
    first, second = samples[one], samples[other]
    samples[one] = replace(first, true_individual=second.true_individual, swapped_with=second.name)
    samples[other] = replace(second, true_individual=first.true_individual, swapped_with=first.name)
    # A second exchange among the samples of a group could not be decided.
    free[:] = [index for index in free if groups[index] not in (groups[one], groups[other])]


def draw_genotypes(
    rng: np.random.Generator, people: Sequence[Individual], frequencies: NDArray[np.float64]
) -> dict[str, NDArray[np.int8]]:
    """Alternative alleles of each individual at unlinked sites: int8 (sites,) by name. Parents come first."""
    genotypes: dict[str, NDArray[np.int8]] = {}
    for one in people:
        if one.father:
            passed = (rng.binomial(1, genotypes[parent] / 2) for parent in (one.father, one.mother))
            genotypes[one.name] = sum(passed, start=np.zeros(len(frequencies), np.int64)).astype(np.int8)
        else:
            genotypes[one.name] = rng.binomial(2, frequencies).astype(np.int8)
    return genotypes


def draw_reads(
    rng: np.random.Generator,
    samples: Sequence[CohortSample],
    genotypes: Mapping[str, NDArray[np.int8]],
    depth: float,
    error_rate: float,
) -> AlleleCounts:
    """Draw the reads of each sample at each site: Poisson(depth), each with the other allele at `error_rate`."""
    shape = len(next(iter(genotypes.values()))), len(samples)
    counts = AlleleCounts(np.empty(shape, np.uint16), np.empty(shape, np.uint16))
    for column, sample in enumerate(samples):
        share = genotypes[sample.true_individual] / 2
        if sample.source:
            share = (1 - sample.contamination) * share + sample.contamination * genotypes[sample.source] / 2
        reads = rng.poisson(depth, shape[0])
        alternative = rng.binomial(reads, share * (1 - error_rate) + (1 - share) * error_rate)
        counts.reference[:, column], counts.alternative[:, column] = reads - alternative, alternative
    return counts


def draw_frequencies(rng: np.random.Generator, sites: int) -> NDArray[np.float64]:
    """Frequencies of the alternative allele, float64 (sites,)."""
    return rng.uniform(*FREQUENCIES, sites)
