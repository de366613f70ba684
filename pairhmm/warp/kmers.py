"""Expected levels: the current that each k-mer in a nanopore gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

LONGEST_K = 10
"""A table of longer k-mers would have more than a million rows."""

_N = 4
_CODE_OF_SET = np.full(16, _N, dtype=np.int64)
_CODE_OF_SET[[1, 2, 4, 8]] = range(4)


@dataclass(frozen=True, slots=True)
class KmerTable:
    """The expected level of each k-mer.

    Attributes
    ----------
    k : int
        From 1 to `LONGEST_K`.
    means : ndarray, shape (4**k,), float64
        The mean level of each k-mer, in pA, in the order of the alphabet: AA, AC, AG, AT, CA ...
    deviations : ndarray, shape (4**k,), float64
        The standard deviation of each k-mer's level.
    pore : str
        ``R9`` or ``R10``, where the table says so.
    """

    k: int
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    pore: str = ""

    def levels(self, letters: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean level, and its standard deviation, of each k-mer of a sequence.

        Parameters
        ----------
        letters : ndarray, shape (n,), uint8
            Sets of bases (`pairhmm.sequences.letters`). A letter that is more than one base counts as N, and a k-mer
            with N has the mean of what the k-mers have that it may be.

        Returns
        -------
        ndarray, shape (n - k + 1,), float64
        ndarray, shape (n - k + 1,), float64
            Both are empty for a sequence shorter than a k-mer.
        """
        if len(letters) < self.k:
            return np.zeros(0), np.zeros(0)
        codes = _CODE_OF_SET[letters]
        if _N not in codes:
            indices = self._indices(codes, 4)
            return self.means[indices], self.deviations[indices]
        indices = self._indices(codes, 5)
        return self._with_n(self.means)[indices], self._with_n(self.deviations)[indices]

    def _indices(self, codes: NDArray[np.int64], base: int) -> NDArray[np.int64]:
        indices: NDArray[np.int64] = sliding_window_view(codes, self.k) @ base ** np.arange(self.k)[::-1]
        return indices

    def _with_n(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of the k-mers of the letters A, C, G, T and N: float64[5**k]."""
        values = values.reshape((4,) * self.k)
        for axis in range(self.k):
            values = np.concatenate((values, values.mean(axis=axis, keepdims=True)), axis=axis)
        return values.ravel()
