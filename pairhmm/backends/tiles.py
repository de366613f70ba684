"""A batch as one buffer for a device: the arrays end to end behind a header, and the tiles that its reads are cut into.

A tile is what a warp works on: 32 / `lanes` reads of nearly one length, each spread over `lanes` lanes of `rows` rows.
The layout of the buffer is that of `cuda/forward/rows.cuh`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.compiled import native
from pairhmm.models.batch import PairBatch, Qualities

WARP = 32
LETTERS, LETTERS_SCALED = 5, 6
"""Letters with an emission: A C G T N, and where lanes have exponents also what stands past a haplotype's end."""

PADDING = 64
"""Letters that a warp may read before a haplotype, and after the longest haplotype that shares the warp."""

PARALLEL_BYTES, COPIERS = 1 << 21, 4
"""Batches from this size on are copied by so many threads: one core does not copy as fast as the bus to a GPU."""

RUN_BYTES = 16 << 20
"""Of a batch, that are copied into host memory that the device reads before these are sent."""

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
        ("steps", "<i8", (5,)),
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

ITEM_SIZES = (1000, 250, 1500)
"""`Shapes.item_sizes`: tiers run side by side, and one fills what the others leave."""


class Shape(NamedTuple):
    """Lanes of a read, rows of a lane, and whether a read may be cut into strips of lanes * rows."""

    lanes: int
    rows: int
    tall: bool = False

    @property
    def reads(self) -> int:
        """Reads of a tile."""
        return WARP // self.lanes


class Shapes(NamedTuple):
    """What reads may be cut into.

    Attributes
    ----------
    known : sequence of Shape
        Those of a family follow each other, the smaller one first.
    of_length : uint8[longest + 1]
        For each read length the one that has least work with it.
    reads : int64[shapes]
        Reads of a tile.
    rows : int64[shapes]
        Of a read, or of a strip of it.
    family : uint8[shapes]
        Shapes of one family give a read the same bits: where few reads would have one, they take a larger one.
    tier_cells : int
        What a tier costs besides its cells, in cells.
    item_sizes : (int, int, int)
        Work items that a tier is to have, and the fewest and most haplotype letters of one: short items balance the
        load at the end of a tier, long ones reuse their rows.
    """

    known: Sequence[Shape]
    of_length: NDArray[np.uint8]
    reads: NDArray[np.int64]
    rows: NDArray[np.int64]
    family: NDArray[np.uint8]
    tier_cells: int
    item_sizes: tuple[int, int, int]


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
    haplotypes_each : int
        Haplotypes of a work item.
    last : int
        One past its last read in `order`.
    pairs : int
    """

    shape: Shape
    items_at: int
    items: int
    haplotypes_each: int
    last: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Packed:
    """How to score the batch in a buffer.

    Attributes
    ----------
    tiers : sequence of Tier
    widest : int
        Letters of the longest haplotype.
    pairs : int
    """

    tiers: Sequence[Tier]
    widest: int
    pairs: int


@cache
def rescuer_of(shape: Shape) -> int:
    """Index into `RESCUERS` of the one that rescues pairs of a shape; tall reads have none."""
    rows = shape.lanes * shape.rows
    return next(k for k, rescuer in enumerate(RESCUERS) if rescuer.lanes * rescuer.rows >= rows)


@lru_cache(maxsize=1)
def shapes(longest: int) -> Shapes:
    """All shapes of the CUDA kernels, for reads up to `longest`. Their tiers run side by side: none is given up."""
    return table_of_shapes(ROWS, longest, WARP, (STEP_COST, STRIP_COST), lambda shape: shape, 0, ITEM_SIZES)


def table_of_shapes(
    rows_of_lanes: Mapping[int, Iterable[int]],
    longest: int,
    width: int,
    costs: tuple[float, float],
    kind: Callable[[Shape], Hashable],
    tier_cells: int,
    item_sizes: tuple[int, int, int],
) -> Shapes:
    """Shapes with such rows by the lanes of a read, and tall ones of `width` lanes, for reads up to `longest`.

    Shapes of one `kind` are a family. The costs are those of a step and of a strip, in rows.
    """
    known = [Shape(lanes, rows) for lanes, choices in rows_of_lanes.items() for rows in choices]
    known += [Shape(width, rows, tall=True) for rows in rows_of_lanes[width]]
    lanes, rows, tall = np.array([(shape.lanes, shape.rows, shape.tall) for shape in known]).T
    strips = np.maximum(1, -(-np.arange(longest + 1)[:, None] // (lanes * rows)))
    of_step, of_strip = costs
    cost = strips * lanes * (rows + of_step + of_strip * tall)
    best = np.where((strips == 1) | (tall == 1), cost, np.inf).argmin(axis=1).astype(np.uint8)
    numbers: dict[Hashable, int] = {}
    family = [numbers.setdefault(kind(shape), len(numbers)) for shape in known]
    return Shapes(known, best, width // lanes, lanes * rows, np.array(family, dtype=np.uint8), tier_cells, item_sizes)


class Staging(Protocol):
    """Host memory on its way to a device."""

    def begin(self, size: int) -> NDArray[np.uint8]:
        """Host memory (uint8[at least size]) of a buffer of that size on both sides; it may be slow to read."""

    def send(self, first: int, end: int) -> None:
        """Start to copy these bytes to the device."""


def pack(batch: PairBatch, skip_read: NDArray[np.bool_], longest: int, staging: Staging, beside: Executor) -> Packed:
    """Write `batch` and the tiles of its reads into a buffer, and send it.

    Parameters
    ----------
    batch : PairBatch
    skip_read : bool[reads]
        Reads that are in no tile; all that are longer than `longest` must be among them.
    longest : int
        Most bases of a read that a tile holds.
    staging : Staging
    beside : Executor
        Makes the tiles while the arrays are copied.
    """
    plan, header = _plan(batch)
    table = shapes(longest)
    places = plan.tile_places(batch)
    header["read_group"], header["order"] = places.read_group, places.order
    tiers = send_with_tiles(plan, places, batch, skip_read, table, staging, beside)
    return Packed(
        [
            Tier(table.known[shape], places.items + 8 * item, items, each, last, pairs)
            for shape, item, items, each, last, pairs, _ in tiers
        ],
        batch.widest,
        batch.pairs,
    )


class TilePlaces(NamedTuple):
    """Byte offsets of the tiles' arrays in a buffer: what `native.make_tiles` writes."""

    read_group: int
    order: int
    items: int


def send_with_tiles(
    plan: Plan,
    places: TilePlaces,
    batch: PairBatch,
    skip_read: NDArray[np.bool_],
    table: Shapes,
    staging: Staging,
    beside: Executor,
) -> list[tuple[int, int, int, int, int, int, int]]:
    """Send a plan, and the tiles of its batch, which are made meanwhile.

    Returns
    -------
    list of (shape, item, items, haplotypes_each, last, pairs, cells)
        Most work first: what is left at the end is short.
    """
    size = places.items + 8 * batch.pairs  # The items are last, since only their most is known: one a pair.
    buffer = staging.begin(size)
    # They are read while they are made, which the buffer may be slow at.
    tiles = np.empty(size - places.read_group, dtype=np.uint8)
    making = beside.submit(
        native.make_tiles,
        tiles,
        batch.group_read,
        batch.group_haplotype,
        batch.read_offset,
        batch.haplotype_offset,
        skip_read.view(np.uint8),
        table.of_length,
        table.reads,
        table.rows,
        table.family,
        table.tier_cells,
        table.item_sizes,
        *(place - places.read_group for place in places),
    )
    plan.write(buffer, staging.send)
    tiers = making.result()
    end = places.items + 8 * sum(items for _, _, items, *_ in tiers)
    native.copy_all(buffer, [places.read_group], [tiles[: end - places.read_group]], COPIERS)
    staging.send(places.read_group, end)
    return sorted(tiers, key=lambda tier: -tier[2])


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """The buffer of single pairs, and where its arrays for long.cu lie in it.

    Attributes
    ----------
    items : int
        Strips of all pairs.
    columns : int
        Length of the borders of all pairs.
    item_pair, pair_item, pair_read, pair_haplotype, pair_column : int
        Byte offsets into the buffer.
    """

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
    staging: Staging,
) -> PackedPairs:
    """Write `batch` and pairs of its reads and haplotypes (int64[pairs] each), cut into strips, and send it."""
    plan, _ = _plan(batch)
    strips = -(-np.diff(batch.read_offset)[reads] // strip_rows)
    columns = np.where(strips > 1, np.diff(batch.haplotype_offset)[haplotypes], 0)  # one strip has no border
    item_pair = plan.add(np.repeat(np.arange(len(reads), dtype=np.uint32), strips))
    pair_item = plan.add((np.cumsum(strips) - strips).astype(np.uint32))
    pair_read, pair_haplotype = plan.add(reads.astype(np.uint32)), plan.add(haplotypes.astype(np.uint32))
    pair_column = plan.add(np.cumsum(columns) - columns)
    plan.write(staging.begin(plan.size), staging.send)
    return PackedPairs(
        int(strips.sum()), int(columns.sum()), item_pair, pair_item, pair_read, pair_haplotype, pair_column
    )


def runs_within(sizes: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Runs, one behind the other, whose sizes make up at most that, or of one."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(first, last)
        first = last


def _plan(batch: PairBatch) -> tuple[Plan, NDArray[np.void]]:
    """The arrays of a batch behind their header, which more may be added to."""
    plan = Plan()
    header = np.zeros(1, dtype=HEADER)
    header["start_match"], header["start_deletion"] = batch.start.match, batch.start.deletion
    plan.add(header.view(np.uint8))
    for name in ("read_offset", "group_read", "group_haplotype", "group_pair", "haplotype_offset"):
        header[name] = plan.add_offsets(getattr(batch, name))
    plan.add(np.zeros(PADDING, dtype=np.uint8))
    header["letters"] = plan.add(batch.haplotypes)
    plan.add(np.zeros(PADDING + batch.widest, dtype=np.uint8), aligned=False)
    header["steps"] = 1
    if batch.qualities is not None:
        arrays = [getattr(batch.qualities, name) for name in Qualities.__dataclass_fields__]
        for k, name in enumerate(Qualities.__dataclass_fields__):
            if name in batch.constant_qualities:
                # One byte crosses the bus for all.
                arrays[k], header["steps"][0, k] = arrays[k][:1], 0
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


class Plan:
    """Arrays, and where each goes in a buffer of `size` bytes; offsets (int64) become uint32 there."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[tuple[int, NDArray[np.uint8] | NDArray[np.int64]]] = []

    def add(self, values: NDArray[np.generic], aligned: bool = True) -> int:
        at = self.room(values.nbytes, aligned)
        self._parts.append((at, np.ascontiguousarray(values).reshape(-1).view(np.uint8)))
        return at

    def add_offsets(self, values: NDArray[np.int64]) -> int:
        at = self.room(4 * len(values))
        self._parts.append((at, values))
        return at

    def room(self, size: int, aligned: bool = True) -> int:
        at = -(-self.size // ALIGNMENT) * ALIGNMENT if aligned else self.size
        self.size = at + size
        return at

    def tile_places(self, batch: PairBatch) -> TilePlaces:
        """Room for the tiles of a batch, whose items have the end: nothing may be added after them."""
        return TilePlaces(self.room(4 * batch.reads), self.room(4 * batch.reads), self.room(0))

    def write(self, buffer: NDArray[np.uint8], send: Callable[[int, int], None]) -> None:
        """Copy everything to its place; one run of bytes is sent while the next is copied."""
        threads = COPIERS if self.size >= PARALLEL_BYTES else 1
        for first, end, at, arrays in self._runs():
            native.copy_all(buffer, at, arrays, threads)
            send(first, end)

    def _runs(self) -> Iterator[tuple[int, int, list[int], list[NDArray[np.uint8] | NDArray[np.int64]]]]:
        """Runs of about `RUN_BYTES`: first byte, one past the last, and the pieces with their places."""
        first, end = 0, 0
        at: list[int] = []
        arrays: list[NDArray[np.uint8] | NDArray[np.int64]] = []
        for place, values in self._parts:
            step = RUN_BYTES if values.dtype == np.uint8 else max(1, len(values))
            for k in range(0, len(values), step):
                piece = values[k : k + step]
                at.append(place + k)
                arrays.append(piece)
                end = place + k + len(piece) * (1 if values.dtype == np.uint8 else 4)
                if end - first >= RUN_BYTES:
                    yield first, end, at, arrays
                    first, at, arrays = end, [], []
        if arrays:
            yield first, end, at, arrays
