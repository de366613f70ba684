"""Tiles of reads, and the packing of a batch into one buffer that is sent while it is filled, for all GPU backends.

A tile holds reads of nearly one length, which a warp (a workgroup in WebGPU) scores together. Each read is spread over
some lanes, and each lane owns some rows. The `layout` module of each backend says where arrays lie in the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.read_packing import PackedQualities
from pairhmm.models.batch import PairBatch, Scores, Start
from pairhmm.native import native
from pairhmm.process import usable_cores
from pairhmm.sequences import letters as sequences

LETTERS = len(sequences.LETTERS)
"""Number of letters with an emission: A C G T N."""

LETTERS_SCALED = LETTERS + 1
"""Number of letters where lanes have exponents: positions past a haplotype's end are a letter that nothing emits."""

PADDING = 64
"""Letters that a warp may read before a haplotype, and after the longest haplotype that shares the warp."""

PACKERS = 16
"""Most threads that pack batches for devices, with the caller. More copy no faster."""

ALIGNMENT = 16
"""Arrays in a buffer begin at multiples of this many bytes. It divides PADDING, so no gap follows a padding."""

SCORE_BYTES = 8
"""Bytes of a score: a float64."""

ITEM_BYTES = 8
"""Bytes of a work item in a buffer: uint32[2], its first read (an index into `order`) and its block of haplotypes."""

_TierNumbers = tuple[int, int, int, int, int, int, int, int]
_TreePlaces = tuple[int, int, int, int, int, int]
_TreeNumbers = tuple[_TreePlaces, tuple[int, int, int, int, int], NDArray[np.uint32]]

HALVES = 2
"""Halves of a long pair: the forward of its haplotype's left half and the backward of the right one, side by side."""

LEAST_CUT = 8192
"""Letters of the shortest haplotype that is cut into halves, for long pairs.

Both halves load the read's rows, and each takes some steps until all lanes of a strip are at work. In batches that fill
an H200, this costs pairs of 5,000 bases 6% of their speed, and pairs of 10,000 bases 4%.
"""


class Shape(NamedTuple):
    """Lanes of a read, rows of a lane, and whether reads may be cut into strips of lanes * rows rows."""

    lanes: int
    rows: int
    tall: bool = False


class Shapes(NamedTuple):
    """The shapes of a backend's kernels, and which of them each read length takes."""

    known: Sequence[Shape]  # Shapes of one family follow each other, smallest first
    # uint8[longest + 1]: index into `known` of the shape with the least work, for each read length
    of_length: NDArray[np.uint8]
    reads: NDArray[np.int64]  # int64[shapes]: reads of a tile
    rows: NDArray[np.int64]  # int64[shapes]: rows of a read, or of a strip of a read
    # uint8[shapes]: number of each shape's family. Shapes of one family give a read the same scores, bit by bit. If a
    # tier is small, its few reads go to a larger shape of its family.
    family: NDArray[np.uint8]
    tier_cells: int  # Fixed cost of a tier, in cells
    # Work items that a tier should have, and the fewest and most haplotype letters of an item. Short items balance the
    # load at the end of a tier. Long items reuse the rows that they have loaded.
    item_sizes: tuple[int, int, int]


class Tier(NamedTuple):
    """The tiles of one shape: one launch of a kernel."""

    shape: Shape
    # The index of its first work item among those of all tiers, and their number
    first_item: int
    items: int
    haplotypes_each: int  # Haplotypes of a work item
    last: int  # One past its last read in `order`
    # How much it scores. `cells` includes rows past the reads' ends.
    pairs: int
    cells: int
    longest: int  # Columns of the trees that its longest item walks; 0 where haplotypes are not in trees


RESCUERS = (Shape(2, 20), Shape(4, 20), Shape(8, 20), Shape(16, 16), Shape(32, 20))
"""The shapes that rescue pairs of all other shapes on CUDA. There are few, because few pairs need a rescue."""


@cache
def rescuer_of(shape: Shape, rescuers: tuple[Shape, ...] = RESCUERS) -> int:
    """Index of the shape, among these, that rescues pairs of this shape. Tall shapes have no rescuer."""
    rows = shape.lanes * shape.rows
    return next(k for k, rescuer in enumerate(rescuers) if rescuer.lanes * rescuer.rows >= rows)


def table_of_shapes(
    rows_of_lanes: Mapping[int, Iterable[int]],
    longest: int,
    width: int,
    costs: tuple[float, float],
    kind: Callable[[Shape], Hashable],
    tier_cells: int,
    item_sizes: tuple[int, int, int],
    rows_of_strips: Iterable[int] | None = None,
) -> Shapes:
    """The shapes of a backend's kernels, and which of them each read length takes.

    Parameters
    ----------
    rows_of_lanes : mapping of int to iterable of int
        Rows that a lane may have, by the lanes of a read.
    longest : int
        Bases of the longest read that a tile holds.
    width : int
        Lanes of a tile.
    costs : (float, float)
        Cost of a step beside its rows, and what a tall shape adds to it; both in rows.
    kind : callable
        Gives the same value for all shapes of one family.
    item_sizes : (int, int, int)
        As in `Shapes`.
    rows_of_strips : iterable of int, optional
        Rows that a lane of a tall shape may have; without it, those of `width` lanes.
    """
    known = [Shape(lanes, rows) for lanes, choices in rows_of_lanes.items() for rows in choices]
    known += [Shape(width, rows, tall=True) for rows in rows_of_strips or rows_of_lanes[width]]
    lanes, rows, tall = np.array([(shape.lanes, shape.rows, shape.tall) for shape in known]).T
    strips = np.maximum(1, -(-np.arange(longest + 1)[:, None] // (lanes * rows)))
    of_step, of_strip = costs
    cost = strips * lanes * (rows + of_step + of_strip * tall)
    best = np.where((strips > 1) == tall, cost, np.inf).argmin(axis=1).astype(np.uint8)
    numbers: dict[Hashable, int] = {}
    family = [numbers.setdefault(kind(shape), len(numbers)) for shape in known]
    return Shapes(known, best, width // lanes, lanes * rows, np.array(family, dtype=np.uint8), tier_cells, item_sizes)


class Staging(Protocol):
    """A buffer that is filled on the host and copied to a device."""

    packer: native.Packer  # Fills it

    def begin(self, size: int, behind: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Make buffers of that size on both sides.

        Returns the host's memory for the bytes before `behind`, and for the others: uint8[at least as many], possibly
        slow to read.
        """

    def send(self, first: int, end: int) -> None:
        """Begin to copy bytes [first, end) to the device. Runs follow each other, and one of them ends at `behind`."""


class TilePlaces(NamedTuple):
    """Byte offsets in a buffer of the arrays of tiles (`cpu/packing/tiles.hpp`)."""

    read_group: int
    order: int
    items: int


class TreeSizes(NamedTuple):
    """The most of each thing that one pair of trees of a batch has."""

    open_branches: int
    left_leaves: int
    right_leaves: int
    joins: int
    nodes: int  # of one stream


class SentTrees(NamedTuple):
    """The trees of a batch's haplotypes in a buffer (`cpu/packing/tree_streams.hpp`)."""

    # Byte offsets of the arrays
    of_group: int
    trees: int
    places: int
    events: int
    joins: int
    streams: int
    sizes: TreeSizes
    columns: NDArray[np.uint32]  # uint32[groups]: columns of the trees of each group


TREE_ARRAYS = SentTrees._fields[:6]

MOST_TREE_BYTES = (128, 48)
"""Most bytes of the arrays of trees beside a byte a letter: for each group, and for each haplotype. They hold for trees
of any shape; `cpu/packing/tree_streams.hpp` says what the arrays are."""

MORE_THAN_PADDING = 32
"""Letters of a lead from which on streams have more zeros between them than `MOST_TREE_BYTES` allows for
(`cpu/packing/tree_streams.hpp`)."""

LETTERS_OF_TREE_BYTE = 16
"""Fewest letters of a path for which there is one byte more, which says where sums end."""


@cache
def team() -> native.ThreadPool:
    """The threads that pack batches for devices, and compute scores from what they send back: at most all cores."""
    return native.ThreadPool(min(usable_cores(), PACKERS) - 1)


LEAST_ROUSING = 1 << 20
"""Positions of reads from which on threads share the packing of a batch (`cpu/packing/packing.cpp`)."""


def rouse_team(batch: PairBatch) -> None:
    """Wake the threads that will pack a batch, while it is planned how."""
    if batch.bases >= LEAST_ROUSING:
        team().rouse()


def fresh_scores(pairs: int) -> Scores:
    """Scores without values. All threads make the pages of their memory, which takes longer than to write to them."""
    scores = Scores(np.empty(pairs), np.empty(pairs, dtype=np.uint8))
    native.touch(team(), scores.log10.view(np.uint8))
    native.touch(team(), scores.precision)
    return scores


def takes_trees(start: Start) -> bool:
    """Whether reads may begin anywhere: then row 0 is the same in every column, and haplotypes share columns."""
    return start.match == 0 and start.deletion == 1


def computed_cells(batch: PairBatch, table: Shapes, most_haplotypes: int, tall_in_trees: bool = False) -> int:
    """Cells that kernels compute which walk trees of at most so many haplotypes.

    They are whole matrices where a batch takes no trees, for tall reads unless these walk trees, too, and for reads
    longer than those of the table.
    """
    if not takes_trees(batch.start):
        return batch.cells
    longest = len(table.of_length) - 1
    tall = np.array([shape.tall for shape in table.known])[table.of_length]
    rows = np.diff(batch.read_offset)
    is_whole = (rows > longest) | (tall[np.minimum(rows, longest)] & (not tall_in_trees))
    group = np.repeat(np.arange(batch.groups), np.diff(batch.group_read))
    columns = native.TreeStreams(
        batch.group_haplotype, batch.haplotype_offset, batch.haplotypes, most_haplotypes, team()
    ).columns
    return int((rows * np.where(is_whole, batch.group_letters[group], columns[group])).sum())


def send_with_tiles(
    plan: Plan,
    places: TilePlaces,
    batch: PairBatch,
    skip_read: NDArray[np.bool_],
    table: Shapes,
    staging: Staging,
    tell: Callable[[list[Tier], SentTrees | None], object],
    haplotypes_of_trees: Sequence[int] | None = None,
    columns_of_sum: int = 0,
    lead: int = 0,
    tail: int = 0,
) -> None:
    """Send a plan, and the tiles and trees of its batch. These are made while the plan's arrays are copied.

    Parameters
    ----------
    skip_read : bool[reads]
    tell : callable
        Called once, while the last bytes are written. It gets the tiers, those with most work items first, so that the
        tier that runs last is short; and the trees, or None where there are none.
    haplotypes_of_trees : sequence of int, optional
        Most haplotypes of a pair of trees, for each shape of the table: one number, or 0 for shapes that take whole
        haplotypes. Without it, or where all are 0, there are no trees.
    columns_of_sum : int
        Columns that a kernel adds to one sum of a path, and then that sum to those before; 0 if it does not.
    lead : int
        Letters of a path that come before each node that restores.
    tail : int
        Letters of the left half that come behind each right leaf.
    """
    each = np.array(haplotypes_of_trees or [0] * len(table.known), dtype=np.int64)
    most = int(each.max())
    # The items are last in the buffer, because only an upper bound of their number is known: one a pair. Trees come
    # behind them.
    size = places.items + ITEM_BYTES * batch.pairs + (_most_tree_bytes(batch, lead, tail) if most else 0)

    def told(made: list[_TierNumbers], trees: _TreeNumbers | None) -> None:
        tiers = [Tier(table.known[shape], *numbers) for shape, *numbers in made]
        tiers.sort(key=lambda tier: -tier.items)
        if trees is None:
            tell(tiers, None)
        else:
            array_at, sizes, columns = trees
            tell(tiers, SentTrees(*array_at, TreeSizes(*sizes), columns))

    staging.packer.pack(
        *staging.begin(size, places.read_group),
        *plan.parts(),
        staging.send,
        batch.group_read,
        batch.group_haplotype,
        batch.read_offset,
        batch.haplotype_offset,
        batch.haplotypes,
        skip_read.view(np.uint8),
        table.of_length,
        table.reads,
        table.rows,
        table.family,
        table.tier_cells,
        table.item_sizes,
        each,
        places,
        most,
        columns_of_sum,
        lead,
        tail,
        told,
    )


def _most_tree_bytes(batch: PairBatch, lead: int, tail: int) -> int:
    of_group, of_haplotype = MOST_TREE_BYTES
    if lead >= MORE_THAN_PADDING:
        # As many zeros before and behind each stream. A haplotype may have trees of its own.
        of_group, of_haplotype = of_group + 4 * lead, of_haplotype + 4 * lead
    of_haplotype += 2 * (lead + 1) + tail  # both halves may restore, and the last node of the right one comes twice
    letters = len(batch.haplotypes)
    of_letters = letters + letters // LETTERS_OF_TREE_BYTE
    return of_letters + of_group * (batch.groups + 1) + of_haplotype * (len(batch.haplotype_offset) - 1)


def runs_within(sizes: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Cut an array into runs whose sizes add up to at most `most`. A larger element is a run of its own."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(first, last)
        first = last


SentDigits = tuple[Sequence[NDArray[np.uint8]], Sequence[int], int, int]
"""`PackedQualities` as the compiled part takes them."""


class Plan:
    """Arrays, and the place of each in a buffer.

    Attributes
    ----------
    size : int
        Bytes of the buffer that are planned so far.
    """

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[tuple[int, NDArray[np.uint8] | NDArray[np.int64] | SentDigits]] = []

    def add(self, values: NDArray[np.generic], aligned: bool = True) -> int:
        """Plan room for an array; returns its byte offset in the buffer."""
        at = self.room(values.nbytes, aligned)
        self._parts.append((at, np.ascontiguousarray(values).reshape(-1).view(np.uint8)))
        return at

    def add_offsets(self, values: NDArray[np.int64]) -> int:
        """Plan room for offsets, which are uint32 in the buffer; returns their byte offset."""
        at = self.room(4 * len(values))
        self._parts.append((at, values))
        return at

    def add_digits(self, digits: PackedQualities) -> int:
        """Plan room for the numbers that digits make; returns their byte offset."""
        at = self.room(digits.width * len(digits))
        self._parts.append((at, (digits.arrays, digits.weights, digits.offset, digits.width)))
        return at

    def room(self, size: int, aligned: bool = True) -> int:
        """Plan room for `size` bytes that something else fills; returns their byte offset."""
        at = -(-self.size // ALIGNMENT) * ALIGNMENT if aligned else self.size
        self.size = at + size
        return at

    def tile_places(self, batch: PairBatch) -> TilePlaces:
        """Plan room for the tiles of a batch. The work items come last: nothing may be added after them."""
        return TilePlaces(self.room(4 * batch.reads), self.room(4 * batch.reads), self.room(0))

    def parts(self) -> tuple[list[int], list[NDArray[np.uint8] | NDArray[np.int64] | SentDigits]]:
        """The byte offset of each array, and the arrays."""
        return [at for at, _ in self._parts], [values for _, values in self._parts]

    def send(self, staging: Staging) -> None:
        """Send every array. One run of bytes is sent while the next is written."""
        buffer, _ = staging.begin(self.size, self.size)
        native.write_all(team(), buffer, *self.parts(), staging.send)
