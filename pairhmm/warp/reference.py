"""The oracle: the recurrence of dynamic time warping on whole numbers. It is slow; all other warpers agree with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.warp.base import NO_PATH, SignalPairs, Warper, Warpings, WarpOptions

_FAR = NO_PATH // 2
"""The key of a cell that no path reaches. A cell's cost may be added to it without overflow."""


class ReferenceWarper(Warper):
    """One pair after the other, one anti-diagonal after the other, in NumPy."""

    label = "reference"

    def warpings(self, pairs: SignalPairs, options: WarpOptions, threads: int) -> Warpings:
        warpings = [
            warping(pairs.queries[query], pairs.targets[target], options)
            for query, target in zip(pairs.query_index.tolist(), pairs.target_index.tolist(), strict=True)
        ]
        costs, starts, ends = zip(*warpings, strict=True) if warpings else ((), (), ())
        return Warpings(
            np.array(costs, dtype=np.int64), np.array(starts, dtype=np.int32), np.array(ends, dtype=np.int32)
        )


def warping(query: NDArray[np.int16], target: NDArray[np.int16], options: WarpOptions) -> tuple[int, int, int]:
    """Cost, start and end of the cheapest warping of one pair, as in `Warpings`."""
    if len(query) == len(target) == 0:
        return 0, 0, 0
    if not len(query) or not len(target):
        return NO_PATH, 0, 0
    if options.mode == "global":
        if options.band is not None and abs(len(query) - len(target)) > options.band:
            return NO_PATH, 0, 0
        return int(_last_row(query, target, options)[0][-1]), 0, len(target)
    costs, starts = _last_row(query, target, options)
    last = int(costs.argmin())  # of equal costs the first
    return int(costs[last]), int(starts[last]), last + 1


def _last_row(
    query: NDArray[np.int16], target: NDArray[np.int16], options: WarpOptions
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cheapest path to each cell of the query's last level: its cost and its start, both int64[target].

    A path's key is its cost times `width`, less its start. Starts are below `width`, so the least key is that of the
    cheapest path, and of several cheapest ones of that which starts last.
    """
    rows, columns = len(query), len(target)
    width = columns + 1
    # keys[i + 1] is that of cell (i, diagonal - i); keys[0] lies outside of the matrix, as do cells beyond the band.
    outside = np.full(rows + 1, _FAR, dtype=np.int64)
    before, last = outside, outside
    ends = np.full(columns, _FAR, dtype=np.int64)
    for diagonal in range(rows + columns - 1):
        first, end = _rows_of(diagonal, rows, columns, options.band)
        here = np.arange(first, end)
        steps = np.minimum(np.minimum(last[first:end], last[first + 1 : end + 1]), before[first:end])
        if options.mode == "subsequence" and first == 0:
            steps[0] = -diagonal  # the path that starts here, at column `diagonal`
        elif diagonal == 0:
            steps[0] = 0
        differences = np.abs(query[here].astype(np.int64) - target[diagonal - here])
        before, last = last, outside.copy()
        last[first + 1 : end + 1] = steps + differences * width
        if diagonal >= rows - 1:
            ends[diagonal - rows + 1] = last[rows]
    costs = -(-ends // width)
    return costs, costs * width - ends


def _rows_of(diagonal: int, rows: int, columns: int, band: int | None) -> tuple[int, int]:
    """The rows of an anti-diagonal's cells that lie in the matrix and in the band: the first, and one past the last."""
    first, end = max(0, diagonal - columns + 1), min(rows, diagonal + 1)
    if band is not None:
        first, end = max(first, (diagonal - band + 1) // 2), min(end, (diagonal + band) // 2 + 1)
    return first, max(first, end)


def make() -> ReferenceWarper:
    return ReferenceWarper()
