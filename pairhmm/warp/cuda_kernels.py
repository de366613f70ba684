"""The kernel of `cuda/warp/`: the numbers it computes with, how many rows a group of lanes takes, and its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import sources

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

BLOCK = 16
"""Columns after which costs in halves are cut to the limit: `kBlock` of `cuda/warp/warp.cu`."""


class CostForm(NamedTuple):
    """The numbers that costs are computed in.

    Attributes
    ----------
    name : str
        A file of `cuda/warp/`, without its suffix.
    pairs : int
        Pairs of a group.
    """

    name: str
    pairs: int


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
    """How the rows of a group are laid on lanes.

    Attributes
    ----------
    lanes, rows : int
        Lanes of a group, and rows of each.
    """

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
    """A compiled form of the kernel.

    Attributes
    ----------
    form : CostForm
    shape : WarpShape
    free_start, free_end, banded : bool
        As the macros of `cuda/warp/warp.cu`.
    """

    form: CostForm
    shape: WarpShape
    free_start: bool = False
    free_end: bool = False
    banded: bool = False

    @property
    def blocks(self) -> int:
        """Blocks that a multiprocessor holds at once. They bound the registers of a lane."""
        return 4

    def source(self) -> str:
        """Text of the kernel."""
        constants: dict[str, sources.Constant] = {
            "G": self.shape.lanes,
            "K": self.shape.rows,
            "STRIPS": int(self.shape.strips),
            "FREE_START": int(self.free_start),
            "FREE_END": int(self.free_end),
            "BAND": int(self.banded),
            "BLOCKS": self.blocks,
        }
        parts = ("types.cuh", f"{self.form.name}.cuh", "warp.cu")
        return sources.source(constants, *(f"warp/{part}" for part in parts), structs={"Pair": PAIR})
