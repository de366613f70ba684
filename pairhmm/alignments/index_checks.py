"""Checks that the parts of a BAI or CSI agree, and that a BGZF file (BAM or SAM) has its reads where the index says."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import BinaryIO, Final, NamedTuple
from zlib import MAX_WBITS

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.bam_index import BamIndex, DamagedIndexError, bins
from pairhmm.alignments.sam import UNMAPPED
from pairhmm.files import formats
from pairhmm.files.bgzf import block_size, deflate
from pairhmm.sequences.arrays import distinct


def require_rising(index: BamIndex) -> None:
    """Require that chunks, and the table of offsets, are in the order of the file.

    Offsets of zero are allowed: htsjdk writes them where no read has begun. Others repeat an offset in windows without
    reads.
    """
    order = in_file_order(index)
    contig = index.bin_contig[index.chunk_bin[order]]
    if np.any(np.diff(contig) < 0):
        raise DamagedIndexError("reads of a contig lie among those of another")
    begins, ends = _windows_of_chunks(index, order)
    if np.any(begins >= ends):
        raise DamagedIndexError("its bins are in another order than the reads")
    if not len(order):
        return
    window, offset = index.all_starts()
    known = offset > 0
    window, offset = window[known], offset[known]
    of = window >> index.window_bits
    first, last = extents(index)
    has_reads = last[of] > 0
    if np.any(has_reads & ((offset < first[of]) | (offset >= last[of]))):
        raise DamagedIndexError("an offset lies outside the reads of its contig")
    if np.any((offset[1:] < offset[:-1]) & (of[1:] == of[:-1])):
        raise DamagedIndexError("its offsets do not rise")


def in_file_order(index: BamIndex) -> NDArray[np.int64]:
    """The chunks as their reads lie in the file."""
    order: NDArray[np.int64] = np.lexsort((index.bin_contig[index.chunk_bin], index.begin)).astype(np.int64)
    return order


def extents(index: BamIndex) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Begin of the first chunk and end of the last one of each contig; the end is 0 for a contig without chunks."""
    contig = index.bin_contig[index.chunk_bin]
    first, last = np.full(index.contigs, np.iinfo(np.uint64).max, dtype=np.uint64), np.zeros(index.contigs, np.uint64)
    np.minimum.at(first, contig, index.begin)
    np.maximum.at(last, contig, index.end)
    return first, last


def passed_over(index: BamIndex) -> NDArray[np.int64]:
    """The chunks whose first read lies before the offset at which the reads of its window begin."""
    order = in_file_order(index)
    window, offset = index.all_starts()
    known = offset > 0
    window, offset = window[known], offset[known]
    if not len(window) or not len(order):
        return order[:0]
    begins, _ = _windows_of_chunks(index, order)
    at = np.searchsorted(window, begins, side="right") - 1
    is_told = (at >= 0) & (window[at] >> index.window_bits == begins >> index.window_bits)
    late: NDArray[np.int64] = order[is_told & (offset[at] > index.begin[order])]
    return late


def gaps(index: BamIndex) -> NDArray[np.int64]:
    """The chunks before which bytes of the file belong to no chunk."""
    order = in_file_order(index)
    return order[1:][index.begin[order][1:] > np.maximum.accumulate(index.end[order])[:-1]]


def _windows_of_chunks(index: BamIndex, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each chunk the first window that its first read may begin in, and the window behind the last one."""
    start, end = index.spans_of_bins(index.bin_number)
    # Reads that lie before their contig's start have a bin, too: the number before that of the smallest bins.
    start = np.where(index.bin_number == bins(index.depth) - 1, 0, start)
    bin_of = index.chunk_bin[order]
    contig = index.bin_contig[bin_of]
    # The first read of a chunk begins no earlier than that of the chunk before.
    begins = np.maximum.accumulate(index.window(contig, start[bin_of]))
    ends = (contig << index.window_bits) + (end[bin_of] >> index.shift)
    return begins, ends


# The most places of a kind that are looked up in the alignment file. Each costs the unpacking of a block.
_CONTIGS, _CHUNKS, _OFFSETS, _DOUBTED = 16, 32, 16, 32
_RECORD_HEAD = 36
# deflate packs at most 1,032 bytes into one, and a record has 36 bytes or more.
_MOST_READS_A_BYTE = 29
_LARGEST_BLOCK = 1 << 16
_KEPT_BLOCKS = 8
_NOWHERE: Final = "no read begins where it says"


class Contradiction(Exception):
    """The index contradicts the alignment file."""


class DamagedFile(Exception):
    """The alignment file itself is damaged here. Reading its records will report that."""


class Record(NamedTuple):
    """The fields of a record that are checked, and its virtual offset."""

    contig: int
    position: int
    flag: int
    offset: int


class FileBlocks:
    """The unpacked blocks of a file, of which a few are kept."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw, self.size = raw, os.fstat(raw.fileno()).st_size
        self._kept: dict[int, tuple[bytes, int | None]] = {}

    def at(self, address: int) -> tuple[bytes, int | None]:
        """A block's bytes, and the address of the next one; empty bytes and None at the end of the file."""
        if address not in self._kept:
            if len(self._kept) >= _KEPT_BLOCKS:
                del self._kept[next(iter(self._kept))]
            self._kept[address] = self._unpacked(address)
        return self._kept[address]

    def place(self, offset: int) -> tuple[int, int] | None:
        """The block that an offset leads to, and the place in it; None for the end of the file.

        Raises Contradiction for an offset that leads nowhere.
        """
        address, within = offset >> 16, offset & 0xFFFF
        block, behind = self.at(address)
        while within >= len(block):
            if behind is None and within == len(block):
                return None
            if behind is None or within > len(block):
                raise Contradiction(_NOWHERE)
            address, within = behind, 0
            block, behind = self.at(address)
        return address, within

    def on_from(self, address: int, within: int) -> Iterator[bytes]:
        """The bytes from a place in a block on, block by block."""
        block, behind = self.at(address)
        yield block[within:]
        while behind is not None:
            block, behind = self.at(behind)
            yield block

    def _unpacked(self, address: int) -> tuple[bytes, int | None]:
        self._raw.seek(address)
        head = self._raw.read(formats.BGZF_HEAD_SIZE)
        if not head:
            return b"", None
        size = block_size(head)
        if not size:
            raise Contradiction("no block of the file begins where it says")
        packed = self._raw.read(size - formats.BGZF_HEAD_SIZE)
        try:
            return deflate.decompress(packed[:-8], -MAX_WBITS), address + size
        except deflate.error as error:
            raise DamagedFile from error


RecordAt = Callable[[int], Record | None]
"""The record that begins at a virtual offset; None at the end of the file."""


def bam_records(blocks: FileBlocks, contigs: int) -> RecordAt:
    """Looks up records of BAM."""

    def record_at(offset: int) -> Record | None:
        if (place := blocks.place(offset)) is None:
            return None
        head = b""
        for piece in blocks.on_from(*place):
            head += piece[: _RECORD_HEAD - len(head)]
            if len(head) == _RECORD_HEAD:
                break
        else:
            raise Contradiction(_NOWHERE)
        size, contig, position, name, _, _, operations, flag, bases = struct.unpack_from("<iiiBBHHHi", head)
        if (
            not -1 <= contig < contigs
            or bases < 0
            or name < 1
            or size < _RECORD_HEAD - 4 + name + 4 * operations + (bases + 1) // 2 + bases
        ):
            raise Contradiction(_NOWHERE)
        return Record(contig, position, flag, place[0] << 16 | place[1])

    return record_at


def sam_records(blocks: FileBlocks, contigs: Sequence[str]) -> RecordAt:
    """Looks up lines of SAM."""
    numbers = {name.encode(): number for number, name in enumerate(contigs)} | {b"*": -1}

    def record_at(offset: int) -> Record | None:
        if (place := blocks.place(offset)) is None:
            return None
        line = b""
        for piece in blocks.on_from(*place):
            line += piece
            if b"\n" in piece or line.count(b"\t") >= 5:
                break
        fields = line.split(b"\n")[0].split(b"\t", 4)
        try:
            return Record(numbers[fields[2]], int(fields[3]) - 1, int(fields[1]), place[0] << 16 | place[1])
        except (IndexError, KeyError, ValueError) as error:
            raise Contradiction(_NOWHERE) from error

    return record_at


def first_line(blocks: FileBlocks) -> int:
    """The virtual offset of the first line of SAM behind the header."""
    address: int | None = 0
    begins_line = True
    while address is not None:
        block, behind = blocks.at(address)
        within = 0
        while within < len(block):
            if begins_line and block[within : within + 1] != b"@":
                return address << 16 | within
            within = block.find(b"\n", within) + 1
            begins_line = within > 0
            if not begins_line:
                break
        address = behind
    return blocks.size << 16


def check_lookups(index: BamIndex, record_at: RecordAt, first: int, size: int, contigs: Sequence[str]) -> None:
    """Require that an index has the contigs and the offsets of its file.

    The offsets of `index` rise. `first` is the virtual offset of the first record, and `size` the bytes of the file.
    """
    if index.contigs > len(contigs):
        raise Contradiction(f"it has {index.contigs} contigs, the file {len(contigs)}")
    ends = [int(index.end.max(initial=0)), *(told.end for told in index.reads.values())]
    if max(ends) >> 16 > size:
        raise Contradiction("it leads beyond the file's end")
    begins = record_at(first)
    if not len(index.begin):
        if begins is not None and begins.contig >= 0:
            raise Contradiction("it knows no reads")
        return
    _check_chunks(index, record_at, begins, contigs)
    _check_offsets(index, record_at, contigs)
    _check_gaps(index, record_at, contigs)
    _check_counts(index, contigs)
    behind = record_at(int(index.end.max()))
    if behind is not None and behind.contig >= 0:
        raise Contradiction("it does not know the last reads")


def _check_chunks(index: BamIndex, record_at: RecordAt, first: Record | None, contigs: Sequence[str]) -> None:
    order = in_file_order(index)
    contig_of = index.bin_contig[index.chunk_bin]
    firsts = order[np.append(True, np.diff(contig_of[order]) > 0)]
    for chunk in dict.fromkeys(chain(_some(firsts, _CONTIGS), _some(order, _CHUNKS))):
        found = record_at(int(index.begin[chunk]))
        (low,), (high,) = index.spans_of_bins(index.bin_number[[index.chunk_bin[chunk]]])
        # A read whose position lies before its contig's start has a bin, too.
        is_in_bin = found is not None and (found.position < 0 or low <= found.position < high)
        if found is None or found.contig != contig_of[chunk] or not is_in_bin:
            raise Contradiction(f"the reads of {contigs[int(contig_of[chunk])]} begin elsewhere")
        if chunk == order[0] and first is not None and found.offset != first.offset:
            raise Contradiction("it does not know the first reads")


def _check_offsets(index: BamIndex, record_at: RecordAt, contigs: Sequence[str]) -> None:
    """Look up the table of offsets, and the chunks whose reads would be passed over for it."""
    window, offset = index.all_starts()
    for at in _some(np.flatnonzero(offset), _OFFSETS):
        contig = int(window[at]) >> index.window_bits
        found = record_at(int(offset[at]))
        if found is None or found.contig != contig:
            raise Contradiction(f"the reads of {contigs[contig]} begin elsewhere")
    for chunk in _some(passed_over(index), _DOUBTED):
        found = record_at(int(index.begin[chunk]))
        # biobambam2 does not count unmapped reads as reads of a window. They are not used.
        if found is None or not found.flag & UNMAPPED:
            name = contigs[int(index.bin_contig[index.chunk_bin[chunk]])]
            raise Contradiction(f"reads of {name} lie before the offset that it gives for them")


def _check_gaps(index: BamIndex, record_at: RecordAt, contigs: Sequence[str]) -> None:
    for chunk in _some(gaps(index), _DOUBTED):
        begin = int(index.begin[chunk])
        # Behind the last chunk that begins before this one.
        found = record_at(int(index.end[index.begin < index.begin[chunk]].max()))
        if found is not None and found.offset < begin and not found.flag & UNMAPPED:
            raise Contradiction(f"it does not know all reads of {contigs[max(found.contig, 0)]}")


def _check_counts(index: BamIndex, contigs: Sequence[str]) -> None:
    """Require that a contig's bytes can hold its reads: their number bounds the pieces of a run."""
    first, last = extents(index)
    for number, told in index.reads.items():
        blocks = max(0, (int(last[number]) >> 16) - (int(first[number]) >> 16)) + _LARGEST_BLOCK
        if told.mapped + told.unmapped > _MOST_READS_A_BYTE * blocks:
            raise Contradiction(f"it counts more reads of {contigs[number]} than the file can hold")


def _some(places: NDArray[np.int64], most: int) -> list[int]:
    """Some of many, evenly."""
    if not len(places):
        return []
    picked: list[int] = places[distinct(np.linspace(0, len(places) - 1, most).astype(np.int64))].tolist()
    return picked
