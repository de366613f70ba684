"""Which samples may have been exchanged: the fewest exchanges of labels after which observations fit the sheet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.variants.genealogy import RELATED, RELATIONS, SIBLINGS, UNKNOWN, UNRELATED

# What contradicts what: [found, expected]. Relatives of the second degree or farther contradict nothing but a closer
# relation, since sheets rarely name them.
_CONTRADICTS = ~np.eye(len(RELATIONS), dtype=bool)
_CONTRADICTS[RELATED, UNRELATED] = _CONTRADICTS[UNRELATED, RELATED] = False
_LEAST_GAIN = 2

Matrix = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Swaps:
    """Samples whose relations contradict the sheet.

    Attributes
    ----------
    exchanges : list of (int, int)
        Samples whose labels, exchanged, make the observations fit. Several can explain the same observations: with two
        samples each of two individuals, the first ones or the second ones may have been exchanged. All are listed.
    misplaced : list of int
        Samples that lack an expected relative, and that no exchange explains.
    labels : int64 (samples,)
        The label that each sample has after one of the exchanges that explain the same.
    """

    exchanges: list[tuple[int, int]]
    misplaced: list[int]
    labels: NDArray[np.int64]

    @property
    def suspects(self) -> set[int]:
        """All samples that may have another's label."""
        return {sample for pair in self.exchanges for sample in pair} | set(self.misplaced)


def contradictions(found: Matrix, expected: Matrix) -> NDArray[np.bool_]:
    """Where a found relation can't be the expected one: bool, of the matrices' shape."""
    result: NDArray[np.bool_] = _CONTRADICTS[found, expected] & (found != UNKNOWN) & (expected != UNKNOWN)
    return result


def find_swaps(found: Matrix, expected: Matrix) -> Swaps:
    """Find the samples that were probably exchanged.

    In each round, the exchange that resolves most contradictions is taken, as long as it resolves two and gives a
    sample a close relative that it lacked.

    Parameters
    ----------
    found, expected : int8 (samples, samples)
        Numbers of `pairhmm.variants.genealogy`, symmetric.
    """
    labels = np.arange(len(found))
    exchanges: list[tuple[int, int]] = []
    while True:
        now = expected[np.ix_(labels, labels)]
        wrong = contradictions(found, now)
        suspects = np.flatnonzero(_lacking(found, now).any(axis=1))
        candidates = np.flatnonzero(wrong.any(axis=1))
        gains = {
            (min(one, other), max(one, other)): gain
            for one in suspects.tolist()
            for other, gain in zip(candidates.tolist(), _gains(found, now, wrong, one, candidates), strict=True)
            if gain >= _LEAST_GAIN
        }
        if not gains:
            break
        best = max(gains.values())
        equal = [pair for pair, gain in gains.items() if gain == best]
        _exchange(labels, equal[0])
        exchanges.append(equal[0])
        after = expected[np.ix_(labels, labels)]
        still = contradictions(found, after)
        for pair in equal[1:]:
            # An exchange that has nothing left to resolve explains the same observations.
            if _gains(found, after, still, pair[0], np.array(pair[1:]))[0] < best:
                exchanges.append(pair)
    now = expected[np.ix_(labels, labels)]
    return Swaps(exchanges, _misplaced(_lacking(found, now)), labels)


def _exchange(labels: NDArray[np.int64], pair: tuple[int, int]) -> None:
    labels[list(pair)] = labels[list(pair[::-1])]


def _lacking(found: Matrix, expected: Matrix) -> NDArray[np.bool_]:
    """Where two samples lack a close relation that is expected of them."""
    return contradictions(found, expected) & (expected >= SIBLINGS) & (found < expected)


def _gains(found: Matrix, expected: Matrix, wrong: NDArray[np.bool_], one: int, others: NDArray[np.int64]) -> list[int]:
    """How many contradictions fewer there are if a sample exchanges its label with each of others."""
    before = wrong[one].sum() + wrong[others].sum(axis=1) - wrong[one, others]
    own = contradictions(found[one][None, :], expected[others])
    theirs = contradictions(found[others], expected[one][None, :])
    rows = np.arange(len(others))
    # What the two are to each other stays as it was.
    own[:, one] = own[rows, others] = theirs[:, one] = theirs[rows, others] = False
    after = own.sum(axis=1) + theirs.sum(axis=1) + wrong[one, others]
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
