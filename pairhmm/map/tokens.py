"""Properties of samples as sets of tokens, collected in bounded memory: a signature needs at most 128 of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.map.sketch.published import (
    LEAST_FOR_ONE_PERMUTATION,
    PRIME,
    SLOT_SHIFT,
    SLOTS,
    hashes,
    mixed,
    tokens_of,
)
from pairhmm.sequences.arrays import offsets


@dataclass(frozen=True, slots=True)
class TokenSets:
    """A set of tokens for each sample."""

    tokens: NDArray[np.uint32]  # below 2**31 - 1; those of a sample are distinct and sorted
    offsets: NDArray[np.int64]  # where each sample's begin, and the end

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbours of each sample."""

    indices: NDArray[np.int32]  # samples
    offsets: NDArray[np.int64]  # where each sample's neighbours begin, and the end

    def __len__(self) -> int:
        return len(self.offsets) - 1


MOST_SETS = 150_000
"""The most token sets of a map: samples times groups. With what is derived from them, they take some 400 MB."""
# Tokens of a sample, and of all samples, that wait to be compacted.
_PENDING, _ALL_PENDING = 4096, 1 << 22

_NONE = np.empty(0, dtype=np.uint32)


def token_of(text: str) -> int:
    """The token of a text: the first 64 bits of its BLAKE2b hash modulo P."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") % PRIME


def slot_tokens(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The tokens of a sketch: one for each pair of a slot's number and its value.

    Two sketches of K slots, m of them equal, become two sets of K tokens that share m. The sets' Jaccard index is
    ``m / (2 K - m)``, which grows with m. So signatures of such tokens keep the order of the samples' Jaccard indices.
    """
    words = np.arange(len(values), dtype=np.uint64) << np.uint64(32) | values.astype(np.uint64)
    # The hash functions of the published scheme are linear, so words with a pattern are mixed first.
    return tokens_of(mixed(words))


def compacted(tokens: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """At most 128 of a set's tokens, which have the signature of all of them: the least of each slot, and at least 12.

    Tokens may be in any order, and several times. Those that are added later and compacted again with these give the
    signature of all, too.
    """
    distinct = np.unique(tokens)
    if len(distinct) <= SLOTS:
        return distinct
    values = hashes(distinct, 0)
    order = np.argsort(values)
    slots = values[order] >> np.uint32(SLOT_SHIFT)
    kept = np.ones(len(order), dtype=bool)
    kept[1:] = slots[1:] != slots[:-1]
    kept[:LEAST_FOR_ONE_PERMUTATION] = True
    return np.sort(distinct[order[kept]])


def check_size(sets: int) -> None:
    """Raise InputError for more than `MOST_SETS` sets of tokens."""
    if sets > MOST_SETS:
        rule = f"more than {MOST_SETS:,} samples times groups of properties do not fit its memory"
        raise InputError("map draw", "", rule, "give fewer groups, or see docs/map.md for programs that draw more")


class TokenCollector:
    """The tokens of samples by their names, in the order in which these were first named."""

    def __init__(self) -> None:
        self._tokens: dict[str, NDArray[np.uint32]] = {}
        self._pending: dict[str, list[int]] = {}
        self._waiting = 0

    @property
    def names(self) -> list[str]:
        return list(self._tokens)

    def name(self, sample: str) -> None:
        """Take up a sample, which may have no tokens."""
        if sample not in self._tokens:
            check_size(len(self._tokens) + 1)
            self._tokens[sample] = _NONE

    def add(self, sample: str, tokens: Iterable[int]) -> None:
        """Add tokens of a sample."""
        self.name(sample)
        pending = self._pending.setdefault(sample, [])
        before = len(pending)
        pending.extend(tokens)
        self._waiting += len(pending) - before
        if self._waiting >= _ALL_PENDING:
            self._flush_all()
        elif len(pending) >= _PENDING:
            self._flush(sample)

    def add_array(self, sample: str, tokens: NDArray[np.uint32]) -> None:
        """Like `add`, for many tokens."""
        self.name(sample)
        self._tokens[sample] = compacted(np.concatenate([self._tokens[sample], tokens]))

    def sets(self, names: Sequence[str]) -> TokenSets:
        """The tokens of these samples, in their order. A sample that was not named has none."""
        self._flush_all()
        rows = [self._tokens.get(name, _NONE) for name in names]
        return TokenSets(np.concatenate([_NONE, *rows]), offsets([len(row) for row in rows]))

    def _flush_all(self) -> None:
        for sample in list(self._pending):
            self._flush(sample)

    def _flush(self, sample: str) -> None:
        tokens = self._pending.pop(sample)
        self._waiting -= len(tokens)
        self.add_array(sample, np.array(tokens, dtype=np.uint32))
