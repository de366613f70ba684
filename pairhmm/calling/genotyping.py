"""Genotypes a region's candidates from its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.calling.phasing import phased
from pairhmm.calling.scored_region import Evidence, without_nuisances
from pairhmm.models.gatk import GatkOptions
from pairhmm.native import native
from pairhmm.sequences.arrays import Names
from pairhmm.variants.genotypes import (
    GenotypeOptions,
    RecordOptions,
    SampleGenotype,
    SiteStatistics,
    call_sample,
    call_site,
)
from pairhmm.variants.neighbouring_sites import joined_snvs, snv_runs, spanned_haplotypes, with_spanned
from pairhmm.variants.pedigree import SampleFamily
from pairhmm.variants.variant import Variant

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
        Alternative alleles that were not considered in some sample (`pairhmm.variants.genotypes.MAX_GENOTYPES`).
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
    families: Sequence[SampleFamily] = (),
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
        Whether candidates and alleles that no sample has are left out. Listed ones keep theirs.
    records : RecordOptions, optional
        What the records have.
    families : sequence of SampleFamily, optional
        Those of the pedigree whose members are among the samples.
    """
    view = _View(evidence, tuple(samples), options, model, families)
    # Also what was not asked for: the phase of the others depends on it.
    indices = [number for number, one in enumerate(evidence.region.variants) if one.role != "nuisance"]
    found = [view.candidate(index) for index in indices]
    if discovered:
        found = [view.with_alleles(one, sorted(called)) for one in found if (called := one.called)]
        if records is not None and records.mnv:
            found = view.with_joined_snvs(found)
    found = view.with_spanned(found, discovered)
    sites = [view.with_statistics(one) for one in found]
    if records is not None and records.gvcf:
        sites = [view.with_others(site, one.reads) for site, one in zip(sites, found, strict=True)]
    for site in _phased(sites, [one.reads for one in found]):
        if site.variant.role == "asked":
            yield site


def _phased(sites: Sequence[Site], reads: Sequence[native.SiteReads]) -> Iterator[Site]:
    """The sites of a region with the phase of their genotypes."""
    if len(sites) < 2:
        yield from sites
        return
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
    if set_aside is listed.set_aside:
        return listed
    return replace(listed, set_aside=set_aside, unfit=evidence.set_aside)


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


class _Found(NamedTuple):
    """A site with what it was genotyped from.

    `place` is the index of its candidate in the region, the first one where several are joined. `allele_of` has the
    allele of each haplotype.
    """

    place: int
    site: Site
    reads: native.SiteReads
    allele_of: list[int]
    extent: tuple[int, int]

    @property
    def called(self) -> set[int]:
        """The alternative alleles that samples have."""
        return {allele for one in self.site.samples for allele in one.alleles or ()} - {0}


class _View:
    """A region's reads, ready for genotyping."""

    def __init__(
        self,
        evidence: Evidence,
        samples: tuple[str, ...],
        options: GenotypeOptions,
        model: GatkOptions,
        families: Sequence[SampleFamily],
    ) -> None:
        self._evidence, self._samples, self._options = evidence, samples, options
        self._floors = (np.inf, _NO_FLOOR) if model.score_floor is None else (model.score_floor, model.score_floor)
        fragment = _fragments(evidence.names) if evidence.fragment is None else evidence.fragment
        aside, start, end, sample = evidence.set_aside, evidence.start, evidence.end, evidence.sample
        self._reads = evidence.log10, aside, start, end, sample, fragment
        self._alleles = [haplotype.alleles for haplotype in evidence.haplotypes]
        self._families = families

    def candidate(self, index: int) -> _Found:
        """Genotype a candidate with all its alternative alleles."""
        region = self._evidence.region
        allele_of = [alleles[index] for alleles in self._alleles]
        return self._found(index, region.variants[index], allele_of, region.extents[index])

    def with_alleles(self, found: _Found, kept: list[int]) -> _Found:
        """A candidate, genotyped with only some of its alternative alleles."""
        if len(kept) == len(found.site.variant.alts):
            return found
        place_of = {allele: place for place, allele in enumerate([0, *kept])}
        allele_of = [place_of.get(allele, -1) for allele in found.allele_of]
        fewer = self._found(found.place, _with_alleles(found.site.variant, kept), allele_of, found.extent)
        return fewer._replace(site=replace(fewer.site, left_out=found.site.left_out))

    def with_spanned(self, found: list[_Found], discovered: bool) -> list[_Found]:
        """Candidates, with the allele of chromosomes on which a deletion takes them away where a sample has it.

        Of a discovered candidate, every allele has to be one of a sample.
        """
        variants = [one.site.variant for one in found]
        if len(found) < 2 or not any(len(alt) < len(one.ref) for one in variants for alt in one.alts):
            return found
        called = [one.called for one in found]
        alleles = [one.allele_of for one in found]
        spanned = [spanned_haplotypes(number, variants, called, alleles) for number in range(len(found))]
        return [
            self._spanned(one, haplotypes, discovered) if haplotypes else one
            for one, haplotypes in zip(found, spanned, strict=True)
        ]

    def _spanned(self, found: _Found, haplotypes: set[int], discovered: bool) -> _Found:
        variant, allele_of = with_spanned(found.site.variant, found.allele_of, haplotypes)
        with_more = self._found(found.place, variant, allele_of, found.extent)
        last = len(variant.alts)
        if last not in with_more.called or (discovered and len(with_more.called) < last):
            return found
        # QUAL stays that of the alleles that are not deletions elsewhere.
        site = replace(with_more.site, quality=found.site.quality, left_out=found.site.left_out)
        return with_more._replace(site=site)

    def with_joined_snvs(self, found: list[_Found]) -> list[_Found]:
        """Candidates, with neighbouring SNVs as one where samples have all of them on the same chromosomes."""
        joined: dict[int, _Found] = {}
        taken: set[int] = set()
        for first, last in snv_runs([one.site.variant for one in found]):
            if taken.isdisjoint(range(first, last)) and (one := self._joined(found[first:last])) is not None:
                joined[first] = one
                taken.update(range(first, last))
        return [joined.get(number, one) for number, one in enumerate(found) if number in joined or number not in taken]

    def _joined(self, found: list[_Found]) -> _Found | None:
        """Neighbouring SNVs as one candidate; None where a sample has one without the others."""
        alleles = list(zip(*(one.allele_of for one in found), strict=True))
        variant, allele_of, changed = joined_snvs([one.site.variant for one in found], alleles)
        extent = min(one.extent[0] for one in found), max(one.extent[1] for one in found)
        one = self._found(found[0].place, variant, allele_of, extent)
        called = one.called
        return self.with_alleles(one, sorted(called)) if called and called <= changed else None

    def _found(self, index: int, variant: Variant, allele_of: list[int], extent: tuple[int, int]) -> _Found:
        """Genotype a variant, of which each haplotype has an allele, or -1 for none."""
        options = self._options
        priors = tuple(
            options.snv_prior if len(alt) == len(variant.ref) else options.indel_prior for alt in variant.alts
        )
        shape = len(priors) + 1, len(self._samples)
        reads = native.SiteReads(*self._reads, *extent, allele_of, *shape, *self._floors)
        ploidies = [options.ploidies.of(name, variant.chrom, variant.pos, options.ploidy) for name in self._samples]
        samples, quality = call_site(reads, priors, ploidies, self._families)
        left_out = max(sample.left_out for sample in samples)
        site = Site(variant, quality, samples, self._samples, left_out)
        return _Found(index, site, reads, allele_of, extent)

    def with_others(self, site: Site, reads: native.SiteReads) -> Site:
        """The site with likelihoods of one allele more, which stands for all others."""
        more = reads.with_non_reference()
        priors = (self._options.snv_prior,) * (len(site.variant.alts) + 1)
        samples = [
            replace(one, with_others=call_sample(more, number, priors, one.ploidy).likelihoods)
            for number, one in enumerate(site.samples)
        ]
        return replace(site, samples=samples)

    def with_statistics(self, found: _Found) -> Site:
        """The site with what its reads say of errors."""
        evidence, site = self._evidence, found.site
        facts = evidence.flag, evidence.mapq, evidence.from_end, found.place
        strands, annotations = found.reads.statistics(*facts)
        # `replace` takes a few times longer, and every record comes here.
        samples = [
            SampleGenotype(
                alleles=one.alleles,
                depths=one.depths,
                depth=one.depth,
                quality=one.quality,
                likelihoods=one.likelihoods,
                log10_reference=one.log10_reference,
                ploidy=one.ploidy,
                left_out=one.left_out,
                strands=own,
            )
            for one, own in zip(site.samples, strands, strict=True)
        ]
        statistics = SiteStatistics(annotations, self._unfit(found.extent))
        return Site(site.variant, site.quality, samples, site.names, site.left_out, statistics)

    def _unfit(self, extent: tuple[int, int]) -> float:
        """The share of the reads over a site that fit no haplotype, in thousandths. One read alone is none."""
        evidence = self._evidence
        unfit = evidence.set_aside if evidence.unfit is None else evidence.unfit
        if not unfit.any():
            return 0.0
        over = (evidence.start < extent[1]) & (evidence.end > extent[0])
        reads, count = int(over.sum()), int(unfit[over].sum())
        # Whole numbers round as in JavaScript.
        return (2000 * count + reads) // (2 * reads) / 1000 if count > 1 else 0.0


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
