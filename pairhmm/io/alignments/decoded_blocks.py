"""Alignments as flat arrays, by pysam: a Python object for each read. For what the compiled part does not read.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pysam
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.genomics.arrays import offsets
from pairhmm.genomics.blocks import NO_INDEL_QUALITY, ReadBlock
from pairhmm.genomics.names import Names
from pairhmm.genomics.qualities import PHRED_OFFSET
from pairhmm.genomics.sam_flags import DUPLICATE, QC_FAIL, SECONDARY, SUPPLEMENTARY, UNMAPPED
from pairhmm.genomics.sequences import encode_read
from pairhmm.io.alignments.molecules import TAG_OF, Families, molecule_by_position, molecule_by_tag, template_of
from pairhmm.io.alignments.selection import (
    ELSEWHERE,
    EMPTY,
    JUMP,
    LOW_MAPQ,
    NOWHERE,
    OTHER_FLAG,
    OUTSIDE,
    LeftOut,
    ReadRequest,
)
from pairhmm.io.alignments.sources import NO_TEXT, OpenAlignments, SourceReader
from pairhmm.io.sequences.intervals import Interval

Buffer: TypeAlias = "bytes | array[int]"

# SAM flags that exclude a read, and the reason that messages give for each.
_REASONS = (
    (UNMAPPED, "unmapped"),
    (SECONDARY, "secondary"),
    (QC_FAIL, "QC-fail"),
    (DUPLICATE, "duplicate"),
    (SUPPLEMENTARY, "supplementary"),
)


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
    indels: list[tuple[bytes, bytes] | None] = field(default_factory=list)

    def block(self) -> ReadBlock:
        packed = [length << 4 | operation for cigar in self.cigars for operation, length in cigar]
        return ReadBlock(
            self.chrom,
            Names.of(self.names),
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
            self._indel_quals(),
        )

    def _indel_quals(self) -> NDArray[np.uint8] | None:
        if not any(self.indels):
            return None
        lengths = [len(bases) for bases in self.bases]
        none = [bytes([NO_INDEL_QUALITY]) * length for length in lengths]
        rows = [
            b"".join(own[row] if own else without for own, without in zip(self.indels, none, strict=True))
            for row in (0, 1)
        ]
        return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(2, -1)


def decoded_blocks(
    source: OpenAlignments, order: int, request: ReadRequest, wanted: Iterable[Interval] | None, left_out: LeftOut
) -> Iterator[ReadBlock]:
    """Blocks of the reads of one input.

    Parameters
    ----------
    source : OpenAlignments
    order : int
        Its place among the inputs.
    request : ReadRequest
    wanted : iterable of (chrom, start, end) or None
        Disjoint and in order. Reads that overlap none of these are passed over.
    left_out : LeftOut
        Counts what is left out.

    Raises
    ------
    InputError
    """
    lists: _Lists | None = None
    current = -1
    for contig, start, read in _select(source, request, wanted, left_out):
        left_out.has_met = True
        if lists is None or contig != current or len(lists.names) >= request.chunk_size:
            if lists is not None and lists.names:
                yield lists.block()
            chrom = request.contigs[contig]
            lists = _Lists(chrom, source.lengths[source.references.index(chrom)])
            lists.molecules = None if request.families == "none" else []
            current = contig
        if not _append(lists, source, start, read, request):
            left_out.counts[OUTSIDE] += 1
        elif lists.molecules is not None:
            lists.molecules.append(_molecule(source, order, read, request.families))
    if lists is not None and lists.names:
        yield lists.block()


def _append(
    lists: _Lists, source: OpenAlignments, start: int, read: pysam.AlignedSegment, request: ReadRequest
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
        if (default := request.selection.default_base_quality) is None:
            cure = "give --default-base-quality"
            raise InputError(source.path, f"read {source.name(read)}", "it has no base qualities", cure)
        quals = bytes([default]) * len(bases)
    lists.indels.append(_indel_tags(source, read, len(bases)) if request.indel_tags else None)
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


def _indel_tags(source: OpenAlignments, read: pysam.AlignedSegment, length: int) -> tuple[bytes, bytes] | None:
    """The insertion and deletion qualities of a read by its tags BI and BD, where it has one of them."""
    if not (read.has_tag("BI") or read.has_tag("BD")):
        return None
    own = []
    for tag in ("BI", "BD"):
        if not read.has_tag(tag):
            own.append(bytes([NO_INDEL_QUALITY]) * length)
            continue
        try:
            value, kind = read.get_tag(tag, with_value_type=True)
        except NO_TEXT as error:
            raise source.indel_tags_are_wrong(source.name(read)) from error
        if kind != "Z" or len(text := str(value)) != length or not all("!" <= letter <= "~" for letter in text):
            raise source.indel_tags_are_wrong(source.name(read))
        own.append(bytes(ord(letter) - PHRED_OFFSET for letter in text))
    return own[0], own[1]


def _molecule(source: OpenAlignments, order: int, read: pysam.AlignedSegment, families: Families) -> str:
    """The molecule of a read, or nothing."""
    try:
        if families == "position":
            return molecule_by_position(template_of(read))
        molecule = molecule_by_tag(read)
    except NO_TEXT as error:
        raise source.tag_is_no_text(TAG_OF[families], source.name(read)) from error
    return f"{order}:{molecule}" if molecule else ""


_Item = tuple[int, int, pysam.AlignedSegment]


def _select(
    source: OpenAlignments, request: ReadRequest, wanted: Iterable[Interval] | None, left_out: LeftOut
) -> Iterator[_Item]:
    """The wanted reads as (contig, start, read); others are counted by reason."""
    selection, rank, regions, counts = request.selection, request.rank, request.regions, left_out.counts
    # Unmapped reads are never used, whatever flags were asked for.
    excluded, min_mapq = selection.excluded_flags | UNMAPPED, selection.min_mapq
    known = set(source.contigs)
    of_tid = [rank[name] if name in known else None for name in source.references]
    if regions is not None:
        regions = [one for one in regions if one[0] in known]
    intervals = (
        ((rank[chrom], start, end) for chrom, start, end in wanted if chrom in known) if wanted is not None else None
    )
    goal = next(intervals, None) if intervals is not None else None
    reader = SourceReader(source, regions, may_jump=wanted is not None)
    last = (-1, -1)
    for read in reader:
        if read.flag & excluded or read.mapping_quality < min_mapq:
            counts[_reason(read.flag & excluded)] += 1
            continue
        if read.reference_id < 0 or read.reference_start < 0:
            counts[NOWHERE] += 1
            continue
        contig, start = of_tid[read.reference_id], read.reference_start
        if contig is None:
            counts[ELSEWHERE] += 1
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
                if goal[0] != contig or goal[1] - start > JUMP:
                    reader.jump(source.references[of_tid.index(goal[0])], goal[1])
                continue
        if not read.query_length or not read.cigartuples:
            counts[EMPTY] += 1
            continue
        yield contig, start, read


def _reason(flags: int) -> str:
    """Why a read with these excluded flags, or none, is left out."""
    return next((reason for flag, reason in _REASONS if flags & flag), OTHER_FLAG if flags else LOW_MAPQ)
