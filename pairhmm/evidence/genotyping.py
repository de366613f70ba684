"""Genotypes a region's candidates from its evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.compiled import native
from pairhmm.evidence.region_evidence import Evidence, without_nuisances
from pairhmm.genomics.genotypes import GenotypeOptions, SampleGenotype, SiteStatistics, call_sample, call_site
from pairhmm.genomics.names import Names
from pairhmm.genomics.phasing import phased
from pairhmm.genomics.records import RecordOptions
from pairhmm.genomics.variants import Variant
from pairhmm.models.gatk import GatkOptions

if TYPE_CHECKING:
    from pairhmm._cpu import SiteReads

MANY_SET_ASIDE = 0.2
"""The share of a sample's reads over a listed site from which on the reads set aside are used all the same.

One chromosome of two has a larger share of the reads. Errors of mapping have a smaller one.
"""

# A difference in log10 that is larger than any between two likelihoods that can be told apart.
_NO_FLOOR = 300.0


@dataclass(frozen=True, slots=True)
class Site:
    """A genotyped candidate.

    Attributes
    ----------
    variant : Variant
    quality : float
        QUAL, Phred.
    samples : list of SampleGenotype
    names : tuple of str
        Names of the samples, in the same order.
    left_out : int
        Alternative alleles that were not considered in some sample (`pairhmm.genomics.genotypes.MAX_GENOTYPES`).
    statistics : SiteStatistics or None
        What its reads say of errors.
    """

    variant: Variant
    quality: float
    samples: list[SampleGenotype]
    names: tuple[str, ...] = ()
    left_out: int = 0
    statistics: SiteStatistics | None = None

    @property
    def is_variant(self) -> bool:
        """Whether some sample has an alternative allele."""
        return any(sample.alleles and any(sample.alleles) for sample in self.samples)

    @property
    def genotypes(self) -> dict[str, SampleGenotype]:
        """The genotype of each sample by its name."""
        return dict(zip(self.names, self.samples, strict=True))


def genotype_region(
    evidence: Evidence,
    samples: Sequence[str],
    options: GenotypeOptions,
    model: GatkOptions,
    discovered: bool,
    records: RecordOptions | None = None,
) -> Iterator[Site]:
    """Genotype the candidates of a region whose genotypes are asked for.

    Parameters
    ----------
    evidence : Evidence
    samples : sequence of str
    options : GenotypeOptions
    model : GatkOptions
        Has the floor: how far a haplotype's score may lie below a read's best.
    discovered : bool
        Whether candidates and alleles that no sample has are left out.
    records : RecordOptions, optional
        What the records have.
    """
    view = _View(evidence, tuple(samples), options, model)
    found: list[tuple[Site, SiteReads]] = []
    for index, variant in enumerate(evidence.region.variants):
        if variant.role == "nuisance":
            continue
        # Also what was not asked for: the phase of the others depends on it.
        site, reads = view.site(index)
        if discovered:
            if not site.is_variant:
                continue
            seen = {allele for one in site.samples for allele in one.alleles or ()} - {0}
            if len(seen) < len(variant.alts):
                left_out = site.left_out
                site, reads = view.site(index, sorted(seen))
                site = replace(site, left_out=left_out)
        site = view.with_statistics(site, reads, index)
        found.append((view.with_others(site, reads) if records is not None and records.gvcf else site, reads))
    for site in _phased(found):
        if site.variant.role == "asked":
            yield site


def _phased(found: Sequence[tuple[Site, SiteReads]]) -> Iterator[Site]:
    """The sites of a region with the phase of their genotypes."""
    if len(found) < 2:
        yield from (site for site, _ in found)
        return
    sites, reads = zip(*found, strict=True)
    positions = [site.variant.pos for site in sites]
    by_sample = [
        phased(positions, reads, genotypes, number)
        for number, genotypes in enumerate(zip(*(site.samples for site in sites), strict=True))
    ]
    for site, samples in zip(sites, zip(*by_sample, strict=True), strict=True):
        yield replace(site, samples=list(samples))


def on_listed_alleles(evidence: Evidence) -> Evidence:
    """The evidence of a region of listed candidates on the haplotypes of listed alleles alone.

    All haplotypes, also those with nuisances, decide which reads fit the region. Only haplotypes of listed alleles
    decide which of these a read carries. A haplotype with a nuisance can spell a listed allele in another way, and
    would take its reads (figures in benchmarks/README.md). Reads that fit no haplotype are set aside as errors of
    mapping, unless they are many. Many such reads come from a chromosome with a variant that neither the list nor any
    alignment shows. Without them, the other chromosome would be called twice.

    Parameters
    ----------
    evidence : Evidence
    """
    listed, set_aside = without_nuisances(evidence), _few_set_aside(evidence)
    return listed if set_aside is listed.set_aside else replace(listed, set_aside=set_aside)


def _few_set_aside(evidence: Evidence) -> NDArray[np.bool_]:
    """bool[reads]: the reads set aside, except those over a site where they are many of a sample's reads."""
    aside = evidence.set_aside
    if not aside.any():
        return aside
    kept = np.zeros(len(aside), dtype=bool)
    for variant, (first, last) in zip(evidence.region.variants, evidence.region.extents, strict=True):
        if variant.role == "nuisance":
            continue
        over = (evidence.start < last) & (evidence.end > first)
        covering = np.bincount(evidence.sample[over])
        without = np.bincount(evidence.sample[over & aside], minlength=len(covering))
        many = without >= MANY_SET_ASIDE * np.maximum(covering, 1)
        kept[over] |= many[evidence.sample[over]]
    return aside & ~kept


class _View:
    """A region's reads, ready for genotyping."""

    def __init__(
        self, evidence: Evidence, samples: tuple[str, ...], options: GenotypeOptions, model: GatkOptions
    ) -> None:
        self._evidence, self._samples, self._options = evidence, samples, options
        self._floors = (np.inf, _NO_FLOOR) if model.score_floor is None else (model.score_floor, model.score_floor)
        fragment = _fragments(evidence.names) if evidence.fragment is None else evidence.fragment
        aside, start, end, sample = evidence.set_aside, evidence.start, evidence.end, evidence.sample
        self._reads = evidence.log10, aside, start, end, sample, fragment
        self._alleles = [haplotype.alleles for haplotype in evidence.haplotypes]
        self._families = [] if options.pedigree is None else options.pedigree.families(samples)[0]

    def site(self, index: int, kept: list[int] | None = None) -> tuple[Site, SiteReads]:
        """Genotype a candidate, with all or only some of its alternative alleles. The reads are those over it."""
        region, options = self._evidence.region, self._options
        variant, allele_of = region.variants[index], [alleles[index] for alleles in self._alleles]
        if kept is not None:
            place_of = {allele: place for place, allele in enumerate([0, *kept])}
            variant, allele_of = _with_alleles(variant, kept), [place_of.get(allele, -1) for allele in allele_of]
        priors = tuple(
            options.snv_prior if len(alt) == len(variant.ref) else options.indel_prior for alt in variant.alts
        )
        shape = len(priors) + 1, len(self._samples)
        reads = native.SiteReads(*self._reads, *region.extents[index], allele_of, *shape, *self._floors)
        ploidies = [options.ploidies.of(name, variant.chrom, variant.pos, options.ploidy) for name in self._samples]
        samples, quality = call_site(reads, priors, ploidies, self._families)
        left_out = max(sample.left_out for sample in samples)
        return Site(variant, quality, samples, self._samples, left_out), reads

    def with_others(self, site: Site, reads: SiteReads) -> Site:
        """The site with likelihoods of one allele more, which stands for all others."""
        more, priors = reads.with_non_reference(), (self._options.snv_prior,) * (len(site.variant.alts) + 1)
        samples = [
            replace(one, with_others=call_sample(more, number, priors, one.ploidy).likelihoods)
            for number, one in enumerate(site.samples)
        ]
        return replace(site, samples=samples)

    def with_statistics(self, site: Site, reads: SiteReads, index: int) -> Site:
        """The site of a candidate with what its reads say of errors."""
        evidence = self._evidence
        strands, strand, odds, *values = reads.statistics(evidence.flag, evidence.mapq, evidence.from_end, index)
        known = [None if math.isnan(value) else value for value in values]
        samples = [replace(one, strands=own) for one, own in zip(site.samples, strands, strict=True)]
        return replace(site, samples=samples, statistics=SiteStatistics(strand, odds, *known))


def _fragments(names: Names) -> NDArray[np.int64]:
    """The number of each read's fragment. Reads of one name have the same number."""
    numbers = np.empty(len(names), dtype=np.int64)
    native.number_names(names.text, names.end, numbers)
    return numbers


def _with_alleles(variant: Variant, kept: list[int]) -> Variant:
    """The variant with only some of its alternative alleles, and with no more reference bases than these need."""
    alts = [variant.alts[allele - 1] for allele in kept]
    ref = variant.ref
    while len(ref) > 1 and all(len(alt) > 1 and alt[-1] == ref[-1] for alt in alts):
        ref, alts = ref[:-1], [alt[:-1] for alt in alts]
    return replace(variant, ref=ref, alts=tuple(alts))
