"""From read x haplotype likelihoods to genotypes: alleles, observations, likelihoods, posteriors; records' options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OptionError
from pairhmm.native import native
from pairhmm.options import Within, check_fields
from pairhmm.variants.pedigree import Pedigree, SampleFamily
from pairhmm.variants.ploidy import Ploidies

if TYPE_CHECKING:
    from pairhmm._cpu import Genotypes, SiteReads

Floats = NDArray[np.float64]

INFORMATIVE = 0.2
"""A read is informative where its best allele is this far (log10) ahead of the next.

GATK's AlleleLikelihoods.LOG_10_INFORMATIVE_THRESHOLD.
"""

MAX_GQ = 99
"""The highest GQ (Phred) that is written, by VCF's convention."""

GQ_BANDS = 1, 10, 20, 30, 40, 60, 80
"""GQ from which on each further band of blocks begins."""

MAX_QUAL = 1e6
"""The highest QUAL (Phred) that is written."""

MAX_GENOTYPES = 4096
"""The most genotypes that a sample is tried with: those of 90 alleles at ploidy 2, or of 4 at ploidy 20. GATK: 1024."""


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
    pedigree : Pedigree or None
        Parents of samples. Families whose members are all samples of the run share alleles.
    """

    ploidy: Annotated[int, Within(1)] = 2
    snv_prior: Annotated[float, Within(1e-12, 0.1)] = 1e-3
    indel_prior: Annotated[float, Within(1e-12, 0.1)] = 1.25e-4
    ploidies: Ploidies = field(default_factory=Ploidies)
    pedigree: Pedigree | None = None

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class SampleGenotype:
    """The genotype of one sample at one site.

    Attributes
    ----------
    alleles : tuple of int or None
        Allele indices in ascending order; None without a read, and where reads make all genotypes equally likely: the
        genotype would be that of the prior.
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
    left_out : int
        Alternative alleles that were not considered, because all alleles make more than `MAX_GENOTYPES` genotypes. They
        are those with the fewest reads.
    strands : tuple of int
        Informative reads on the forward and the reverse strand: of the reference, then of all other alleles (SB).
    phased : tuple of int or None
        The alleles in the order of the haplotypes of the phase set; None where the genotype is not phased.
    phase_set : int or None
        Position (0-based) of the first site of the phase set (PS).
    with_others : tuple of int
        `likelihoods` with one allele more, which stands for all others; empty where they were not asked for.
    """

    alleles: tuple[int, ...] | None
    depths: tuple[int, ...]
    depth: int
    quality: int
    likelihoods: tuple[int, ...]
    log10_reference: float
    ploidy: int = 2
    left_out: int = 0
    strands: tuple[int, ...] = (0, 0, 0, 0)
    phased: tuple[int, ...] | None = None
    phase_set: int | None = None
    with_others: tuple[int, ...] = ()

    @property
    def genotype(self) -> str:
        """GT as VCF writes it."""
        if self.alleles is None:
            return "/".join("." * max(1, self.ploidy))
        return "/".join(map(str, self.alleles)) if self.phased is None else "|".join(map(str, self.phased))


class SiteStatistics(NamedTuple):
    """Statistics of the reads over a site, over all samples, that show errors. docs/vcf.md has the definitions.

    Attributes
    ----------
    annotations : dict of str to (float or None)
        The INFO fields of `site_annotations` (cpu/calling/site_statistics.cpp); None where one is not known.
    unfit : float
        The share of the reads over the site that fit no haplotype; 0 for one read alone.
    """

    annotations: dict[str, float | None]
    unfit: float = 0.0


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


@lru_cache(maxsize=1024)
def log10_priors(allele_priors: tuple[float, ...], ploidy: int) -> Floats:
    """Prior of each genotype, in VCF order.

    k copies of an alternative allele have the neutral expectation theta / k (Watterson's estimator), so that a
    homozygote is half as likely as a heterozygote. Alleles are independent. The reference genotype gets the rest.

    `allele_priors`: prior (theta) of each alternative allele.
    """
    copies = _copies(len(allele_priors) + 1, ploidy)
    priors = np.ones(copies.shape[1])
    for theta, of_allele in zip(allele_priors, copies[1:], strict=True):
        priors *= np.where(of_allele > 0, theta / np.maximum(of_allele, 1), 1.0)
    priors[0] = max(1.0 - priors[1:].sum(), priors[1:].max(initial=0.0))
    result: Floats = np.log10(priors / priors.sum())
    return result


@lru_cache(maxsize=1024)
def _genotypes(allele_priors: tuple[float, ...], ploidy: int) -> Genotypes:
    """All genotypes with their priors, for native code. At ploidy 0 there is none."""
    n_alleles = len(allele_priors) + 1
    if ploidy == 0:
        return native.Genotypes(n_alleles, 0, np.empty(0, dtype=np.int16), np.empty(0))
    table = genotype_table(n_alleles, ploidy).reshape(-1)
    return native.Genotypes(n_alleles, ploidy, table, log10_priors(allele_priors, ploidy))


def call_site(
    reads: SiteReads, allele_priors: tuple[float, ...], ploidies: Sequence[int], families: Sequence[SampleFamily] = ()
) -> tuple[list[SampleGenotype], float]:
    """The genotypes of all samples of a site, and its QUAL.

    Several samples share the frequencies of the alleles, and families share alleles
    (cpu/calling/shared_alleles.hpp). A single sample has the prior of `log10_priors`, and so has each of several where
    there are more than `MAX_GENOTYPES`.

    `ploidies` are those of the samples; `allele_priors` has the prior of each alternative allele. QUAL is Phred.
    """
    most = max(ploidies)
    if len(ploidies) == 1 or count_genotypes(len(allele_priors) + 1, most) > MAX_GENOTYPES:
        alone = [call_sample(reads, sample, allele_priors, ploidy) for sample, ploidy in enumerate(ploidies)]
        return alone, site_quality(alone)
    genotypes = [_genotypes(allele_priors, ploidy) for ploidy in ploidies]
    related = [native.Family(family.father, family.mother, list(family.children)) for family in families]
    called, log10_reference = reads.call_together(genotypes, list(allele_priors), related)
    return [SampleGenotype(*one) for one in called], _quality(log10_reference)


def call_sample(reads: SiteReads, sample: int, allele_priors: tuple[float, ...], ploidy: int) -> SampleGenotype:
    """The genotype of one sample at a site.

    `reads`: the reads over the site. `sample`: index of the sample. `allele_priors`: prior of each alternative allele.
    `ploidy`: at ploidy 0 there is no genotype.
    """
    n_alleles = len(allele_priors) + 1
    if n_alleles > 2 and count_genotypes(n_alleles, ploidy) > MAX_GENOTYPES:
        return _call_best_supported(reads, sample, allele_priors, ploidy)
    return SampleGenotype(*reads.call(sample, _genotypes(allele_priors, ploidy)))


def _call_best_supported(
    reads: SiteReads, sample: int, allele_priors: tuple[float, ...], ploidy: int
) -> SampleGenotype:
    """`call_sample` with the alternative alleles that most reads support, as many as `MAX_GENOTYPES` allows."""
    depths = reads.depths(sample)
    most = 1
    while count_genotypes(most + 2, ploidy) <= MAX_GENOTYPES:
        most += 1
    by_support = np.argsort(-np.array(depths[1:]), kind="stable")
    kept = [0, *(1 + np.sort(by_support[:most])).tolist()]
    priors = tuple(allele_priors[allele - 1] for allele in kept[1:])
    found = call_sample(reads.with_alleles(kept), sample, priors, ploidy)
    return replace(
        found,
        alleles=None if found.alleles is None else tuple(kept[allele] for allele in found.alleles),
        depths=tuple(depths),
        likelihoods=(),
        left_out=len(allele_priors) - most,
    )


def site_quality(samples: list[SampleGenotype]) -> float:
    """QUAL: -10 log10 of the probability that every sample, by itself, has only the reference allele."""
    return _quality(sum(sample.log10_reference for sample in samples if sample.alleles is not None))


def _quality(log10_reference: float) -> float:
    return min(MAX_QUAL, max(0.0, -10.0 * log10_reference))


MANY_UNFIT = 0.2
"""The share of reads that fit no haplotype from which on it is said, of a run and of a site.

Among paralogs, one in six real short reads fits none.
"""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """The records of calls, and their filters.

    Attributes
    ----------
    gvcf : bool
        Whether the file is a gVCF: blocks of the reference lie between the records.
    gq_bands : tuple of int
        GQ from which on each further band of blocks begins, ascending, from 1 to 99.
    mnv : bool
        Whether neighbouring SNVs that all samples have on the same chromosomes are one record.
    min_qd : float or None
        QD below which a record gets the filter LowQD.
    max_fs : float or None
        FS above which a record gets the filter StrandBias.
    max_sor : float or None
        SOR above which a record gets the filter StrandBias.
    min_mq : float or None
        MQ below which a record gets the filter LowMQ.
    """

    gvcf: bool = False
    gq_bands: tuple[int, ...] = GQ_BANDS
    mnv: bool = False
    min_qd: Annotated[float | None, Within(0)] = None
    max_fs: Annotated[float | None, Within(0)] = None
    max_sor: Annotated[float | None, Within(0)] = None
    min_mq: Annotated[float | None, Within(0)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        bands = self.gq_bands
        if list(bands) != sorted(set(bands)) or not all(1 <= limit <= MAX_GQ for limit in bands):
            raise OptionError("gq_bands", bands, f"are not ascending numbers from 1 to {MAX_GQ}")
