"""Circular contigs. A run has them unrolled: three times, end to end, of which the second turn is asked for.

Reads over the origin are whole there (cpu/calling/over_origin.hpp), on the first two turns. So candidates beside the
origin have the same reads and the same neighbours as others. Scored regions are moved back to the contig.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.merged_blocks import merged_blocks
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.sam import SECONDARY, SUPPLEMENTARY
from pairhmm.alignments.selection import LeftOut, ReadSelection
from pairhmm.alignments.sources import OpenAlignments
from pairhmm.native import native
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval, no_contig
from pairhmm.variants.variant import Variant

_TURNS = 3
# Alignments that end no further from the origin may go on behind it (kNearOrigin of cpu/calling/over_origin.cpp).
_NEAR = 100
# The other parts of split reads, which are whole here.
_PARTS = SECONDARY | SUPPLEMENTARY


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
        self._over: dict[tuple[Any, ...], ReadBlock] = {}
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

    def over_origin(
        self,
        chrom: str,
        sources: Sequence[OpenAlignments],
        contigs: Sequence[str],
        selection: ReadSelection,
        **how: Any,
    ) -> ReadBlock:
        """The reads over the origin of a circle, whole, on its first turn. They are read once."""
        key = chrom, *sorted(how.items())
        with self._lock:
            if key not in self._over:
                length = self.circles[chrom]
                near = min(_NEAR + 1, length)
                ends = [Interval(chrom, 0, near), Interval(chrom, max(near, length - near), length)]
                ends = [one for one in ends if one.start < one.end]
                blocks = read_blocks(sources, contigs, selection, regions=ends, left_out=LeftOut(), **how)
                whole = [self._whole(block)[0] for block in blocks]
                joined = ReadBlock.concatenate(whole) if whole else ReadBlock.empty(chrom)
                self._over[key] = joined.take(np.argsort(joined.start, kind="stable"))
            return self._over[key]

    def _whole(self, block: ReadBlock) -> tuple[ReadBlock, NDArray[np.bool_]]:
        """The reads of a block that lie over the origin, whole; which of all do so, or are parts of split reads."""
        reference = native.ReferenceBases(self.fetch)
        read, start, end, offset, cigar = native.reads_over_origin(
            block.native, block.end, block.chrom, self.circles[block.chrom], reference
        )
        gone = (block.flag & _PARTS) != 0
        kept = ~gone[read]
        gone[read] = True
        whole = block.take(read)
        return replace(whole, start=start, end=end, cigar_offset=offset, cigar=cigar).take(np.flatnonzero(kept)), gone

    def linear(self, blocks: Iterable[ReadBlock]) -> Iterator[ReadBlock]:
        """The reads of blocks that do not lie over the origin."""
        for block in blocks:
            gone = self._whole(block)[1]
            left = block.take(np.flatnonzero(~gone)) if gone.any() else block
            if len(left):
                yield left


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
            pieces = _turns(genome, circle, places, (sources, contigs, selection), chunk_size, found, how)
            whole = _whole_reads(genome.over_origin(circle, sources, contigs, selection, **how), genome, places)
            yield from merged_blocks([pieces, whole], rank, chunk_size)
        else:
            yield from read_blocks(sources, contigs, selection, chunk_size, places, left_out=found, **how)
    if left_out is None:
        found.conclude(", ".join(source.path for source in sources), is_whole=False)
    else:
        left_out.add(found)


def _turns(
    genome: UnrolledReference,
    chrom: str,
    places: Sequence[Interval],
    inputs: tuple[Sequence[OpenAlignments], Sequence[str], ReadSelection],
    chunk_size: int,
    left_out: LeftOut,
    how: dict[str, Any],
) -> Iterator[ReadBlock]:
    """The reads of a circle that do not lie over its origin. Those left out count on the second turn alone."""
    length = genome.circles[chrom]
    for turn in range(_TURNS):
        first = turn * length
        parts = [
            Interval(chrom, max(start - first, 0), min(end - first, length))
            for _, start, end in places
            if start < first + length and end > first
        ]
        if parts:
            counts = left_out if turn == 1 else LeftOut()
            for block in genome.linear(read_blocks(*inputs, chunk_size, parts, left_out=counts, **how)):
                yield _moved(block, first)


def _whole_reads(block: ReadBlock, genome: UnrolledReference, places: Sequence[Interval]) -> Iterator[ReadBlock]:
    """The reads over the origin that lie in some places."""
    for turn in range(_TURNS - 1):
        moved = _moved(block, turn * genome.circles[places[0].chrom]).over([(start, end) for _, start, end in places])
        if len(moved):
            yield moved


def _moved(block: ReadBlock, distance: int) -> ReadBlock:
    return replace(block, start=block.start + distance, end=block.end + distance, _native=None)
