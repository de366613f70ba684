"""Canonical k-mers and their hashes, in NumPy. `cpu/sketch/kmers.hpp` says the same in C++."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.sequences.letters import BASES

_BREAK = len(BASES)
_BITS_OF_SET = np.full(16, _BREAK, dtype=np.uint64)
_BITS_OF_SET[[1 << bit for bit in range(len(BASES))]] = range(len(BASES))


def hashes_of(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash words by splitmix64 (Steele, Lea and Flood 2014). It is a bijection: two words never share a hash."""
    with np.errstate(over="ignore"):
        words = words + np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def kmer_hashes(sets: NDArray[np.uint8], k: int) -> NDArray[np.uint64]:
    """The hashes of the canonical k-mers of a sequence, in order.

    A canonical k-mer is the lesser of a k-mer and its reverse complement, as numbers of two bits a base: A 0, C 1, G 2,
    T 3, the first base highest. A k-mer with a letter that stands for several bases is left out.

    Parameters
    ----------
    sets : ndarray, shape (letters,), uint8
        Sets of bases (`pairhmm.sequences.letters`).
    k : int
        1 to 31.

    Returns
    -------
    ndarray, shape (k-mers,), uint64
    """
    count = len(sets) - k + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    bits = _BITS_OF_SET[sets]
    forward, reverse = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.uint64)
    is_whole = np.ones(count, dtype=bool)
    for at in range(k):
        here = bits[at : at + count]
        is_whole &= here != _BREAK
        forward = forward << np.uint64(2) | here & np.uint64(3)
        reverse |= (np.uint64(3) - (here & np.uint64(3))) << np.uint64(2 * at)
    return hashes_of(np.minimum(forward, reverse)[is_whole])
