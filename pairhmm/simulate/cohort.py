"""`simulate cohort`: a cohort whose relations, exchanged labels, duplicates and contaminated samples are known."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import AnyPath, path_of
from pairhmm.errors import InputError
from pairhmm.files.output_folders import whole_folder
from pairhmm.options import Within, check_arguments, check_number
from pairhmm.plurals import counted
from pairhmm.simulate.files import letters, write_truth_table, write_vcf

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
    samples = [CohortSample(person.name, person.name, person.name) for person in people[:of_families]]
    for name in [person.name for person in people[of_families:]]:
        samples += [CohortSample(f"{name}_{copy}", name, name) for copy in range(1, samples_each + 1)]
    parents = {person.name: person.father for person in people}
    groups = [parents[sample.individual] or sample.individual for sample in samples]
    children = [index for index, sample in enumerate(samples) if parents[sample.individual]]
    others = list(range(of_families, len(samples)))
    free = rng.permutation(children + (others if samples_each > 2 else [])).tolist()
    for _ in range(swaps):
        _exchange(samples, groups, free)
    added = [Individual(f"duplicate{number}") for number in range(1, duplicates + 1)]
    for person in added:
        original = samples[_take(free, lambda index: index >= of_families, "individuals with 3 samples")]
        samples.append(CohortSample(person.name, person.name, original.true_individual, duplicate_of=original.name))
    for share in contamination:
        index = _take(free, lambda _: True, "children, or individuals with 3 samples")
        individual = samples[index].true_individual
        sources = sorted({sample.true_individual for sample in samples} - _relatives(people, individual))
        if not sources:
            raise ValueError(f"there is no stranger whose reads {samples[index].name} could have")
        source = sources[int(rng.integers(len(sources)))]
        samples[index] = replace(samples[index], contamination=share, source=source)
    return [*people, *added], samples


def _relatives(people: Sequence[Individual], name: str) -> set[str]:
    """An individual with its parents, siblings and children."""
    parents = {person.name: {person.father, person.mother} - {""} for person in people}
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
    for person in people:
        if person.father:
            passed = (rng.binomial(1, genotypes[parent] / 2) for parent in (person.father, person.mother))
            genotypes[person.name] = sum(passed, start=np.zeros(len(frequencies), np.int64)).astype(np.int8)
        else:
            genotypes[person.name] = rng.binomial(2, frequencies).astype(np.int8)
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


CONTIGS = 22
SPACING = 10_000
"""Bases between neighbouring sites."""

_HIGHEST_QUALITY = 99
_FORMATS = (
    ("GT", "1", "String", "Genotype"),
    ("AD", "R", "Integer", "Reads of each allele"),
    ("DP", "1", "Integer", "Reads"),
    ("GQ", "1", "Integer", "Genotype quality, Phred"),
    ("PL", "G", "Integer", "Likelihoods of genotypes, Phred, the best 0"),
)
_GENOTYPES = "0/0", "0/1", "1/1"


def write_cohort_vcf(
    path: Path, samples: Sequence[str], alleles: Sequence[tuple[str, str]], counts: AlleleCounts, error_rate: float
) -> None:
    """Write bgzipped VCF and its .tbi. Sites are spread over `CONTIGS` contigs.

    Parameters
    ----------
    alleles : sequence of (str, str)
        REF and ALT of each site.
    error_rate : float
        That genotypes are called with.
    """
    each = -(-len(alleles) // CONTIGS)
    sizes = {f"chr{number + 1}": SPACING * (each + 1) for number in range(CONTIGS)}
    cell = lru_cache(maxsize=None)(lambda reference, alternative: _cell(reference, alternative, error_rate))
    sites = zip(alleles, counts.reference.tolist(), counts.alternative.tolist(), strict=True)
    records = (
        (f"chr{number // each + 1}", SPACING * (number % each + 1) - 1, *pair, map(cell, reference, alternative))
        for number, (pair, reference, alternative) in enumerate(sites)
    )
    write_vcf(path, sizes, _FORMATS, samples, records)


def _cell(reference: int, alternative: int, error_rate: float) -> str:
    """A sample's column. Without reads, nothing is called."""
    if not reference + alternative:
        return "./.:0,0:0:.:."
    shares = (error_rate, 0.5, 1 - error_rate)
    phred = [-10 * (reference * math.log10(1 - share) + alternative * math.log10(share)) for share in shares]
    scaled = [round(value - min(phred)) for value in phred]
    quality = min(_HIGHEST_QUALITY, sorted(scaled)[1])
    called = _GENOTYPES[scaled.index(0)]
    text = ",".join(map(str, scaled))
    return f"{called}:{reference},{alternative}:{reference + alternative}:{quality}:{text}"


log = logging.getLogger(__name__)

CALLS, SHEET, TRUTH = "cohort.vcf.gz", "samples.tsv", "truth.tsv"
FILES = (CALLS, f"{CALLS}.tbi", SHEET, TRUTH)
SHEET_COLUMNS = ("sample", "individual", "father", "mother")
TRUTH_COLUMNS = (
    *("sample", "individual", "true_individual", "swapped_with", "duplicate_of"),
    *("contamination", "contamination_source"),
)
MOST_CONTAMINATION = 0.5
LEAST_ERROR, MOST_ERROR = 1e-6, 0.1
MOST_DEPTH = 10_000
# A separate random stream (`pairhmm.simulate.signal` has the one before).
_COHORT = 4


def simulate_cohort(
    output: AnyPath,
    *,
    families: Annotated[int, Within(0)] = 4,
    individuals: Annotated[int, Within(0)] = 14,
    samples_each: Annotated[int, Within(1)] = 3,
    swaps: Annotated[int, Within(0)] = 0,
    duplicates: Annotated[int, Within(0)] = 0,
    contamination: Sequence[float] = (),
    sites: Annotated[int, Within(1)] = 50_000,
    depth: Annotated[float, Within(0, MOST_DEPTH)] = 30.0,
    error_rate: Annotated[float, Within(LEAST_ERROR, MOST_ERROR)] = 0.002,
    seed: Annotated[int, Within(0)] = 1,
    overwrite: bool = False,
) -> None:
    """Write the calls of a cohort, its sample sheet, and what is wrong in it; the same arguments give the same bytes.

    Parameters are the options of `pairhmm simulate cohort`.

    Raises
    ------
    InputError
        Where there are too few samples for the faults, and where an output can't be written.
    OptionError
        For arguments out of range.
    """
    check_arguments(simulate_cohort, locals())
    for share in contamination:
        check_number("contamination", share, 0, MOST_CONTAMINATION)
    rng = np.random.default_rng((seed, _COHORT))
    try:
        people = plan_individuals(families, individuals)
        people, samples = plan_samples(
            rng, people, families, samples_each, swaps, duplicates=duplicates, contamination=contamination
        )
    except ValueError as error:
        cure = "raise --families or --individuals, or ask for fewer faults"
        raise InputError("--swaps, --duplicates, --contamination", "", str(error), cure) from error
    if not samples:
        raise InputError("--families, --individuals", "", "the cohort has no sample", "ask for some")
    genotypes = draw_genotypes(rng, people, rng.uniform(*FREQUENCIES, sites))
    counts = draw_reads(rng, samples, genotypes, depth, error_rate)
    reference = rng.integers(0, 4, sites)
    alternative = (reference + rng.integers(1, 4, sites)) % 4
    alleles = list(zip(letters(reference), letters(alternative), strict=True))
    with whole_folder(path_of(output), FILES, overwrite) as scratch:
        write_cohort_vcf(scratch / CALLS, [sample.name for sample in samples], alleles, counts, error_rate)
        _write_sheet(scratch / SHEET, people, samples)
        write_truth_table(scratch / TRUTH, TRUTH_COLUMNS, map(_truth_row, samples))
    log.info("%s, %s: %s", counted(len(samples), "sample"), counted(sites, "site"), path_of(output))


def _write_sheet(path: Path, people: Sequence[Individual], samples: Sequence[CohortSample]) -> None:
    by_name = {person.name: person for person in people}
    rows = [SHEET_COLUMNS]
    for sample in samples:
        person = by_name[sample.individual]
        rows.append((sample.name, person.name, person.father, person.mother))
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def _truth_row(sample: CohortSample) -> Sequence[object]:
    return (
        *(sample.name, sample.individual, sample.true_individual),
        *(sample.swapped_with or ".", sample.duplicate_of or "."),
        *(sample.contamination, sample.source or "."),
    )
