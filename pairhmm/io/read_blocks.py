"""Alignments straight from pysam into flat arrays: what a whole genome needs, where an object a read is too dear.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import heapq
import logging
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from typing import TypeAlias

import numpy as np
import pysam

from pairhmm.blocks import ReadBlock, offsets
from pairhmm.errors import InputError
from pairhmm.sequences import encode

log = logging.getLogger(__name__)

Interval = tuple[str, int, int]
Buffer: TypeAlias = "bytes | array[int]"

# Which operations (M I D N S H P = X) consume bases of the read.
_CONSUMES_QUERY = np.array([1, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0], dtype=np.int64)
# An index is used to get to the next wanted interval where it is at least this far: nearer, reading on is faster.
_JUMP = 200_000
_SAMPLE_TAG = "RG"
_UNMAPPED = 0x4
# SAM flags and what is said of reads that were left out for them.
_REASONS = (
    (_UNMAPPED, "unmapped"),
    (0x100, "secondary"),
    (0x200, "QC-fail"),
    (0x400, "duplicate"),
    (0x800, "supplementary"),
)
_LOW_MAPQ, _EMPTY = "low mapping quality", "without bases"


@dataclass(frozen=True, slots=True)
class ReadSelection:
    """Which alignments are used, and how their gaps are filled.

    Attributes
    ----------
    excluded_flags : int
        Alignments with any of these SAM flags are left out.
    min_mapq : int
    default_base_quality : int or None
        Phred quality of reads that have none; None makes them an error.
    """

    excluded_flags: int
    min_mapq: int
    default_base_quality: int | None = None


@dataclass(frozen=True, slots=True)
class OpenAlignments:
    """One open BAM or CRAM file and the sample of each of its read groups.

    Attributes
    ----------
    path : str
    file : pysam.AlignmentFile
    sample_of_group : dict of str to int
        Sample index of each read group.
    default_sample : int or None
        Sample index of reads without a read group; None where the file has several samples: such reads are an error.
    """

    path: str
    file: pysam.AlignmentFile
    sample_of_group: dict[str, int]
    default_sample: int | None

    def sample(self, read: pysam.AlignedSegment) -> int:
        """The sample index of a read."""
        group = str(read.get_tag(_SAMPLE_TAG)) if self.sample_of_group and read.has_tag(_SAMPLE_TAG) else ""
        sample = self.sample_of_group.get(group, self.default_sample)
        if sample is None:
            rule = (
                f"its read group {group!r} is not in the header"
                if group
                else "no read group in a file of several samples"
            )
            raise InputError(self.path, f"read {read.query_name}", rule, "run samtools addreplacerg")
        return sample


@dataclass(slots=True)
class _Lists:
    """The reads of a block to be, in lists that grow by one a read."""

    chrom: str
    names: list[str] = field(default_factory=list)
    sample: list[int] = field(default_factory=list)
    flag: list[int] = field(default_factory=list)
    mapq: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    quals: list[Buffer] = field(default_factory=list)
    cigars: list[list[tuple[int, int]]] = field(default_factory=list)

    def block(self) -> ReadBlock:
        packed = [length << 4 | operation for cigar in self.cigars for operation, length in cigar]
        return ReadBlock(
            self.chrom,
            self.names,
            np.array(self.sample, dtype=np.int32),
            np.array(self.flag, dtype=np.uint16),
            np.array(self.mapq, dtype=np.uint8),
            np.array(self.start, dtype=np.int64),
            np.array(self.end, dtype=np.int64),
            offsets([len(bases) for bases in self.bases]),
            encode("".join(self.bases).replace("=", "N")),
            np.frombuffer(b"".join(self.quals), dtype=np.uint8),
            offsets([len(cigar) for cigar in self.cigars]),
            np.array(packed, dtype=np.uint32),
        )


def read_blocks(
    inputs: Sequence[OpenAlignments],
    contigs: Sequence[str],
    selection: ReadSelection,
    chunk_size: int = 20_000,
    regions: Sequence[Interval] | None = None,
    wanted: Iterable[Interval] | None = None,
) -> Iterator[ReadBlock]:
    """Blocks of reads of all inputs, merged in coordinate order.

    Parameters
    ----------
    inputs : sequence of OpenAlignments
        Each sorted by coordinate.
    contigs : sequence of str
        All contigs, in the order of the inputs.
    selection : ReadSelection
    chunk_size : int
        Reads a block.
    regions : sequence of (chrom, start, end), optional
        Disjoint and in order. Only reads that overlap one are read, through the index.
    wanted : iterable of (chrom, start, end), optional
        Disjoint and in order. Reads that overlap none are skipped before anything of them is decoded.

    Raises
    ------
    InputError
        For inputs that are not sorted or are cut short, and reads whose parts do not fit each other.
    """
    rank = {name: index for index, name in enumerate(contigs)}
    copies = tee(wanted, len(inputs)) if wanted is not None else [None] * len(inputs)
    left_out: Counter[str] = Counter()
    streams = [
        _select(source, order, rank, selection, regions, intervals, left_out)
        for order, (source, intervals) in enumerate(zip(inputs, copies, strict=True))
    ]
    merged = streams[0] if len(streams) == 1 else heapq.merge(*streams, key=lambda item: item[:3])
    lists: _Lists | None = None
    current = -1
    for contig, start, order, read in merged:
        if lists is None or contig != current or len(lists.names) >= chunk_size:
            if lists is not None:
                yield _checked(lists, inputs)
            lists = _Lists(contigs[contig])
            current = contig
        _append(lists, inputs[order], start, read, selection)
    if lists is not None and lists.names:
        yield _checked(lists, inputs)
    if left_out:
        said = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
        log.log(logging.WARNING if _EMPTY in left_out else logging.INFO, "reads left out: %s", said)


def _append(
    lists: _Lists, source: OpenAlignments, start: int, read: pysam.AlignedSegment, selection: ReadSelection
) -> None:
    bases, cigar = read.query_sequence, read.cigartuples
    # `_select` passed over the others.
    assert bases
    assert cigar
    quals: Buffer | None = read.query_qualities
    if quals is None:
        if selection.default_base_quality is None:
            cure = "give --default-base-quality"
            raise InputError(source.path, f"read {read.query_name}", "it has no base qualities", cure)
        quals = bytes([selection.default_base_quality]) * len(bases)
    lists.names.append(read.query_name or "*")
    lists.sample.append(source.sample(read))
    lists.flag.append(read.flag)
    lists.mapq.append(read.mapping_quality)
    lists.start.append(start)
    lists.end.append(read.reference_end or start)
    lists.bases.append(bases)
    lists.quals.append(quals)
    lists.cigars.append(cigar)


def _checked(lists: _Lists, inputs: Sequence[OpenAlignments]) -> ReadBlock:
    """The block, once every CIGAR was found to spell as many bases as its read has: native code relies on it."""
    block = lists.block()
    spelled = np.concatenate([[0], np.cumsum((block.cigar >> 4) * _CONSUMES_QUERY[block.cigar & 15])])
    lengths = np.diff(spelled[block.cigar_offset])
    wrong = np.flatnonzero(lengths != np.diff(block.base_offset))
    if len(wrong):
        read = int(wrong[0])
        rule = f"its CIGAR spells {lengths[read]} bases, it has {int(np.diff(block.base_offset)[read])}"
        paths = ", ".join(source.path for source in inputs)
        raise InputError(paths, f"read {block.names[read]}", rule, "repair or remove the read")
    return block


_Item = tuple[int, int, int, pysam.AlignedSegment]


def _select(
    source: OpenAlignments,
    order: int,
    rank: dict[str, int],
    selection: ReadSelection,
    regions: Sequence[Interval] | None,
    wanted: Iterable[Interval] | None,
    left_out: Counter[str],
) -> Iterator[_Item]:
    """The wanted reads of one input as (contig, start, input, read); others are counted by reason in `left_out`."""
    # An unmapped read has no place here, whatever was asked for.
    excluded, min_mapq = selection.excluded_flags | _UNMAPPED, selection.min_mapq
    of_tid = [rank[name] for name in source.file.references]
    intervals = ((rank[chrom], start, end) for chrom, start, end in wanted) if wanted is not None else None
    goal = next(intervals, None) if intervals is not None else None
    reader = _Reader(source, regions, may_jump=wanted is not None)
    last = (-1, -1)
    for read in reader:
        if read.flag & excluded or read.mapping_quality < min_mapq:
            left_out[_reason(read.flag & excluded)] += 1
            continue
        contig, start = of_tid[read.reference_id], read.reference_start
        if (contig, start) < last:
            place = f"read {read.query_name}"
            raise InputError(source.path, place, "the file is not sorted by coordinate", "run samtools sort")
        last = (contig, start)
        if intervals is not None:
            while goal is not None and (goal[0] < contig or (goal[0] == contig and start >= goal[2])):
                goal = next(intervals, None)
            if goal is None:
                return
            if goal[0] != contig or (read.reference_end or start) <= goal[1]:
                # The goal may lie on a contig that this file does not have.
                if goal[0] in of_tid and (goal[0] != contig or goal[1] - start > _JUMP):
                    reader.jump(source.file.references[of_tid.index(goal[0])], goal[1])
                continue
        if not read.query_length or not read.cigartuples:
            left_out[_EMPTY] += 1
            continue
        yield contig, start, order, read


def _reason(flags: int) -> str:
    return next((reason for flag, reason in _REASONS if flags & flag), _LOW_MAPQ)


class _Reader:
    """Reads of one file, whole or by regions, that can jump ahead where there is an index."""

    def __init__(self, source: OpenAlignments, regions: Sequence[Interval] | None, may_jump: bool) -> None:
        self._source = source
        self._regions = regions
        self._can_jump = may_jump and regions is None and source.file.has_index()
        self._target: tuple[str, int] | None = None

    def jump(self, chrom: str, start: int) -> None:
        """Go on with the reads that overlap `start` or lie behind it, where that is possible."""
        if self._can_jump:
            self._target = (chrom, start)

    def __iter__(self) -> Iterator[pysam.AlignedSegment]:
        try:
            if self._regions is not None:
                yield from self._by_region(self._regions)
            elif self._can_jump:
                yield from self._by_contig()
            else:
                yield from self._source.file.fetch(until_eof=True)
        except OSError as error:
            cure = "it is cut off or damaged: make it again"
            if self._source.file.is_cram:
                cure = "it is cut off, or written with another reference: give that with -f"
            raise InputError(self._source.path, "", "can't be read to its end", cure) from error

    def _by_region(self, regions: Sequence[Interval]) -> Iterator[pysam.AlignedSegment]:
        before = ("", 0)
        for chrom, start, end in regions:
            for read in self._source.file.fetch(chrom, start, end):
                # A read that reaches over from the region before was given with it.
                if before[0] != chrom or read.reference_start >= before[1]:
                    yield read
            before = (chrom, end)

    def _by_contig(self) -> Iterator[pysam.AlignedSegment]:
        file = self._source.file
        contigs = list(file.references)
        position, start, seen = 0, 0, -1
        while position < len(contigs):
            jumped = False
            for read in file.fetch(contigs[position], start):
                if read.reference_start <= seen:
                    continue
                yield read
                if self._target is not None:
                    # A read seen before the jump may overlap the target too; it was given already.
                    chrom, start = self._target
                    seen = read.reference_start if chrom == contigs[position] else -1
                    position, self._target, jumped = contigs.index(chrom), None, True
                    break
            if not jumped:
                position, start, seen = position + 1, 0, -1
