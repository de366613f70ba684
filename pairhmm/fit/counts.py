"""Expected counts of pairs under a model: the expectation step of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import cpu
from pairhmm.fit.pairs import FitPairs
from pairhmm.models.batch import Start
from pairhmm.models.gatk import MOST_REPEATS
from pairhmm.native import native

QUALITIES = 128
SYMBOLS = 5 * QUALITIES
"""Number of symbols. A symbol is a base with its Phred quality: base * 128 + quality."""

_LANES, _MOST_PAIRS, _BLOCKS = 8, 4096, 400
_PAIRS_A_CALL = 1 << 14


@dataclass(frozen=True, slots=True)
class RowTables:
    """A model's rows as tables."""

    place: NDArray[np.int32]  # int32[bases]: index into `transition` for each base of the reads
    emission: NDArray[np.float64]  # float64[symbols, 6]: emission of a symbol beside A C G T N, and as an insertion
    transition: NDArray[np.float64]  # float64[places, 7]: mm im dm mi ii md dd, without the emission of an insertion
    start: Start


@dataclass(frozen=True, slots=True)
class Counts:
    """Expected counts for each block of pairs. How pairs form blocks depends only on their order."""

    match: NDArray[np.float64]  # float64[blocks, symbols, 5]: counts of a symbol beside A C G T N
    insertion: NDArray[np.float64]  # float64[blocks, symbols]
    # float64[blocks, places, 7]: counts of mm im dm mi ii md dd, by the place whose parameter the transition takes
    transition: NDArray[np.float64]
    # float64[pairs]: log10 likelihoods. NaN marks a pair whose range float64 does not hold, and which is in no count.
    log10: NDArray[np.float64]

    def total(self) -> Counts:
        """The counts summed over blocks, as one block."""
        return Counts(
            self.match.sum(axis=0, keepdims=True),
            self.insertion.sum(axis=0, keepdims=True),
            self.transition.sum(axis=0, keepdims=True),
            self.log10,
        )


def places_by_copies(pairs: FitPairs) -> NDArray[np.int32]:
    """Place of each base: the copies of the repeat there less 1. The first bases of reads have others, behind these."""
    place = pairs.copies.astype(np.int32) - 1
    place[pairs.read_offset[:-1]] += MOST_REPEATS
    return place


def with_free_start(transition: NDArray[np.float64]) -> NDArray[np.float64]:
    """Transitions float64[2 places, 7], with those of first bases behind the others. There mm, im and dm are 1.

    The recurrence pays dm for a read's first match, wherever it lies. This is a constant of every read, not the end of
    a deletion. A fit would count it as the end of one, and make deletions shorter than they are.
    """
    of_first = transition.copy()
    of_first[:, :3] = 1.0
    return np.concatenate([transition, of_first])


def log10_start(start: Start, widths: NDArray[np.int64]) -> NDArray[np.float64]:
    """log10 of M[0,0] plus the sum of D[0,j] over all j that a letter follows, for haplotypes of `widths` letters.

    Likelihoods are divided by it. It is 0 for GATK's start.
    """
    result: NDArray[np.float64] = np.log10(start.match + (start.deletion + widths - 1) / widths)
    return result


def expected_counts(pairs: FitPairs, tables: RowTables, threads: int) -> Counts:
    """Run forward-backward of all pairs on the CPU. The result does not depend on `threads`."""
    blocks, places = -(-len(pairs) // _block(pairs)), len(tables.transition)
    size = SYMBOLS * 6 + places * 7
    cells, log10 = _computed(pairs, tables, threads, size)
    cells = cells.reshape(blocks, size)
    return Counts(
        cells[:, : SYMBOLS * 5].reshape(blocks, SYMBOLS, 5),
        cells[:, SYMBOLS * 5 : SYMBOLS * 6],
        cells[:, SYMBOLS * 6 :].reshape(blocks, places, 7),
        log10,
    )


def log10_likelihoods(pairs: FitPairs, tables: RowTables, threads: int) -> NDArray[np.float64]:
    """float64[pairs]: log10 likelihoods from forward alone, in about a third of the time that counts take."""
    return _computed(pairs, tables, threads, 0)[1]


def _block(pairs: FitPairs) -> int:
    """Number of pairs in a block."""
    return min(max(len(pairs) // _BLOCKS // _LANES, 1) * _LANES, _MOST_PAIRS)


def _computed(
    pairs: FitPairs, tables: RowTables, threads: int, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts float64[blocks * size], and log10 likelihoods. The work is several calls, which Ctrl-C can interrupt."""
    block, places, isa = _block(pairs), len(tables.transition), cpu.chosen_isa()
    symbol = pairs.bases.astype(np.int32) * QUALITIES + pairs.quality
    emission, transition = (np.ascontiguousarray(each).reshape(-1) for each in (tables.emission, tables.transition))
    counts, log10 = np.empty(-(-len(pairs) // block) * size), np.empty(len(pairs))
    step = max(block, _PAIRS_A_CALL // block * block)
    for first in range(0, len(pairs), step):
        end = min(first + step, len(pairs))
        each = np.arange(first, end, dtype=np.int64)
        part = native.PairSet(
            each,
            each,
            pairs.read_offset,
            pairs.haplotype_offset,
            pairs.letters,
            symbol,
            tables.place,
            emission,
            transition,
            tables.start.match,
            tables.start.deletion,
        )
        own = counts[first // block * size : -(-end // block) * size]
        native.expected_counts(isa, part, SYMBOLS, places, block, threads, own, log10[first:end])
    return counts, log10
