"""Genotypes and their options (cpu/calling/site_genotypes.hpp makes them); records' options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

from pairhmm.errors import OptionError
from pairhmm.options import Within, check_fields, check_number
from pairhmm.variants.contamination import MOST_CONTAMINATION
from pairhmm.variants.pedigree import Pedigree
from pairhmm.variants.ploidy import Ploidies

INFORMATIVE = 0.2
"""A read is informative where its best allele is this far (log10) ahead of the next.

GATK's AlleleLikelihoods.LOG_10_INFORMATIVE_THRESHOLD.
"""

MAX_GQ = 99
"""The highest GQ (Phred) that is written, by VCF's convention."""

GQ_BANDS = 1, 10, 20, 30, 40, 60, 80
"""GQ from which on each further band of blocks begins."""

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
        Probability that a site differs from the reference in one chromosome pair (heterozygosity). Each of the three
        letters that an SNV may have gets a third.
    pedigree : Pedigree or None
        Parents of samples. Families whose members are all samples of the run share alleles.
    contamination : float
        The share of a sample's reads that are another person's.
    contaminations : mapping of str to float
        The same of single samples, in its place.
    mixture : bool
        Whether each sample is a mixture of haplotypes in any shares, as viruses and mitochondria are. It has fractions
        of alleles in place of genotypes, and none of the other options.
    """

    ploidy: Annotated[int, Within(1)] = 2
    snv_prior: Annotated[float, Within(1e-12, 0.1)] = 1e-3
    indel_prior: Annotated[float, Within(1e-12, 0.1)] = 1.25e-4
    ploidies: Ploidies = field(default_factory=Ploidies)
    pedigree: Pedigree | None = None
    contamination: Annotated[float, Within(0, MOST_CONTAMINATION)] = 0.0
    contaminations: Mapping[str, float] = field(default_factory=dict)
    mixture: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        for share in self.contaminations.values():
            check_number("contaminations", share, 0, MOST_CONTAMINATION)
        if self.mixture and replace(self, mixture=False) != GenotypeOptions():
            raise OptionError("mixture", True, "goes without ploidies, priors, a pedigree and contamination")


@dataclass(frozen=True, slots=True)
class SampleGenotype:
    """The genotype of one sample at one site.

    Attributes
    ----------
    alleles : tuple of int or None
        Allele indices in ascending order; None without a read, and where reads make all genotypes equally likely: the
        genotype would be that of the prior. A chromosome whose allele is not listed (``-v``) has none: they are fewer
        than `ploidy` then, or None.
    depths : tuple of int
        Informative reads of each allele (AD).
    depth : int
        Reads used (DP), both mates of a pair counted.
    quality : int
        Phred-scaled probability that the genotype is wrong (GQ).
    likelihoods : tuple of int
        Phred-scaled genotype likelihoods in VCF order, the best 0 (PL); empty where alleles were left out, and
        for a genotype with an allele that is not listed.
    log10_reference : float
        log10 posterior probability that no (listed) alternative allele is there.
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
    fractions : tuple of (tuple of float or None)
        Of each allele of a mixture: its fraction, and the ends of the 95% interval; None without a read. Empty where
        the sample is no mixture. One that is has in `alleles` those that are present, and no GQ and PL.
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
    fractions: tuple[tuple[float, float, float] | None, ...] = ()

    @property
    def genotype(self) -> str:
        """GT as VCF writes it."""
        if self.phased is not None:
            return "|".join(map(str, self.phased))
        known = self.alleles or ()
        unknown = max(self.ploidy - len(known), 1 if self.alleles is None else 0)
        return "/".join([*"." * unknown, *map(str, known)])


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
    min_rms_mapq : float or None
        MQ below which a record gets the filter LowMQ.
    """

    gvcf: bool = False
    gq_bands: tuple[int, ...] = GQ_BANDS
    mnv: bool = False
    min_qd: Annotated[float | None, Within(0)] = None
    max_fs: Annotated[float | None, Within(0)] = None
    max_sor: Annotated[float | None, Within(0)] = None
    min_rms_mapq: Annotated[float | None, Within(0)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        bands = self.gq_bands
        if list(bands) != sorted(set(bands)) or not all(1 <= limit <= MAX_GQ for limit in bands):
            raise OptionError("gq_bands", bands, f"are not ascending numbers from 1 to {MAX_GQ}")
