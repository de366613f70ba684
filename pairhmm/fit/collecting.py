"""Collects the pairs of a fit from alignments.

A pair is a read where nothing varies and the reference there, or a read and the likeliest of its region's haplotypes.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import CONSUMES_QUERY, CONSUMES_REFERENCE
from pairhmm.calling.cut_reads import CutReads
from pairhmm.calling.run import Run
from pairhmm.calling.scoring import prepared_base_quality
from pairhmm.calling.stream import FlatScores, HaplotypeLetters, RegionScorer
from pairhmm.fit.pairs import FitPairs
from pairhmm.models.gatk import GatkOptions, prepare_base_quality, set_aside
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import encode
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import MAX_SHIFT, FetchBases

PAD = 20
"""Reference bases on either side of a read, so that its insertions and deletions fit."""

SHORTEST = 30
"""The fewest aligned bases of a read: shorter ones tell little."""

LONG, PART = 1_000, 250
"""Reads of so many aligned bases span variants: they are cut into parts of at most so many bases between these."""

_SOFT_CLIP, _REFERENCE_SKIP = 4, 3
_ALIGNED = (0, 1, 7, 8)
"""The CIGAR operations that consume read bases, except soft clips: M I = X."""


@dataclass(slots=True)
class Collected:
    """A sample of the pairs that were met so far, at most about twice `most` of them.

    A pair's ticket is a hash of its read. Those with the lowest tickets are kept, so the sample is spread over all
    pairs, needs one pass, and does not depend on threads or on how reads come in blocks.
    """

    most: int  # The size of the sample
    parts: list[FitPairs] = field(default_factory=list)
    tickets: list[NDArray[np.uint32]] = field(default_factory=list)  # One ticket for each pair of `parts`
    pairs: int = 0  # Pairs that were met
    beside_variants: int = 0  # Reads left out because a variant is near them, or because they fit no haplotype
    unusable: int = 0  # Reads left out as too short, too long, or spliced

    def add(self, part: FitPairs) -> None:
        """Add some pairs."""
        if not len(part):
            return
        self.parts.append(part)
        self.tickets.append(_tickets(part))
        self.pairs += len(part)
        if sum(map(len, self.parts)) > 2 * self.most:
            self.sample()

    def sample(self) -> FitPairs:
        """The pairs with the lowest tickets, in the order in which they came."""
        pairs, tickets = FitPairs.joined(self.parts), np.concatenate(self.tickets)
        if len(pairs) > self.most:
            kept = np.sort(np.argsort(tickets, kind="stable")[: self.most])
            pairs, tickets = pairs.take(kept), tickets[kept]
        self.parts, self.tickets = [pairs], [tickets]
        return pairs


def _tickets(pairs: FitPairs) -> NDArray[np.uint32]:
    """uint32[pairs]: a hash of each read's bases and qualities."""
    bases, quality = memoryview(pairs.bases.tobytes()), memoryview(pairs.quality.tobytes())
    edges = zip(pairs.read_offset[:-1].tolist(), pairs.read_offset[1:].tolist(), strict=True)
    return np.array([zlib.crc32(bases[a:b], zlib.crc32(quality[a:b])) for a, b in edges], dtype=np.uint32)


def collect_plain(run: Run, fetch: FetchBases, model: GatkOptions, most: int) -> Collected:
    """Collect reads, or parts of long ones, that are at least `PAD` bases away from every variant that discovery finds.

    Each is paired with the reference there. Soft-clipped bases are left out. If there are more than `most`, they are a
    sample of that size.
    """
    found = Collected(most)
    for block, regions in _settled(run):
        _add_plain(found, block, regions, fetch, model)
    return found


def collect_given(run: Run, model: GatkOptions, most: int) -> Collected:
    """Collect the reads of a run's regions, cut to them, each with the haplotype that GATK's model scores highest.

    Reads that fit none of a region's haplotypes are left out. If there are more than `most`, they are a sample of that
    size.
    """
    recorder = _Recorder(run.stream.score, model, Collected(most))
    run.stream.score = recorder
    for _ in run.regions():
        pass
    return recorder.found


def _settled(run: Run) -> Iterator[tuple[ReadBlock, list[Region]]]:
    """Yield reads with the regions of variants. No later variant lies near these reads."""
    source = run.stream.source
    waiting, regions = ReadBlock.empty(), list[Region]()
    for block in run.blocks:
        if not len(block):
            continue
        if waiting.chrom and block.chrom != waiting.chrom:
            yield waiting, regions + source.finish(waiting.chrom)
            waiting, regions = ReadBlock.empty(block.chrom), []
        waiting = ReadBlock.concatenate([waiting, block]) if len(waiting) else block
        frontier = int(block.start[-1])
        regions += source.advance(block.chrom, block.native, frontier)
        limit = frontier - 2 * MAX_SHIFT - PAD
        if source.open_start is not None:
            limit = min(limit, source.open_start - PAD)
        done = waiting.end <= limit
        if done.any():
            yield waiting.take(np.flatnonzero(done)), regions
            waiting = waiting.take(np.flatnonzero(~done))
            if len(waiting):
                regions = [region for region in regions if region.core_end + PAD > waiting.start.min()]
    if len(waiting):
        yield waiting, regions + source.finish(waiting.chrom)


def _add_plain(
    found: Collected, block: ReadBlock, regions: Sequence[Region], fetch: FetchBases, model: GatkOptions
) -> None:
    beside = np.zeros(len(block), dtype=bool)
    for region in regions:
        beside |= (block.start < region.core_end + PAD) & (block.end > region.core_start - PAD)
    first, last, whole = _aligned(block)
    is_long = whole & (last - first >= LONG)
    usable = whole & (last - first >= SHORTEST) & ~is_long
    found.beside_variants += int((beside & ~is_long).sum())
    found.unusable += int((~beside & ~usable & ~is_long).sum())
    kept = np.flatnonzero(~beside & usable)
    columns = (
        block.base_offset[kept] + first[kept],
        block.base_offset[kept] + last[kept],
        block.start[kept],
        block.end[kept],
    )
    parts = list(zip(*(column.tolist() for column in columns), strict=True))
    for read in np.flatnonzero(is_long).tolist():
        parts += _parts(block, read, regions)
    if not parts:
        return
    prepared = prepare_base_quality(block.quals, np.repeat(block.mapq, np.diff(block.base_offset)), model)
    base = [slice(begin, behind) for begin, behind, _, _ in parts]
    # Reads of a block may lie far apart: what is between them is not fetched.
    letters = [encode(fetch(block.chrom, max(0, start - PAD), end + PAD)) for _, _, start, end in parts]
    found.add(FitPairs.of([block.bases[part] for part in base], [prepared[part] for part in base], letters))


def _parts(block: ReadBlock, read: int, regions: Sequence[Region]) -> Iterator[tuple[int, int, int, int]]:
    """The parts of a long read where nothing varies: where each begins and ends in the block, and on the reference."""
    start, end = int(block.start[read]), int(block.end[read])
    cigar = block.cigar[block.cigar_offset[read] : block.cigar_offset[read + 1]]
    operation, length = cigar & 15, (cigar >> 4).astype(np.int64)
    on_reference, on_read = (offsets(taken[operation] * length) for taken in (CONSUMES_REFERENCE, CONSUMES_QUERY))

    def base_at(position: int) -> int:
        at = int(np.searchsorted(on_reference, position - start, side="right")) - 1
        into = position - start - int(on_reference[at])
        return int(block.base_offset[read] + on_read[at]) + (into if CONSUMES_QUERY[operation[at]] else 0)

    for begin, behind in _between(start, end - 1, regions):
        first, last = base_at(begin), base_at(behind)
        if last - first >= SHORTEST:
            yield first, last, begin, behind


def _between(start: int, end: int, regions: Sequence[Region]) -> Iterator[tuple[int, int]]:
    """Parts of an interval that are `PAD` bases away from regions, of at most `PART` bases."""
    for region in regions:
        yield from _divided(start, min(end, region.core_start - PAD))
        start = max(start, region.core_end + PAD)
    yield from _divided(start, end)


def _divided(start: int, end: int) -> Iterator[tuple[int, int]]:
    return pairwise([*range(start, end, PART), end]) if end - start >= SHORTEST else iter(())


def _aligned(block: ReadBlock) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Start and end of each read's bases between its soft clips (int64, half-open), and whether it is unspliced."""
    operation, length = block.cigar & 15, (block.cigar >> 4).astype(np.int64)
    read = np.repeat(np.arange(len(block)), np.diff(block.cigar_offset))
    used = np.bincount(read, np.where(np.isin(operation, _ALIGNED), length, 0), len(block)).astype(np.int64)
    # A clip is at the start of a read if no base before it is aligned.
    aligned = offsets(np.where(np.isin(operation, _ALIGNED), length, 0))
    ahead = (operation == _SOFT_CLIP) & (aligned[:-1] == aligned[block.cigar_offset[:-1]][read])
    first = np.bincount(read, np.where(ahead, length, 0), len(block)).astype(np.int64)
    spliced = np.bincount(read, operation == _REFERENCE_SKIP, len(block)) > 0
    return first, first + used, ~spliced


@dataclass(slots=True)
class _Recorder:
    """Scores regions as `inner` does, and records each read with its likeliest haplotype."""

    inner: RegionScorer
    model: GatkOptions
    found: Collected

    @property
    def ahead(self) -> int:
        return self.inner.ahead

    @property
    def error_rate(self) -> float | None:
        return self.inner.error_rate

    def begin(self, reads: CutReads, reads_of: Sequence[int], haplotypes: HaplotypeLetters) -> Callable[[], FlatScores]:
        scores = self.inner.begin(reads, reads_of, haplotypes)
        return lambda: self._recorded(reads, reads_of, haplotypes, scores())

    def _recorded(
        self,
        reads: CutReads,
        reads_of: Sequence[int],
        haplotypes: HaplotypeLetters,
        scored: FlatScores,
    ) -> FlatScores:
        scores, _ = scored
        quality = prepared_base_quality(reads, self.model)
        read = done = 0
        letters = [haplotypes.letters[begin:end] for begin, end in pairwise(haplotypes.offset.tolist())]
        for count, (first, last) in zip(reads_of, pairwise(haplotypes.group.tolist()), strict=True):
            of_region = scores[done : done + count * (last - first)].reshape(count, last - first)
            lengths = np.diff(reads.offset[read : read + count + 1])
            aside = set_aside(of_region, lengths, np.ones_like(lengths), self.model)
            self.found.beside_variants += int(aside.sum())
            kept = np.flatnonzero(~aside)
            base = [slice(reads.offset[read + k], reads.offset[read + k + 1]) for k in kept]
            self.found.add(
                FitPairs.of(
                    [reads.bases[part] for part in base],
                    [quality[part] for part in base],
                    [letters[first + best] for best in of_region[kept].argmax(axis=1)] if len(kept) else [],
                )
            )
            read, done = read + count, done + of_region.size
        return scored
