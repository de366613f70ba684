"""Canonical k-mers, and one permutation hashing with densification, in NumPy: the oracle of `cpu/map/`.

The highest 14 bits of a k-mer's hash name its fine slot, and the other 50 bits are its value there. A fine slot keeps
its least value. A sketch of fewer slots folds neighbours (Li, Owen and Zhang 2012), fills empty slots from others
(Shrivastava 2017), and keeps the lowest bits of each value (Li and Koenig 2010).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.api import MOST_COUNTED
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
    """The hashes of the canonical k-mers of a sequence of sets of bases, in order.

    A canonical k-mer is the lesser of a k-mer and its reverse complement, as numbers of two bits a base: A 0, C 1, G 2,
    T 3, the first base highest. A k-mer with a letter that stands for several bases is left out.
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


FINE_BITS: Final = 14
FINE_SLOTS: Final = 1 << FINE_BITS
VALUE_BITS: Final = 64 - FINE_BITS
NO_VALUE: Final = np.uint64(2**64 - 1)
"""The value of an empty slot."""


def minima(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The least value of each fine slot, shape (16,384,); `NO_VALUE` for an empty slot."""
    least = np.full(FINE_SLOTS, NO_VALUE, dtype=np.uint64)
    np.minimum.at(least, (hashes >> np.uint64(VALUE_BITS)).astype(np.int64), _values(hashes))
    return least


def frequent(hashes: NDArray[np.uint64], least: int, most: int = MOST_COUNTED) -> tuple[NDArray[np.uint64], int]:
    """The distinct hashes that were seen `least` times or more, of those with a value below a limit; and the limit.

    The limit is the largest power of two below which there are at most `most` distinct hashes.
    """
    distinct, counts = np.unique(hashes, return_counts=True)
    values = _values(distinct)
    limit = 1 << VALUE_BITS
    while np.count_nonzero(values < limit) > most:
        limit >>= 1
    return distinct[(values < limit) & (counts >= least)], limit


def dense_slots(fine: NDArray[np.uint64], slots: int) -> NDArray[np.uint64]:
    """The values of `slots` slots. At least one fine slot is not empty.

    An empty slot j takes the value of the first slot that is not empty among ``hash(j * 2**32 + attempt) % slots``,
    with attempts 1, 2, ...
    """
    folded: NDArray[np.uint64] = fine.reshape(slots, -1).min(axis=1)
    if np.all(folded == NO_VALUE):
        raise ValueError("every slot is empty")
    dense = folded.copy()
    attempt = 0
    while len(empty := np.flatnonzero(dense == NO_VALUE)):
        attempt += 1
        tried = hashes_of(empty.astype(np.uint64) << np.uint64(32) | np.uint64(attempt)) % np.uint64(slots)
        dense[empty] = folded[tried.astype(np.int64)]
    return dense


def kmers_of_minima(fine: NDArray[np.uint64]) -> float:
    """The most likely number of distinct k-mers.

    Values are uniform, so the least one of a slot is exponential in the number of its k-mers, cut off at 1 where there
    is none. With 16,384 slots, the standard error is below 1%.
    """
    taken = fine != NO_VALUE
    total = float(np.sum((fine[taken] + 0.5) * 2.0**-VALUE_BITS)) + np.count_nonzero(~taken)
    return FINE_SLOTS * np.count_nonzero(taken) / total


def _values(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return hashes & np.uint64(2**VALUE_BITS - 1)
