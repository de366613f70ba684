"""What the GPU backends share: reads cut into tiles, and a batch as one buffer that is copied while it is filled.

A tile is what the lanes of a warp (a workgroup in WebGPU) work on: reads of nearly one length, each spread over some
lanes, each lane with some rows. Where the arrays lie in the buffer is each backend's own `layout` module.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.compiled import native
from pairhmm.genomics import sequences
from pairhmm.models.batch import PairBatch

LETTERS = len(sequences.LETTERS)
"""Letters with an emission: A C G T N."""

LETTERS_SCALED = LETTERS + 1
"""The same where lanes have exponents: what stands past a haplotype's end is a letter too, which nothing emits."""

PADDING = 64
"""Letters that a warp may read before a haplotype, and after the longest haplotype that shares the warp."""

COPIERS = 4
"""Threads that copy a large batch: one core does not copy as fast as the bus to a GPU."""

PARALLEL_BYTES = 1 << 21
"""Batches from this size on are copied by `COPIERS` threads."""

RUN_BYTES = 16 << 20
"""Bytes of a batch that are filled before they are sent; the next ones are filled meanwhile."""

ALIGNMENT = 16
"""Arrays in a buffer begin at multiples of so many bytes. It divides PADDING, so that no gap follows a padding."""

ITEM_BYTES = 8
"""A work item in a buffer, uint32[2]: its first read (an index into `order`), and which block of haplotypes."""


class Shape(NamedTuple):
    """Lanes of a read, rows of a lane, and whether a read may be cut into strips of lanes * rows."""

    lanes: int
    rows: int
    tall: bool = False


class Shapes(NamedTuple):
    """The shapes of a backend's kernels, and which of them each read length takes.

    Attributes
    ----------
    known : sequence of Shape
        Those of a family follow each other, the smaller one first.
    of_length : uint8[longest + 1]
        Index into `known` of the shape with the least work, for each read length.
    reads : int64[shapes]
        Reads of a tile.
    rows : int64[shapes]
        Rows of a read, or of a strip of it.
    family : uint8[shapes]
        Shapes of one family give a read's scores the same bits. The few reads of a small tier go to a larger shape of
        its family.
    tier_cells : int
        Fixed cost of a tier, in cells.
    item_sizes : (int, int, int)
        Work items that a tier should have, and the fewest and most haplotype letters of one. Short items balance the
        load at the end of a tier; long ones reuse their rows.
    """

    known: Sequence[Shape]
    of_length: NDArray[np.uint8]
    reads: NDArray[np.int64]
    rows: NDArray[np.int64]
    family: NDArray[np.uint8]
    tier_cells: int
    item_sizes: tuple[int, int, int]


class Tier(NamedTuple):
    """The tiles of one shape: one launch of a kernel.

    Attributes
    ----------
    shape : Shape
    first_item, items : int
        Its work items, of those of all tiers.
    haplotypes_each : int
        Haplotypes of a work item.
    last : int
        One past its last read in `order`.
    pairs, cells : int
        How much it scores; `cells` has those of rows that are no read's.
    """

    shape: Shape
    first_item: int
    items: int
    haplotypes_each: int
    last: int
    pairs: int
    cells: int


RESCUERS = (Shape(2, 20), Shape(4, 20), Shape(8, 20), Shape(16, 16), Shape(32, 20))
"""The shapes that rescue pairs of all shapes. They are few, since few pairs need a rescue."""


@cache
def rescuer_of(shape: Shape) -> int:
    """Index into `RESCUERS` of the shape that rescues pairs of this one. Tall shapes have none."""
    rows = shape.lanes * shape.rows
    return next(k for k, rescuer in enumerate(RESCUERS) if rescuer.lanes * rescuer.rows >= rows)


def table_of_shapes(
    rows_of_lanes: Mapping[int, Iterable[int]],
    longest: int,
    width: int,
    costs: tuple[float, float],
    kind: Callable[[Shape], Hashable],
    tier_cells: int,
    item_sizes: tuple[int, int, int],
) -> Shapes:
    """The shapes of a backend's kernels, and which of them each read length takes.

    Parameters
    ----------
    rows_of_lanes : mapping of int to iterable of int
        Rows that a lane may have, by the lanes of a read. Those of `width` lanes come as tall shapes, too.
    longest : int
        Bases of the longest read that a tile holds.
    width : int
        Lanes of a tile.
    costs : (float, float)
        Of a step and of a strip, beside its rows; in rows.
    kind : callable
        What shapes of one family have in common.
    tier_cells : int
    item_sizes : (int, int, int)
        As in `Shapes`.
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
    """A buffer that is filled on the host and copied to a device."""

    def begin(self, size: int) -> NDArray[np.uint8]:
        """Make a buffer of that size on both sides; the host's, uint8[at least size], may be slow to read."""

    def send(self, first: int, end: int) -> None:
        """Start to copy bytes [first, end) to the device."""


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
) -> list[Tier]:
    """Send a plan, and the tiles of its batch, which are made while the plan's arrays are copied.

    Returns
    -------
    list of Tier
        The one with most work items first: what runs last is short.
    """
    # The items stand at the end, because only an upper bound of their number is known: one a pair.
    size = places.items + ITEM_BYTES * batch.pairs
    buffer = staging.begin(size)
    # Tiles are read while they are made, and reading from the buffer may be slow: they are made beside it.
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
    tiers = [Tier(table.known[shape], *numbers) for shape, *numbers in making.result()]
    end = places.items + ITEM_BYTES * sum(tier.items for tier in tiers)
    native.copy_all(buffer, [places.read_group], [tiles[: end - places.read_group]], COPIERS)
    staging.send(places.read_group, end)
    return sorted(tiers, key=lambda tier: -tier.items)


def runs_within(sizes: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Cut an array into runs whose sizes add up to at most `most`; an element that is larger is a run of its own."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(first, last)
        first = last


class Plan:
    """Arrays, and where each goes in a buffer.

    Attributes
    ----------
    size : int
        Bytes of the buffer so far.
    """

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[tuple[int, NDArray[np.uint8] | NDArray[np.int64]]] = []

    def add(self, values: NDArray[np.generic], aligned: bool = True) -> int:
        """Plan room for an array; returns its byte offset in the buffer."""
        at = self.room(values.nbytes, aligned)
        self._parts.append((at, np.ascontiguousarray(values).reshape(-1).view(np.uint8)))
        return at

    def add_offsets(self, values: NDArray[np.int64]) -> int:
        """The same for offsets, which are uint32 in the buffer."""
        at = self.room(4 * len(values))
        self._parts.append((at, values))
        return at

    def room(self, size: int, aligned: bool = True) -> int:
        """Plan room for so many bytes that something else fills; returns their byte offset."""
        at = -(-self.size // ALIGNMENT) * ALIGNMENT if aligned else self.size
        self.size = at + size
        return at

    def tile_places(self, batch: PairBatch) -> TilePlaces:
        """Plan room for the tiles of a batch. The items stand at the end: nothing may be added after them."""
        return TilePlaces(self.room(4 * batch.reads), self.room(4 * batch.reads), self.room(0))

    def write(self, buffer: NDArray[np.uint8], send: Callable[[int, int], None]) -> None:
        """Copy every array to its place in the buffer; one run of bytes is sent while the next is copied."""
        threads = COPIERS if self.size >= PARALLEL_BYTES else 1
        for first, end, at, arrays in self._runs():
            native.copy_all(buffer, at, arrays, threads)
            send(first, end)

    def _runs(self) -> Iterator[tuple[int, int, list[int], list[NDArray[np.uint8] | NDArray[np.int64]]]]:
        """Runs of about `RUN_BYTES`: first byte, one past the last, and pieces of arrays with their places."""
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
