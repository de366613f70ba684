"""Merges blocks of reads of several inputs by coordinate. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heapreplace

import numpy as np

from pairhmm.alignments.blocks import ReadBlock

_BEHIND_ALL = 1 << 62


def merged_blocks(
    streams: Sequence[Iterator[ReadBlock]], rank: Mapping[str, int], chunk_size: int
) -> Iterator[ReadBlock]:
    """Blocks of `chunk_size` reads by contig, start and input; the reads of an input keep their order.

    Parameters
    ----------
    streams : sequence of iterators of ReadBlock
        One an input. Blocks are not empty, and in order.
    rank : mapping of str to int
        The order of the contigs.
    """
    held: list[ReadBlock] = []
    for piece in _pieces(streams, rank, chunk_size):
        if held and held[0].chrom != piece.chrom:
            yield ReadBlock.concatenate(held)
            held = []
        held.append(piece)
        if sum(map(len, held)) >= chunk_size:
            whole, held = ReadBlock.concatenate(held), []
            for first in range(0, len(whole), chunk_size):
                part = whole.take(np.arange(first, min(first + chunk_size, len(whole))))
                if len(part) == chunk_size:
                    yield part
                else:
                    held = [part]
    if held:
        yield ReadBlock.concatenate(held)


def _pieces(streams: Sequence[Iterator[ReadBlock]], rank: Mapping[str, int], enough: int) -> Iterator[ReadBlock]:
    """The merged reads, as far as they are known, again and again: about so many, as all inputs are seen."""
    inputs = [_Input(stream) for stream in streams]
    while contigs := [rank[one.ahead.chrom] for one in inputs if one.ahead is not None]:
        contig = min(contigs)
        here = [
            (order, one)
            for order, one in enumerate(inputs)
            if one.ahead is not None and rank[one.ahead.chrom] == contig
        ]
        ends = [(one.advance(), order) for order, one in here]
        heapify(ends)
        while True:
            count = 0
            while ends and count < enough:
                one = inputs[ends[0][1]]
                if not one.continues():
                    heappop(ends)
                    continue
                heapreplace(ends, (one.advance(), ends[0][1]))
                count += len(one.held[-1])
            # What comes next may start at the last read of the input that ends first, and goes before later inputs.
            frontier, first = ends[0] if ends else (_BEHIND_ALL, -1)
            taken = [(order, reads) for order, one in here for reads in one.take(frontier + (order <= first))]
            if taken:
                yield _sorted(taken)
                del taken
            if not ends:
                break


def _sorted(taken: Sequence[tuple[int, ReadBlock]]) -> ReadBlock:
    """Reads of several inputs by start and input."""
    together = ReadBlock.concatenate([reads for _, reads in taken])
    orders = np.repeat([order for order, _ in taken], [len(reads) for _, reads in taken])
    return together.take(np.lexsort((orders, together.start)))


class _Input:
    """The blocks of one input that are held on a contig, and the one that comes next, which may be on another."""

    def __init__(self, stream: Iterator[ReadBlock]) -> None:
        self._stream = stream
        self.held: list[ReadBlock] = []
        self._taken = 0
        self.ahead = next(stream, None)

    def continues(self) -> bool:
        """Whether the next block is on the contig of the last one."""
        if self.ahead is None:
            self.ahead = next(self._stream, None)
        return self.ahead is not None and self.ahead.chrom == self._chrom

    def advance(self) -> int:
        """Hold the next block. Returns where its last read starts."""
        assert self.ahead is not None
        self.held.append(self.ahead)
        self._chrom, self.ahead = self.ahead.chrom, None
        return int(self.held[-1].start[-1])

    def take(self, frontier: int) -> Iterator[ReadBlock]:
        """The next reads: those that start before a position. What is left of a block is not copied."""
        while self.held and int(self.held[0].start[self._taken]) < frontier:
            block, before = self.held[0], self._taken
            self._taken = int(np.searchsorted(block.start, frontier))
            yield block if self._taken - before == len(block) else block.take(np.arange(before, self._taken))
            if self._taken < len(block):
                return
            del self.held[0]
            self._taken = 0
