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

INFORMATIVE = 0.2
"""A read is informative where its best allele is this far (log10) ahead of the next.

GATK's AlleleLikelihoods.LOG_10_INFORMATIVE_THRESHOLD.
"""

MAX_GQ = 99
"""The highest GQ (Phred) that is written, by VCF's convention."""

MAX_PL = 2**31 - 1
"""The highest PL (Phred) that is written: VCF's integers have 32 bits."""

MAX_QUAL = 1e6
"""The highest QUAL (Phred) that is written."""

MAX_GENOTYPES = 4096
"""The most genotypes that a sample is tried with: those of 90 alleles at ploidy 2, or of 4 at ploidy 20. GATK: 1024."""

SMALLEST_LOG10 = -300.0
"""Lower limit of likelihoods (log10). Lower ones are raised to it, so that 10 to their power fits a double."""


@dataclass(frozen=True, slots=True)
class GenotypeOptions:
    """Priors and thresholds.

    Attributes
    ----------
    ploidy : int
    ploidies : Ploidies
        Samples and places with another ploidy.
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
        Allele indices in ascending order; None without a read.
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
        Alternative alleles that were not considered, because all alleles make more than `MAX_GENOTYPES` genotypes. They
        are those with the fewest reads.
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
    """Number of genotypes of `n_alleles` alleles."""
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
        # The genotypes of the first alleles come before all others, so they are the first rows of a larger table.
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

    k copies of an alternative allele have the neutral expectation theta / k (Watterson's estimator), so that a
    homozygote is half as likely as a heterozygote. Alleles are independent. The reference genotype gets the rest.

    Parameters
    ----------
    allele_priors : tuple of float
        Prior (theta) of each alternative allele.
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


def allele_likelihoods(by_haplotype: Floats, allele_of: NDArray[np.integer], n_alleles: int, floor: float) -> Floats:
    """Marginalise haplotypes to the alleles of one site.

    Parameters
    ----------
    by_haplotype : float64 (reads, haplotypes)
        log10 P(read | haplotype).
    allele_of : int (haplotypes,)
        The allele that each haplotype has at the site.
    n_alleles : int
    floor : float
        A read's likelihoods are raised to its best minus this.

    Returns
    -------
    float64 (reads, n_alleles)
        The best of the haplotypes that have the allele, minus the read's best: a read's best allele is 0. An allele
        without a haplotype is at the floor.
    """
    by_allele = np.full((by_haplotype.shape[0], n_alleles), -np.inf)
    for allele in range(n_alleles):
        carriers = allele_of == allele
        if carriers.any():
            by_allele[:, allele] = by_haplotype[:, carriers].max(axis=1)
    best = by_allele.max(axis=1, keepdims=True, initial=-np.inf)
    known = np.isfinite(best)
    if known.all():
        by_allele -= best
    else:
        # A read that no haplotype can explain does not tell alleles apart.
        by_allele = np.where(known, by_allele - np.where(known, best, 0.0), 0.0)
    result: Floats = np.maximum(by_allele, -floor, out=by_allele)
    return result


def combine_mates(by_allele: Floats, fragments: NDArray[np.integer]) -> Floats:
    """One observation for each fragment: mates that overlap are copies of one molecule.

    Where mates agree on the best allele, the clearer one counts: the one with the larger range of likelihoods. Where
    they disagree, their likelihoods are added, and cancel.

    Parameters
    ----------
    by_allele : float64 (reads, alleles)
        log10 P(read | allele), the best allele of each read 0.
    fragments : int (reads,)
        Number of each read's fragment, the same for mates.

    Returns
    -------
    float64 (fragments, alleles)
        The best allele of each fragment is 0.
    """
    if len(by_allele) < 2:
        return by_allele
    order = np.argsort(fragments, kind="stable")
    sorted_ids = fragments[order]
    first = np.concatenate([[True], sorted_ids[1:] != sorted_ids[:-1]])
    if first.all():
        return by_allele
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(order)))
    result = by_allele[order[starts]].copy()
    for number in range(1, int(counts.max())):
        # Fragments of more than two reads are rare (kept supplementary alignments); they are added one by one.
        more = np.flatnonzero(counts > number)
        ours, theirs = result[more], by_allele[order[starts[more] + number]]
        same = ours.argmax(axis=1) == theirs.argmax(axis=1)
        clearer = np.where((np.ptp(theirs, axis=1) > np.ptp(ours, axis=1))[:, None], theirs, ours)
        total = ours + theirs
        total -= total.max(axis=1, keepdims=True)
        result[more] = np.where(same[:, None], clearer, total)
    return result


def genotype_likelihoods(observations: Floats, ploidy: int) -> Floats:
    """log10 P(observations | genotype) in VCF order.

    An observation's likelihood is the mean of P(observation | allele) over the genotype's alleles. Observations are
    independent.

    Parameters
    ----------
    observations : float64 (observations, alleles)
        log10 P(observation | allele).
    ploidy : int
    """
    shares = _dosage(observations.shape[1], ploidy)
    # Without a score floor, likelihoods of mates that differ can lie beyond the range of a double.
    total: Floats = np.log10(np.power(10.0, np.maximum(observations, SMALLEST_LOG10)) @ shares).sum(axis=0)
    return total


def call_sample(
    by_allele: Floats, fragments: NDArray[np.integer], allele_priors: tuple[float, ...], ploidy: int
) -> SampleGenotype:
    """The genotype of one sample from its reads' allele likelihoods.

    Parameters
    ----------
    by_allele : float64 (reads, alleles)
        From `allele_likelihoods`, of the reads that cover the site.
    fragments : int (reads,)
        Number of each read's fragment, the same for mates.
    allele_priors : tuple of float
        Prior of each alternative allele.
    ploidy : int
        At ploidy 0 there is no genotype.
    """
    n_alleles = len(allele_priors) + 1
    if ploidy == 0:
        return SampleGenotype(None, (0,) * n_alleles, 0, 0, (), 0.0, ploidy)
    if n_alleles > 2 and count_genotypes(n_alleles, ploidy) > MAX_GENOTYPES:
        return _call_best_supported(by_allele, fragments, allele_priors, ploidy)
    priors = log10_priors(allele_priors, ploidy)
    if not len(by_allele):
        return SampleGenotype(None, (0,) * n_alleles, 0, 0, (0,) * len(priors), float(priors[0]), ploidy)
    likelihoods = genotype_likelihoods(combine_mates(by_allele, fragments), ploidy)
    posteriors = likelihoods + priors
    # The probability of being wrong is summed directly: 1 - P(best) would lose every GQ above 150.
    posteriors -= _log10_sum(posteriors)
    best = int(posteriors.argmax())
    wrong = _log10_sum(posteriors[np.arange(len(posteriors)) != best]) if len(posteriors) > 1 else -np.inf
    phred = np.rint(-10.0 * (likelihoods - likelihoods.max()))
    return SampleGenotype(
        tuple(genotype_table(n_alleles, ploidy)[best].tolist()),
        _informative_depths(by_allele),
        len(by_allele),
        int(min(MAX_GQ, round(-10.0 * max(wrong, -MAX_QUAL)))),
        tuple(np.minimum(phred, MAX_PL).astype(np.int64).tolist()),
        float(posteriors[0]),
        ploidy,
    )


def _call_best_supported(
    by_allele: Floats, fragments: NDArray[np.integer], allele_priors: tuple[float, ...], ploidy: int
) -> SampleGenotype:
    """`call_sample` with the alternative alleles that most reads support, as many as `MAX_GENOTYPES` allows."""
    depths = _informative_depths(by_allele) if len(by_allele) else (0,) * (len(allele_priors) + 1)
    most = 1
    while count_genotypes(most + 2, ploidy) <= MAX_GENOTYPES:
        most += 1
    by_support = np.argsort(-np.array(depths[1:]), kind="stable")
    kept = np.concatenate([[0], 1 + np.sort(by_support[:most])])
    ours = by_allele[:, kept]
    ours -= ours.max(axis=1, keepdims=True)
    sample = call_sample(ours, fragments, tuple(allele_priors[allele - 1] for allele in kept[1:].tolist()), ploidy)
    return replace(
        sample,
        alleles=None if sample.alleles is None else tuple(int(kept[allele]) for allele in sample.alleles),
        depths=depths,
        likelihoods=(),
        left_out=len(allele_priors) - most,
    )


def _informative_depths(by_allele: Floats) -> tuple[int, ...]:
    """Informative reads of each allele (AD)."""
    n_reads, n_alleles = by_allele.shape
    if n_alleles == 2:
        # Most sites: the same without sorting.
        lead = by_allele[:, 0] - by_allele[:, 1]
        return int(np.count_nonzero(lead > INFORMATIVE)), int(np.count_nonzero(-lead > INFORMATIVE))
    ranked = np.sort(by_allele, axis=1)
    informative = ranked[:, -1] - ranked[:, -2] > INFORMATIVE if n_alleles > 1 else np.ones(n_reads, bool)
    counts = np.bincount(by_allele.argmax(axis=1)[informative], minlength=n_alleles)
    return tuple(int(count) for count in counts)


def _log10_sum(values: Floats) -> float:
    top = float(values.max())
    return top + float(np.log10(np.power(10.0, np.maximum(values - top, SMALLEST_LOG10)).sum()))


def site_quality(samples: list[SampleGenotype]) -> float:
    """QUAL: -10 log10 of the probability that every sample has only the reference allele."""
    total = sum(sample.log10_reference for sample in samples if sample.alleles is not None)
    return min(MAX_QUAL, max(0.0, -10.0 * total))
