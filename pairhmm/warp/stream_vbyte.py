"""Unpacks the signals of BLOW5: zigzag differences in Stream VByte (Lemire, Kurz and Rupp 2018), as slow5lib does.

A value has 1 to 4 bytes, the lowest first. The numbers of bytes stand before all values, four in a byte.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

_COUNT = struct.Struct("<I")
_EX_ZD = struct.Struct("<BQB")
"""Version, samples, and how many lowest bits all samples have as zero."""
_PLACE = struct.Struct("<II")
_MOST_EXTRA = 0xFFFF - 256
_LIMITS = np.iinfo(np.int16)
_SIZES = (np.arange(256)[:, None] >> 2 * np.arange(4) & 3).astype(np.uint8) + np.uint8(1)


class BrokenSignal(Exception):
    """A packed signal has another length than its counts say."""


def svb_zd(packed: bytes) -> NDArray[np.int16]:
    """A signal of method svb-zd: the number of samples, and their differences."""
    if not packed:
        return np.empty(0, dtype=np.int16)
    (count,) = _COUNT.unpack(_part(packed, 0, _COUNT.size))
    values, end = _stream(packed, _COUNT.size, count)
    if end != len(packed):
        raise BrokenSignal(f"its signal has {len(packed)} bytes where its samples have {end}")
    samples = _summed(values)
    if len(samples) and not _LIMITS.min <= samples.min() <= samples.max() <= _LIMITS.max:
        raise BrokenSignal("its signal has samples beyond 16 bits")
    return samples.astype(np.int16)


def ex_zd(packed: bytes) -> NDArray[np.int16]:
    """A signal of method ex-zd: a byte a difference, and a list of those that need more."""
    if not packed:
        return np.empty(0, dtype=np.int16)
    version, count, shift = _EX_ZD.unpack(_part(packed, 0, _EX_ZD.size))
    if version or shift > 15 or not 1 <= count <= len(packed):
        raise BrokenSignal("its signal is of another version of ex-zd, or damaged")
    at = _EX_ZD.size
    first = int.from_bytes(_part(packed, at, at + 2), "little")
    (exceptions,) = _COUNT.unpack(_part(packed, at + 2, at + 6))
    places, extra, at = _exceptions(packed, at + 6, exceptions)
    is_exception = np.zeros(count - 1, dtype=bool)
    if len(places) and int(places[-1]) >= count - 1:
        raise BrokenSignal("its signal has an exception behind its end")
    if len(extra) and int(extra.max()) > _MOST_EXTRA:
        raise BrokenSignal("its signal has differences beyond 16 bits")
    is_exception[places] = True
    if at + count - 1 - exceptions != len(packed):
        raise BrokenSignal(f"its signal has {len(packed)} bytes where its samples have {at + count - 1 - exceptions}")
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
        place, extra = _PLACE.unpack(_part(packed, at, at + _PLACE.size))
        return np.array([place]), np.array([extra], dtype=np.uint32), at + _PLACE.size
    steps, at = _sized_stream(packed, at, count)
    extra_values, at = _sized_stream(packed, at, count)
    return np.cumsum(steps.astype(np.int64) + 1) - 1, extra_values, at


def _sized_stream(packed: bytes, at: int, count: int) -> tuple[NDArray[np.uint32], int]:
    (size,) = _COUNT.unpack(_part(packed, at, at + _COUNT.size))
    values, end = _stream(packed, at + _COUNT.size, count)
    if end != at + _COUNT.size + size:
        raise BrokenSignal("its signal has a list of exceptions of another length")
    return values, end


def _stream(packed: bytes, at: int, count: int) -> tuple[NDArray[np.uint32], int]:
    """The values that begin at a place, and where they end."""
    keys = np.frombuffer(_part(packed, at, at + -(-count // 4)), dtype=np.uint8)
    sizes = _SIZES[keys].reshape(-1)[:count]
    ends = np.cumsum(sizes, dtype=np.int64)
    ends += at + len(keys)
    end = int(ends[-1]) if count else at
    data = np.frombuffer(_part(packed, 0, end), dtype=np.uint8)
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


def _part(packed: bytes, begin: int, end: int) -> bytes:
    if end > len(packed):
        raise BrokenSignal(f"its signal has {len(packed)} bytes, fewer than its samples")
    return packed[begin:end]
