"""Unpacks the blocks of a BGZF file one by one, from any of them on (SAM specification, section 4.1)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Generator
from types import ModuleType
from typing import NamedTuple, TypeAlias

from pairhmm.files import formats
from pairhmm.files.block_heads import block_size

_ERRORS: tuple[type[Exception], ...] = (zlib.error,)
deflate: ModuleType = zlib
try:
    from isal import isal_zlib
except ImportError:
    pass
else:
    # isal unpacks twice as fast.
    deflate = isal_zlib
    _ERRORS = (*_ERRORS, isal_zlib.error)

ReadAt: TypeAlias = Callable[[int, int], bytes]
"""``read(address, size)``: bytes of the file from an address on; fewer than asked for at its end, then none."""

# Packed bytes that are read at once: as many as were read before, since a jump may need a single block. The most are so
# few that a core's cache holds them unpacked, until they are parsed.
_FEWEST, _MOST = 1 << 16, 1 << 17
# Checksum and size of the unpacked bytes.
_TAIL = struct.Struct("<II")
_LARGEST = 1 << 16


class DamagedBlockError(Exception):
    """Something that is not a block of BGZF, or whose checksum is wrong, or that is cut off."""


class Block(NamedTuple):
    """An unpacked block, and its address in the file."""

    address: int
    data: bytes


def blocks_from(read: ReadAt, address: int, enough: int | None = None) -> Generator[list[Block]]:
    """The blocks from the one at an address on, a few at a time.

    Parameters
    ----------
    read : callable
    address : int
    enough : int, optional
        An address from which on one is unpacked at a time, since the caller soon has what it needs.

    Raises
    ------
    DamagedBlockError
    OSError
    """
    held, before = b"", 0
    while more := read(address + len(held), _size(address + len(held), before, enough)):
        before += len(more)
        packed = memoryview(held + more)
        batch, at = list[Block](), 0
        try:
            while (end := _end(packed, at)) <= len(packed):
                batch.append(Block(address + at, _unpacked(packed, at, end)))
                at = end
                if enough is not None and address + at > enough:
                    yield batch
                    batch = []
        except DamagedBlockError:
            # What is wrong with the reads before it comes first.
            yield batch
            raise
        held, address = bytes(packed[at:]), address + at
        # A thousand files may wait here: nothing is held that the caller has.
        ready = [batch] if batch else []
        del packed, more, batch
        if ready:
            yield ready.pop()
    if held:
        raise DamagedBlockError


def _size(address: int, before: int, enough: int | None) -> int:
    """How many packed bytes to read at an address, behind so many."""
    size = min(before, _MOST) if enough is None else min(before, _MOST, enough - address)
    return max(size, _FEWEST)


def _end(packed: memoryview, at: int) -> int:
    """Where a block ends; beyond the bytes that there are if its head is not complete."""
    if len(packed) - at < formats.BGZF_HEAD_SIZE:
        return len(packed) + 1
    size = block_size(packed, at)
    if size < formats.BGZF_HEAD_SIZE + _TAIL.size:
        raise DamagedBlockError
    return at + size


def _unpacked(packed: memoryview, at: int, end: int) -> bytes:
    tail = end - _TAIL.size
    checksum, size = _TAIL.unpack_from(packed, tail)
    try:
        # The size is a hint, since a damaged one would ask for 4 GB. One byte more: a buffer that is full is grown.
        body = packed[at + formats.BGZF_HEAD_SIZE : tail]
        data: bytes = deflate.decompress(body, -zlib.MAX_WBITS, min(size, _LARGEST) + 1)
    except _ERRORS as error:
        raise DamagedBlockError from error
    if len(data) > _LARGEST or deflate.crc32(data) != checksum:
        raise DamagedBlockError
    return data
