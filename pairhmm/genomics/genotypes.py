"""From read x haplotype likelihoods to genotypes: alleles, observations, genotype likelihoods, posteriors.

Every likelihood here is a log10; every function is pure and works on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import comb
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.ploidy import Ploidies
from pairhmm.interface.options import Within, check_fields

Floats = NDArray[np.float64]

# GATK's AlleleLikelihoods.LOG_10_INFORMATIVE_THRESHOLD: a read says something where its best allele leads by this.
INFORMATIVE = 0.2
# VCF caps: PL and QUAL stay in 32-bit integers, GQ is conventionally at most 99.
MAX_GQ = 99
MAX_PL = 2**31 - 1
MAX_QUAL = 1e6
MAX_GENOTYPES = 4096
"""Genotypes of a sample that are weighed: all those of 90 diploid alleles, or of 4 at a ploidy of 20. GATK has 1024."""
# A double holds a little less; a likelihood that small is none.
SMALLEST_LOG10 = -300.0


@dataclass(frozen=True, slots=True)
class GenotypeOptions:
    """Priors and thresholds.

    Attributes
    ----------
    ploidy : int
    ploidies : Ploidies
        Where a sample's is another one.
    snv_prior, indel_prior : float
        Probability that a site differs from the reference in one chromosome pair (heterozygosity).
    """

    ploidy: Annotated[int, Within(1)] = 2
    snv_prior: Annotated[float, Within(1e-12, 0.1)] = 1e-3
    indel_prior: Annotated[float, Within(1e-12, 0.1)] = 1.25e-4
    ploidies: Ploidies = field(default_factory=Ploidies)

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class SampleGenotype:
    """The genotype of one sample at one site.

    Attributes
    ----------
    alleles : tuple of int or None
        Allele indices in ascending order; None where no read speaks.
    depths : tuple of int
        Informative reads of each allele (AD).
    depth : int
        Reads used (DP), both mates of a pair counted.
    quality : int
        Phred-scaled probability that the genotype is wrong (GQ).
    likelihoods : tuple of int
        Phred-scaled genotype likelihoods in VCF order, the best 0 (PL); empty where alleles were left out.
    log10_reference : float
        log10 posterior probability that all alleles are the reference.
    ploidy : int
    left_out : int
        Alternative alleles that no weighed genotype has, those with the fewest reads: all would make more than
        `MAX_GENOTYPES`.
    """

    alleles: tuple[int, ...] | None
    depths: tuple[int, ...]
    depth: int
    quality: int
    likelihoods: tuple[int, ...]
    log10_reference: float
    ploidy: int = 2
    left_out: int = 0


def count_genotypes(n_alleles: int, ploidy: int) -> int:
    """Genotypes of so many alleles."""
    return comb(n_alleles + ploidy - 1, ploidy)


@lru_cache(maxsize=256)
def genotype_table(n_alleles: int, ploidy: int) -> NDArray[np.int16]:
    """All genotypes in VCF order (VCF 4.3, section 1.6.2: by the last allele, then the one before, ...).

    Returns
    -------
    int16 (genotypes, ploidy)
        Alleles in ascending order.

    Examples
    --------
    >>> genotype_table(3, 2).tolist()
    [[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]]
    """
    table = np.empty((1, 0), dtype=np.int16)
    for copies in range(ploidy):
        # Genotypes of the alleles up to one stand before all others, so that they are its first rows.
        counts = [count_genotypes(last + 1, copies) for last in range(n_alleles)]
        heads = np.concatenate([table[:count] for count in counts])
        table = np.column_stack([heads, np.repeat(np.arange(n_alleles, dtype=np.int16), counts)])
    table.flags.writeable = False
    return table


@lru_cache(maxsize=256)
def _copies(n_alleles: int, ploidy: int) -> NDArray[np.int16]:
    """Copies of each allele in each genotype: (alleles, genotypes)."""
    table = genotype_table(n_alleles, ploidy)
    copies = np.zeros((n_alleles, len(table)), dtype=np.int16)
    for alleles in table.T:
        copies[alleles, np.arange(len(table))] += 1
    return copies


@lru_cache(maxsize=256)
def _dosage(n_alleles: int, ploidy: int) -> Floats:
    """Share of each allele in each genotype: (alleles, genotypes)."""
    share: Floats = _copies(n_alleles, ploidy) / ploidy
    return share


def log10_priors(allele_priors: tuple[float, ...], ploidy: int) -> Floats:
    """Prior of each genotype, in VCF order.

    k copies of an alternative allele in the sample have the neutral expectation theta / k (Watterson's estimator, which
    makes a homozygote half as likely as a heterozygote); alleles are independent; what is left is the reference's.

    Parameters
    ----------
    allele_priors : tuple of float
        theta of each alternative allele.
    ploidy : int
    """
    return _log10_priors(tuple(allele_priors), ploidy)


@lru_cache(maxsize=1024)
def _log10_priors(allele_priors: tuple[float, ...], ploidy: int) -> Floats:
    copies = _copies(len(allele_priors) + 1, ploidy)
    priors = np.ones(copies.shape[1])
    for theta, of_allele in zip(allele_priors, copies[1:], strict=True):
        priors *= np.where(of_allele > 0, theta / np.maximum(of_allele, 1), 1.0)
    priors[0] = max(1.0 - priors[1:].sum(), priors[1:].max(initial=0.0))
    result: Floats = np.log10(priors / priors.sum())
    return result


def allele_likelihoods(matrix: Floats, allele_of: NDArray[np.integer], n_alleles: int, floor: float) -> Floats:
    """Marginalise haplotypes to the alleles of one site.

    Parameters
    ----------
    matrix : float64 (reads, haplotypes)
    allele_of : int (haplotypes,)
        The allele that each haplotype has at the site.
    n_alleles : int
    floor : float
        A read's likelihoods are raised to its best minus this.

    Returns
    -------
    float64 (reads, n_alleles)
        L(read | allele) = max over the haplotypes that have the allele, minus the read's best: the best allele is 0.
        An allele without a haplotype is at the floor.
    """
    rows = np.full((matrix.shape[0], n_alleles), -np.inf)
    for allele in range(n_alleles):
        carriers = allele_of == allele
        if carriers.any():
            rows[:, allele] = matrix[:, carriers].max(axis=1)
    best = rows.max(axis=1, keepdims=True, initial=-np.inf)
    # A read that no haplotype can explain says nothing.
    rows = np.where(np.isfinite(best), rows - np.where(np.isfinite(best), best, 0.0), 0.0)
    result: Floats = np.maximum(rows, -floor)
    return result


def combine_mates(rows: Floats, fragments: NDArray[np.integer]) -> Floats:
    """One observation a fragment: overlapping mates have seen the same molecule.

    Mates that prefer the same allele are one observation, the clearer of the two (the larger range); mates that differ
    cancel by the sum of their rows.

    Parameters
    ----------
    rows : float64 (reads, alleles)
        Normalised: the best allele of each read is 0.
    fragments : int (reads,)
        Equal for the reads of one fragment.

    Returns
    -------
    float64 (fragments, alleles)
    """
    if len(rows) < 2:
        return rows
    order = np.argsort(fragments, kind="stable")
    sorted_ids = fragments[order]
    first = np.concatenate([[True], sorted_ids[1:] != sorted_ids[:-1]])
    if first.all():
        return rows
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(order)))
    result = rows[order[starts]].copy()
    for slot in range(1, int(counts.max())):
        # Fragments of more than two reads are rare (kept supplementary alignments); they are folded in one by one.
        more = np.flatnonzero(counts > slot)
        ours, theirs = result[more], rows[order[starts[more] + slot]]
        same = ours.argmax(axis=1) == theirs.argmax(axis=1)
        clearer = np.where((np.ptp(theirs, axis=1) > np.ptp(ours, axis=1))[:, None], theirs, ours)
        total = ours + theirs
        total -= total.max(axis=1, keepdims=True)
        result[more] = np.where(same[:, None], clearer, total)
    return result


def genotype_likelihoods(observations: Floats, ploidy: int) -> Floats:
    """log10 P(observations | genotype) in VCF order.

    The product over observations of the mean over the genotype's alleles of P(observation | allele).

    Parameters
    ----------
    observations : float64 (observations, alleles)
    ploidy : int
    """
    shares = _dosage(observations.shape[1], ploidy)
    # Where scores have no floor, mates that differ can lie beyond what a double holds.
    total: Floats = np.log10(np.power(10.0, np.maximum(observations, SMALLEST_LOG10)) @ shares).sum(axis=0)
    return total


def call_sample(
    rows: Floats, fragments: NDArray[np.integer], allele_priors: tuple[float, ...], ploidy: int
) -> SampleGenotype:
    """The genotype of one sample from its reads' allele likelihoods.

    Parameters
    ----------
    rows : float64 (reads, alleles)
        From `allele_likelihoods`, reads that cover the site only.
    fragments : int (reads,)
        Equal for mates.
    allele_priors : tuple of float
        Prior of each alternative allele.
    ploidy : int
        Without a copy of the chromosome there is no genotype.
    """
    n_alleles = len(allele_priors) + 1
    if ploidy == 0:
        return SampleGenotype(None, (0,) * n_alleles, 0, 0, (), 0.0, ploidy)
    if n_alleles > 2 and count_genotypes(n_alleles, ploidy) > MAX_GENOTYPES:
        return _call_best_supported(rows, fragments, allele_priors, ploidy)
    priors = log10_priors(allele_priors, ploidy)
    if not len(rows):
        return SampleGenotype(None, (0,) * n_alleles, 0, 0, (0,) * len(priors), float(priors[0]), ploidy)
    likelihoods = genotype_likelihoods(combine_mates(rows, fragments), ploidy)
    posteriors = likelihoods + priors
    # The probability of being wrong is summed directly: 1 - P(best) would lose every GQ above 150.
    posteriors -= _log10_sum(posteriors)
    best = int(posteriors.argmax())
    wrong = _log10_sum(np.delete(posteriors, best)) if len(posteriors) > 1 else -np.inf
    phred = np.rint(-10.0 * (likelihoods - likelihoods.max()))
    return SampleGenotype(
        tuple(genotype_table(n_alleles, ploidy)[best].tolist()),
        _informative_depths(rows),
        len(rows),
        int(min(MAX_GQ, round(-10.0 * max(wrong, -MAX_QUAL)))),
        tuple(int(value) for value in np.minimum(phred, MAX_PL)),
        float(posteriors[0]),
        ploidy,
    )


def _call_best_supported(
    rows: Floats, fragments: NDArray[np.integer], allele_priors: tuple[float, ...], ploidy: int
) -> SampleGenotype:
    """`call_sample` with as many alternative alleles as `MAX_GENOTYPES` allows, those with the most reads."""
    depths = _informative_depths(rows) if len(rows) else (0,) * (len(allele_priors) + 1)
    most = 1
    while count_genotypes(most + 2, ploidy) <= MAX_GENOTYPES:
        most += 1
    by_support = np.argsort(-np.array(depths[1:]), kind="stable")
    kept = np.concatenate([[0], 1 + np.sort(by_support[:most])])
    ours = rows[:, kept]
    ours -= ours.max(axis=1, keepdims=True)
    sample = call_sample(ours, fragments, tuple(allele_priors[allele - 1] for allele in kept[1:].tolist()), ploidy)
    return replace(
        sample,
        alleles=None if sample.alleles is None else tuple(int(kept[allele]) for allele in sample.alleles),
        depths=depths,
        likelihoods=(),
        left_out=len(allele_priors) - most,
    )


def _informative_depths(rows: Floats) -> tuple[int, ...]:
    ranked = np.sort(rows, axis=1)
    informative = ranked[:, -1] - ranked[:, -2] > INFORMATIVE if rows.shape[1] > 1 else np.ones(len(rows), bool)
    counts = np.bincount(rows.argmax(axis=1)[informative], minlength=rows.shape[1])
    return tuple(int(count) for count in counts)


def _log10_sum(values: Floats) -> float:
    top = float(values.max())
    return top + float(np.log10(np.power(10.0, np.maximum(values - top, SMALLEST_LOG10)).sum()))


def site_quality(samples: list[SampleGenotype]) -> float:
    """QUAL: -10 log10 of the probability that every sample is homozygous reference."""
    total = sum(sample.log10_reference for sample in samples if sample.alleles is not None)
    return min(MAX_QUAL, max(0.0, -10.0 * total))
