"""Pairs as the kernel takes them: a chunk's levels in one array, and pairs sorted so that those of a warp are alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.sequences.arrays import distinct, gather, offsets
from pairhmm.warp.batch import Signals
from pairhmm.warp.cuda_kernels import MOST_SPREAD, NOWHERE, PAIR, CostForm, WarpShape, shapes_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LevelPairs:
    """Pairs of a chunk.

    Attributes
    ----------
    row_at, rows, column_at, columns : ndarray, shape (pairs,), int64
        Where a pair's rows and columns begin among the chunk's levels, in the direction that they are read in, and how
        many there are.
    least : ndarray, shape (pairs,), int64
        No level of the pair is lower.
    """

    row_at: Ints
    rows: Ints
    column_at: Ints
    columns: Ints
    least: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def with_rows_short(self) -> LevelPairs:
        """The same with rows and columns in exchange where there are fewer columns. Global costs stay the same."""
        is_short = self.columns < self.rows
        row_at, rows, column_at, columns = (
            np.where(is_short, other, own)
            for own, other in (
                (self.row_at, self.column_at),
                (self.rows, self.columns),
                (self.column_at, self.row_at),
                (self.columns, self.rows),
            )
        )
        return LevelPairs(row_at, rows, column_at, columns, self.least)

    def backwards(self, ends: Ints, window: Ints) -> LevelPairs:
        """The last `window` rows before `ends`, and all columns, to be read backwards."""
        rows = np.minimum(ends, window)
        return LevelPairs(self.row_at + ends - 1, rows, self.column_at + self.columns - 1, self.columns, self.least)


class WarpTasks(NamedTuple):
    """What one launch takes.

    Attributes
    ----------
    shape : WarpShape
    pairs : ndarray of PAIR
        Those of a warp's groups side by side; the last warp's are filled up.
    groups : int
        Warps, or groups of strips.
    strips : int
        Strips of the pair with the most rows.
    columns : int
        Columns of the pair with the most.
    """

    shape: WarpShape
    pairs: NDArray[np.void]
    groups: int
    strips: int
    columns: int


def tasks_of(pairs: LevelPairs, chosen: Ints, form: CostForm) -> Iterator[WarpTasks]:
    """Launches of chosen pairs, by the shape that fits them. The largest pairs come first."""
    shapes, shape_of = shapes_of(pairs.rows[chosen])
    order = np.lexsort((-pairs.rows[chosen], -pairs.columns[chosen], shape_of))
    first = np.searchsorted(shape_of[order], np.arange(len(shapes) + 1))
    for number in range(len(shapes) - 1, -1, -1):
        members = chosen[order[first[number] : first[number + 1]]]
        if len(members):
            yield _tasks(shapes[number], pairs, members, form)


def _tasks(shape: WarpShape, pairs: LevelPairs, chosen: Ints, form: CostForm) -> WarpTasks:
    each = shape.groups(form)
    count = -(-len(chosen) // each)
    taken = np.concatenate([chosen, np.full(count * each - len(chosen), chosen[-1])])
    table = np.empty(len(taken), dtype=PAIR)
    for name in ("row_at", "rows", "column_at", "columns", "least"):
        table[name] = getattr(pairs, name)[taken]
    table["index"] = taken
    table["index"][len(chosen) :] = NOWHERE
    strips = -(-int(pairs.rows[chosen].max()) // shape.strip)
    return WarpTasks(shape, table, count, strips, int(pairs.columns[chosen].max()))


class PackedSignals(NamedTuple):
    """Signals that pairs use.

    Attributes
    ----------
    levels : int16[levels]
        Levels of these signals, and perhaps of others.
    starts : int64[pairs]
        Where each pair's signal begins.
    least, most : int64[pairs]
        Bounds of the levels of each pair's signal.
    """

    levels: NDArray[np.int16]
    starts: Ints
    least: Ints
    most: Ints


def packed(signals: Signals, index: NDArray[np.int32]) -> PackedSignals:
    """The signals of an index, none of which is empty. Where they are most of a run of signals, it is taken whole."""
    lengths = signals.lengths
    first, last = int(index.min()), int(index.max())
    begin, end = int(signals.offsets[first]), int(signals.offsets[last + 1])
    if end - begin <= 2 * int(lengths[index].sum()):
        kept = first + np.flatnonzero(lengths[first : last + 1])
        levels, at = signals.levels[begin:end], signals.offsets[kept] - begin
    else:
        kept = distinct(index.astype(np.int64))
        at = offsets(lengths[kept])
        levels = gather(signals.levels.view(np.uint8), 2 * signals.offsets[kept], 2 * at).view(np.int16)
        at = at[:-1]
    place = np.searchsorted(kept, index)
    lowest, highest = int(levels.min()), int(levels.max())
    if highest - lowest <= MOST_SPREAD:  # which is soon known, and then they need not be told apart
        return PackedSignals(levels, at[place], np.full(len(index), lowest), np.full(len(index), highest))
    least, most = (extreme.reduceat(levels, at).astype(np.int64)[place] for extreme in (np.minimum, np.maximum))
    return PackedSignals(levels, at[place], least, most)
