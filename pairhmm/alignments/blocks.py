"""Blocks of aligned reads as flat arrays, as native code takes them.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.native import native
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import Names, gather, joined, offsets

if TYPE_CHECKING:
    from pairhmm._cpu import AlignedReads, Reads


NO_INDEL_QUALITY = 255
"""In place of the insertion and deletion qualities of reads that have none of their own."""


# Arrays with a value for each read, and those with values of all reads end to end.
_OF_READS, _END_TO_END = ("sample", "flag", "mapq", "start", "end"), ("bases", "quals", "cigar")


class AlignedRead(Protocol):
    """One read as `ReadBlock.from_alignments` takes it. Its fields are those of `ReadBlock`.

    `cigar` has a pair (operation as in BAM, length) for each operation.
    """

    name: str
    sample: int
    flag: int
    mapq: int
    start: int
    end: int
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    cigar: Sequence[tuple[int, int]]


@dataclass(slots=True)
class ReadBlock:
    """Aligned reads of one contig, in order of start.

    Attributes
    ----------
    sample : int32 (reads,)
        Index into the list of samples.
    flag : uint16 (reads,)
        SAM flags.
    mapq : uint8 (reads,)
    start, end : int64 (reads,)
        The reference bases that the read is aligned to.
    base_offset : int64 (reads + 1,)
        Where each read's bases and qualities begin.
    bases : uint8
        Codes of `READ_LETTERS`, soft clips included. Native code takes those above 4 for N.
    quals : uint8
        Phred base qualities.
    cigar_offset : int64 (reads + 1,)
    cigar : uint32
        Operations packed as in BAM: ``length << 4 | operation``.
    molecules : list of str or None
        The molecule that each read is a copy of; empty where that is not known. None where it was not asked for.
    indel_quals : uint8 (2, bases) or None
        Phred qualities of insertions and of deletions that reads have of their own (tags BI and BD);
        `NO_INDEL_QUALITY` for reads without that tag. None where no read has them, or they were not asked for.
    """

    chrom: str
    names: Names
    sample: NDArray[np.int32]
    flag: NDArray[np.uint16]
    mapq: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    cigar_offset: NDArray[np.int64]
    cigar: NDArray[np.uint32]
    molecules: list[str] | None = None
    indel_quals: NDArray[np.uint8] | None = None
    _native: Reads | None = field(default=None, repr=False)

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.names)

    @property
    def native(self) -> Reads:
        """View of the arrays for native code. They are not copied."""
        if self._native is None:
            self._native = native.Reads(
                self.start,
                self.sample,
                self.base_offset,
                self.bases,
                self.quals,
                self.cigar_offset,
                self.cigar,
                self.flag,
                None if self.molecules is None else Names.of(self.molecules),
            )
        return self._native

    @property
    def aligned(self) -> AlignedReads:
        """View of all columns for native code."""
        return native.AlignedReads(self.native, self.end, self.flag, self.mapq, self.names, self.indel_quals)

    @classmethod
    def empty(cls, chrom: str = "") -> ReadBlock:
        """A block without reads."""
        return cls.from_alignments(chrom, [])

    @classmethod
    def from_alignments(cls, chrom: str, alignments: Sequence[AlignedRead]) -> ReadBlock:
        """Pack aligned reads of one contig, which come in order of start."""
        packed = [length << 4 | operation for read in alignments for operation, length in read.cigar]
        return cls(
            chrom=chrom,
            names=Names.of([read.name for read in alignments]),
            sample=np.array([read.sample for read in alignments], dtype=np.int32),
            flag=np.array([read.flag for read in alignments], dtype=np.uint16),
            mapq=np.array([read.mapq for read in alignments], dtype=np.uint8),
            start=np.array([read.start for read in alignments], dtype=np.int64),
            end=np.array([read.end for read in alignments], dtype=np.int64),
            base_offset=offsets([len(read.bases) for read in alignments]),
            bases=joined([read.bases for read in alignments]),
            quals=joined([read.quals for read in alignments]),
            cigar_offset=offsets([len(read.cigar) for read in alignments]),
            cigar=np.array(packed, dtype=np.uint32),
            indel_quals=_indel_quals(
                [getattr(read, "indel_quals", None) for read in alignments], [len(read.bases) for read in alignments]
            ),
        )

    @classmethod
    def of_columns(cls, chrom: str, columns: tuple[Any, ...]) -> ReadBlock:
        """Reads of one contig in the columns that native code makes (cpu/bind/aligned_reads.cpp)."""
        text, end, *arrays, molecules, insertion, deletion = columns
        arrays.append(None if molecules is None else list(Names(*molecules)))
        arrays.append(np.stack([insertion, deletion]) if len(insertion) else None)
        return cls(chrom, Names(text, end), *arrays)

    @classmethod
    def concatenate(cls, blocks: Sequence[ReadBlock]) -> ReadBlock:
        """One block of the reads of several, which follow each other on one contig."""
        blocks = [block for block in blocks if len(block)] or list(blocks[-1:])
        if len(blocks) == 1:
            return blocks[0]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(block, name) for block in blocks]) for name in (*_OF_READS, *_END_TO_END)
        }
        return cls(
            chrom=blocks[0].chrom,
            names=Names.concatenate([block.names for block in blocks]),
            **columns,
            base_offset=offsets(np.concatenate([np.diff(block.base_offset) for block in blocks])),
            cigar_offset=offsets(np.concatenate([np.diff(block.cigar_offset) for block in blocks])),
            molecules=_all_or_none([block.molecules for block in blocks]),
            indel_quals=_indel_quals([block.indel_quals for block in blocks], [len(block.bases) for block in blocks]),
        )

    def over(self, intervals: Sequence[tuple[int, int]]) -> ReadBlock:
        """The reads over some intervals, which are in order and do not overlap."""
        are_over = np.empty(len(self), dtype=bool)
        self.native.over(intervals, are_over)
        return self.take(np.flatnonzero(are_over))

    def take(self, indices: NDArray[np.int64]) -> ReadBlock:
        """The reads at some indices, in that order."""
        starts, cigar_starts = self.base_offset[indices], self.cigar_offset[indices]
        cigar_lengths = self.cigar_offset[indices + 1] - cigar_starts
        base_offset, cigar_offset = offsets(self.base_offset[indices + 1] - starts), offsets(cigar_lengths)
        cigar_index = np.repeat(cigar_starts - cigar_offset[:-1], cigar_lengths)
        return ReadBlock(
            chrom=self.chrom,
            names=self.names.at(indices),
            **{name: getattr(self, name)[indices] for name in _OF_READS},
            base_offset=base_offset,
            bases=gather(self.bases, starts, base_offset),
            quals=gather(self.quals, starts, base_offset),
            cigar_offset=cigar_offset,
            cigar=self.cigar[cigar_index + np.arange(len(cigar_index))],
            molecules=None if self.molecules is None else [self.molecules[index] for index in indices],
            indel_quals=self.indel_slices(starts, base_offset),
        )

    def indel_slices(self, starts: NDArray[np.int64], offset: NDArray[np.int64]) -> NDArray[np.uint8] | None:
        """Slices of `indel_quals` end to end, as `pairhmm.sequences.arrays.gather` makes them."""
        if self.indel_quals is None:
            return None
        return np.stack([gather(row, starts, offset) for row in self.indel_quals])


def _indel_quals(given: Sequence[NDArray[np.uint8] | None], bases: Sequence[int]) -> NDArray[np.uint8] | None:
    """Indel qualities of parts end to end, where some may have none; None where no part has any."""
    if all(one is None for one in given):
        return None
    each = [
        np.full((2, size), NO_INDEL_QUALITY, dtype=np.uint8) if one is None else one
        for one, size in zip(given, bases, strict=True)
    ]
    return np.concatenate(each, axis=1)


def _all_or_none(molecules: Sequence[list[str] | None]) -> list[str] | None:
    known = [one for one in molecules if one is not None]
    return [molecule for block in known for molecule in block] if len(known) == len(molecules) else None
