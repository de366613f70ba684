"""Placement of reads on signatures: each read's signal is warped onto the expected levels of both strands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.sequences.letters import reverse_complement
from pairhmm.warp.base import NO_PATH, SignalPairs, Signals, Warper, WarpOptions
from pairhmm.warp.kmers import KmerTable
from pairhmm.warp.scaling import Normalisation, normalised, quantised

STRANDS = ("+", "-")
_SUBSEQUENCE = WarpOptions("subsequence")

_PAIRS_AT_ONCE = 1 << 20
"""Pairs of a read and a target whose warpings are held at once: 16 MB."""


@dataclass(frozen=True, slots=True)
class SignatureLevels:
    """The expected levels of signatures."""

    names: list[str]
    lengths: NDArray[np.int64]  # [signatures]: bases of each
    levels: Signals  # target 2 s is the forward strand of signature s, and 2 s + 1 its reverse complement
    k: int  # bases of a level

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        sequences: Sequence[NDArray[np.uint8]],
        table: KmerTable,
        way: Normalisation,
        scale: float,
    ) -> SignatureLevels:
        """The levels of sequences of sets of bases, none of them shorter than a k-mer.

        All signatures are normalised together, so that they are on one scale.
        """
        strands = [strand for letters in sequences for strand in (letters, reverse_complement(letters))]
        expected = [table.levels(letters)[0] for letters in strands]
        whole, _ = quantised(normalised(np.concatenate(expected), way), scale)
        ends = np.cumsum([len(levels) for levels in expected])
        lengths = np.array([len(letters) for letters in sequences], dtype=np.int64)
        return cls(list(names), lengths, Signals(whole, np.concatenate(([0], ends)).astype(np.int64)), table.k)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class Placements:
    """The best place of each of some reads on each signature."""

    # [reads, signatures]: the cost of the cheaper strand; of two that cost the same the forward one.
    costs: NDArray[np.int64]
    reverse: NDArray[np.bool_]  # [reads, signatures]: whether that is the reverse strand
    # [reads, signatures]: the bases under the read, 0-based half-open, on the forward strand.
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    other_costs: NDArray[np.int64]  # [reads, signatures]: the cost of the other strand

    def best(self) -> NDArray[np.int64]:
        """The signature that each read costs least on, the first of equal ones: int64[reads]."""
        best: NDArray[np.int64] = self.costs.argmin(axis=1)
        return best

    def next_costs(self) -> NDArray[np.int64]:
        """The least cost of each read on another signature or on the other strand: int64[reads, signatures]."""
        reads, best = np.arange(len(self.costs)), self.best()
        elsewhere = np.empty_like(self.costs)
        elsewhere[:] = self.costs[reads, best, None]
        others = self.costs.copy()
        others[reads, best] = NO_PATH
        elsewhere[reads, best] = others.min(axis=1)
        return np.minimum(elsewhere, self.other_costs)


def place_reads(signatures: SignatureLevels, reads: Signals, warper: Warper, threads: int) -> Placements:
    """Find the cheapest place of each read on each signature."""
    count, targets = len(reads), 2 * len(signatures)
    at_once = max(1, _PAIRS_AT_ONCE // targets)
    parts = [
        _place_batch(signatures, reads, np.arange(first, min(first + at_once, count)), warper, threads)
        for first in range(0, count, at_once)
    ]
    if len(parts) == 1:
        return parts[0]
    return Placements(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Placements.__dataclass_fields__)
    )


def _place_batch(
    signatures: SignatureLevels, reads: Signals, chosen: NDArray[np.int64], warper: Warper, threads: int
) -> Placements:
    targets = 2 * len(signatures)
    query = np.repeat(chosen, targets).astype(np.int32)
    target = np.tile(np.arange(targets, dtype=np.int32), len(chosen))
    paths = warper.warpings(SignalPairs(reads, signatures.levels, query, target), _SUBSEQUENCE, threads)
    shape = (len(chosen), len(signatures), len(STRANDS))
    costs, starts, ends = (
        values.astype(np.int64).reshape(shape) for values in (paths.costs, paths.starts, paths.ends + signatures.k - 1)
    )
    reverse = costs[:, :, 1] < costs[:, :, 0]
    at = reverse[:, :, None].astype(np.int64)
    cost, other, start, end = (
        np.take_along_axis(values, which, axis=2)[:, :, 0]
        for values, which in ((costs, at), (costs, 1 - at), (starts, at), (ends, at))
    )
    lengths = signatures.lengths[None, :]
    return Placements(
        cost, reverse, np.where(reverse, lengths - end, start), np.where(reverse, lengths - start, end), other
    )
