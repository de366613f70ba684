"""Flags of pairs and samples: swapped labels, duplicates, unexpected parents and children, contamination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.variants.genealogy import IDENTICAL, PARENT_CHILD, RELATED, RELATIONS, SIBLINGS, UNKNOWN, UNRELATED

# Contradictions: [inferred, expected]. Relatives of the second degree or farther contradict nothing but a closer
# relation, since sheets rarely name them.
_CONTRADICTS = ~np.eye(len(RELATIONS), dtype=bool)
_CONTRADICTS[RELATED, UNRELATED] = _CONTRADICTS[UNRELATED, RELATED] = False
_LEAST_GAIN = 2

Matrix = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Swaps:
    """Samples whose relations contradict the sheet."""

    # Samples whose labels, exchanged, make the observations fit. Several can explain the same observations: with two
    # samples each of two individuals, the first ones or the second ones may have been exchanged. All are listed.
    exchanges: list[tuple[int, int]]
    misplaced: list[int]  # Samples that lack an expected relative, and that no exchange explains.
    labels: NDArray[np.int64]  # The label that each sample has after one of the exchanges that explain the same.

    @property
    def suspects(self) -> set[int]:
        """All samples that may have another's label."""
        return {sample for pair in self.exchanges for sample in pair} | set(self.misplaced)


def contradictions(inferred: Matrix, expected: Matrix) -> NDArray[np.bool_]:
    """Where an inferred relation contradicts the expected one: bool, of the matrices' shape."""
    result: NDArray[np.bool_] = _CONTRADICTS[inferred, expected] & (inferred != UNKNOWN) & (expected != UNKNOWN)
    return result


def find_swaps(inferred: Matrix, expected: Matrix) -> Swaps:
    """Find the samples that were probably exchanged.

    In each round, the exchange that resolves most contradictions is taken, as long as it resolves two and gives a
    sample a close relative that it lacked.
    """
    labels = np.arange(len(inferred))
    exchanges: list[tuple[int, int]] = []
    while True:
        now = expected[np.ix_(labels, labels)]
        wrong = contradictions(inferred, now)
        suspects = np.flatnonzero(_lacking(inferred, now).any(axis=1))
        candidates = np.flatnonzero(wrong.any(axis=1))
        gains = {
            (min(sample, other), max(sample, other)): gain
            for sample in suspects.tolist()
            for other, gain in zip(candidates.tolist(), _gains(inferred, now, wrong, sample, candidates), strict=True)
            if gain >= _LEAST_GAIN
        }
        if not gains:
            break
        best = max(gains.values())
        equal = [pair for pair, gain in gains.items() if gain == best]
        _exchange(labels, equal[0])
        exchanges.append(equal[0])
        after = expected[np.ix_(labels, labels)]
        still = contradictions(inferred, after)
        for pair in equal[1:]:
            # An exchange that has nothing left to resolve explains the same observations.
            if _gains(inferred, after, still, pair[0], np.array(pair[1:]))[0] < best:
                exchanges.append(pair)
    now = expected[np.ix_(labels, labels)]
    return Swaps(exchanges, _misplaced(_lacking(inferred, now)), labels)


def _exchange(labels: NDArray[np.int64], pair: tuple[int, int]) -> None:
    labels[list(pair)] = labels[list(pair[::-1])]


def _lacking(inferred: Matrix, expected: Matrix) -> NDArray[np.bool_]:
    """Where two samples lack a close relation that is expected of them."""
    return contradictions(inferred, expected) & (expected >= SIBLINGS) & (inferred < expected)


def _gains(
    inferred: Matrix, expected: Matrix, wrong: NDArray[np.bool_], sample: int, others: NDArray[np.int64]
) -> list[int]:
    """How many contradictions fewer there are if a sample exchanges its label with each of others."""
    before = wrong[sample].sum() + wrong[others].sum(axis=1) - wrong[sample, others]
    of_sample = contradictions(inferred[sample][None, :], expected[others])
    theirs = contradictions(inferred[others], expected[sample][None, :])
    rows = np.arange(len(others))
    # The relation of the two to each other does not change.
    of_sample[:, sample] = of_sample[rows, others] = theirs[:, sample] = theirs[rows, others] = False
    after = of_sample.sum(axis=1) + theirs.sum(axis=1) + wrong[sample, others]
    gains: list[int] = (before - after).tolist()
    return gains


def _misplaced(lacking: NDArray[np.bool_]) -> list[int]:
    """The samples with most missing relations, as few as account for all; both of two that account equally."""
    left, result = lacking.copy(), []
    while left.any():
        missing = left.sum(axis=1)
        worst = int(missing.argmax())
        equal = np.flatnonzero(left[worst] & (missing == missing[worst]))
        taken = [worst, *equal.tolist()]
        result += taken
        left[taken] = False
        left[:, taken] = False
    return sorted(result)


SWAP, DUPLICATE, RELATIVE, CONTAMINATED = "swap?", "duplicate", "parent-child", "contaminated"
FLAGS = (SWAP, DUPLICATE, RELATIVE, CONTAMINATED)
"""In the order in which they are written."""

Flags = dict[str, NDArray[np.bool_]]


def pair_and_sample_flags(inferred: Matrix, expected: Matrix, contaminated: NDArray[np.bool_]) -> tuple[Flags, Flags]:
    """The flags of each two samples, and of each sample. A pair is not flagged for the contamination of its samples."""
    swaps = find_swaps(inferred, expected)
    relabelled = expected[np.ix_(swaps.labels, swaps.labels)]
    suspects = np.zeros(len(inferred), dtype=bool)
    suspects[list(swaps.suspects)] = True
    before, after = contradictions(inferred, expected), contradictions(inferred, relabelled)
    is_misplaced = np.zeros(len(inferred), dtype=bool)
    is_misplaced[swaps.misplaced] = True
    unexplained = after & (inferred < relabelled) & (is_misplaced[:, None] | is_misplaced)
    pairs: Flags = {SWAP: np.array((before & ~after) | unexplained)}
    samples: Flags = {SWAP: suspects}
    for flag, relation in ((DUPLICATE, IDENTICAL), (RELATIVE, PARENT_CHILD)):
        # A relation that an exchange explains is not new. A sample is expected to be identical to itself.
        is_new = np.array((relabelled != relation) & (expected != relation) & ~pairs[SWAP])
        pairs[flag] = np.array((inferred == relation) & is_new)
        samples[flag] = np.asarray(pairs[flag].any(axis=1))
    samples[CONTAMINATED] = contaminated
    return pairs, samples
