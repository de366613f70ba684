"""The published scheme: MinHash signatures of 128 slots in 31 bits, as a GPU without 64-bit integers computes them.

A token is a whole number below the Mersenne prime P = 2**31 - 1. Its hash in slot j is ``(a[j] * token + b[j]) mod P``.

* A set of fewer than 12 tokens is hashed 128 times. Slot j is the least hash of its tokens (k-hash).
* A set of 12 tokens or more is hashed once, with the constants of slot 0. The highest 7 of the 31 bits name a slot,
  which keeps the least of its hashes (one permutation hashing). A slot without a hash takes the value of a slot that
  has one: the first among the slots that `donor` names at attempts 1, 2, ... (optimal densification; Shrivastava 2017).
* The slots of the empty set are P, which no token's hash is.

This module is the oracle: every backend computes these bits.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

PRIME: Final = 2**31 - 1
SLOTS: Final = 128
BITS: Final = 31
LEAST_FOR_ONE_PERMUTATION: Final = 12
"""Tokens from which a set is hashed once and not 128 times."""
SLOT_SHIFT: Final = 24
"""Bits of a hash below those that name its slot."""

_SEED: Final = 21
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014): numbers that look random, one for each word."""
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def constants() -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The factors a (1 to P - 1) and the summands b (0 to P - 1) of the hash functions, each of shape (128,).

    They are ``a[j] = 1 + s[2 * j] mod (P - 1)`` and ``b[j] = s[2 * j + 1] mod P``, where s are the numbers of
    splitmix64 from the seed 21.
    """
    numbers = mixed(np.uint64(_SEED) + np.arange(1, 2 * SLOTS + 1, dtype=np.uint64) * _STEP)
    factors, summands = 1 + numbers[0::2] % np.uint64(PRIME - 1), numbers[1::2] % np.uint64(PRIME)
    return factors.astype(np.uint32), summands.astype(np.uint32)


FACTORS, SUMMANDS = constants()


def donor(slots: NDArray[np.uint32], attempt: int) -> NDArray[np.uint32]:
    """The slot that each of `slots` asks for a value at an attempt (1, 2, ...): 32-bit arithmetic, modulo 2**32."""
    words = slots * np.uint32(0x9E3779B9) + np.uint32(attempt * 0x85EBCA6B & 0xFFFFFFFF)
    words = (words ^ words >> np.uint32(16)) * np.uint32(0x7FEB352D)
    words = (words ^ words >> np.uint32(15)) * np.uint32(0x846CA68B)
    return (words ^ words >> np.uint32(16)) % np.uint32(SLOTS)


def hashes(tokens: NDArray[np.uint32], slot: int | slice) -> NDArray[np.uint32]:
    """The hashes of tokens with the constants of a slot, or of several slots in rows."""
    products = np.multiply.outer(FACTORS[slot].astype(np.uint64), tokens.astype(np.uint64))
    return ((products + SUMMANDS[slot].astype(np.uint64)[..., None]) % np.uint64(PRIME)).astype(np.uint32)


def signature(tokens: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The signature of a set, shape (128,). Tokens are distinct, below P, in any order."""
    if not len(tokens):
        return np.full(SLOTS, PRIME, dtype=np.uint32)
    if len(tokens) < LEAST_FOR_ONE_PERMUTATION:
        least: NDArray[np.uint32] = hashes(tokens, slice(None)).min(axis=1)
        return least
    slots = np.full(SLOTS, PRIME, dtype=np.uint32)
    once = hashes(tokens, 0)
    np.minimum.at(slots, once >> np.uint32(SLOT_SHIFT), once)
    return densified(slots)


def densified(sparse: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A signature whose empty slots (P) have taken values of the others. At least one slot is not empty."""
    dense = sparse.copy()
    empty = np.flatnonzero(sparse == PRIME).astype(np.uint32)
    attempt = 1
    while len(empty):
        donated = sparse[donor(empty, attempt)]
        dense[empty] = donated
        empty = empty[donated == PRIME]
        attempt += 1
    return dense


def tokens_of(words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Tokens of 64-bit words, such as the hashes of k-mers: their remainders modulo P, distinct and sorted, uint32."""
    return np.unique((words % np.uint64(PRIME)).astype(np.uint32))
