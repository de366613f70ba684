"""Estimates where the reads of an alignment file lie from its index alone, without decoding a read.

The index of a BAM file has the number of reads of each contig. It also has the places in the file where the reads of
stretches of 16,384 bases or more begin. The index of a CRAM file lists its slices with their sizes. All coordinates
are 0-based half-open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.bam_index import BamIndex
from pairhmm.alignments.cram_index import CramSlice
from pairhmm.alignments.sources import OpenAlignments
from pairhmm.sequences.arrays import distinct

# The most bytes that a block of a BAM file holds, unpacked.
_BLOCK_SIZE = 1 << 16


@dataclass(frozen=True, slots=True)
class ReadDensity:
    """How many reads a contig has, and where.

    Attributes
    ----------
    edges : int64 (stretches + 1,)
        Positions; the reads of a stretch are taken to be spread evenly.
    before : float64 (stretches + 1,)
        Number of reads before each edge; for CRAM, bytes in place of reads.
    """

    edges: NDArray[np.int64]
    before: NDArray[np.float64]

    def upto(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Estimated number of reads before each position."""
        return np.interp(positions, self.edges, self.before)


def read_densities(source: OpenAlignments) -> dict[str, ReadDensity]:
    """The density of each contig that has reads, of a file with an index."""
    contigs, lengths, index = source.references, source.lengths, source.index
    assert index is not None
    found = _cram_densities(index.cram, lengths) if index.bam is None else _bam_densities(index.bam, lengths)
    return {contigs[number]: density for number, density in found}


def _bam_densities(index: BamIndex, lengths: Sequence[int]) -> Iterator[tuple[int, ReadDensity]]:
    """Contig number and density of each contig, from the file offsets at which the reads of its stretches begin."""
    known = list(_bam_offsets(index))
    blocks = distinct(np.concatenate([np.empty(0, np.int64), *(offsets for _, _, _, offsets in known)]) >> 16)
    # Approximate size of a packed block. If the whole file is one block, only offsets within the block count.
    size = int(np.diff(blocks).min()) if len(blocks) > 1 else 1
    for number, reads, positions, offsets in known:
        places = (offsets >> 16) + (offsets & _BLOCK_SIZE - 1) * (size / _BLOCK_SIZE)
        places = np.maximum.accumulate(places)
        edges = np.append(np.minimum(positions, lengths[number]), lengths[number])
        yield number, ReadDensity(edges, reads * (places - places[0]) / max(places[-1] - places[0], 1e-9))


def _bam_offsets(index: BamIndex) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[np.int64]]]:
    """Number, reads, positions, and offsets of each contig: of the first read at each position, and of their end."""
    for number, (reads, _, end) in sorted(index.reads.items()):
        positions, offsets = index.starts(number)
        known = offsets > 0
        if reads and known.any():
            yield number, reads, positions[known], np.append(offsets[known], np.uint64(end)).astype(np.int64)


def _cram_densities(index: Sequence[CramSlice], lengths: Sequence[int]) -> Iterator[tuple[int, ReadDensity]]:
    """Contig number and density of each contig, from the sizes of its slices. Those of several contigs are even."""
    slices: dict[int, list[tuple[int, int, float]]] = {}
    aligned = [line for line in index if line.contig >= 0]
    bases = Counter[tuple[int, int]]()
    for line in aligned:
        bases[line.container, line.offset] += max(1, line.span)
    for contig, start, span, container, offset, size in aligned:
        own = max(1, span) / bases[container, offset] * size
        slices.setdefault(contig, []).append((start - 1, start - 1 + span, own))
    for number, found in slices.items():
        first, last = np.clip(np.array([one[:2] for one in found], dtype=np.int64).T, 0, lengths[number])
        per_base = np.array([size for _, _, size in found]) / np.maximum(last - first, 1)
        edges = distinct(np.concatenate([[0], first, last, [lengths[number]]]))
        steps = np.zeros(len(edges))
        np.add.at(steps, np.searchsorted(edges, first), per_base)
        np.add.at(steps, np.searchsorted(edges, last), -per_base)
        yield number, ReadDensity(edges, np.concatenate([[0.0], np.cumsum(np.cumsum(steps)[:-1] * np.diff(edges))]))
