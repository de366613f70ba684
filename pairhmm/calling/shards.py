"""Cuts a run into shards of equal work, where a cut changes no result.

Candidates that are near each other are scored together, so a cut between them would change the calls. A cut is
therefore moved on to the next stretch without candidates, inside the requested intervals. There both sides
give the same as in a run over everything, because

* no candidate of one side can join those of the other, or bound the bases that their reads are cut to;
* every read that overlaps a region's candidates overlaps its shard.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_density import ReadDensity, read_densities
from pairhmm.alignments.selection import LeftOut
from pairhmm.alignments.sources import OpenAlignments
from pairhmm.calling.circles import UnrolledReference, run_blocks
from pairhmm.calling.run_options import RunOptions
from pairhmm.calling.targets import Inside, Locus
from pairhmm.native import native
from pairhmm.sequences.arrays import distinct
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.regions import REPEAT_REACH
from pairhmm.variants.variant import MAX_SHIFT, FetchBases, Variant

if TYPE_CHECKING:
    from pairhmm._cpu import CandidateFinder

# The work of a base without reads, in units of a read. It is small, but divides intervals without any reads evenly.
_BASE_WORK = 1e-6
# Bytes of a read in CRAM, whose index counts bytes.
_CRAM_BYTES = 40
# Reads that are taken at once when searching for an interval to cut. It is mostly near.
_CHUNK_SIZE = 500
# Bases. Targets closer than this are searched together: reading on takes no longer than a jump by the index.
_NEAR = 5000


def margin(options: RunOptions) -> int:
    """The distance (bases) beyond which two candidates cannot influence each other, where both are known.

    They limit each other's flanks. Beyond the margin a flank may be longer, by up to `REPEAT_REACH`.
    """
    return max(options.joining.join_distance, options.joining.flank) + options.joining.window


def context(options: RunOptions) -> int:
    """The bases on either side of a border whose reads are needed, where candidates are discovered.

    No candidate further than the longest flank from the border has any influence on the other side. A read may have an
    indel further out, and reads from further out may be assembled with those that show a candidate.
    """
    return margin(options) + REPEAT_REACH + MAX_SHIFT + 1 + options.discovery.reach


def window_end(position: int, window: int) -> int:
    """The first border of windows of so many bases at or after a position."""
    return -(-position // window) * window


class Work:
    """The work in a list of intervals, and the positions at which shares of it are done."""

    def __init__(self, intervals: Sequence[Interval], densities: Sequence[Mapping[str, ReadDensity]]) -> None:
        self._intervals, self._densities = intervals, densities
        self._course: tuple[int, NDArray[np.int64], NDArray[np.float64]] | None = None
        self._done = [0.0]
        for interval in intervals:
            self._done.append(self._done[-1] + self._of(interval.chrom, interval.start, interval.end))

    @property
    def total(self) -> float:
        """The work of all intervals, in reads."""
        return self._done[-1]

    def _of(self, chrom: str, start: int, end: int) -> float:
        return float(self._upto(chrom, np.array([end]))[0] - self._upto(chrom, np.array([start]))[0])

    def _upto(self, chrom: str, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The work on a contig before each position."""
        work = np.asarray(_BASE_WORK * positions, dtype=np.float64)
        for density in self._densities:
            if chrom in density:
                work += density[chrom].upto(positions)
        return work

    def _course_of(self, index: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions in an interval between which work is even, and the work before each since the interval's start."""
        if self._course is None or self._course[0] != index:
            chrom, start, end = self._intervals[index]
            edges = [density[chrom].edges for density in self._densities if chrom in density]
            positions = distinct(np.clip(np.concatenate([[start, end], *edges]), start, end).astype(np.int64))
            done = self._upto(chrom, positions)
            self._course = index, positions, done - done[0]
        return self._course[1:]

    def locus_at(self, share: float) -> tuple[str, int]:
        """The first position before which at least this share of all work lies."""
        goal = share * self._done[-1]
        index = min(bisect_right(self._done, goal), len(self._intervals)) - 1
        positions, done = self._course_of(index)
        return self._intervals[index].chrom, math.ceil(np.interp(goal - self._done[index], done, positions))


def work_of(sources: Sequence[OpenAlignments], places: Sequence[Interval]) -> Work:
    """The reads of indexed files in some places, as far as their indexes tell."""
    densities = []
    for source in sources:
        share = 1 / _CRAM_BYTES if source.kind == "CRAM" else 1.0
        densities.append(
            {name: replace(one, before=one.before * share) for name, one in read_densities(source).items()}
        )
    return Work(places, densities)


class Stretch(NamedTuple):
    """Targets on a contig, in order; the candidates from a position on; how far earlier candidates may reach."""

    chrom: str
    targets: list[int]
    variants: Iterator[Seen]
    reach: int


class Seen(NamedTuple):
    """A candidate, or a position before which no later candidate lies."""

    chrom: str
    pos: int
    variant: Variant | None


def listed_stretches(targets: Sequence[tuple[str, int]], candidates: Iterable[Variant]) -> Iterator[Stretch]:
    """A stretch for each contig with targets, with all candidates of the contig."""
    on_contig = {chrom: [one for _, one in group] for chrom, group in groupby(targets, key=lambda target: target[0])}
    for chrom, variants in groupby(candidates, key=lambda variant: variant.chrom):
        if chrom in on_contig:
            yield Stretch(chrom, on_contig.pop(chrom), (Seen(chrom, one.pos, one) for one in variants), 0)
    for chrom, left in on_contig.items():
        yield Stretch(chrom, left, iter(()), 0)


def discovered_stretches(
    targets: Sequence[tuple[str, int]],
    reader: AlignmentReader,
    genome: UnrolledReference,
    contigs: Mapping[str, int],
    options: RunOptions,
) -> Iterator[Stretch]:
    """A stretch for each run of nearby targets, with the candidates that reads show from a little before them on."""
    lead = context(options)
    for chrom, near in _neighbours(targets):
        start = max(0, near[0] - lead)
        stretch = Interval(chrom, start, contigs[chrom])
        finder = native.CandidateFinder(native.ReferenceBases(genome.fetch), len(reader.samples), options.discovery)
        # Reads that are left out are announced by the shards that have them.
        names = list(contigs)
        blocks = run_blocks(genome, reader.sources, names, options.reads, _CHUNK_SIZE, [stretch], LeftOut())
        # Candidates may be missed whose reads are assembled with some from before `start`. Of those further out, only
        # a deletion reaches beyond `start`, and its reads are among these.
        yield Stretch(chrom, near, _shown(finder, blocks), start + options.discovery.reach + MAX_SHIFT + 1)


def _neighbours(targets: Sequence[tuple[str, int]]) -> Iterator[tuple[str, list[int]]]:
    """Runs of targets, in order. Within a run, no target is further than `_NEAR` from the one before."""
    chrom, near = "", list[int]()
    for name, target in targets:
        if near and (name != chrom or target - near[-1] > _NEAR):
            yield chrom, near
            near = []
        chrom = name
        near.append(target)
    if near:
        yield chrom, near


def _shown(finder: CandidateFinder, blocks: Iterator[ReadBlock]) -> Iterator[Seen]:
    for block in blocks:
        yield from (Seen(one.chrom, one.pos, one) for one in finder.scan(block.chrom, block.native))
        yield Seen(block.chrom, finder.settled, None)
    yield from (Seen(one.chrom, one.pos, one) for one in finder.finish())


class Cutter:
    """Finds where a contig may be cut. Candidates further apart than `margin` cannot influence each other."""

    def __init__(self, intervals: Sequence[Interval], fetch: FetchBases, margin: int) -> None:
        self._reference, self._margin = native.ReferenceBases(fetch), margin
        self._inside = Inside(intervals)
        # A cut has a base of the same interval on either side, so an interval of one base can't be cut.
        self._roomy: dict[str, list[Interval]] = {}
        self._end: dict[str, int] = {}
        for interval in intervals:
            self._end[interval.chrom] = interval.end
            if interval.end - interval.start > 1:
                self._roomy.setdefault(interval.chrom, []).append(interval)

    def cuts(self, stretch: Stretch) -> list[int]:
        """The first possible cut at or after each target, or the end of the contig's last interval if there is none.

        Only the candidates that are needed are taken from the stretch.
        """
        seen = (one for one in stretch.variants if one.variant is None or self._inside(one.chrom, one.pos))
        ahead, reach = next(seen, None), stretch.reach
        cuts = []
        for target in stretch.targets:
            cut = self._within(stretch.chrom, max(target, reach))
            while ahead is not None and cut < self._end[stretch.chrom]:
                # Later candidates begin at or after this one, but can be shifted back so far.
                if ahead.pos - MAX_SHIFT > max(cut, reach + self._margin):
                    break
                if ahead.variant is not None:
                    end = native.variant_extent(ahead.variant, self._reference)[1]
                    reach = max(reach, end, ahead.variant.joined_until)
                    cut = self._within(stretch.chrom, max(target, reach))
                ahead = next(seen, None)
            cuts.append(cut)
        return cuts

    def _within(self, chrom: str, position: int) -> int:
        """The first position from `position` on inside an interval; the end of the last interval if there is none."""
        intervals = self._roomy.get(chrom, [])
        index = bisect_right(intervals, position, key=lambda interval: interval.end)
        return max(position, intervals[index].start + 1) if index < len(intervals) else self._end[chrom]


class DiscoveredCuts:
    """Finds cuts one by one, in a run whose candidates are discovered. A target always has the same cut.

    `known_cuts`: those that were found, also by others.
    """

    def __init__(
        self,
        intervals: Sequence[Interval],
        reader: AlignmentReader,
        genome: UnrolledReference,
        contigs: Mapping[str, int],
        options: RunOptions,
        known_cuts: dict[Locus, Locus],
    ) -> None:
        self._cutter = Cutter(intervals, genome.fetch, margin(options))
        self._names, self._cuts = list(contigs), known_cuts
        self._known = reader, genome, contigs, options

    def at(self, target: Locus) -> Locus:
        """The first possible cut at or after a target."""
        if target not in self._cuts:
            rank, position = target
            (stretch,) = discovered_stretches([(self._names[rank], position)], *self._known)
            (cut,) = self._cutter.cuts(stretch)
            self._cuts[target] = rank, cut
        return self._cuts[target]
