"""Reads alignments as flat arrays: the compiled part parses the records of one file."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.molecules import TAG_OF, AlignedTemplate, Families, molecule_by_position, without_strand
from pairhmm.alignments.primers import Primers
from pairhmm.alignments.sam import CONSUMES_QUERY, UNMAPPED
from pairhmm.alignments.selection import (
    ELSEWHERE,
    EMPTY,
    JUMP,
    LOW_MAPQ,
    NOWHERE,
    OTHER_FLAG,
    OTHER_SAMPLE,
    OUTSIDE,
    UNMAPPED_READS,
    LeftOut,
    ReadRequest,
)
from pairhmm.alignments.sources import OpenAlignments, RecordStream, neighbours
from pairhmm.errors import InputError
from pairhmm.files.bgzf import DamagedBlockError
from pairhmm.files.names import check_names
from pairhmm.native import native
from pairhmm.sequences.arrays import Names
from pairhmm.sequences.intervals import Interval
from pairhmm.sequences.letters import HIGHEST_QUALITY

_IN_ARRAYS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "f": "f"}
_ALONE = {**_IN_ARRAYS, "d": "d"}
_HEAD = 6  # of an array: its types and its length


class Taken(NamedTuple):
    """A block as the compiled part gives it. Texts are laid end to end, with the end of each."""

    contig: int
    names: bytes
    name_end: NDArray[np.int64]
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
    odd: NDArray[np.int64]
    groups: bytes
    group_end: NDArray[np.int64]
    tags: bytes
    tag_end: NDArray[np.int64]
    mate_contig: NDArray[np.int32]
    mate_start: NDArray[np.int32]
    template_length: NDArray[np.int32]
    insertion: NDArray[np.uint8]
    deletion: NDArray[np.uint8]
    unfit: int


def molecules_of(
    source: OpenAlignments,
    order: int,
    families: Families,
    contig: int,
    block: ReadBlock,
    taken: Taken,
    is_circle: bool = False,
) -> Iterator[str]:
    """The molecule of each read of a block, which is `taken` in other form; empty where it is not known.

    `order` is the number of the input: tags MI of different inputs are different molecules. `contig` is the number of
    the block's contig in the file, which may be a circle. Raises InputError for a tag that is not text.
    """
    by_tag, at = families == "MI", block.cigar_offset.tolist()
    for read, value in enumerate(pieces(taken.tags, taken.tag_end)):
        try:
            text = tag_text(value)
        except ValueError as error:
            raise source.tag_is_no_text(TAG_OF[families], block.names[read]) from error
        if by_tag:
            yield f"{order}:{molecule}" if (molecule := without_strand(text)) else ""
            continue
        cigar = [(packed & 15, packed >> 4) for packed in block.cigar[at[read] : at[read + 1]].tolist()]
        template = AlignedTemplate(
            int(block.flag[read]),
            int(block.start[read]),
            int(block.end[read]),
            cigar,
            contig,
            int(taken.mate_contig[read]),
            int(taken.mate_start[read]),
            int(taken.template_length[read]),
            text if value else None,
            source.lengths[contig] if is_circle else 0,
        )
        yield molecule_by_position(template)


def pieces(text: bytes, end: NDArray[np.int64]) -> list[bytes]:
    """Texts that are laid end to end, by the end of each."""
    ends = end.tolist()
    if not ends:
        return []
    return [text[begin:stop] for begin, stop in zip([0, *ends[:-1]], ends, strict=True)]


def tag_text(value: bytes) -> str:
    """The text of a tag's type and value (SAM specification, section 4.2.4); empty where there is none.

    Raises ValueError for a text that is not UTF-8, a character that is not ASCII, and an array of what is no number of
    BAM.
    """
    if not value:
        return ""
    kind, data = chr(value[0]), value[1:]
    if kind in "ZH":
        return data.split(b"\0")[0].decode()
    if kind == "A":
        return data.decode("ascii")
    if kind == "B":
        if (each := chr(data[0])) not in _IN_ARRAYS:
            raise ValueError(f"an array of type {each}")
        numbers = array(_IN_ARRAYS[each])
        numbers.frombytes(value[_HEAD:])
        return str(numbers)
    return str(struct.unpack(f"<{_ALONE[kind]}", data)[0])


# In the order in which the compiled part counts them.
_REASONS: Final = (
    *(UNMAPPED_READS, "secondary", "QC-fail", "duplicate", "supplementary", OTHER_FLAG, LOW_MAPQ),
    *(NOWHERE, ELSEWHERE, EMPTY, OUTSIDE, OTHER_SAMPLE),
)
# Wanted intervals that are handed over at once. Of many more, the stretches of the reference would be read anew later.
_GOALS: Final = 256
_BEFORE_ALL, _BEHIND_ALL = -(1 << 62), 1 << 62
_NONE: Final = np.empty(0, dtype=np.int64)

_Blocks = Generator[ReadBlock, None, str]
"""Blocks, and in the end why there are no more."""


def native_blocks(
    source: OpenAlignments, order: int, request: ReadRequest, wanted: Iterable[Interval] | None, left_out: LeftOut
) -> Iterator[ReadBlock]:
    """Blocks of the reads of one file, which is input number `order`. `left_out` counts the reads that are left out.

    The wanted intervals are disjoint and in order. Reads that overlap none of them are passed over.
    """
    reader = _NativeReader(source, order, request, wanted)
    try:
        yield from reader.blocks()
    except (DamagedBlockError, OSError) as error:
        reader.block()
        raise source.cut_off(error) from error
    finally:
        reader.count(left_out)


class _NativeReader:
    """Reads one file, whole, by regions, or with jumps ahead where there is an index."""

    def __init__(
        self, source: OpenAlignments, order: int, request: ReadRequest, wanted: Iterable[Interval] | None
    ) -> None:
        self._source, self._order, self._request, self._records = source, order, request, source.records
        self._known = set(source.contigs)
        self._tid = {name: tid for tid, name in enumerate(source.references)}
        rank, selection = request.rank, request.selection
        # Unmapped reads are never used, whatever flags were asked for.
        excluded, default = selection.excluded_flags | UNMAPPED, selection.default_base_quality
        self._parser = native.AlignmentParser(
            np.array([rank[name] if name in self._known else -1 for name in self._tid], dtype=np.int32),
            np.array(source.lengths, dtype=np.int64),
            excluded,
            selection.min_mapq,
            -1 if default is None else default,
            HIGHEST_QUALITY,
            source.sample_of_group,
            -1 if source.default_sample is None else source.default_sample,
            TAG_OF[request.families],
            JUMP,
            request.indel_tags,
            request.trims_ends,
            [int(name in selection.circular) for name in self._tid] if selection.circular else [],
            [] if selection.primers is None else list(self._primers(selection.primers)),
        )
        self._goals = None if wanted is None else (goal for goal in wanted if goal[0] in self._known)
        has_index = source.index is not None and request.regions is None
        self._can_jump = wanted is not None and has_index
        self._leaves_contigs = has_index and len(source.contigs) < len(self._tid)
        # Reads of contigs that are passed over as a whole.
        self._passed_over = 0
        if self._leaves_contigs:
            others = (tid for name, tid in self._tid.items() if name not in self._known)
            self._passed_over = sum(source.mapped_reads(tid) or 0 for tid in others)

    def _primers(self, primers: Primers) -> Iterator[tuple[int, int, int, bool]]:
        for (chrom, start, end), is_reverse, _ in primers.primers:
            if chrom in self._tid:
                yield self._tid[chrom], start, end, is_reverse

    def count(self, left_out: LeftOut) -> None:
        """Add the reads that were left out, and where the others begin."""
        left_out.begun.update(dict(zip((False, True), self._parser.begun(), strict=True)))
        counts = dict(zip(_REASONS, self._parser.left_out().tolist(), strict=True))
        counts[ELSEWHERE] += self._passed_over
        left_out.counts.update({reason: count for reason, count in counts.items() if count})
        left_out.has_met |= self._parser.has_met

    def blocks(self) -> Iterator[ReadBlock]:
        """Blocks of one contig each, as large as was asked for where there are so many reads."""
        if self._goals is not None and not self._more_goals():
            # A parser without goals would take every read. One whose goals have run out stops at the first read.
            self._parser.set_goals(_NONE.astype(np.int32), _NONE, _NONE)
        if self._request.regions is not None:
            yield from self._by_region(self._request.regions)
        elif self._can_jump or self._leaves_contigs:
            yield from self._by_contig()
        else:
            stop = yield from self._run(self._records.whole())
            if stop == "more":
                self._source.check_end()
        if self._parser.reads:
            yield self.block()

    def _by_region(self, regions: Iterable[Interval]) -> _Blocks:
        before = ("", 0)
        for near in neighbours([region for region in regions if region[0] in self._known]):
            chrom, start, end = near[0][0], near[0][1], near[-1][2]
            # A read that also overlaps the last region was already given with that region.
            seen = before[1] - 1 if before[0] == chrom else _BEFORE_ALL
            parts = np.array([region[1] for region in near]), np.array([region[2] for region in near])
            self._parser.set_window(self._tid[chrom], start, end, seen, *parts, False)
            yield from self._through_index(self._tid[chrom], start, end)
            before = (chrom, end)
        return "more"

    def _by_contig(self) -> _Blocks:
        contigs = self._source.contigs
        position, start, seen = 0, 0, -1
        while position < len(contigs):
            tid = self._tid[contigs[position]]
            self._parser.set_window(tid, start, _BEHIND_ALL, seen, _NONE, _NONE, self._can_jump)
            stop = yield from self._through_index(tid, start, self._source.lengths[tid])
            if stop == "goals":
                break
            if stop == "jump":
                # A read that was given before the jump may overlap the target, too. It is not given again.
                rank, start = self._parser.goal
                chrom, (_, _, last) = self._request.contigs[rank], self._parser.place
                seen = last if chrom == contigs[position] else -1
                position = contigs.index(chrom)
            else:
                position, start, seen = position + 1, 0, -1
        return "more"

    def _through_index(self, tid: int, start: int, end: int) -> _Blocks:
        """Read the parser's window."""
        for records in self._records.through_index(tid, start, end):
            stop = yield from self._run(records)
            if stop != "more":
                return stop
        return "more"

    def _run(self, records: RecordStream) -> _Blocks:
        """Parse records up to the end of the file, or of a place of an index."""
        with closing(records):
            while True:
                stop = records.parse(self._parser, self._request.chunk_size)
                if stop == "full":
                    yield self.block()
                elif stop == "goals" and self._more_goals():
                    continue
                elif stop in ("more", "goals", "jump", "window's end"):
                    return stop
                else:
                    self._refuse(stop)

    def _more_goals(self) -> bool:
        assert self._goals is not None
        goals = list(islice(self._goals, _GOALS))
        if not goals:
            return False
        ranks = np.array([self._request.rank[goal[0]] for goal in goals], dtype=np.int32)
        starts, ends = (np.array([goal[part] for goal in goals], dtype=np.int64) for part in (1, 2))
        self._parser.set_goals(ranks, starts, ends)
        return True

    def _refuse(self, stop: str) -> None:
        """Raise the error for the record that the parser stopped at, if the reads before it have none."""
        if stop == "damaged":
            raise DamagedBlockError
        self.block()
        name, rank, start = self._parser.place
        place = f"read {self._name(name or b'*', self._request.contigs[rank], start)}"
        if stop == "wrong indel tags":
            cure = "repair them, or give --no-indel-tags"
            raise InputError(self._source.path, place, "its tags BI and BD are not a quality for each base", cure)
        if stop == "unsorted":
            raise InputError(self._source.path, place, "the file is not sorted by coordinate", "run samtools sort")
        raise InputError(self._source.path, place, "it has no base qualities", "give --default-base-quality")

    def _name(self, name: bytes, chrom: str, start: int) -> str:
        try:
            return name.decode()
        except UnicodeDecodeError as error:
            place = f"a read at {chrom}:{start + 1}"
            raise InputError(
                self._source.path, place, "its name is not text", "it is damaged: make it again"
            ) from error

    def block(self) -> ReadBlock:
        """The reads that the parser has taken since the last block.

        Raises InputError for the first of them that can't be used.
        """
        taken = Taken(*self._parser.take())
        chrom = self._request.contigs[taken.contig] if taken.contig >= 0 else ""
        names = Names(taken.names, taken.name_end)
        for read, group in zip(taken.odd.tolist(), pieces(taken.groups, taken.group_end), strict=True):
            name = self._name(names.raw(read), chrom, int(taken.start[read]))
            if taken.sample[read] < 0:
                taken.sample[read] = self._source.sample_of(_group_text(self._source, name, group), name)
        if taken.unfit >= 0:
            _refuse_read(self._source.path, names[taken.unfit], taken)
        indel_quals = np.stack([taken.insertion, taken.deletion]) if len(taken.insertion) else None
        # From the samples to the CIGARs, both have the same fields.
        block = ReadBlock(chrom, names, *taken[3:13], indel_quals=indel_quals)
        if self._request.families != "none":
            contig = self._tid[chrom] if chrom else -1
            block.molecules = list(
                molecules_of(
                    self._source,
                    self._order,
                    self._request.families,
                    contig,
                    block,
                    taken,
                    chrom in self._request.selection.circular,
                )
            )
        return block


def _refuse_read(path: str, name: str, taken: Taken) -> NoReturn:
    """Raise the error for the read that native code and tables can't take."""
    check_names(path, "read", [name], "repair or remove the read")
    place, cure, read = f"read {name}", "repair or remove the read", taken.unfit
    begin, end = taken.base_offset[read : read + 2].tolist()
    highest = int(taken.quals[begin:end].max())
    if highest > HIGHEST_QUALITY:
        raise InputError(path, place, f"a base quality of {highest}, the highest is {HIGHEST_QUALITY}", cure)
    cigar = taken.cigar[slice(*taken.cigar_offset[read : read + 2])]
    spelled = int(((cigar >> 4) * CONSUMES_QUERY[cigar & 15]).sum())
    raise InputError(path, place, f"its CIGAR spells {spelled} bases, it has {end - begin}", cure)


def _group_text(source: OpenAlignments, name: str, group: bytes) -> str:
    try:
        return tag_text(group)
    except ValueError as error:
        raise source.group_is_no_text(name) from error
