"""BGZF, taken apart and put together: its content can change while every checksum stays right, or the reverse."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
# SAM specification, section 4.1: 18 bytes with the extra field BC, deflated data, CRC-32 and size.
_HEAD = struct.Struct("<4BI2BH2BHH")
_TAIL = struct.Struct("<II")


def pack(payload: bytes, block_size: int = 0xFF00) -> bytes:
    """BGZF with its end marker."""
    pieces = [payload[at : at + block_size] for at in range(0, len(payload), block_size)]
    return b"".join(map(_block, pieces)) + END


def _block(piece: bytes) -> bytes:
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(piece) + deflate.flush()
    size = _HEAD.size + len(packed) + _TAIL.size
    head = _HEAD.pack(0x1F, 0x8B, 8, 4, 0, 0, 0xFF, 6, ord("B"), ord("C"), 2, size - 1)
    return head + packed + _TAIL.pack(zlib.crc32(piece), len(piece))


def block_starts(data: bytes) -> list[int]:
    """Where the blocks of a whole file begin, and its end."""
    starts = [0]
    while starts[-1] < len(data):
        starts.append(starts[-1] + struct.unpack_from("<H", data, starts[-1] + 16)[0] + 1)
    return starts


def unpack(data: bytes) -> bytes:
    """What a whole file holds."""
    return b"".join(zlib.decompress(data[start:end], 31) for start, end in pairwise(block_starts(data)))


def fault(data: bytes, original: bytes) -> str:
    """What of checksums and end marker is broken in a changed copy of `original`, or nothing.

    Of copies of another length only the end marker is looked at, and blocks whose header changed are passed over.
    """
    if not data.endswith(END):
        return "" if _becomes_gzip(data) else "end marker"
    if len(data) != len(original):
        return ""
    for start, end in pairwise(block_starts(original)):
        block, was = data[start:end], original[start:end]
        # Between these bytes of a header stand a time and the names of systems, which tell nothing.
        if block != was and block[:4] == was[:4] and block[10:18] == was[10:18] and not _is_sound(block):
            return "checksum"
    return ""


def _becomes_gzip(data: bytes) -> bool:
    """Whether whole plain gzip stands behind the blocks, as it may in a file of text."""
    at = 0
    while data[at : at + 4] == END[:4] and data[at + 12 : at + 16] == END[12:16] and len(data) >= at + _HEAD.size:
        at += struct.unpack_from("<H", data, at + 16)[0] + 1
    inflate = zlib.decompressobj(31)
    try:
        inflate.decompress(data[at:])
    except zlib.error:
        return False
    return inflate.eof


def _is_sound(block: bytes) -> bool:
    inflate = zlib.decompressobj(-15)
    try:
        piece = inflate.decompress(block[_HEAD.size :])
    except zlib.error:
        return False
    # htslib does not look at the size behind the checksum, which is of all that was unpacked.
    return inflate.eof and inflate.unused_data[:4] == _TAIL.pack(zlib.crc32(piece), len(piece))[:4]
