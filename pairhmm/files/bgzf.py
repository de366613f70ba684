"""BGZF, blocks of gzip (SAM specification, section 4.1): end markers, the heads of the first blocks, and unpacking."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import zlib
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.native import native

if TYPE_CHECKING:
    from pairhmm._cpu import BlockReader

CUT_OFF, MAKE_AGAIN = "is cut off", "copy or make it again"
# The extra field that marks a BGZF block, and the empty block at a file's end (SAM specification, section 4.1).
_BGZF_FIELD = slice(12, 14), b"BC"
BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
_BLOW5_END = b"5WOLB"
# The empty container at a file's end, by major version (CRAM specification, section 9). CRAM 2.0 has none.
_CRAM_ENDS = {
    2: bytes.fromhex("0b000000ffffffff0fe0454f460000000001000001000606010001000100"),
    3: bytes.fromhex("0f000000ffffffff0fe0454f4600000000010005bdd94f0001000606010001000100ee63014b"),
}
LONGEST = 64
"""An upper limit on the length of a marker, in bytes."""
# A sound file with one of these suffixes is never empty. An empty one was never written, or cut off at its start.
_NEVER_EMPTY = (".gz", ".bgz", ".bam", ".cram", ".bcf", ".blow5", ".slow5")


def end_marker(head: bytes) -> bytes:
    """The end marker of a file with these first bytes; empty if its format has none."""
    place, field = _BGZF_FIELD
    if head.startswith(formats.GZIP):
        return BGZF_END if head[place] == field else b""
    if head.startswith(formats.BLOW5):
        return _BLOW5_END
    if head.startswith(formats.CRAM) and len(head) > 5 and tuple(head[4:6]) >= (2, 1):
        return _CRAM_ENDS.get(head[4], b"")
    return b""


def check_end(path: str, file: str | int | None = None) -> None:
    """Require that a regular file ends in the marker of its format.

    Other files are not checked here: the end of a pipe is known only once it was read.

    Raises InputError where the marker is missing, and where the file can't be read.

    `file`: a path to open in place of `path`, or an open descriptor, whose position does not change.
    """
    target = path if file is None else file
    try:
        if not stat.S_ISREG(os.stat(target).st_mode):
            return
        descriptor = os.open(target, os.O_RDONLY) if isinstance(target, str) else target
        try:
            size = os.fstat(descriptor).st_size
            marker = end_marker(os.pread(descriptor, formats.BGZF_HEAD_SIZE, 0))
            tail = os.pread(descriptor, LONGEST, max(0, size - LONGEST))
            if marker == BGZF_END and becomes_gzip(descriptor):
                marker = b""
        finally:
            if isinstance(target, str):
                os.close(descriptor)
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be read", "check the path") from error
    if not size and path.endswith(_NEVER_EMPTY):
        raise InputError(path, "", f"{CUT_OFF}: nothing is in it", MAKE_AGAIN)
    check_tail(path, marker, tail)


def becomes_gzip(descriptor: int) -> bool:
    """Whether a file is text in blocks of BGZF, and goes on to its end as plain gzip behind one of them.

    Both are gzip, whose files may be put together (RFC 1952, section 2.2).

    `descriptor`: of a regular file.
    """
    first = os.pread(descriptor, 1 << 16, 0)
    if not end_marker(first[: formats.BGZF_HEAD_SIZE]) or not first.startswith(formats.GZIP):
        return False
    with suppress(zlib.error):
        if zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(first, 4).startswith((formats.BAM, formats.BCF)):
            return False
    size, follower = os.fstat(descriptor).st_size, BlockFollower()
    if os.pread(descriptor, len(BGZF_END), max(0, size - len(BGZF_END))) == BGZF_END:
        return False
    while follower.is_in_blocks and follower.block < size:
        at = follower.block
        follower.follow(at, os.pread(descriptor, formats.BGZF_HEAD_SIZE, at))
        if follower.block == at:
            break
    return not follower.is_in_blocks


class BlockFollower:
    """Follows the blocks of BGZF as the bytes of a file pass.

    `block`: where the next block begins. `is_in_blocks`: false once plain gzip stands where a block would begin.
    """

    def __init__(self) -> None:
        self.block, self.is_in_blocks = 0, True
        self._held = b""

    def follow(self, address: int, piece: bytes) -> None:
        """Take the bytes from an address on, which is where those before ended or the next block begins."""
        window, begin = self._held + piece, address - len(self._held)
        end = begin + len(window)
        while self.is_in_blocks and self.block + formats.BGZF_HEAD_SIZE <= end:
            at = self.block - begin
            head = window[at : at + formats.BGZF_HEAD_SIZE]
            place, field = _BGZF_FIELD
            if head.startswith(formats.GZIP) and head[place] == field:
                self.block += int.from_bytes(head[16:18], "little") + 1
            elif head.startswith(formats.GZIP_DEFLATE):
                self.is_in_blocks = False
            else:
                # Not a block: unpacking it raises the error.
                break
        self._held = window[max(0, self.block - begin) :][: formats.BGZF_HEAD_SIZE - 1]


def check_tail(path: str, marker: bytes, tail: bytes) -> None:
    """Require that the last bytes are the marker."""
    if not tail.endswith(marker):
        raise InputError(path, "", f"{CUT_OFF}: its end marker is missing", MAKE_AGAIN)


# The head that htslib demands: gzip with an extra field of 6 bytes, which is the subfield BC.
_HEAD = struct.Struct("<3sB6x6sH")
_HAS_FIELD, _FIELD = 4, b"\x06\x00BC\x02\x00"
_BLOCKS_A_THREAD = 4
"""Blocks that are checked for each thread. htslib reads two ahead."""


def check_block_heads(path: str, threads: int, file: int | None = None) -> None:
    """Check the blocks that `threads` threads of htslib read while a regular file's header is read.

    `file` is an open descriptor of the file, whose position does not change. Raises InputError for something that is no
    block, and for a block that reaches beyond the end of the file.
    """
    descriptor = os.open(path, os.O_RDONLY) if file is None else file
    try:
        size = os.fstat(descriptor).st_size
        at = 0
        for _ in range(_BLOCKS_A_THREAD * (threads + 1)):
            at = _behind(path, at, os.pread(descriptor, formats.BGZF_HEAD_SIZE, at))
            if at > size:
                raise _damaged(path, size)
            if at in (0, size):
                return
    finally:
        if file is None:
            os.close(descriptor)


def check_stream_heads(path: str, start: bytes) -> None:
    """Check the blocks that begin in the first bytes of a stream.

    Raises InputError for something that is not a block.
    """
    at = 0
    while at + formats.BGZF_HEAD_SIZE <= len(start):
        at = _behind(path, at, start[at : at + formats.BGZF_HEAD_SIZE])
        if not at:
            return


def _behind(path: str, at: int, head: bytes) -> int:
    """The end of the block that begins at `at`; 0 for a file that does not consist of blocks."""
    if not at and not (head[:2] == formats.GZIP and end_marker(head)):
        return 0
    size = block_size(head)
    if not size:
        raise _damaged(path, at)
    return at + size


def block_size(data: bytes | memoryview, at: int = 0) -> int:
    """The size of the block whose head is at a place of some bytes; 0 where it is not the head of a block."""
    if len(data) - at < formats.BGZF_HEAD_SIZE:
        return 0
    begin, flags, field, last = _HEAD.unpack_from(data, at)
    is_block = begin == formats.GZIP_DEFLATE and flags & _HAS_FIELD and field == _FIELD
    return last + 1 if is_block and last >= formats.BGZF_HEAD_SIZE else 0


def _damaged(path: str, at: int) -> InputError:
    return InputError(path, "", f"is damaged near byte {at:,}", MAKE_AGAIN)


deflate: ModuleType = zlib
try:
    from isal import isal_zlib
except ImportError:
    pass
else:
    # isal unpacks twice as fast.
    deflate = isal_zlib

_FUNCTIONS: Final = ("isal_inflate_init", "isal_inflate_stateless", "crc32_gzip_refl")
_LARGEST = 1 << 16

ReadAt: TypeAlias = Callable[[int, int], bytes]
"""``read(address, size)``: bytes of the file from an address on; fewer than asked for at its end, then none."""


class DamagedBlockError(Exception):
    """Something that is not a block of BGZF, or whose checksum is wrong, or that is cut off."""


class Block(NamedTuple):
    """An unpacked block, and its address in the file."""

    address: int
    data: bytes


def block_reader(source: int | ReadAt, address: int = 0, enough: int | None = None) -> BlockReader:
    """A reader of the blocks from the one at an address on (cpu/formats/bgzf.hpp).

    `source`: an open descriptor, whose position does not change, or what reads bytes. `enough`: an address from which
    on one block is unpacked at a time, since the caller soon has what it needs.
    """
    return native.BlockReader(source, isal_functions() or unpacked, address, enough)


@cache
def isal_functions() -> dict[str, int] | None:
    """Addresses of isal's functions by name; None where it is not installed, or does not show them."""
    if deflate is zlib:
        return None
    try:
        library = ctypes.CDLL(deflate.__file__)
        addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _FUNCTIONS}
    except (AttributeError, OSError):
        return None
    return {name: address for name, address in addresses.items() if address is not None}


def unpacked(data: bytes, checksum: int) -> bytes | None:
    """The data of a block, without isal; None where it is damaged."""
    unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        text = unpacking.decompress(data, _LARGEST + 1)
    except zlib.error:
        return None
    return text if unpacking.eof and zlib.crc32(text) == checksum else None


def raise_fault(reader: BlockReader) -> None:
    """Raise the error of a reader that has no more blocks: DamagedBlockError or OSError, or none at the file's end."""
    if reader.error:
        raise OSError(reader.error, os.strerror(reader.error))
    if reader.is_damaged:
        raise DamagedBlockError


def blocks_from(read: ReadAt, address: int, enough: int | None = None) -> Generator[list[Block]]:
    """The blocks from the one at an address on, a few at a time. `enough` is that of `block_reader`."""
    reader = block_reader(read, address, enough)
    while (blocks := reader.next()) is not None:
        data, ends = blocks.data.tobytes(), blocks.end.tolist()
        spans = zip(blocks.address.tolist(), [0, *ends[:-1]], ends, strict=True)
        yield [Block(at, data[begin:end]) for at, begin, end in spans]
    raise_fault(reader)
