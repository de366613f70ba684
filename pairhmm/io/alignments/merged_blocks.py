"""Merges blocks of reads of several inputs by coordinate. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pairhmm.genomics.blocks import ReadBlock


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
    chunk_size : int
    """
    held: list[ReadBlock] = []
    for piece in _pieces(streams, rank):
        if held and held[0].chrom != piece.chrom:
            yield ReadBlock.concatenate(held)
            held = []
        held.append(piece)
        if sum(map(len, held)) >= chunk_size:
            *blocks, rest = _sliced(ReadBlock.concatenate(held), chunk_size)
            yield from blocks
            held = [rest]
    if held:
        yield ReadBlock.concatenate(held)


def _sliced(block: ReadBlock, size: int) -> Iterator[ReadBlock]:
    for first in range(0, len(block), size):
        yield block.take(np.arange(first, min(first + size, len(block))))


def _pieces(streams: Sequence[Iterator[ReadBlock]], rank: Mapping[str, int]) -> Iterator[ReadBlock]:
    """The merged reads, as far as they are known, again and again."""
    heads = {order: _Head(block) for order, stream in enumerate(streams) if (block := next(stream, None)) is not None}
    while heads:
        contig = min(rank[head.block.chrom] for head in heads.values())
        open_ones = {order: head for order, head in heads.items() if rank[head.block.chrom] == contig}
        # What comes next may start at the last read of the block that ends first, and goes before later inputs.
        frontier, first = min((int(head.block.start[-1]), order) for order, head in open_ones.items())
        taken, orders = [], []
        for order, head in open_ones.items():
            reads = head.take(frontier + (order <= first))
            taken.append(reads)
            orders.append(np.full(len(reads), order))
            if head.is_done():
                rest = next(streams[order], None)
                if rest is None:
                    del heads[order]
                else:
                    heads[order] = _Head(rest)
        together = ReadBlock.concatenate(taken)
        yield together.take(np.lexsort((np.concatenate(orders), together.start)))


@dataclass(slots=True)
class _Head:
    """The block that comes next of an input. What was not yet taken of it is not copied."""

    block: ReadBlock
    taken: int = 0

    def take(self, frontier: int) -> ReadBlock:
        """The next reads: those that start before a position."""
        before, self.taken = self.taken, int(np.searchsorted(self.block.start, frontier))
        return self.block.take(np.arange(before, self.taken))

    def is_done(self) -> bool:
        return self.taken == len(self.block)
