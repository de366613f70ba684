"""The kernel of `cuda/warp/`: the numbers that it computes with, its text, and its tasks.

A chunk's levels are one array. Pairs are sorted so that those of a warp are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import sources
from pairhmm.sequences.arrays import distinct, gather, offsets
from pairhmm.warp.base import Signals

WARP = 32
"""Lanes of a warp."""

WARPS = 4
"""Warps of a block of threads: `kWarps` of `cuda/warp/warp.cu`."""

PAIR = np.dtype([(name, "<u4") for name in ("row_at", "rows", "column_at", "columns", "index")] + [("least", "<i4")])
"""`Pair` of `cuda/warp/types.cuh`."""

NOWHERE = 0xFFFFFFFF
"""The index of a pair that only fills a group, and whose result is not written."""

MOST_SPREAD = 2047
"""The most that levels of a pair in halves may differ. Half floats are exact up to it."""

BLOCKS = 4
"""Blocks that a multiprocessor holds at once. They bound the registers of a lane."""

BLOCK = 16
"""Columns after which costs in halves are cut to the limit: `kBlock` of `cuda/warp/warp.cu`."""


class CostForm(NamedTuple):
    """The numbers that costs are computed in."""

    name: str  # a file of `cuda/warp/`, without its suffix
    pairs: int  # pairs of a group


HALVES, FLOATS, WORDS = CostForm("halves", 2), CostForm("floats", 1), CostForm("words", 1)

FLOAT_LIMIT = 1 << 24
"""Costs in floats are exact below it."""

WORD_LIMIT = 1 << 31
"""Costs in words are below it, or the pair is not computed in words."""


def halves_limit(spread: int) -> int:
    """Costs in halves are exact below it, where levels differ by at most `spread`.

    A cost that was cut to it may grow by `spread` in each of `BLOCK` columns, and must still be a number of 16 bits.
    """
    return 0xFFFF - BLOCK * spread


def costs_of(form: CostForm, results: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The costs that a kernel wrote, of which a float's may be infinite: `FLOAT_LIMIT` then."""
    bits = (results >> np.uint64(32)).astype(np.uint32)
    if form is FLOATS:
        return np.minimum(bits.view(np.float32), FLOAT_LIMIT).astype(np.int64)
    return bits.astype(np.int64)


class WarpShape(NamedTuple):
    """How the rows of a group are laid on lanes."""

    # Lanes of a group, and rows of each.
    lanes: int
    rows: int

    @property
    def strip(self) -> int:
        """Rows that the group takes at once. Longer pairs are several strips, for which a group is a warp."""
        return self.lanes * self.rows

    @property
    def strips(self) -> bool:
        return self.lanes == WARP

    def groups(self, form: CostForm) -> int:
        """Pairs of a warp."""
        return WARP // self.lanes * form.pairs


SHORT_SHAPES = tuple(WarpShape(*sizes) for sizes in ((4, 16), (4, 24), (4, 32), (8, 24), (8, 32), (16, 24), (16, 32)))
LONG_SHAPES = WarpShape(WARP, 32), WarpShape(WARP, 24)


def shapes_of(rows: NDArray[np.int64]) -> tuple[tuple[WarpShape, ...], NDArray[np.int64]]:
    """All shapes, and for pairs of so many rows (int64[pairs]) the index of the one that leaves least of it unused."""
    edges = np.array([shape.strip for shape in SHORT_SHAPES])
    places = np.searchsorted(edges, rows)
    is_long = places == len(SHORT_SHAPES)
    padded = [-(-rows[is_long] // shape.strip) * shape.strip for shape in LONG_SHAPES]
    places[is_long] += np.argmin(padded, axis=0)
    return SHORT_SHAPES + LONG_SHAPES, places


@dataclass(frozen=True, slots=True)
class WarpKernel:
    """A compiled form of the kernel."""

    form: CostForm
    shape: WarpShape
    # As the macros of `cuda/warp/warp.cu`.
    free_start: bool = False
    free_end: bool = False
    banded: bool = False

    def source(self) -> str:
        """Text of the kernel."""
        constants: dict[str, sources.Constant] = {
            "G": self.shape.lanes,
            "K": self.shape.rows,
            "STRIPS": int(self.shape.strips),
            "FREE_START": int(self.free_start),
            "FREE_END": int(self.free_end),
            "BAND": int(self.banded),
            "BLOCKS": BLOCKS,
        }
        parts = ("types.cuh", f"{self.form.name}.cuh", "warp.cu")
        return sources.source(constants, *(f"warp/{part}" for part in parts), structs={"Pair": PAIR})


Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LevelPairs:
    """Pairs of a chunk."""

    # [pairs]: where a pair's rows and columns begin among the chunk's levels, in the direction that they are read in,
    # and how many there are.
    row_at: Ints
    rows: Ints
    column_at: Ints
    columns: Ints
    least: Ints  # [pairs]: no level of the pair is lower

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
    """Parameters of a launch."""

    shape: WarpShape
    pairs: NDArray[np.void]  # of PAIR: those of a warp's groups side by side; the last warp's are filled up
    groups: int  # warps, or groups of strips
    strips: int  # strips of the pair with the most rows
    columns: int  # columns of the pair with the most


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
    """Signals that pairs use."""

    levels: NDArray[np.int16]  # [levels]: levels of these signals, and perhaps of others
    starts: Ints  # [pairs]: where each pair's signal begins
    # [pairs]: bounds of the levels of each pair's signal.
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
