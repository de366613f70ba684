"""Genotypes the candidates of a scored region, and phases its heterozygous sites (cpu/calling/phasing.cpp)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.calling.scored_region import Evidence, without_unlisted
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
        Annotations of its reads.
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
    """Genotype the requested candidates of a region.

    `model` has the floor: how far a haplotype's score may lie below a read's best. If the candidates were discovered,
    those that no sample has are left out, and so are their alleles. `families` have their members among the samples.
    """
    view = _RegionReads(evidence, tuple(samples), options, model, families)
    # Also what was not asked for: the phase of the others depends on it.
    indices = [number for number, variant in enumerate(evidence.region.variants) if variant.role != "nuisance"]
    candidates = [view.candidate(index) for index in indices]
    if discovered:
        candidates = [
            view.with_alleles(candidate, sorted(called)) for candidate in candidates if (called := candidate.called)
        ]
        if records is not None and records.mnv:
            candidates = view.with_joined_snvs(candidates)
    candidates = view.with_spanned(candidates, discovered)
    sites = [view.with_statistics(candidate) for candidate in candidates]
    if records is not None and records.gvcf:
        sites = [view.with_others(site, candidate.reads) for site, candidate in zip(sites, candidates, strict=True)]
    for site in _phased(sites, [candidate.reads for candidate in candidates]):
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
    """A scored region of listed candidates on the haplotypes of listed alleles alone.

    All haplotypes, also those with nuisances, decide which reads fit the region. Only haplotypes of listed alleles
    decide which of these a read carries. A haplotype with a nuisance can spell a listed allele in another way, and
    would take its reads (figures in benchmarks/README.md). Reads that fit no haplotype are set aside as errors of
    mapping, unless they are many. Many such reads come from a chromosome with a variant that neither the list nor any
    alignment shows. Without them, the other chromosome would be called twice.
    """
    listed, set_aside = without_unlisted(evidence), _few_set_aside(evidence)
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


class _Candidate(NamedTuple):
    """A site with what it was genotyped from.

    `number` is that of its candidate in the region, the first one where several are joined. `allele_of` has the
    allele of each haplotype.
    """

    number: int
    site: Site
    reads: native.SiteReads
    allele_of: list[int]
    extent: tuple[int, int]

    @property
    def called(self) -> set[int]:
        """The alternative alleles that samples have."""
        return {allele for one in self.site.samples for allele in one.alleles or ()} - {0}


class _RegionReads:
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

    def candidate(self, index: int) -> _Candidate:
        """Genotype a candidate with all its alternative alleles."""
        region = self._evidence.region
        allele_of = [alleles[index] for alleles in self._alleles]
        return self._genotyped(index, region.variants[index], allele_of, region.extents[index])

    def with_alleles(self, candidate: _Candidate, kept: list[int]) -> _Candidate:
        """A candidate, genotyped with only some of its alternative alleles."""
        if len(kept) == len(candidate.site.variant.alts):
            return candidate
        index_of = {allele: index for index, allele in enumerate([0, *kept])}
        allele_of = [index_of.get(allele, -1) for allele in candidate.allele_of]
        fewer = self._genotyped(
            candidate.number, _with_alleles(candidate.site.variant, kept), allele_of, candidate.extent
        )
        return fewer._replace(site=replace(fewer.site, left_out=candidate.site.left_out))

    def with_spanned(self, candidates: list[_Candidate], discovered: bool) -> list[_Candidate]:
        """Candidates, with the allele of chromosomes on which a deletion takes them away where a sample has it.

        Of a discovered candidate, every allele has to be one of a sample.
        """
        variants = [one.site.variant for one in candidates]
        if len(candidates) < 2 or not any(len(alt) < len(one.ref) for one in variants for alt in one.alts):
            return candidates
        called = [one.called for one in candidates]
        alleles = [one.allele_of for one in candidates]
        spanned = [spanned_haplotypes(number, variants, called, alleles) for number in range(len(candidates))]
        return [
            self._spanned(one, haplotypes, discovered) if haplotypes else one
            for one, haplotypes in zip(candidates, spanned, strict=True)
        ]

    def _spanned(self, candidate: _Candidate, haplotypes: set[int], discovered: bool) -> _Candidate:
        variant, allele_of = with_spanned(candidate.site.variant, candidate.allele_of, haplotypes)
        with_more = self._genotyped(candidate.number, variant, allele_of, candidate.extent)
        last = len(variant.alts)
        if last not in with_more.called or (discovered and len(with_more.called) < last):
            return candidate
        # QUAL stays that of the alleles that are not deletions elsewhere.
        site = replace(with_more.site, quality=candidate.site.quality, left_out=candidate.site.left_out)
        return with_more._replace(site=site)

    def with_joined_snvs(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Candidates, with neighbouring SNVs as one where samples have all of them on the same chromosomes."""
        joined: dict[int, _Candidate] = {}
        taken: set[int] = set()
        for first, last in snv_runs([one.site.variant for one in candidates]):
            if taken.isdisjoint(range(first, last)) and (one := self._joined(candidates[first:last])) is not None:
                joined[first] = one
                taken.update(range(first, last))
        return [
            joined.get(number, one) for number, one in enumerate(candidates) if number in joined or number not in taken
        ]

    def _joined(self, candidates: list[_Candidate]) -> _Candidate | None:
        """Neighbouring SNVs as one candidate; None where a sample has one without the others."""
        alleles = list(zip(*(one.allele_of for one in candidates), strict=True))
        variant, allele_of, changed = joined_snvs([one.site.variant for one in candidates], alleles)
        extent = min(one.extent[0] for one in candidates), max(one.extent[1] for one in candidates)
        one = self._genotyped(candidates[0].number, variant, allele_of, extent)
        called = one.called
        return self.with_alleles(one, sorted(called)) if called and called <= changed else None

    def _genotyped(self, index: int, variant: Variant, allele_of: list[int], extent: tuple[int, int]) -> _Candidate:
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
        return _Candidate(index, site, reads, allele_of, extent)

    def with_others(self, site: Site, reads: native.SiteReads) -> Site:
        """The site with likelihoods of one allele more, which stands for all others."""
        more = reads.with_non_reference()
        priors = (self._options.snv_prior,) * (len(site.variant.alts) + 1)
        samples = [
            replace(one, with_others=call_sample(more, number, priors, one.ploidy).likelihoods)
            for number, one in enumerate(site.samples)
        ]
        return replace(site, samples=samples)

    def with_statistics(self, candidate: _Candidate) -> Site:
        """The site with what its reads say of errors."""
        evidence, site = self._evidence, candidate.site
        facts = evidence.flag, evidence.mapq, evidence.from_end, candidate.number
        strands, annotations = candidate.reads.statistics(*facts)
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
        statistics = SiteStatistics(annotations, self._unfit(candidate.extent))
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


def phased(
    positions: Sequence[int], reads: Sequence[native.SiteReads], genotypes: Sequence[SampleGenotype], sample: int
) -> list[SampleGenotype]:
    """The genotypes of one sample at the sites of a region, in order, with their phase.

    Diploid heterozygous sites whose alleles some fragments tell apart together are a phase set. A site without another
    one in its set stays unphased.
    """
    result = list(genotypes)
    pairs = [(number, *alleles) for number, one in enumerate(genotypes) if (alleles := _heterozygous(one))]
    if len(pairs) < 2:
        return result
    phaser = native.Phaser()
    places = [phaser.add(reads[site], sample, first, second) for site, first, second in pairs]
    members = Counter(number for number, _ in places)
    start: dict[int, int] = {}
    for (site, first, second), (number, swapped) in zip(pairs, places, strict=True):
        if members[number] < 2:
            continue
        position = start.setdefault(number, positions[site])
        # PS is a position: of two sets that begin at one place, the second can't be told apart.
        if position in [one for other, one in start.items() if other < number]:
            continue
        result[site] = replace(result[site], phased=(second, first) if swapped else (first, second), phase_set=position)
    return result


def _heterozygous(genotype: SampleGenotype) -> tuple[int, int] | None:
    """The two alleles of a diploid heterozygous genotype; None for any other."""
    alleles = genotype.alleles
    if alleles is None or len(alleles) != 2 or alleles[0] == alleles[1]:
        return None
    return alleles[0], alleles[1]
