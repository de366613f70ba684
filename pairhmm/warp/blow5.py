"""Read BLOW5 (specification, version 1.0.0). Its signals are zigzag differences in Stream VByte, as in slow5lib.

Every length is compared with the bytes that are there before it is used: a file can be damaged, and says so itself only
where its records are compressed by zlib. A value of Stream VByte (Lemire, Kurz and Rupp 2018) has 1 to 4 bytes, the
lowest first. The numbers of bytes stand before all values, four in a byte.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.bgzf import CUT_OFF, MAKE_AGAIN
from pairhmm.files.byte_stream import ByteStream
from pairhmm.warp.signal_records import SignalRecord, library
from pairhmm.warp.slow5 import Sampling, Slow5Header, check_version, damaged_header, parse_header, read_name

_COUNT = struct.Struct("<I")
_EX_ZD = struct.Struct("<BQB")
"""Version, samples, and how many lowest bits all samples have as zero."""
_PLACE = struct.Struct("<II")
_MOST_EXTRA = 0xFFFF - 256
_LIMITS = np.iinfo(np.int16)
_SIZES = (np.arange(256)[:, None] >> 2 * np.arange(4) & 3).astype(np.uint8) + np.uint8(1)


class _Damaged(Exception):
    """A record, or its packed signal, does not have the form that its lengths say."""


def svb_zd(packed: bytes) -> NDArray[np.int16]:
    """A signal of method svb-zd: the number of samples, and their differences."""
    if not packed:
        return np.empty(0, dtype=np.int16)
    (count,) = _COUNT.unpack(_signal_part(packed, 0, _COUNT.size))
    values, end = _stream(packed, _COUNT.size, count)
    if end != len(packed):
        raise _Damaged(f"its signal has {len(packed)} bytes where its samples have {end}")
    samples = _summed(values)
    if len(samples) and not _LIMITS.min <= samples.min() <= samples.max() <= _LIMITS.max:
        raise _Damaged("its signal has samples beyond 16 bits")
    return samples.astype(np.int16)


def ex_zd(packed: bytes) -> NDArray[np.int16]:
    """A signal of method ex-zd: a byte a difference, and a list of those that need more."""
    if not packed:
        return np.empty(0, dtype=np.int16)
    version, count, shift = _EX_ZD.unpack(_signal_part(packed, 0, _EX_ZD.size))
    if version or shift > 15 or not 1 <= count <= len(packed):
        raise _Damaged("its signal is of another version of ex-zd, or damaged")
    at = _EX_ZD.size
    first = int.from_bytes(_signal_part(packed, at, at + 2), "little")
    (exceptions,) = _COUNT.unpack(_signal_part(packed, at + 2, at + 6))
    places, extra, at = _exceptions(packed, at + 6, exceptions)
    is_exception = np.zeros(count - 1, dtype=bool)
    if len(places) and int(places[-1]) >= count - 1:
        raise _Damaged("its signal has an exception behind its end")
    if len(extra) and int(extra.max()) > _MOST_EXTRA:
        raise _Damaged("its signal has differences beyond 16 bits")
    is_exception[places] = True
    if at + count - 1 - exceptions != len(packed):
        raise _Damaged(f"its signal has {len(packed)} bytes where its samples have {at + count - 1 - exceptions}")
    values = np.empty(count, dtype=np.uint32)
    values[0] = first
    values[1:][is_exception] = extra + np.uint32(256)
    values[1:][~is_exception] = np.frombuffer(packed, dtype=np.uint8, offset=at)
    # Here the differences themselves have 16 bits, and their sums wrap.
    samples: NDArray[np.int16] = (_summed(values) << shift).astype(np.int16)
    return samples


def _exceptions(packed: bytes, at: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.uint32], int]:
    """Places of differences that need more than a byte, these less 256, and where they end."""
    if count == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32), at
    if count == 1:
        place, extra = _PLACE.unpack(_signal_part(packed, at, at + _PLACE.size))
        return np.array([place]), np.array([extra], dtype=np.uint32), at + _PLACE.size
    steps, at = _sized_stream(packed, at, count)
    extra_values, at = _sized_stream(packed, at, count)
    return np.cumsum(steps.astype(np.int64) + 1) - 1, extra_values, at


def _sized_stream(packed: bytes, at: int, count: int) -> tuple[NDArray[np.uint32], int]:
    (size,) = _COUNT.unpack(_signal_part(packed, at, at + _COUNT.size))
    values, end = _stream(packed, at + _COUNT.size, count)
    if end != at + _COUNT.size + size:
        raise _Damaged("its signal has a list of exceptions of another length")
    return values, end


def _stream(packed: bytes, at: int, count: int) -> tuple[NDArray[np.uint32], int]:
    """The values that begin at a place, and where they end."""
    keys = np.frombuffer(_signal_part(packed, at, at + -(-count // 4)), dtype=np.uint8)
    sizes = _SIZES[keys].reshape(-1)[:count]
    ends = np.cumsum(sizes, dtype=np.int64)
    ends += at + len(keys)
    end = int(ends[-1]) if count else at
    data = np.frombuffer(_signal_part(packed, 0, end), dtype=np.uint8)
    begins = ends - sizes
    values = data[begins].astype(np.uint32)
    longer, byte = np.flatnonzero(sizes > 1), 1
    while len(longer):
        values[longer] |= data[begins[longer] + byte].astype(np.uint32) << np.uint32(8 * byte)
        byte += 1
        longer = longer[sizes[longer] > byte]
    return values, end


def _summed(zigzag: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Sums of zigzag differences."""
    differences = (zigzag >> np.uint32(1)).view(np.int32)
    differences ^= -(zigzag & np.uint32(1)).view(np.int32)
    return np.cumsum(differences, dtype=np.int64)


def _signal_part(packed: bytes, begin: int, end: int) -> bytes:
    if end > len(packed):
        raise _Damaged(f"its signal has {len(packed)} bytes, fewer than its samples")
    return packed[begin:end]


_START = struct.Struct("<6s3BBIB49xI")
"""Magic, version, compression of records, read groups, compression of signals, length of the header's text."""
_END = b"5WOLB"
_SIZE = struct.Struct("<Q")
_FIXED = struct.Struct("<I4dQ")
"""Read group, digitisation, offset, range, sampling rate; samples of the signal, or bytes if it is compressed."""
_LONGEST_RECORD = 1 << 30
_AT_ONCE = 1 << 24
_PLAIN, _ZLIB, _ZSTD = range(3)
_SIGNALS: tuple[Callable[[bytes], NDArray[np.int16]], ...] = (
    lambda packed: np.frombuffer(packed, dtype="<i2"),
    svb_zd,
    ex_zd,
)
_BYTES_OF_TYPE = {
    **{f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "char": 1,
    "float": 4,
    "double": 8,
}


def read_blow5(stream: ByteStream) -> Iterator[SignalRecord]:
    """The reads of a BLOW5 file, in pA. Raises InputError for a file that is cut off or damaged; names the record."""
    path, file = stream.path, stream.raw
    start = _taken(file, _START.size)
    if len(start) < _START.size:
        raise damaged_header(path, "it is shorter than 68 bytes")
    _, *version, packing, groups, signal_packing, size = _START.unpack(start)
    check_version(path, ".".join(map(str, version)))
    if packing > _ZSTD or signal_packing >= len(_SIGNALS):
        rule = f"is compressed by methods {packing} and {signal_packing}, which this reader does not know"
        raise InputError(path, "header", rule, "convert it: slow5tools view -c zlib -s svb-zd -o other.blow5")
    text = _taken(file, size)
    if len(text) < size or not groups:
        raise damaged_header(path, f"its text ends after {len(text)} of {size} bytes, or it has no read group")
    header = parse_header(path, text.split(b"\n"), groups)
    for number, packed in enumerate(_records(path, file), start=1):
        place = f"record {number}"
        try:
            signal = _record(path, place, header, _unpacked(path, packed, packing), _SIGNALS[signal_packing])
        except (zlib.error, struct.error, _Damaged) as error:
            raise InputError(path, place, f"is damaged ({error})", MAKE_AGAIN) from error
        yield signal


def _taken(file: BinaryIO, size: int) -> bytes:
    """The next bytes: fewer at the file's end. Memory grows with what is there, not with `size`."""
    parts = []
    while size > 0 and (part := file.read(min(size, _AT_ONCE))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _records(path: str, file: BinaryIO) -> Iterator[bytes]:
    """Each record, as it is in the file."""
    number = 0
    while (told := _taken(file, _SIZE.size)) != _END:
        place = f"after record {number}" if number else ""
        if len(told) < _SIZE.size:
            raise InputError(path, place, CUT_OFF, MAKE_AGAIN)
        (size,) = _SIZE.unpack(told)
        if not 0 < size <= _LONGEST_RECORD:
            raise InputError(path, place, f"is damaged: the next record would have {size:,} bytes", MAKE_AGAIN)
        packed = _taken(file, size)
        if len(packed) < size:
            raise InputError(path, place, CUT_OFF, MAKE_AGAIN)
        yield packed
        number += 1


def _unpacked(path: str, packed: bytes, packing: int) -> bytes:
    if packing == _PLAIN:
        return packed
    if packing == _ZSTD:
        arrow = library("pyarrow", path, "a BLOW5 file of zstd records")
        try:
            with arrow.CompressedInputStream(arrow.BufferReader(packed), "zstd") as file:
                record: bytes = file.read(_LONGEST_RECORD + 1)
        except OSError as error:
            raise _Damaged(" ".join(str(error).split())) from error
    else:
        unpacker = zlib.decompressobj()
        record = unpacker.decompress(packed, _LONGEST_RECORD + 1)
        if len(record) <= _LONGEST_RECORD and (not unpacker.eof or unpacker.unused_data):
            raise _Damaged("its zlib stream has no end, or another length")
    if len(record) > _LONGEST_RECORD:
        raise _Damaged(f"it unpacks to more than {_LONGEST_RECORD:,} bytes")
    return record


def _record(
    path: str,
    place: str,
    header: Slow5Header,
    record: bytes,
    signal: Callable[[bytes], NDArray[np.int16]],
) -> SignalRecord:
    begin = 2 + int.from_bytes(_part(record, 0, 2), "little")
    name = read_name(path, place, _part(record, 2, begin))
    end = begin + _FIXED.size
    group, digitisation, offset, limits, rate, size = _FIXED.unpack(_part(record, begin, end))
    if signal is _SIGNALS[_PLAIN]:
        size *= 2
    packed = _part(record, end, end + size)
    at = end + size
    for kind in header.auxiliary:
        at = _auxiliary_end(record, at, kind)
    if at != len(record):
        raise _Damaged(f"{len(record)} bytes where its columns have {at}")
    sampling = Sampling(name, group, digitisation, offset, limits, rate)
    return sampling.record(path, f"{place} ({name})", header, signal(packed))


def _part(record: bytes, begin: int, end: int) -> bytes:
    if end > len(record):
        raise _Damaged(f"{len(record)} bytes, and a column ends at byte {end}")
    return record[begin:end]


def _auxiliary_end(record: bytes, at: int, kind: str) -> int:
    """Where an auxiliary column that begins at `at` ends."""
    single = kind.removesuffix("*")
    size = 1 if single.startswith("enum{") else _BYTES_OF_TYPE.get(single, 0)
    if not size:
        raise _Damaged(f"a column of type {kind[:40]}, which SLOW5 does not have")
    if single != kind:
        size *= _SIZE.unpack(_part(record, at, at + _SIZE.size))[0]
        at += _SIZE.size
    if at + size > len(record):
        raise _Damaged(f"{len(record)} bytes, and a column ends at byte {at + size}")
    return at + size
