"""A batch as one buffer for a device: the arrays end to end behind a header, and the tiles that its reads are cut into.

A tile is what a warp works on: 32 / `lanes` reads of nearly one length, each spread over `lanes` lanes of `rows` rows.
The layout of the buffer is that of `cuda/rows.cuh`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from pairhmm.batch import PairBatch, Qualities
from pairhmm.compiled import native

WARP = 32
PADDING = 64
"""Letters that a warp may read before a haplotype, and after the longest haplotype that shares the warp."""

PARALLEL_BYTES, COPIERS = 1 << 21, 4
"""Batches from this size on are copied by so many threads: one core does not copy as fast as the bus to a GPU."""

ALIGNMENT = 16
"""Bytes; divides PADDING, so that no gap lies between a padding and what follows it."""

HEADER = np.dtype(
    [
        ("read_offset", "<i8"),
        ("read_group", "<i8"),
        ("group_read", "<i8"),
        ("group_haplotype", "<i8"),
        ("group_pair", "<i8"),
        ("haplotype_offset", "<i8"),
        ("letters", "<i8"),
        ("order", "<i8"),
        ("positions", "<i8", (5,)),
        ("start_match", "<f8"),
        ("start_deletion", "<f8"),
        ("match", "<f8", (4, 5)),
        ("insertion", "<f8", (4,)),
        ("transitions", "<f8", (7,)),
    ]
)

ROWS = {
    1: (10, 20),
    2: (14, 18, 20),
    4: (11, 13, 15, 17, 19, 20),
    8: (11, 13, 15, 16, 17, 19, 20),
    16: range(11, 21),
    32: range(11, 21),
}
"""Rows a lane may own, by the lanes of a read: enough to pay for a step's fixed cost, few enough for the registers."""

STEP_COST = 4.5
"""Instructions of a step that do not depend on the rows of a lane, in rows (measured; docs/cuda.md)."""

STRIP_COST = 2.0
"""The same for handing a row from one strip to the next."""

ITEMS = 20_000
"""Work items that a batch is to have at least, some ten for each warp that a large device holds."""

SHORTEST_ITEM, LONGEST_ITEM = 250, 1500
"""Haplotype letters that one work item is to have: short items balance the load, long ones reuse their rows."""

TILE_ROWS = 500
"""Rows of a tile, about."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Lanes of a read, rows of a lane, and whether a read may be cut into strips of lanes * rows."""

    lanes: int
    rows: int
    tall: bool = False

    @property
    def reads(self) -> int:
        """Reads of a tile."""
        return WARP // self.lanes


RESCUERS = (Shape(2, 20), Shape(4, 20), Shape(8, 20), Shape(16, 16), Shape(32, 20))
"""Shapes that rescue pairs of others: few, since few pairs need it."""


@dataclass(frozen=True, slots=True)
class Tier:
    """The tiles of one shape.

    Attributes
    ----------
    shape : Shape
    items_at : int
        Where its work items lie in the buffer: uint32[items, 2], first read (an index into `order`) and block of
        haplotypes.
    items : int
    last : int
        One past its last read in `order`.
    pairs : int
    """

    shape: Shape
    items_at: int
    items: int
    last: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A batch's buffer, and how to score it.

    Attributes
    ----------
    size : int
        Bytes of the buffer in use.
    tiers : sequence of Tier
    haplotypes_each : int
        Haplotypes of a work item.
    widest : int
        Letters of the longest haplotype.
    pairs : int
    """

    size: int
    tiers: Sequence[Tier]
    haplotypes_each: int
    widest: int
    pairs: int


@cache
def rescuer_of(shape: Shape) -> int | None:
    """Index into `RESCUERS` of the one that rescues pairs of a shape; None for tall reads, which have none."""
    if shape.tall:
        return None
    rows = shape.lanes * shape.rows
    return next(k for k, rescuer in enumerate(RESCUERS) if rescuer.lanes * rescuer.rows >= rows)


@lru_cache(maxsize=1)
def shapes(longest: int) -> tuple[tuple[Shape, ...], NDArray[np.uint8]]:
    """All shapes, and for each read length 0..longest the index (uint8) of the one that scores it with least work."""
    known = [Shape(lanes, rows) for lanes, choices in ROWS.items() for rows in choices]
    known += [Shape(WARP, rows, tall=True) for rows in ROWS[WARP]]
    lanes, rows, tall = np.array([(shape.lanes, shape.rows, shape.tall) for shape in known]).T
    lengths = np.arange(longest + 1)[:, None]
    taken = np.maximum(1, -(-lengths // (lanes * rows)))
    cost = taken * lanes * (rows + STEP_COST + STRIP_COST * tall)
    best = np.where((taken == 1) | (tall == 1), cost, np.inf).argmin(axis=1).astype(np.uint8)
    return tuple(known), best


def pack(
    batch: PairBatch,
    skip_read: NDArray[np.bool_],
    longest: int,
    allocate: Callable[[int], NDArray[np.uint8]],
) -> Packed:
    """Write `batch` and the tiles of its reads into a buffer that `allocate` gives for a number of bytes.

    Parameters
    ----------
    batch : PairBatch
    skip_read : bool[reads]
        Reads that are in no tile; all that are longer than `longest` must be among them.
    longest : int
        Most bases of a read that a tile holds.
    allocate : callable
        Bytes to uint8[at least that many].
    """
    plan, header = _plan(batch)
    known, shape_of_length = shapes(longest)
    widths = np.diff(batch.haplotype_offset)
    each = _haplotypes_each(batch, widths)
    reads = np.array([shape.reads for shape in known])
    order, items, tiers = native.make_tiles(
        batch.group_read,
        batch.group_haplotype,
        batch.read_offset,
        batch.haplotype_offset,
        skip_read.view(np.uint8),
        shape_of_length,
        reads,
        each,
    )
    header["order"], items_at = plan.add(order), plan.add(items)
    plan.write(allocate(plan.size))
    return Packed(
        plan.size,
        [
            Tier(known[shape], items_at + 8 * item, count, last, pairs)
            # Most work first: what is left at the end is short.
            for shape, item, count, last, pairs in sorted(tiers, key=lambda tier: -tier[2])
        ],
        each,
        int(widths.max()) if len(widths) else 0,
        batch.pairs,
    )


def _haplotypes_each(batch: PairBatch, widths: NDArray[np.int64]) -> int:
    """Haplotypes of a work item: items long enough to pay for their rows, and enough of them to share out evenly."""
    letters = int(widths.sum())
    if letters == 0:
        return 1
    width = float((widths.astype(np.float64) ** 2).sum()) / letters
    columns = batch.cells / TILE_ROWS / ITEMS
    return max(1, round(min(max(columns, SHORTEST_ITEM), LONGEST_ITEM) / width))


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """The buffer of single pairs, and where its arrays for forward_long.cu lie in it.

    Attributes
    ----------
    size : int
        Bytes of the buffer in use.
    items : int
        Strips of all pairs.
    columns : int
        Length of the borders of all pairs.
    item_pair, pair_item, pair_read, pair_haplotype, pair_column : int
        Byte offsets into the buffer.
    """

    size: int
    items: int
    columns: int
    item_pair: int
    pair_item: int
    pair_read: int
    pair_haplotype: int
    pair_column: int


def pack_pairs(
    batch: PairBatch,
    reads: NDArray[np.int64],
    haplotypes: NDArray[np.int64],
    strip_rows: int,
    allocate: Callable[[int], NDArray[np.uint8]],
) -> PackedPairs:
    """Write `batch` and pairs of its reads and haplotypes (int64[pairs] each), cut into strips, into a buffer."""
    plan, _ = _plan(batch)
    strips = -(-np.diff(batch.read_offset)[reads] // strip_rows)
    columns = np.where(strips > 1, np.diff(batch.haplotype_offset)[haplotypes], 0)  # one strip has no border
    item_pair = plan.add(np.repeat(np.arange(len(reads), dtype=np.uint32), strips))
    pair_item = plan.add((np.cumsum(strips) - strips).astype(np.uint32))
    pair_read, pair_haplotype = plan.add(reads.astype(np.uint32)), plan.add(haplotypes.astype(np.uint32))
    pair_column = plan.add(np.cumsum(columns) - columns)
    plan.write(allocate(plan.size))
    return PackedPairs(
        plan.size, int(strips.sum()), int(columns.sum()), item_pair, pair_item, pair_read, pair_haplotype, pair_column
    )


def _plan(batch: PairBatch) -> tuple[_Plan, NDArray[np.void]]:
    """The arrays of a batch behind their header, which more may be added to."""
    read_group = np.repeat(np.arange(batch.groups, dtype=np.uint32), np.diff(batch.group_read))
    plan = _Plan()
    header = np.zeros(1, dtype=HEADER)
    header["start_match"], header["start_deletion"] = batch.start.match, batch.start.deletion
    plan.add(header.view(np.uint8))
    for name in ("read_offset", "group_read", "group_haplotype", "group_pair", "haplotype_offset"):
        header[name] = plan.add(getattr(batch, name).astype(np.uint32))
    header["read_group"] = plan.add(read_group)
    widest = int(np.diff(batch.haplotype_offset).max()) if len(batch.haplotypes) else 0
    plan.add(np.zeros(PADDING, dtype=np.uint8))
    header["letters"] = plan.add(batch.haplotypes)
    plan.add(np.zeros(PADDING + widest, dtype=np.uint8), aligned=False)
    if batch.qualities is not None:
        arrays = [getattr(batch.qualities, name) for name in Qualities.__dataclass_fields__]
    elif batch.profiles is not None:
        arrays = [batch.profiles.probabilities]
        for name in ("match", "insertion", "transitions"):
            header[name] = getattr(batch.profiles, name)
    else:
        assert batch.rows is not None
        arrays = [batch.rows]
    for k, values in enumerate(arrays):
        header["positions"][0, k] = plan.add(values)
    return plan, header


class _Plan:
    """Arrays and where each goes."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[tuple[int, NDArray[np.generic]]] = []

    def add(self, values: NDArray[np.generic], aligned: bool = True) -> int:
        at = -(-self.size // ALIGNMENT) * ALIGNMENT if aligned else self.size
        self._parts.append((at, values))
        self.size = at + values.nbytes
        return at

    def write(self, buffer: NDArray[np.uint8]) -> None:
        at = [place for place, _ in self._parts]
        values = [np.ascontiguousarray(part).reshape(-1).view(np.uint8) for _, part in self._parts]
        native.copy_all(buffer, at, values, COPIERS if self.size >= PARALLEL_BYTES else 1)
