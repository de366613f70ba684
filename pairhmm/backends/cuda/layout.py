"""Packs a batch for the CUDA kernels into one buffer, with a header that says where its arrays lie.

The arrays follow the header, end to end. `HEADER` is `Header` of `cuda/forward/rows.cuh`; the kernels do not compile
if the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import tiles
from pairhmm.backends.read_packing import cached_row_table, pack_qualities
from pairhmm.backends.tiles import (
    HALVES,
    LETTERS,
    PADDING,
    Plan,
    SentTrees,
    Shape,
    Shapes,
    Staging,
    Tier,
    send_with_tiles,
    table_of_shapes,
    takes_trees,
    team,
)
from pairhmm.models.batch import ROW_SIZE, PairBatch, Profiles, Qualities
from pairhmm.models.profile import distinct_rows
from pairhmm.native import native

WARP = 32
"""Lanes of a warp. A block of the forward kernels is one warp, which scores one tile."""

UNREAD_COLUMNS = WARP
"""Columns before a border's first one, which nobody reads. Lanes write there while they have no column of their own."""

PART = 8
"""Columns that `cuda/forward/fast.cu` adds to one sum, and then that sum to those before."""

BASES, TRANSITIONS = LETTERS - 1, ROW_SIZE - LETTERS
"""Number of letters other than N, and of transitions of a row."""

MM, MI, II, MD = 5, 8, 9, 10
"""Columns of a row's transitions (`ROW_SIZE`)."""

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
        ("places", "<i8"),
        ("positions", "<i8", (len(Qualities.__dataclass_fields__),)),
        ("steps", "<i8", (len(Qualities.__dataclass_fields__),)),
        ("digit_bytes", "<u4"),
        ("digit_least", "<u4", (len(Qualities.__dataclass_fields__),)),
        ("digit_radix", "<u4", (len(Qualities.__dataclass_fields__),)),
        ("digit_reciprocal", "<u4", (len(Qualities.__dataclass_fields__),)),
        ("start_match", "<f8"),
        ("start_deletion", "<f8"),
        ("match", "<f8", (BASES, LETTERS)),
        ("insertion", "<f8", (BASES,)),
        ("transitions", "<f8", (TRANSITIONS,)),
        ("log_mm", "<f8"),
    ]
)
"""Byte offsets of the arrays in the buffer, and numbers that hold for a whole batch; `cuda/forward/rows.cuh` says what
each is."""

HAPLOTYPES_OF_TREES = 64
"""Most haplotypes of a pair of trees. A warp keeps up to 5 kB of each while it walks the trees."""

ITEMS_AT_ONCE = 1584
"""Warps that walk trees at once on a large device: 12 on each of an H200's 132 multiprocessors."""

KIND = np.dtype(
    [
        ("relative", "<f8", (LETTERS,)),
        ("per_best", "<f8"),
        ("log_best", "<f8"),
        ("per_mm", "<f8"),
        ("log_mm", "<f8"),
        ("mi", "<f8"),
        ("ii", "<f8"),
        ("md", "<f8"),
    ]
)
"""A distinct row of a profile model; `cuda/forward/rows.cuh` says what each field is."""

TREE_TIER = np.dtype(
    [
        ("made", "<i8"),
        ("list_first", "<i8"),
        ("start", "<u4"),
        ("items", "<u4"),
        ("first_item", "<u4"),
        ("last_read", "<u4"),
        ("lanes", "<u4"),
        ("rows", "<u4"),
        ("launch_first", "<u4"),
        ("launch_tiers", "<u4"),
        ("item_bytes", "<u4"),
        ("list", "<u4"),
    ]
)
"""A tier whose reads walk trees; `cuda/forward/tree_tasks.cuh` says what each field is."""

ROWS = {
    1: (10, 20),
    2: (14, 18, 20),
    4: (11, 13, 15, 17, 19, 20),
    8: (11, 13, 15, 16, 17, 19, 20),
    16: range(11, 21),
    32: range(11, 21),
}
"""Rows that a lane of fast.cu may own, by the lanes of a read: enough to make a step's fixed cost worthwhile, few
enough for the registers."""

TREE_ROWS = {1: (13, 20), **dict.fromkeys((2, 4, 8, 16, 32), (13, 16, 19, 20))}
"""Rows that a lane of trees.cu may own, by the lanes of a read. Each number of rows is a kernel. With 11 of them, warps
of different kernels drive each other's instructions out of the cache (measured; docs/cuda.md)."""

LONGEST_STRIP = WARP * max(TREE_ROWS[WARP])
"""Bases of the longest read that one strip holds."""

STEP_COST = 4.5
"""Cost of a step that does not depend on the rows of a lane, in rows (measured; docs/cuda.md)."""

STRIP_COST = 2.0
"""Cost that each step of a strip adds for handing a row to the next strip, in rows."""

ITEM_SIZES = (1000, 250, 1500)
"""`Shapes.item_sizes`. A tier needs few items, because tiers run side by side and fill what the others leave idle."""


PDHMM_ITEM_SIZES = (1000, 250, 20_000)
"""The same for partially determined haplotypes, which share columns within an item."""


@dataclass(frozen=True, slots=True)
class Packed:
    """How to score the batch in a buffer."""

    tiers: Sequence[Tier]  # Sorted by work items, most first
    items: int  # Byte offset of the work items of all tiers
    widest: int  # Letters of the longest haplotype
    pairs: int
    trees: SentTrees | None  # The trees of its haplotypes; None where whole matrices are computed
    lead: int  # `lead_of` its reads
    slots: int  # Most states that a warp keeps at once of partially determined haplotypes


def reads_of(shape: Shape) -> int:
    """Reads of a tile."""
    return WARP // shape.lanes


@lru_cache(maxsize=3)
def shapes(longest: int, in_trees: bool, flags: bool = False) -> Shapes:
    """All shapes of the kernels for haplotypes in trees, or for whole matrices; for reads up to `longest`.

    Each shape is its own family, so the reads of a small tier stay in it: tiers run side by side and cost nothing.
    """
    rows = TREE_ROWS if in_trees else ROWS
    costs = STEP_COST, STRIP_COST
    sizes = PDHMM_ITEM_SIZES if flags else ITEM_SIZES
    return table_of_shapes(rows, longest, WARP, costs, lambda shape: shape, 0, sizes, rows[WARP])


@lru_cache
def lead_of(longest_read: int, longest: int) -> int:
    """Letters that a tree's stream repeats before a node that restores, and those behind a right leaf.

    A lane of a read up to `longest_read` is at most so many columns behind the first one.
    """
    table = shapes(longest, in_trees=True)
    lengths = np.arange(min(longest_read, longest) + 1)
    strips = -(-lengths // table.rows[table.of_length[: len(lengths)]])
    return WARP * max(1, int(strips.max())) - 1


def pack(
    batch: PairBatch,
    skip_read: NDArray[np.bool_],
    longest: int,
    staging: Staging,
    tell: Callable[[Packed], object] = lambda packed: None,
) -> Packed:
    """Write `batch` and the tiles of its reads into a buffer, and send it.

    Parameters
    ----------
    skip_read : bool[reads]
        Reads to leave out of the tiles. Reads longer than `longest` are left out too.
    longest : int
        Bases of the longest read in a tile.
    tell : callable, optional
        Called with what is returned, while the last bytes are written.
    """
    plan, header, slots = _plan(batch)
    places = plan.tile_places(batch)
    header["read_group"], header["order"] = places.read_group, places.order
    in_trees = batch.flags is None and takes_trees(batch.start)
    table = shapes(longest, in_trees, batch.flags is not None)
    each = [_haplotypes_of_trees(batch) * in_trees for _ in table.known]
    lead = lead_of(batch.longest_read, longest)
    results: list[Packed] = []

    def on_tiers(tiers: list[Tier], trees: SentTrees | None) -> None:
        if trees is not None:
            # Long items first, so that no warp begins one when the others end.
            tiers.sort(key=lambda tier: -tier.longest * (tier.shape.rows + STEP_COST))
        results.append(Packed(tiers, places.items, batch.widest, batch.pairs, trees, lead, slots))
        tell(results[0])

    send_with_tiles(plan, places, batch, skip_read, table, staging, on_tiers, each, lead=lead, tail=lead)
    return results[0]


def _haplotypes_of_trees(batch: PairBatch) -> int:
    """Most haplotypes of a pair of trees: fewer where long reads are few, so that all of a device works.

    No score depends on it.
    """
    if batch.longest_read <= LONGEST_STRIP:
        return HAPLOTYPES_OF_TREES
    return min(HAPLOTYPES_OF_TREES, max(1, batch.pairs // ITEMS_AT_ONCE))


def computed_cells(batch: PairBatch, longest: int) -> int:
    """Cells that the kernels compute for the reads of a batch up to `longest`, and all cells of longer ones."""
    if batch.flags is not None:
        return batch.cells
    return tiles.computed_cells(batch, shapes(longest, in_trees=True), HAPLOTYPES_OF_TREES, tall_in_trees=True)


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """Single pairs in a buffer: where the arrays for `cuda/forward/long.cu` and `join.cu` lie."""

    items: int  # Strips of both halves of all pairs
    columns: int  # Columns of the borders of all pairs
    # Byte offsets into the buffer
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
    """Write `batch` and pairs of its reads and haplotypes (int64[pairs] each), cut into strips, and send them."""
    plan, *_ = _plan(batch)
    strips, columns = strips_and_columns(batch, reads, haplotypes, strip_rows)
    item_pair = plan.add(np.repeat(np.arange(len(reads), dtype=np.uint32), strips))
    pair_item = plan.add((np.cumsum(strips) - strips).astype(np.uint32))
    pair_read, pair_haplotype = plan.add(reads.astype(np.uint32)), plan.add(haplotypes.astype(np.uint32))
    pair_column = plan.add(np.cumsum(columns) - columns)
    plan.send(staging)
    places = item_pair, pair_item, pair_read, pair_haplotype, pair_column
    return PackedPairs(int(strips.sum()), int(columns.sum()), *places)


def strips_and_columns(
    batch: PairBatch, reads: NDArray[np.int64], haplotypes: NDArray[np.int64], strip_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Strips of all halves of each pair, and columns of its borders.

    A half has a column more than letters, but for the right one, and `UNREAD_COLUMNS` before all of them.
    """
    strips = -(-np.diff(batch.read_offset)[reads] // strip_rows)
    letters = np.diff(batch.haplotype_offset)[haplotypes]
    halves = np.where(letters >= tiles.LEAST_CUT, HALVES, 1)
    return halves * strips, letters + 1 + UNREAD_COLUMNS * halves


@cached_row_table
def kinds_of(profiles: Profiles) -> NDArray[np.void]:
    """The distinct rows of `profiles` (`KIND`), made once: a base then costs the device a look into this table."""
    rows = distinct_rows(profiles)
    emissions = rows[:, :LETTERS]
    kinds = np.empty(len(rows), dtype=KIND)
    best = np.ascontiguousarray(emissions.T).max(axis=0)  # columns: far faster than by row
    with np.errstate(divide="ignore", invalid="ignore"):  # a row that emits nothing is not scored here
        kinds["relative"] = emissions / best[:, None]
        kinds["log_best"], kinds["log_mm"] = np.log10(best), np.log10(rows[:, MM])
        kinds["per_best"], kinds["per_mm"] = 1 / best, 1 / rows[:, MM]
    for name, column in (("mi", MI), ("ii", II), ("md", MD)):
        kinds[name] = rows[:, column]
    return kinds


def columns_of(batch: PairBatch) -> tuple[NDArray[np.uint8], NDArray[np.uint32], int]:
    """Partially determined haplotypes as `cpu/pdhmm/columns.hpp` makes them: columns, places and the most slots."""
    columns = np.empty(len(batch.haplotypes), dtype=np.uint8)
    places = np.empty((len(batch.haplotype_offset) - 1, 2), dtype=np.uint32)
    letters, flags = (np.ascontiguousarray(each) for each in (batch.haplotypes, batch.flags))
    slots = native.pd_device_places(
        team(), letters, flags, batch.haplotype_offset, batch.group_haplotype, PART, columns, places.reshape(-1)
    )
    return columns, places, slots


def _plan(batch: PairBatch) -> tuple[Plan, NDArray[np.void], int]:
    """The plan of a batch's header and arrays, to which more may be added; the header; and slots, as in `Packed`."""
    plan = Plan()
    header = np.zeros(1, dtype=HEADER)
    header["start_match"], header["start_deletion"] = batch.start.match, batch.start.deletion
    plan.add(header.view(np.uint8))
    for name in ("read_offset", "group_read", "group_haplotype", "group_pair", "haplotype_offset"):
        header[name] = plan.add_offsets(getattr(batch, name))
    letters, slots = batch.haplotypes, 0
    if batch.flags is not None:
        letters, places, slots = columns_of(batch)
        header["places"] = plan.add(places)
    plan.add(np.zeros(PADDING, dtype=letters.dtype))
    header["letters"] = plan.add(letters)
    plan.add(np.zeros(PADDING + batch.widest, dtype=letters.dtype), aligned=False)
    header["steps"] = 1
    arrays: list[NDArray[Any]]
    if batch.qualities is not None:
        arrays = _add_qualities(batch, batch.qualities, plan, header)
    elif batch.profiles is not None:
        profiles = batch.profiles
        arrays = [profiles.probabilities] if profiles.kinds is None else [profiles.kinds, kinds_of(profiles)]
        header["match"], header["insertion"] = profiles.match, profiles.insertion
        header["transitions"] = profiles.shared_transitions
        with np.errstate(divide="ignore"):  # a model without matches is not scored here
            header["log_mm"] = np.log10(header["transitions"][:, 0])
    else:
        assert batch.rows is not None
        arrays = [batch.rows]
    for k, values in enumerate(arrays):
        header["positions"][0, k] = plan.add(values)
    return plan, header, slots


def _add_qualities(
    batch: PairBatch, qualities: Qualities, plan: Plan, header: NDArray[np.void]
) -> list[NDArray[np.uint8]]:
    """Add the reads of GATK's model as numbers, where these take fewer bytes. Returns the arrays to send otherwise."""
    digits = pack_qualities(batch)
    if digits is not None:
        header["digit_bytes"], header["digit_least"], header["digit_radix"] = digits.width, digits.least, digits.radix
        header["digit_reciprocal"] = digits.reciprocal
        header["positions"][0, 0] = plan.add_digits(digits)
        return []
    constant = batch.constant_qualities
    header["steps"] = [name not in constant for name in Qualities.__dataclass_fields__]
    # A constant array is sent as a single byte.
    return [getattr(qualities, name)[: 1 if name in constant else None] for name in Qualities.__dataclass_fields__]
