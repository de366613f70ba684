"""What discovery makes of the reads around a position: counts of alleles, and windows of assembly.

All coordinates are 0-based half-open, but those of the facts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from pairhmm.calling.discovery import CandidateOptions
from pairhmm.explain.facts import AlleleCount, AltAllele, SampleAssembly, ShownAllele, Way, Window
from pairhmm.explain.reads import LocalReads, alleles_of, count_left_out, is_here, shown_alleles
from pairhmm.native import native
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.variant import MAX_SHIFT

NEAR = 10
"""Bases around a position in which other alleles are told."""


class Discovery:
    """The candidates and the windows that discovery has by the reads around a position."""

    def __init__(self, reads: LocalReads, options: CandidateOptions, reference: native.ReferenceBases) -> None:
        self._reads, self._options, self._reference = reads, options, reference
        used = reads.used
        finder = native.CandidateFinder(reference, len(reads.samples), options)
        finder.watch()
        self._chrom = used.chrom
        variants = [*finder.scan(used.chrom, used.native), *finder.finish()]
        self.candidates = {allele for variant in variants for allele in alleles_of(variant)}
        self._windows = finder.windows()

    def windows(self, position: int) -> list[Window]:
        """The windows over a position."""
        over = [one for one in self._windows if one["start"] <= position < one["end"]]
        return [self._window(one) for one in over]

    def alleles(self, position: int, listed: set[AltAllele]) -> list[ShownAllele]:
        """The alleles at a position and near it that alignments show, that are candidates, or that are listed."""
        at = Interval(self._chrom, position, position + 1)
        place = Interval(self._chrom, max(0, position - MAX_SHIFT), position + NEAR + 1)
        reads = self._over(place)
        readers = defaultdict[AltAllele, list[int]](list)
        for read, allele in shown_alleles(self._reads, reads, place, self._reference):
            readers[allele].append(read)
        found = []
        for allele in {*readers, *self.candidates, *listed}:
            is_own = is_here(allele, at, self._reference)
            is_told = allele in self.candidates or allele in listed or len(readers[allele]) > 1
            if is_own or (is_told and abs(allele.position - 1 - position) <= NEAR):
                shown = ShownAllele(allele, is_own, allele in self.candidates, allele in listed)
                shown.samples = self._counts(allele, readers[allele])
                found.append(shown)
        return sorted(found, key=lambda one: (not one.is_here, -_reads_of(one), one.allele))

    def _over(self, place: Interval) -> list[int]:
        block = self._reads.block
        is_over = (block.start < place.end) & (block.end > place.start)
        return [read for read in range(len(block)) if is_over[read]]

    def _counts(self, allele: AltAllele, readers: Iterable[int]) -> dict[str, AlleleCount]:
        of_sample = defaultdict[str, list[int]](list)
        for read in readers:
            of_sample[self._reads.sample_of(read)].append(read)
        depths = self._reads.depths_at(allele.position - 1, self._options.min_base_quality)
        return {name: self._count(allele, depths[name], of_sample[name]) for name in self._reads.samples}

    def _count(self, allele: AltAllele, depth: int, readers: list[int]) -> AlleleCount:
        reads, options = self._reads, self._options
        position, least_quality = allele.position - 1, options.min_base_quality
        used = [read for read in readers if not reads.reasons[read]]
        qualities: list[int] = []
        if not allele.is_indel:
            qualities = sorted(reads.quality_at(read, position) or 0 for read in used)
        reverse = sum(int(reads.block.flag[read]) >> 4 & 1 for read in used)
        poor = sum(quality < least_quality for quality in qualities)
        return AlleleCount(
            good=len(used) - poor,
            poor=poor,
            depth=depth,
            forward=len(used) - reverse,
            reverse=reverse,
            qualities=qualities,
            left_out=count_left_out(reads, readers),
            least_count=options.min_indel_count if allele.is_indel else options.min_snv_count,
            least_share=options.min_indel_fraction if allele.is_indel else options.min_snv_fraction,
        )

    def _window(self, fields: Mapping[str, Any]) -> Window:
        return Window(
            start=fields["start"] + 1,
            end=fields["end"],
            events=fields["events"],
            reads=fields["reads"],
            is_active=fields["is_active"],
            samples=[self._assembly(one) for one in fields["samples"]],
            explained=[(self._allele(allele), reads) for allele, reads in fields["explained"]],
        )

    def _assembly(self, fields: Mapping[str, Any]) -> SampleAssembly:
        ways = [
            Way(
                reads=one["reads"],
                leaving=one["leaving"],
                is_united=one["is_united"],
                alleles=[self._allele(allele) for allele in one["alleles"]],
                are_supported=one["are_supported"],
            )
            for one in fields["ways"]
        ]
        return SampleAssembly(fields["k"], fields["is_whole"], fields["tried"], ways)

    def _allele(self, fields: tuple[int, int, bool, str]) -> AltAllele:
        position, ref_length, is_indel, letters = fields
        ref = self._reference.fetch(self._chrom, position, position + ref_length + is_indel)
        return AltAllele(position + 1, ref, ref[0] + letters if is_indel else letters)


def _reads_of(shown: ShownAllele) -> int:
    return sum(one.all_reads for one in shown.samples.values())
