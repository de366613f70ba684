"""Alignments from pysam as flat arrays: an object for each read would be too slow for a whole genome.

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
from typing import Annotated, TypeAlias

import numpy as np
import pysam

from pairhmm.errors import InputError
from pairhmm.genomics.arrays import offsets
from pairhmm.genomics.blocks import ReadBlock
from pairhmm.genomics.cigar import CONSUMES_QUERY
from pairhmm.genomics.qualities import HIGHEST_QUALITY, HIGHEST_SAM_QUALITY
from pairhmm.genomics.sam_flags import DUPLICATE, QC_FAIL, SECONDARY, SUPPLEMENTARY, UNMAPPED
from pairhmm.genomics.sequences import encode_read
from pairhmm.interface.options import Within, check_fields
from pairhmm.io.alignments.molecules import Families, molecule_by_position, molecule_by_tag
from pairhmm.io.alignments.sources import OpenAlignments, SourceReader
from pairhmm.io.files.names import check_read_names
from pairhmm.io.sequences.intervals import Interval

log = logging.getLogger(__name__)

Buffer: TypeAlias = "bytes | array[int]"

# Bases to the next wanted interval from which on the index is used to jump there. For less, reading on is faster.
_JUMP = 200_000
# SAM flags that exclude a read, and the reason that messages give for each.
_REASONS = (
    (UNMAPPED, "unmapped"),
    (SECONDARY, "secondary"),
    (QC_FAIL, "QC-fail"),
    (DUPLICATE, "duplicate"),
    (SUPPLEMENTARY, "supplementary"),
)
_LOW_MAPQ, _EMPTY = "low mapping quality", "without bases"
_NOWHERE, _OUTSIDE = "mapped to no place", "beyond their contig's end"
_ELSEWHERE = "on contigs that the reference lacks"
# Reasons that point to a faulty file: no option asked to leave these reads out.
_FAULTS = frozenset({_EMPTY, _NOWHERE, _OUTSIDE, _ELSEWHERE})


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

    excluded_flags: Annotated[int, Within(0, 0xFFFF)]
    min_mapq: Annotated[int, Within(0, 255)]
    default_base_quality: Annotated[int | None, Within(0, HIGHEST_SAM_QUALITY)] = None

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(slots=True)
class _Lists:
    """The reads of an unfinished block, in lists that each read is appended to."""

    chrom: str
    length: int
    names: list[str] = field(default_factory=list)
    sample: list[int] = field(default_factory=list)
    flag: list[int] = field(default_factory=list)
    mapq: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    quals: list[Buffer] = field(default_factory=list)
    cigars: list[list[tuple[int, int]]] = field(default_factory=list)
    molecules: list[str] | None = None

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
            encode_read("".join(self.bases).replace("=", "N")),
            np.frombuffer(b"".join(self.quals), dtype=np.uint8),
            offsets([len(cigar) for cigar in self.cigars]),
            np.array(packed, dtype=np.uint32),
            self.molecules,
        )


def read_blocks(
    inputs: Sequence[OpenAlignments],
    contigs: Sequence[str],
    selection: ReadSelection,
    chunk_size: int = 20_000,
    regions: Sequence[Interval] | None = None,
    wanted: Iterable[Interval] | None = None,
    families: Families = "none",
) -> Iterator[ReadBlock]:
    """Blocks of reads of all inputs, merged in coordinate order.

    Parameters
    ----------
    inputs : sequence of OpenAlignments
        Each sorted by coordinate.
    contigs : sequence of str
        Contigs in the order of the inputs; reads on others are left out.
    selection : ReadSelection
    chunk_size : int
        Reads a block.
    regions : sequence of (chrom, start, end), optional
        Disjoint. Only reads that overlap one are read, through the index.
    wanted : iterable of (chrom, start, end), optional
        Disjoint and in order. Reads that overlap none of these are skipped before they are decoded.
    families : {"none", "MI", "position"}
        How the molecule of each read is found. Tags MI of different inputs are different molecules.

    Raises
    ------
    InputError
        For inputs that are not sorted or are cut short, and reads whose parts do not fit each other.
    """
    rank = {name: index for index, name in enumerate(contigs)}
    if regions is not None:
        regions = sorted((one for one in regions if one[0] in rank), key=lambda one: (rank[one[0]], one[1]))
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
            if lists is not None and lists.names:
                yield _checked(lists, inputs)
            lists = _Lists(contigs[contig], inputs[order].file.get_reference_length(contigs[contig]))
            lists.molecules = None if families == "none" else []
            current = contig
        if not _append(lists, inputs[order], start, read, selection):
            left_out[_OUTSIDE] += 1
        elif lists.molecules is not None:
            lists.molecules.append(_molecule(inputs[order], order, read, families))
    if lists is not None and lists.names:
        yield _checked(lists, inputs)
    if lists is None and left_out[_ELSEWHERE] and regions is None and wanted is None:
        paths = ", ".join(source.path for source in inputs)
        rule = f"no read on a contig that the reference has, {left_out[_ELSEWHERE]} on others"
        raise InputError(paths, "", rule, "use the reference that the reads were aligned to")
    if left_out:
        said = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
        log.log(logging.INFO if _FAULTS.isdisjoint(left_out) else logging.WARNING, "reads left out: %s", said)


def _append(
    lists: _Lists, source: OpenAlignments, start: int, read: pysam.AlignedSegment, selection: ReadSelection
) -> bool:
    """Add a read, unless it is aligned to bases that its contig does not have."""
    end = read.reference_end or start
    if end > lists.length:
        return False
    bases, cigar = read.query_sequence, read.cigartuples
    # `_select` has skipped reads without bases or without a CIGAR.
    assert bases
    assert cigar
    quals: Buffer | None = read.query_qualities
    if quals is None:
        if selection.default_base_quality is None:
            cure = "give --default-base-quality"
            raise InputError(source.path, f"read {source.name(read)}", "it has no base qualities", cure)
        quals = bytes([selection.default_base_quality]) * len(bases)
    lists.names.append(source.name(read))
    lists.sample.append(source.sample(read))
    lists.flag.append(read.flag)
    lists.mapq.append(read.mapping_quality)
    lists.start.append(start)
    lists.end.append(end)
    lists.bases.append(bases)
    lists.quals.append(quals)
    lists.cigars.append(cigar)
    return True


def _molecule(source: OpenAlignments, order: int, read: pysam.AlignedSegment, families: Families) -> str:
    """The molecule of a read, or nothing."""
    if families == "position":
        return molecule_by_position(read)
    try:
        molecule = molecule_by_tag(read)
    except UnicodeDecodeError as error:
        rule = "its tag MI is not text"
        raise InputError(source.path, f"read {source.name(read)}", rule, "it is damaged: make it again") from error
    return f"{order}:{molecule}" if molecule else ""


def _checked(lists: _Lists, inputs: Sequence[OpenAlignments]) -> ReadBlock:
    """Check the reads and return them as a block that native code and tables can take.

    Names have no control characters, every CIGAR spells as many bases as its read has, and qualities are those that the
    model knows.
    """
    block = lists.block()
    paths = ", ".join(source.path for source in inputs)
    check_read_names(paths, block.names)
    if len(block.quals) and int(block.quals.max()) > HIGHEST_QUALITY:
        at = int(block.quals.argmax())
        read = int(np.searchsorted(block.base_offset, at, side="right")) - 1
        rule = f"a base quality of {int(block.quals[at])}, the highest is {HIGHEST_QUALITY}"
        raise InputError(paths, f"read {block.names[read]}", rule, "repair or remove the read")
    spelled = np.concatenate([[0], np.cumsum((block.cigar >> 4) * CONSUMES_QUERY[block.cigar & 15])])
    lengths = np.diff(spelled[block.cigar_offset])
    wrong = np.flatnonzero(lengths != np.diff(block.base_offset))
    if len(wrong):
        read = int(wrong[0])
        rule = f"its CIGAR spells {lengths[read]} bases, it has {int(np.diff(block.base_offset)[read])}"
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
    # Unmapped reads are never used, whatever flags were asked for.
    excluded, min_mapq = selection.excluded_flags | UNMAPPED, selection.min_mapq
    known = set(source.contigs)
    of_tid = [rank[name] if name in known else None for name in source.file.references]
    if regions is not None:
        regions = [one for one in regions if one[0] in known]
    intervals = (
        ((rank[chrom], start, end) for chrom, start, end in wanted if chrom in known) if wanted is not None else None
    )
    goal = next(intervals, None) if intervals is not None else None
    reader = SourceReader(source, regions, may_jump=wanted is not None)
    if reader.passed_over:
        left_out[_ELSEWHERE] += reader.passed_over
    last = (-1, -1)
    for read in reader:
        if read.flag & excluded or read.mapping_quality < min_mapq:
            left_out[_reason(read.flag & excluded)] += 1
            continue
        if read.reference_id < 0 or read.reference_start < 0:
            left_out[_NOWHERE] += 1
            continue
        contig, start = of_tid[read.reference_id], read.reference_start
        if contig is None:
            left_out[_ELSEWHERE] += 1
            continue
        if (contig, start) < last:
            place = f"read {source.name(read)}"
            raise InputError(source.path, place, "the file is not sorted by coordinate", "run samtools sort")
        last = (contig, start)
        if intervals is not None:
            while goal is not None and (goal[0] < contig or (goal[0] == contig and start >= goal[2])):
                goal = next(intervals, None)
            if goal is None:
                return
            if goal[0] != contig or (read.reference_end or start) <= goal[1]:
                if goal[0] != contig or goal[1] - start > _JUMP:
                    reader.jump(source.file.references[of_tid.index(goal[0])], goal[1])
                continue
        if not read.query_length or not read.cigartuples:
            left_out[_EMPTY] += 1
            continue
        yield contig, start, order, read


def _reason(flags: int) -> str:
    return next((reason for flag, reason in _REASONS if flags & flag), _LOW_MAPQ)
