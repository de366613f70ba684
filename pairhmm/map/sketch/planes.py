"""Slots of sketches as bit planes, and back (`pairhmm.map.sketch.sketches.Sketches` has the layout)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.sketches import WORD_BITS


def planes_of(values: NDArray[np.uint32], bits: int) -> NDArray[np.uint64]:
    """The lowest bits of slots as planes.

    Parameters
    ----------
    values : ndarray, shape (samples, slots), uint32
        The number of slots is a multiple of 64.
    bits : int
        1 to 32.

    Returns
    -------
    ndarray, shape (samples, bits, slots // 64), uint64
    """
    samples, slots = values.shape
    planes = np.empty((samples, bits, slots // WORD_BITS), dtype="<u8")
    for bit in range(bits):
        octets = np.packbits((values >> np.uint32(bit)).astype(np.uint8) & 1, axis=1, bitorder="little")
        planes[:, bit] = octets.view("<u8")
    return planes.astype(np.uint64, copy=False)


def values_of(planes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The slots of planes, shape (samples, slots), uint32: what `planes_of` was given, cut to its lowest bits."""
    samples, bits, words = planes.shape
    values = np.zeros((samples, words * WORD_BITS), dtype=np.uint32)
    octets = np.ascontiguousarray(planes, dtype="<u8").view(np.uint8)
    for bit in range(bits):
        values |= np.unpackbits(octets[:, bit], axis=1, bitorder="little").astype(np.uint32) << np.uint32(bit)
    return values
