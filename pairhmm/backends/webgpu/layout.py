"""Packs a batch into a buffer of 32-bit words for the WebGPU kernels, with `WORK` blocks that locate its arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import tiles
from pairhmm.backends.read_packing import pack_qualities
from pairhmm.backends.tiles import (
    PADDING,
    Plan,
    SentTrees,
    Shape,
    Shapes,
    Staging,
    rescuer_of,
    send_with_tiles,
    table_of_shapes,
    takes_trees,
    team,
)
from pairhmm.backends.webgpu.rows import fold, kind_table, profile_constants
from pairhmm.backends.webgpu.work import (
    COARSE,
    COLUMNS_OF_SUM,
    ENTRY_BYTES,
    FINE,
    HAPLOTYPES_OF_TREES,
    LEAD,
    MASKED_TREE_ROWS,
    MOST_ITEMS,
    NO_LIST,
    RESCUERS,
    TAIL,
    TREE_ROWS,
    WALKERS,
    WORK,
    copy_of,
    has_long_runs,
    launches,
    list_of,
    made_entries,
    part_of,
    put_scratch,
    put_tiers,
    put_trees,
)
from pairhmm.models.batch import FLOAT32, SCALED_FLOAT32, UNSCORED, PairBatch, Profiles, Qualities, Scores
from pairhmm.models.scaling import START_EXPONENT
from pairhmm.native import native

ROWS = {1: (16,), 4: range(9, 17), 8: range(9, 20), 16: range(10, 20), 32: range(10, 20)}
"""Rows that a lane may own, by the lanes of a read. They are few enough for the registers that a driver grants.

Measured on an H200: a cell takes as long with 9 rows as with 19. It takes 1.3 times as long with 20 rows, or with 19
rows on 4 lanes.
"""

FLAGS_ROWS = {1: (12,), 4: (12,), 8: (10, 13), 16: (8, 10, 12), 32: (8, 10, 12)}
"""The same beside partially determined haplotypes: fewer rows, as lanes keep states of theirs in a workgroup's memory,
and fewer kernels, as they take long to compile."""

TIER_CELLS = 240_000_000
"""Fixed cost of a tier, in cells. A dispatch begins when the one before has ended, and each one's end is idle time."""

ITEM_SIZES = (4000, 250, 1500)
"""`Shapes.item_sizes`. A tier has more items than a large GPU works on at once, to shorten the idle time at its end."""

STEP_COST = 0.5
"""Cost of a step that does not depend on the rows of a lane, in rows."""

STRIP_COST = 1.5
"""Cost that each step of a strip adds for handing a row to the next strip, in rows."""

LONGEST_TILE = 2048
"""Bases of the longest read in a tile. float32 holds few of the scores of longer reads."""

BETWEEN_PADDING = 64
"""Columns past a haplotype's end that the strips of forward/tall.wgsl read."""

MOST_RESCUING = 1056
"""Most workgroups of a dispatch that rescues pairs: more than a large GPU works on at once. They take tiles from the
lists."""

WORD = 4
"""Bytes of a word."""

BETWEEN_BYTES, LISTED_BYTES = 128 << 20, 8
"""Most bytes of the columns between strips, for all items of a dispatch: enough for more items than a large GPU works
on at once. Then the bytes of an entry of that buffer, which is a pair or a column."""


@dataclass(frozen=True, slots=True)
class Tier:
    """The tiles of one shape; of all shapes with one number of rows where haplotypes are in trees."""

    shape: Shape  # With trees it has the most lanes of all
    work: NDArray[np.void]  # All fields but the range of items
    # How many work items there are, and how many a dispatch may have
    items: int
    at_once: int
    cells: int  # Cells, including those of rows past the reads' ends
    # Workgroups that walk trees, and bytes of scratch memory that they have together, with what is made for the items
    # of a dispatch; 0 where haplotypes are not in trees.
    walkers: int
    scratch_bytes: int

    def parts(self, most: int) -> Iterator[NDArray[np.void]]:
        """`Work` of dispatches of at most `most` items each, or of one item of each tier that walks trees."""
        most = max(1, min(self.at_once, most))
        if self.walkers:
            if self.items <= most:
                work = copy_of(self.work)
                work["first_item"], work["end_item"] = 0, self.items
                yield work
                return
            tiers = int(np.count_nonzero(self.work["tiers"][::2, 0]))
            # A part has its share of each tier, rounded up or down.
            parts = -(-self.items // max(1, most - tiers + 1))
            yield from (work for work in (part_of(self.work, part, parts) for part in range(parts)) if work["end_item"])
            return
        for first in range(0, self.items, most):
            work = copy_of(self.work)
            work["first_item"], work["end_item"] = first, min(first + most, self.items)
            yield work


@dataclass(frozen=True, slots=True)
class Rescue:
    """A dispatch that rescues the pairs of some lists: its shape, its `Work`, and its workgroups.

    The shape has the most lanes of their reads.
    """

    shape: Shape
    work: NDArray[np.void]
    workgroups: int


class Kept(NamedTuple):
    """log10 of what scores are relative to."""

    # float64[reads or pairs], or float64[0]: the part that the host knows; nothing where it is 0
    log10: NDArray[np.float64]
    unit: float  # Unit of the part that the kernels return


@dataclass(frozen=True, slots=True)
class Packed:
    """How to score the batch in a buffer."""

    tiers: Sequence[Tier]
    rescues: Sequence[Rescue]
    list_bytes: int  # Bytes of the buffer of lists: the pairs to rescue, then the columns between strips
    scratch_bytes: int  # Bytes of the scratch memory of a dispatch that walks trees
    has_long_runs: bool  # Whether trees have few events among their columns
    pairs: int
    reads: int
    kept: Kept  # One entry a read

    @property
    def unordered_at(self) -> int:
        """`Work.unordered`."""
        return 2 * (self.pairs + self.reads)

    @property
    def out_bytes(self) -> int:
        """Bytes of the scores, of what each read's scores are relative to, and of the word behind them."""
        return WORD * (self.unordered_at + 1)


@cache
def shapes(width: int) -> Shapes:
    """All shapes, for workgroups of `width` invocations.

    The rows of a lane change no bit of a score. The lanes of a read, and the shape that rescues it, do.
    """
    return _table(ROWS, width)


@cache
def flag_shapes(width: int) -> Shapes:
    """All shapes for reads beside partially determined haplotypes."""
    return _table(FLAGS_ROWS, width)


def _table(rows: Mapping[int, Iterable[int]], width: int) -> Shapes:
    costs = STEP_COST, STRIP_COST
    return table_of_shapes(rows, LONGEST_TILE, width, costs, _kind, TIER_CELLS, ITEM_SIZES)


@cache
def tree_shapes(width: int, masked: bool = False) -> Shapes:
    """All shapes for reads that take trees. Each is its own family: the rows of a lane change the bits of a score."""
    costs, rows = (STEP_COST, STRIP_COST), MASKED_TREE_ROWS if masked else TREE_ROWS
    return table_of_shapes(rows, LONGEST_TILE, width, costs, lambda shape: shape, 0, ITEM_SIZES, TREE_ROWS[32])


def _kind(shape: Shape) -> Hashable:
    """The family of a shape. Each tall shape is its own family: a larger one may waste rows on a read."""
    return shape if shape.tall else (shape.lanes, rescuer_of(shape, RESCUERS))


def pack(
    batch: PairBatch,
    skip_read: NDArray[np.bool_],
    width: int,
    subgroup: int,
    share: int,
    staging: Staging,
    tell: Callable[[Packed], object] = lambda packed: None,
) -> Packed:
    """Write `batch` and the tiles of its reads into a buffer, and send it.

    Parameters
    ----------
    skip_read : bool[reads]
        Reads to leave out of the tiles. Reads longer than `LONGEST_TILE` are left out too.
    width : int
        Invocations of a workgroup.
    subgroup : int
        Those of a subgroup that shuffles; 0 if none does.
    share : int
        Bytes that the buffer of lists, and scratch memory, may each take, unless they must take more.
    tell : callable, optional
        Called with what is returned, while the last bytes are written.
    """
    plan, work, kept, folds = plan_of(batch)
    if folds is not None:
        skip_read = skip_read | ~folds
    work["kept"], work["unordered"] = 2 * batch.pairs, 2 * (batch.pairs + batch.reads)
    places = plan.tile_places(batch)
    work["read_group"], work["order"] = places.read_group // 4, places.order // 4
    in_trees = batch.flags is None and takes_trees(batch.start)
    if in_trees:
        table = tree_shapes(width, batch.qualities is not None)
    else:
        table = shapes(width) if batch.flags is None else flag_shapes(width)
    each = [HAPLOTYPES_OF_TREES * (in_trees and not shape.tall) for shape in table.known]
    results: list[Packed] = []

    def on_tiers(tiers: list[tiles.Tier], trees: SentTrees | None) -> None:
        results.append(_packed(batch, work, kept, places.items // 4, width, subgroup, share, tiers, trees))
        tell(results[0])

    send_with_tiles(plan, places, batch, skip_read, table, staging, on_tiers, each, COLUMNS_OF_SUM, LEAD, TAIL)
    return results[0]


def _packed(
    batch: PairBatch,
    work: NDArray[np.void],
    kept: Kept,
    items_at: int,
    width: int,
    subgroup: int,
    share: int,
    tiers: Sequence[tiles.Tier],
    trees: SentTrees | None,
) -> Packed:
    """Make the tiers of a batch, whose work items begin at word `items_at`, and the lists of the pairs to rescue."""
    listed = [0] * len(RESCUERS)
    for tier in tiers:
        if list_of(tier.shape) != NO_LIST and batch.flags is None:
            listed[list_of(tier.shape)] += tier.pairs
    list_at = [*accumulate(listed, initial=0)]
    entries = list_at[-1]
    work["items"] = items_at
    packed: list[Tier] = []
    if trees is not None:
        put_trees(work, trees)
        walking = [tier for tier in tiers if not tier.shape.tall]
        masked = batch.qualities is not None
        packed += [
            _walk(work, launch, width, share, list_at, trees, masked=masked) for launch in launches(walking, subgroup)
        ]
        tiers = [tier for tier in tiers if tier.shape.tall]
    for tier in tiers:
        work_of_tier = copy_of(work)
        work_of_tier["items"], work_of_tier["last"], work_of_tier["haplotypes_each"] = (
            items_at + 2 * tier.first_item,
            tier.last,
            tier.haplotypes_each,
        )
        at_once = tier.items
        if tier.shape.tall:
            work_of_tier["list"], work_of_tier["between"] = list_at[-1], batch.widest + BETWEEN_PADDING
            room = min(BETWEEN_BYTES, share - LISTED_BYTES * list_at[-1])
            at_once = max(1, min(tier.items, room // LISTED_BYTES // int(work_of_tier["between"])))
            entries = max(entries, list_at[-1] + at_once * int(work_of_tier["between"]))
        else:
            work_of_tier["rescuer"] = rescuer_of(tier.shape, RESCUERS)
            work_of_tier["list"] = list_at[work_of_tier["rescuer"]]
        packed.append(Tier(tier.shape, work_of_tier, tier.items, at_once, tier.cells, 0, 0))
    rescues = list(_rescues(work, listed, list_at, width, subgroup))
    scratch_bytes = max((tier.scratch_bytes for tier in packed), default=0)
    long_runs = trees is not None and has_long_runs(trees)
    return Packed(packed, rescues, LISTED_BYTES * entries, scratch_bytes, long_runs, batch.pairs, batch.reads, kept)


def _rescues(
    work: NDArray[np.void], listed: Sequence[int], list_at: Sequence[int], width: int, subgroup: int
) -> Iterator[Rescue]:
    """The dispatches that rescue pairs.

    One takes the lists with one number of rows a lane, whose lanes lie in a subgroup or do not.
    """
    by_shape: dict[tuple[int, bool], list[tuple[int, Shape]]] = {}
    for rescuer, shape in enumerate(RESCUERS):
        if listed[rescuer]:
            by_shape.setdefault((shape.rows, shape.lanes <= subgroup), []).append((rescuer, shape))
    for lists in by_shape.values():
        rescue_work = copy_of(work)
        rescue_work["tiers"][: len(lists)] = [(rescuer, list_at[rescuer], shape.lanes, 0) for rescuer, shape in lists]
        rescue_work["end_item"] = len(lists)
        workgroups = sum(-(-listed[rescuer] * shape.lanes // width) for rescuer, shape in lists)
        yield Rescue(lists[-1][1], rescue_work, min(workgroups, MOST_RESCUING))


def _walk(
    work: NDArray[np.void],
    launch: Sequence[tiles.Tier],
    width: int,
    share: int,
    list_at: Sequence[int],
    trees: SentTrees,
    *,
    masked: bool,
) -> Tier:
    """Tiers that walk trees in one dispatch. Its shape has the most lanes of theirs."""
    walk_work, items = copy_of(work), sum(tier.items for tier in launch)
    shape = Shape(max(tier.shape.lanes for tier in launch), launch[0].shape.rows)
    put_tiers(walk_work, launch, list_at)
    of_workgroup = put_scratch(walk_work, shape.rows, width, trees)
    entries = made_entries(shape.rows, width, masked=masked)
    walk_work["lane_rows"], walk_work["made_entries"] = shape.rows, entries
    of_item = ENTRY_BYTES * entries
    walkers = max(1, min(items, WALKERS, share // 2 // of_workgroup))
    walk_work["made"] = walkers * of_workgroup // ENTRY_BYTES
    at_once = max(len(launch), min(items, MOST_ITEMS, (share - walkers * of_workgroup) // of_item))
    scratch_bytes = walkers * of_workgroup + at_once * of_item
    return Tier(shape, walk_work, items, at_once, sum(tier.cells for tier in launch), walkers, scratch_bytes)


def put_scores(batch: PairBatch, packed: Packed, out: NDArray[np.uint32], scores: Scores) -> Scores:
    """Write the scores of tiles to the arrays of `scores`, and return them.

    All sums in plain float32 have the exponent -START_EXPONENT, which identifies them.
    """
    sums, kept = out[: 2 * packed.pairs], out[2 * packed.pairs : packed.unordered_at]
    are_all_scored = native.device_scores(
        batch.group_read,
        batch.group_haplotype,
        batch.group_pair,
        sums,
        packed.kept.log10,
        kept,
        FINE - COARSE,
        packed.kept.unit * 2.0**-FINE,
        (-START_EXPONENT, FLOAT32, SCALED_FLOAT32, UNSCORED),
        team(),
        scores.log10,
        scores.precision,
    )
    return replace(scores, are_all_scored=are_all_scored)


def _letters_of(batch: PairBatch) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """The letters of a batch's haplotypes as kernels take them: words for partially determined ones.

    `cpu/pdhmm/columns.hpp` says what these words are.
    """
    if batch.flags is None:
        return batch.haplotypes
    columns = np.empty(len(batch.haplotypes), dtype=np.uint16)
    letters, flags = (np.ascontiguousarray(each) for each in (batch.haplotypes, batch.flags))
    native.pd_device_columns(team(), letters, flags, batch.haplotype_offset, columns)
    return columns


def plan_of(batch: PairBatch) -> tuple[Plan, NDArray[np.void], Kept, NDArray[np.bool_] | None]:
    """The plan of a batch, to which more may be added; its `Work`; `Kept` of its reads; and whether each read may fold.

    The last is None where all may.
    """
    plan, work = Plan(), np.zeros(1, dtype=WORK.dtype)[0]
    for name in ("read_offset", "group_read", "group_haplotype", "group_pair", "haplotype_offset"):
        work[name] = plan.add_offsets(getattr(batch, name)) // 4
    letters = _letters_of(batch)
    plan.add(np.zeros(PADDING, dtype=letters.dtype))
    work["letters"] = plan.add(letters) // letters.itemsize
    plan.add(np.zeros(PADDING + batch.widest, dtype=letters.dtype), aligned=False)
    work["start_match"], work["start_deletion"] = batch.start.match, batch.start.deletion
    if batch.qualities is not None:
        _add_qualities(batch, plan, work)
        return plan, work, Kept(np.empty(0), 1.0), None
    if batch.profiles is not None and batch.profiles.kinds is not None:
        _add_kinds(batch.profiles, batch.profiles.kinds, plan, work)
        return plan, work, Kept(np.empty(0), 1.0), None
    if batch.profiles is not None:
        mm = _add_profiles(batch.profiles, plan, work)
        log10 = np.diff(batch.read_offset) * (np.log10(mm) if mm > 0 else 0.0)
        return plan, work, Kept(log10, float(np.log10(2.0))), np.full(batch.reads, mm > 0)
    assert batch.rows is not None
    folded = fold(batch.rows, batch.read_offset)
    work["rows"] = plan.add(folded.rows) // 4
    return plan, work, Kept(folded.log_kept, 0.0), folded.folds


def _add_qualities(batch: PairBatch, plan: Plan, work: NDArray[np.void]) -> None:
    """Add GATK's five bytes a base, as one number where that takes fewer bytes.

    Otherwise, an array that holds one number throughout is sent as a single byte.
    """
    assert batch.qualities is not None
    digits = pack_qualities(batch)
    if digits is not None:
        work["digit_bytes"], work["bases"] = digits.width, plan.add_digits(digits)
        for name, least, radix in zip(Qualities.__dataclass_fields__, digits.least, digits.radix, strict=True):
            work[name + "_least"], work[name + "_radix"], work[name + "_per_radix"] = least, radix, 1 / radix
        return
    for name in Qualities.__dataclass_fields__:
        values = getattr(batch.qualities, name)
        varies = name not in batch.constant_qualities
        work[name] = plan.add(values if varies else values[:1])
        work[name + "_step"] = int(varies)


def _add_kinds(profiles: Profiles, kinds: NDArray[np.uint16], plan: Plan, work: NDArray[np.void]) -> None:
    """Add the number of each base's row, and the distinct rows of a profile model."""
    work["kinds"] = plan.add(kinds) // 4
    work["rows"] = plan.add(kind_table(profiles)) // 4


def _add_profiles(profiles: Profiles, plan: Plan, work: NDArray[np.void]) -> float:
    """Add a profile model's probabilities, and its constants as pairs. Returns mm; reads do not fold if it is 0."""
    work["constants"] = plan.add(profile_constants(profiles)) // 4
    work["rows"] = plan.add(profiles.probabilities) // 4
    return float(profiles.transitions[0])
