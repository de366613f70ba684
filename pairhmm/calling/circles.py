"""Circular contigs. A run has them unrolled: three times, end to end, of which the second turn is asked for.

Reads over the origin are whole there (cpu/calling/circle_reads.hpp). Scored regions are moved back to the contig.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import LeftOut, ReadSelection
from pairhmm.alignments.sources import OpenAlignments
from pairhmm.native import native
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval, no_contig
from pairhmm.variants.variant import Variant

if TYPE_CHECKING:
    from pairhmm._cpu import CircleReads, ReferenceBases

_TURNS = 3


class UnrolledReference:
    """The reference of a run, with its circular contigs unrolled. InputError for a circle that is no contig.

    Attributes
    ----------
    contigs : dict of str to int
        Names and lengths, unrolled.
    lengths : dict of str to int
        The same, as they are in the file.
    circles : dict of str to int
        Names of circular contigs, and their bases.
    """

    def __init__(self, genome: Reference, circular: Sequence[str] = ()) -> None:
        self.path, self._genome = genome.path, genome
        for name in circular:
            if name not in genome.contigs:
                raise no_contig("--circular", name, name, genome.contigs)
        self.lengths = genome.contigs
        self.circles = {name: genome.contigs[name] for name in circular}
        self.contigs = self.unrolled(genome.contigs)
        self._circles: dict[tuple[Any, ...], CircleReads] = {}
        self._lock = threading.Lock()

    def check_aligned(self, contigs: Mapping[str, int], paths: Iterable[str]) -> None:
        """Require that alignments, which have these contigs, have each circle."""
        for name in self.circles:
            if name not in contigs:
                raise no_contig("--circular", ", ".join(paths), name, contigs)

    def unrolled(self, contigs: dict[str, int]) -> dict[str, int]:
        """Contigs with the lengths that they have unrolled."""
        return {name: length * (_TURNS if name in self.circles else 1) for name, length in contigs.items()}

    def on_contig(self, chrom: str) -> int:
        """Where the second turn of a circle begins; 0 for other contigs."""
        return self.circles.get(chrom, 0)

    def fetch(self, chrom: str, start: int, end: int) -> str:
        """Upper-case bases of [start, end), clamped to the contig."""
        length = self.circles.get(chrom)
        if length is None:
            return self._genome.fetch(chrom, start, end)
        at, end, parts = max(0, start), min(end, self.contigs[chrom]), []
        while at < end:
            behind = min(end, at - at % length + length)
            parts.append(self._genome.fetch(chrom, at % length, at % length + behind - at))
            at = behind
        return "".join(parts)

    def second_turn(self, values: NDArray[Any], chrom: str) -> NDArray[Any]:
        """Of the values at each position of a contig, unrolled, those on the contig."""
        first = self.on_contig(chrom)
        return values[first : first + self.lengths[chrom]]

    def second_turns(self, intervals: Iterable[Interval]) -> list[Interval]:
        """Intervals of contigs, on the second turn of circles."""
        return [
            Interval(chrom, start + self.on_contig(chrom), end + self.on_contig(chrom))
            for chrom, start, end in intervals
        ]

    def with_ends(self, intervals: Sequence[Interval], reach: int) -> list[Interval]:
        """Intervals of the second turn; before one at the origin also the last bases of the circle, if asked for."""
        wider = []
        for chrom, start, end in intervals:
            length = self.on_contig(chrom)
            ends = [one.start for one in intervals if one.chrom == chrom and one.end == 2 * length]
            if length and start == length and ends:
                start = max(ends[0], 2 * length - reach) - length
            wider.append(Interval(chrom, start, end))
        return wider

    def rolled_up(self, intervals: Iterable[Interval]) -> list[Interval]:
        """The inverse of `second_turns`. Intervals that begin on the first turn begin before 0."""
        return [
            Interval(chrom, start - self.on_contig(chrom), end - self.on_contig(chrom))
            for chrom, start, end in intervals
        ]

    def all_turns(self, variants: Iterable[Variant]) -> Iterator[Variant]:
        """Candidates, those of circles on every turn."""
        for chrom, group in groupby(variants, key=lambda variant: variant.chrom):
            length = self.circles.get(chrom)
            if length is None:
                yield from group
                continue
            listed = list(group)
            for turn in range(_TURNS):
                yield from (replace(one, pos=one.pos + turn * length) for one in listed)

    def reads_of(
        self,
        chrom: str,
        sources: Sequence[OpenAlignments],
        contigs: Sequence[str],
        selection: ReadSelection,
        **how: Any,
    ) -> CircleReads:
        """The reads of a circle, of which those over its origin are known. They are read once."""
        key = chrom, selection, *sorted(how.items())
        with self._lock:
            if key not in self._circles:
                circle = native.CircleReads(chrom, self.circles[chrom])
                ends = [Interval(chrom, *place) for place in circle.near_origin()]
                reference = native.ReferenceBases(self.fetch)
                for block in read_blocks(sources, contigs, selection, regions=ends, left_out=LeftOut(), **how):
                    circle.take_near_origin(block.aligned, reference)
                self._circles[key] = circle
            return self._circles[key]


def run_blocks(
    genome: UnrolledReference,
    sources: Sequence[OpenAlignments],
    contigs: Sequence[str],
    selection: ReadSelection,
    chunk_size: int,
    regions: Sequence[Interval] | None,
    left_out: LeftOut | None = None,
    **how: Any,
) -> Iterator[ReadBlock]:
    """The blocks of `read_blocks`, with those of circles unrolled. With circles, regions have to be given."""
    if not genome.circles or regions is None:
        yield from read_blocks(sources, contigs, selection, chunk_size, regions, left_out=left_out, **how)
        return
    how.pop("wanted", None)
    found = LeftOut()
    rank = {name: number for number, name in enumerate(contigs)}
    in_order = sorted((one for one in regions if one.chrom in rank), key=lambda one: (rank[one.chrom], one.start))
    for circle, group in groupby(in_order, key=lambda one: one.chrom if one.chrom in genome.circles else ""):
        places = list(group)
        if circle:
            known = genome.reads_of(circle, sources, contigs, selection, **how)
            reads = known.over([(start, end) for _, start, end in places])
            read = partial(read_blocks, sources, contigs, selection, chunk_size, **how)
            for columns in _turns(circle, reads, read, native.ReferenceBases(genome.fetch), found):
                if len(block := ReadBlock.of_columns(circle, columns)):
                    yield block
        else:
            yield from read_blocks(sources, contigs, selection, chunk_size, places, left_out=found, **how)
    if left_out is None:
        found.conclude(", ".join(source.path for source in sources), is_whole=False)
    else:
        left_out.add(found)


def _turns(
    chrom: str,
    circle: CircleReads,
    read: Callable[..., Iterator[ReadBlock]],
    reference: ReferenceBases,
    left_out: LeftOut,
) -> Iterator[tuple[Any, ...]]:
    """The reads of a circle, unrolled, in columns. Those left out count on the second turn alone."""
    for turn in range(_TURNS):
        if parts := [Interval(chrom, *part) for part in circle.on_turn(turn)]:
            for block in read(regions=parts, left_out=left_out if turn == 1 else LeftOut()):
                yield circle.turned(block.aligned, turn, reference)
    yield circle.rest()
