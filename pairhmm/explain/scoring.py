"""Runs `call` around a position, and tells what it makes of the reads there: regions, haplotypes, and genotypes.

All coordinates are 0-based half-open, but those of the facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.selection import LeftOut
from pairhmm.calling.call import refinement
from pairhmm.calling.genotyping import RegionGenotyper, Site, to_sites
from pairhmm.calling.opening import OpenFiles, make_run, reference_check
from pairhmm.calling.region_choice import choose_regions
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.targets import Inside, Progress
from pairhmm.engine.device_pool import Devices
from pairhmm.explain.facts import AltAllele, CalledSample, ExplainedSite, ScoredHaplotypes, WeighedGenotype
from pairhmm.explain.reads import LocalReads, alleles_of, is_here, leftmost_alleles_of
from pairhmm.native import native
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.call_writer import record_format
from pairhmm.variants.genotypes import GenotypeOptions, RecordOptions
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import MAX_SHIFT

if TYPE_CHECKING:
    from pairhmm._cpu import ScoredRegion, ScoredRegions, WeighedSite

_MOST_HAPLOTYPES = 4096
"""Haplotypes that are made to see how many a cap has left out."""


@dataclass(frozen=True, slots=True)
class CallSettings:
    """What a call depends on, beside its files."""

    inputs: RunInputs
    options: RunOptions
    genotypes: GenotypeOptions
    records: RecordOptions
    min_quality: float


@dataclass(slots=True)
class _Scored:
    """A region before genotyping: as it was scored, and as genotypes take it."""

    region: Region
    haplotypes: int
    names: list[tuple[int, int, str]]
    set_aside: NDArray[np.bool_]
    refined: ScoredRegion
    batch: ScoredRegions


class LocalCall:
    """`call` around one position, with the options of a whole run.

    `anchors` are positions of candidates there: each other allele of such a record counts as one there, too.
    """

    def __init__(
        self, files: OpenFiles, devices: Devices, settings: CallSettings, place: Interval, anchors: set[int]
    ) -> None:
        self._settings, self._devices, self._place, self._anchors = settings, devices, place, anchors
        # Where the second turn of a circle begins: sites and regions lie on the contig.
        self._turn = files.genome.on_contig(place.chrom)
        (unrolled,) = files.genome.second_turns([place])
        around = Interval(
            place.chrom, max(0, unrolled.start - MAX_SHIFT), min(files.contigs[place.chrom], unrolled.end + MAX_SHIFT)
        )
        self._unrolled = unrolled
        self._inside = Inside(files.requested)
        self._files = files._replace(requested=[around], check=reference_check(files.genome, files.reader))
        self._reference = native.ReferenceBases(files.genome.fetch)

    def is_asked(self, position: int) -> bool:
        """Whether a position lies in the regions that the user asked for."""
        return self._inside(self._place.chrom, position)

    def regions_and_sites(self, reads: LocalReads) -> tuple[list[ScoredHaplotypes], list[ExplainedSite]]:
        """The regions over the position, and the candidates there that were genotyped."""
        regions, sites = [], []
        for one in self._scored(self._settings.options):
            turns = (self._place.start, self._unrolled.start, self._place.start - self._turn)
            if any(one.region.start <= at < one.region.end for at in turns):
                regions.append(self._facts(one, reads))
            sites += self._sites(one, self._settings.options)
        return regions, sites

    def sites_with(self, options: RunOptions) -> list[ExplainedSite]:
        """The candidates at the position that are genotyped with other options."""
        return [site for one in self._scored(options) for site in self._sites(one, options)]

    def _scored(self, options: RunOptions) -> Iterator[_Scored]:
        inputs, files = self._settings.inputs, self._files
        samples = len(files.reader.samples)
        chosen = choose_regions(inputs, options, files.genome, files.contigs, samples, files.requested)
        run = make_run(inputs, options, self._devices, files, chosen, files.requested, Progress(()), LeftOut())
        refine = refinement(inputs)
        for batch in run.stream.run(run.blocks):
            before = [(one.region, len(one.haplotypes), _names(one), one.set_aside.copy()) for one in batch]
            refined = batch if refine is None else refine(batch)
            for parts, own in zip(before, refined, strict=True):
                yield _Scored(*parts, own, refined)

    def _facts(self, scored: _Scored, reads: LocalReads) -> ScoredHaplotypes:
        region, most = scored.region, self._settings.options.evidence.max_haplotypes
        combinations = prod(1 + len(variant.alts) for variant in region.variants)
        more = 0
        if combinations > most:
            bases = self._reference.fetch(
                region.chrom, region.haplotype_start + self._turn, region.haplotype_end + self._turn
            )
            discovered = self._settings.inputs.candidates_are_discovered
            more = len(native.build_haplotypes(region, bases, _MOST_HAPLOTYPES, None, discovered)) - scored.haplotypes
        aside = Counter(
            reads.samples[sample]
            for (sample, *_), is_aside in zip(scored.names, scored.set_aside.tolist(), strict=True)
            if is_aside
        )
        used = scored.set_aside & ~scored.refined.set_aside
        return ScoredHaplotypes(
            start=self._on_contig(region.start + 1),
            end=self._on_contig(region.end),
            candidates=[
                f"{replace(allele, position=self._on_contig(allele.position))} ({variant.role})"
                for variant in region.variants
                for allele in alleles_of(variant)
            ],
            haplotypes=scored.haplotypes,
            left_out=max(0, more),
            is_over=scored.haplotypes + more >= _MOST_HAPLOTYPES,
            reads=len(scored.names),
            capped=self._capped(region, reads),
            set_aside=dict(aside),
            used_all_the_same=int(used.sum()),
        )

    def _on_contig(self, position: int) -> int:
        """A position, 1-based, on the contig."""
        return (position - 1) % self._turn + 1 if self._turn else position

    def _capped(self, region: Region, reads: LocalReads) -> dict[str, int]:
        """Reads of each sample that the depth limit leaves out of a region."""
        over = reads.used.over([(region.core_start + self._turn, region.core_end + self._turn)])
        limit = self._settings.options.evidence.max_depth
        counts = Counter(reads.samples[sample] for sample in over.sample.tolist())
        return {name: count - limit for name, count in counts.items() if count > limit}

    def _sites(self, scored: _Scored, options: RunOptions) -> list[ExplainedSite]:
        """The candidates at the position, first those that have a record."""
        samples = self._files.reader.samples
        genotyper = RegionGenotyper(
            samples,
            self._settings.genotypes,
            options.model,
            self._settings.inputs.candidates_are_discovered,
            self._settings.records,
            self._files.source_rates,
            self._files.slips,
        )
        found = []
        for weighed in genotyper.native.weigh(scored.refined):
            (site,) = to_sites([weighed.fields], genotyper.names)
            moved = replace(site.variant, pos=site.variant.pos + self._turn)
            unrolled = leftmost_alleles_of(moved, self._reference)
            alleles = [replace(one, position=self._on_contig(one.position)) for one in unrolled]
            are_there = any(is_here(one, self._unrolled, self._reference) for one in unrolled)
            if are_there or any(one.position in self._anchors for one in alleles):
                found.append(self._site(site, alleles, weighed))
        return found

    def _site(self, site: Site, alleles: list[AltAllele], weighed: WeighedSite) -> ExplainedSite:
        record, quality, status = None, site.quality, ""
        form = record_format(self._settings.min_quality, self._settings.records)
        is_asked = self.is_asked(site.variant.pos)
        if not weighed.is_left_out and is_asked:
            line = form.line(site.variant, site.quality, site.samples, site.statistics)
            record = line.rstrip("\n")
            status = record.split("\t")[6]
        calls = zip(site.names, site.samples, weighed.samples, strict=True)
        return ExplainedSite(
            alleles=alleles,
            record=record,
            quality=quality,
            filter=status,
            samples={
                name: CalledSample(
                    genotype=sample.genotype,
                    depth=sample.depth,
                    depths=list(sample.depths),
                    quality=sample.quality,
                    genotypes=[WeighedGenotype(*one) for one in genotypes],
                    best_without=best_without,
                )
                for name, sample, (genotypes, best_without) in calls
            },
            text=weighed.text(
                [(one.position - 1, one.ref, one.alt) for one in alleles], list(site.names), form, is_asked
            ),
        )


def _names(region: ScoredRegion) -> list[tuple[int, int, str]]:
    """Sample, flags and name of each read of a region."""
    ends = region.name_end.tolist()
    texts = [region.names[begin:end].decode("utf-8", "replace") for begin, end in zip([0, *ends], ends, strict=False)]
    return list(zip(region.sample.tolist(), region.flag.tolist(), texts, strict=True))
