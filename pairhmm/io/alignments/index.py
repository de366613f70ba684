"""Checks that the index of an alignment file is sound and belongs to that file.

htslib crashes on some damaged indexes, and finds no reads through the index of another file.
"""

from __future__ import annotations

import logging
import os
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np
import pysam

from pairhmm.errors import InputError
from pairhmm.genomics.arrays import distinct
from pairhmm.io.alignments.bam_index import BamIndex, open_unzipped, read_bam_index
from pairhmm.io.files import magic

log = logging.getLogger(__name__)

DAMAGED_INDEX = (OSError, EOFError, ValueError, zlib.error)
"""Exceptions that reading a damaged index may raise."""

# The most places that are looked up in the alignment file. Each costs the unpacking of a block.
_LOOKED_UP = 32
# The bytes that a BGZF block begins with (SAM specification, section 4.1).
_BLOCK_MAGIC, _BLOCK_MARK = magic.GZIP_DEFLATE + b"\x04", b"BC"
_RECORD_HEAD = 36
# Bytes of a CRAM file's definition, and the most bytes of a container's head that are read (CRAM, section 7).
_CRAM_HEAD = 26
_UNMAPPED_SLICE, _SEVERAL_CONTIGS = -1, -2


class CramSlice(NamedTuple):
    """A line of a .crai: contig number, 1-based start, length, offset of the container, offset of the slice in it."""

    contig: int
    start: int
    span: int
    container: int
    offset: int
    size: int


def find_index(path: str) -> str | None:
    """The index beside an alignment file."""
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return None
    with open(path, "rb") as file:
        if file.read(4) == magic.CRAM:
            endings: tuple[str, ...] = (".crai",)
        else:
            try:
                is_bam = _block(file, 0)[0].startswith(magic.BAM)
            except (_Contradiction, _Damaged):
                is_bam = False
            endings = (".bai", ".csi") if is_bam else ()
    names = (f"{name}{ending}" for name in (path, os.path.splitext(path)[0]) for ending in endings)
    return next(filter(os.path.isfile, names), None)


def unreadable_index(index: str, path: str) -> InputError:
    """The error to raise for a damaged index."""
    return InputError(index, "", "is damaged, or no index", f"run samtools index {path}")


class AlignmentIndex:
    """An undamaged index. Whether it belongs to its alignment file is checked by `check`, once that file is open.

    Parameters
    ----------
    index, path : str
        The index and its alignment file.

    Attributes
    ----------
    bam : BamIndex or None
        The content; None for the index of a CRAM file.

    Raises
    ------
    InputError
        For an index that is damaged.
    """

    def __init__(self, index: str, path: str) -> None:
        self.path, self._file_path = index, path
        self.bam: BamIndex | None = None
        self._cram: list[CramSlice] = []
        try:
            if index.endswith(".crai"):
                self._cram = read_cram_index(index)
            else:
                self.bam = read_bam_index(index)
        except DAMAGED_INDEX as error:
            raise unreadable_index(index, path) from error
        if os.path.getmtime(index) < os.path.getmtime(path):
            log.warning("%s is older than %s", index, path)

    def check(self, file: pysam.AlignmentFile) -> None:
        """Require that the index has the contigs and the offsets of this file.

        Raises
        ------
        InputError
            For the index of another file, and for one that is older than the file's content.
        """
        with open(self._file_path, "rb") as raw:
            size = os.fstat(raw.fileno()).st_size
            try:
                if self.bam is not None:
                    _check_bam(self.bam, raw, size, file)
                else:
                    _check_cram(self._cram, raw, size, file.nreferences)
            except _Damaged:
                return
            except _Contradiction as error:
                rule = f"is not the index of {self._file_path} as it is now: {error}"
                raise InputError(self.path, "", rule, f"run samtools index {self._file_path}") from error


class _Contradiction(Exception):
    """The index contradicts the alignment file."""


class _Damaged(Exception):
    """The alignment file itself is damaged here. Reading its records will report that."""


class _Record(NamedTuple):
    """The head of a BAM record, and its virtual offset."""

    contig: int
    position: int
    offset: int


def _check_bam(index: BamIndex, raw: BinaryIO, size: int, file: pysam.AlignmentFile) -> None:
    if index.contigs > file.nreferences:
        raise _Contradiction(f"it has {index.contigs} contigs, the file {file.nreferences}")
    if len(index.end) and int(index.end.max()) >> 16 > size:
        raise _Contradiction("it leads beyond the file's end")
    first = _record_at(raw, file.tell(), file.nreferences)
    if not len(index.begin):
        if first is not None and first.contig >= 0:
            raise _Contradiction("it knows no reads")
        return
    contig_of_chunk = index.bin_contig[index.chunk_bin]
    order = np.lexsort((index.begin, contig_of_chunk))
    firsts = order[np.unique(contig_of_chunk[order], return_index=True)[1]]
    picked = firsts[distinct(np.linspace(0, len(firsts) - 1, _LOOKED_UP).astype(np.int64))]
    for chunk in picked.tolist():
        found = _record_at(raw, int(index.begin[chunk]), file.nreferences)
        bin_number = int(index.bin_number[index.chunk_bin[chunk]])
        low, high = index.span_of_bin(bin_number)
        name = file.get_reference_name(int(contig_of_chunk[chunk]))
        # A read whose position lies before its contig's start has a bin, too.
        is_in_bin = found is not None and (found.position < 0 or low <= found.position < high)
        if found is None or found.contig != contig_of_chunk[chunk] or not is_in_bin:
            raise _Contradiction(f"the reads of {name} begin elsewhere")
        if chunk == order[0] and first is not None and found.offset != first.offset:
            raise _Contradiction("it does not know the first reads")
    behind = _record_at(raw, int(index.end.max()), file.nreferences)
    if behind is not None and behind.contig >= 0:
        raise _Contradiction("it does not know the last reads")


def _record_at(raw: BinaryIO, offset: int, contigs: int) -> _Record | None:
    """The record that begins at a virtual offset; None at the end of the file."""
    address, within = offset >> 16, offset & 0xFFFF
    block, behind = _block(raw, address)
    while within >= len(block):
        if behind is None or within > len(block):
            if behind is None and within == len(block):
                return None
            raise _Contradiction("no read begins where it says")
        address, within = behind, 0
        block, behind = _block(raw, address)
    head, after = block[within : within + _RECORD_HEAD], behind
    while len(head) < _RECORD_HEAD and after is not None:
        more, after = _block(raw, after)
        head += more[: _RECORD_HEAD - len(head)]
    if len(head) < _RECORD_HEAD:
        raise _Contradiction("no read begins where it says")
    size, contig, position, name, _, _, operations, _, bases = struct.unpack_from("<iiiBBHHHi", head)
    if (
        not -1 <= contig < contigs
        or bases < 0
        or name < 1
        or size < _RECORD_HEAD - 4 + name + 4 * operations + (bases + 1) // 2 + bases
    ):
        raise _Contradiction("no read begins where it says")
    return _Record(contig, position, address << 16 | within)


def _block(raw: BinaryIO, address: int) -> tuple[bytes, int | None]:
    """An unpacked BGZF block, and the address of the next one; empty bytes and None at the end of the file."""
    raw.seek(address)
    head = raw.read(magic.BGZF_HEAD_SIZE)
    if not head:
        return b"", None
    if len(head) < magic.BGZF_HEAD_SIZE or head[:4] != _BLOCK_MAGIC or head[12:14] != _BLOCK_MARK:
        raise _Contradiction("no block of the file begins where it says")
    size = int.from_bytes(head[16:18], "little") + 1
    packed = raw.read(size - magic.BGZF_HEAD_SIZE)
    try:
        return zlib.decompress(packed[:-8], -zlib.MAX_WBITS), address + size
    except zlib.error as error:
        raise _Damaged from error


def read_cram_index(path: str) -> list[CramSlice]:
    """The lines of a .crai (CRAM specification, section 12).

    Raises
    ------
    ValueError, OSError, EOFError, zlib.error
        For anything that is not as the specification has it.
    """
    with open_unzipped(path) as lines:
        slices = [CramSlice(*_six_numbers(line)) for line in lines]
    if any(one.contig < _SEVERAL_CONTIGS or one.container < _CRAM_HEAD or min(one[2:]) < 0 for one in slices):
        raise ValueError("impossible slices")
    return slices


def _six_numbers(line: bytes) -> Iterator[int]:
    fields = line.split()
    if len(fields) != len(CramSlice._fields):
        raise ValueError("not six numbers")
    return map(int, fields)


def _check_cram(slices: list[CramSlice], raw: BinaryIO, size: int, contigs: int) -> None:
    most = max((one.contig for one in slices), default=-1)
    if most >= contigs:
        raise _Contradiction(f"it has {most + 1} contigs, the file {contigs}")
    if any(one.container + one.offset + one.size > size for one in slices):
        raise _Contradiction("it leads beyond the file's end")
    raw.seek(4)
    if raw.read(1) not in (b"\2", b"\3"):
        # Later versions of CRAM encode numbers in another way.
        return
    step = max(1, len(slices) // _LOOKED_UP)
    for one in slices[::step]:
        raw.seek(one.container)
        length, contig = _container_head(raw.read(9))
        if contig not in (one.contig, _SEVERAL_CONTIGS) or not 0 < length <= size - one.container:
            raise _Contradiction("no slice of the file begins where it says")


def _container_head(head: bytes) -> tuple[int, int]:
    """Length (four bytes, little-endian) and contig number (ITF8) of a container."""
    if len(head) < 9:
        return 0, 0
    length = int.from_bytes(head[:4], "little", signed=True)
    more = next((bits for bits in range(4) if not head[4] & 0x80 >> bits), 4)
    if more < 4:
        return length, int.from_bytes(bytes([head[4] & 0xFF >> more + 1]) + head[5 : 5 + more], "big")
    value = (head[4] & 0x0F) << 28 | head[5] << 20 | head[6] << 12 | head[7] << 4 | head[8] & 0x0F
    return length, value - (1 << 32) if value >> 31 else value
