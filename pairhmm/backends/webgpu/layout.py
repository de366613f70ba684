"""A batch as a buffer of 32-bit words for the WebGPU kernels, and for each dispatch a block that says where they lie.

The layout is that of `Work` in `shaders/tiles.wgsl`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import tiles
from pairhmm.backends.tiles import (
    PADDING,
    RESCUERS,
    Plan,
    Shape,
    Shapes,
    Staging,
    rescuer_of,
    send_with_tiles,
    table_of_shapes,
)
from pairhmm.backends.webgpu.folded_rows import fold
from pairhmm.backends.webgpu.kernels import pairs_of
from pairhmm.backends.webgpu.strips import LONG, all_steps, border_words
from pairhmm.models.batch import PairBatch, Profiles, Qualities

ROWS = {1: (16,), 4: range(9, 17), 8: range(9, 20), 16: range(10, 20), 32: range(10, 20)}
"""Rows that a lane may own, by lanes: few enough for the registers that a driver gives.

Measured on an H200: a cell takes as long with 9 rows as with 19, and 1.3 times as long with 20, or 19 on 4 lanes.
"""

TIER_CELLS = 240_000_000
"""What a tier costs, in cells: a dispatch begins when the one before has ended, and the end of each is idle time."""

ITEM_SIZES = (4000, 250, 1500)
"""`Shapes.item_sizes`: for the same reason more items than those that a large GPU works on at once."""

STEP_COST = 0.5
"""What of a step does not depend on the rows of a lane, in rows."""

STRIP_COST = 1.5
"""The same for handing a row from one strip to the next."""

LONGEST_TILE = 2048
"""Bases of a read that is in a tile: of longer ones float32 holds few scores."""

BETWEEN_PADDING = 64
"""Columns past a haplotype's end that the strips of forward_tall.wgsl read."""

BETWEEN_BYTES, LISTED_BYTES = 128 << 20, 8
"""Of what is between strips, for all items of a dispatch: more than a large GPU works on at once. And of an entry of
that buffer, a pair or a column."""

BORDERS_AT = 1
"""Word that the borders of strips begin at, behind one for all."""

LISTED = np.dtype([("workgroups", "<u4", (3,)), ("count", "<u4")])
"""Of each rescuer: the arguments of its dispatch, and how many pairs its list has."""

WORK = np.dtype(
    [
        *((name, "<u4") for name in ("read_offset", "read_group", "group_read", "group_haplotype", "group_pair")),
        *((name, "<u4") for name in ("haplotype_offset", "order", "letters", "rows", "constants")),
        *((name + step, "<u4") for name in Qualities.__dataclass_fields__ for step in ("", "_step")),
        *((name, "<f4") for name in ("start_match", "start_deletion")),
        *((name, "<u4") for name in ("kept", "items", "first_item", "end_item", "last", "haplotypes_each")),
        *((name, "<u4") for name in ("rescuer", "list", "between", "front", "behind", "polls", "nothing")),
    ]
)
"""`Work` of shaders/tiles.wgsl."""


@dataclass(frozen=True, slots=True)
class Tier:
    """The tiles of one shape.

    Attributes
    ----------
    shape : Shape
    work : Work
        But for the range of items.
    items, at_once : int
        How many there are, and how many a dispatch may have.
    cells : int
        With those of rows that are no read's.
    """

    shape: Shape
    work: NDArray[np.void]
    items: int
    at_once: int
    cells: int


@dataclass(frozen=True, slots=True)
class Rescue:
    """What rescues pairs of some tiers: the index of its shape in `RESCUERS`, and its work."""

    rescuer: int
    work: NDArray[np.void]


class Kept(NamedTuple):
    """log10 of what scores are relative to: what the host knows of it (a number for each), and the unit of the rest."""

    log10: NDArray[np.float64]
    unit: float


@dataclass(frozen=True, slots=True)
class Packed:
    """How to score the batch in a buffer.

    Attributes
    ----------
    tiers : sequence of Tier
    rescues : sequence of Rescue
    list_bytes : int
        Of the buffer of lists: pairs, and behind them the columns between strips.
    pairs, reads : int
    kept : Kept
        Of each read.
    """

    tiers: Sequence[Tier]
    rescues: Sequence[Rescue]
    list_bytes: int
    pairs: int
    reads: int
    kept: Kept

    @property
    def out_bytes(self) -> int:
        """Of the scores, and what those of each read are relative to."""
        return 8 * (self.pairs + self.reads)


def empty_lists() -> NDArray[np.void]:
    """A `LISTED` of each rescuer, before any pair is listed."""
    listed = np.zeros(len(RESCUERS), dtype=LISTED)
    listed["workgroups"][:, 1:] = 1
    return listed


@cache
def shapes(width: int) -> Shapes:
    """All shapes, for workgroups of so many invocations.

    How many rows a lane has changes no bit of a score; how many lanes a read has, and what rescues it, does.
    """
    costs = STEP_COST, STRIP_COST
    return table_of_shapes(ROWS, LONGEST_TILE, width, costs, _kind, TIER_CELLS, ITEM_SIZES)


def _kind(shape: Shape) -> Hashable:
    """What shapes of one family share; a larger one may waste more rows on a tall read, so that each is its own."""
    return shape if shape.tall else (shape.lanes, rescuer_of(shape))


def pack(
    batch: PairBatch, skip_read: NDArray[np.bool_], width: int, list_bytes: int, staging: Staging, beside: Executor
) -> Packed:
    """Write `batch` and the tiles of its reads into a buffer, and send it.

    Parameters
    ----------
    batch : PairBatch
    skip_read : bool[reads]
        Reads that are in no tile; so are all that are longer than `LONGEST_TILE`.
    width : int
        Invocations of a workgroup.
    list_bytes : int
        That the buffer of lists may take, if it need not take more.
    staging : Staging
    beside : Executor
        Makes the tiles while the arrays are copied.
    """
    plan, work, kept, folds = _plan(batch)
    skip_read = skip_read | ~folds | (np.diff(batch.read_offset) > LONGEST_TILE)
    work["kept"] = 2 * batch.pairs
    places = plan.tile_places(batch)
    work["read_group"], work["order"] = places.read_group // 4, places.order // 4
    table = shapes(width)
    made = send_with_tiles(plan, places, batch, skip_read, table, staging, beside)
    return _packed(batch, work, kept, places.items // 4, list_bytes, made)


def _packed(
    batch: PairBatch,
    work: NDArray[np.void],
    kept: Kept,
    items_at: int,
    list_bytes: int,
    made: Sequence[tiles.Tier],
) -> Packed:
    """The tiers of a batch, whose items begin at that word, and the lists of the pairs that are rescued."""
    listed = [0] * len(RESCUERS)
    for tier in made:
        if not tier.shape.tall:
            listed[rescuer_of(tier.shape)] += tier.pairs
    list_at = np.cumsum([0, *listed]).tolist()
    works, tiers, entries = np.repeat(work[None], len(made)), [], list_at[-1]
    for k, tier in enumerate(made):
        own = works[k]
        own["items"], own["last"], own["haplotypes_each"] = (
            items_at + 2 * tier.first_item,
            tier.last,
            tier.haplotypes_each,
        )
        at_once = tier.items
        if tier.shape.tall:
            own["list"], own["between"] = list_at[-1], batch.widest + BETWEEN_PADDING
            room = min(BETWEEN_BYTES, list_bytes - LISTED_BYTES * list_at[-1])
            at_once = max(1, min(tier.items, room // LISTED_BYTES // int(own["between"])))
            entries = max(entries, list_at[-1] + at_once * int(own["between"]))
        else:
            own["rescuer"] = rescuer_of(tier.shape)
            own["list"] = list_at[own["rescuer"]]
        tiers.append(Tier(tier.shape, own, tier.items, at_once, tier.cells))
    works, rescues = np.repeat(work[None], len(listed)), []
    for rescuer, pairs in enumerate(listed):
        if pairs:
            own = works[rescuer]
            own["rescuer"], own["list"] = rescuer, list_at[rescuer]
            rescues.append(Rescue(rescuer, own))
    return Packed(tiers, rescues, LISTED_BYTES * entries, batch.pairs, batch.reads, kept)


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """How to score single pairs with forward_long.wgsl.

    Attributes
    ----------
    work : Work
        But for how far strips go.
    items : int
        Strips of all pairs.
    words : int
        Of the borders.
    pair_item : int64[pairs]
        First item of each pair.
    strips, steps : int64[pairs]
        Of each pair, and of each of its strips.
    kept : Kept
        Of each pair; NaN where its read does not fold.
    """

    work: NDArray[np.void]
    items: int
    words: int
    pair_item: NDArray[np.int64]
    strips: NDArray[np.int64]
    steps: NDArray[np.int64]
    kept: Kept

    def front(self, behind: int) -> int:
        """Step that the first strip would have to be at for all to be done, each so many behind the one above."""
        return int((self.steps + behind * (self.strips - 1)).max(initial=0))


def pack_pairs(
    batch: PairBatch,
    reads: NDArray[np.int64],
    haplotypes: NDArray[np.int64],
    segment: int,
    staging: Staging,
) -> PackedPairs:
    """Write `batch` and pairs of its reads and haplotypes (int64[pairs] each), cut into strips, and send it.

    Lanes hand values on in segments of that many.
    """
    plan, work, kept, folds = _plan(batch)
    strips = strips_of(batch, reads)
    pair_item = np.cumsum(strips) - strips
    columns = np.diff(batch.haplotype_offset)[haplotypes]
    pair = np.repeat(np.arange(len(reads)), strips)
    strip = np.arange(len(pair)) - pair_item[pair]
    border = np.where(strip + 1 < strips[pair], border_words(columns)[pair], 0)  # none is below the last strip
    border_at = BORDERS_AT + np.cumsum(border) - border
    items = np.stack([reads[pair], haplotypes[pair], strip, border_at, pair], axis=1)
    work["items"], work["end_item"] = plan.add(items.astype(np.uint32)) // 4, len(pair)
    work["kept"] = 2 * len(reads)
    plan.write(staging.begin(plan.size), staging.send)
    words = BORDERS_AT + int(border.sum())
    of_pairs = Kept(np.where(folds, kept.log10, np.nan)[reads], kept.unit)
    return PackedPairs(work, len(pair), words, pair_item, strips, all_steps(columns, segment), of_pairs)


def strips_of(batch: PairBatch, reads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Strips that reads are cut into, by forward_long.wgsl."""
    strips: NDArray[np.int64] = -(-np.diff(batch.read_offset)[reads] // (LONG.lanes * LONG.rows))
    return strips


def _plan(batch: PairBatch) -> tuple[Plan, NDArray[np.void], Kept, NDArray[np.bool_]]:
    """The arrays of a batch, which more may be added to; its `Work`; of each read `Kept`, and whether it may fold."""
    plan, work = Plan(), np.zeros(1, dtype=WORK)[0]
    for name in ("read_offset", "group_read", "group_haplotype", "group_pair", "haplotype_offset"):
        work[name] = plan.add_offsets(getattr(batch, name)) // 4
    plan.add(np.zeros(PADDING, dtype=np.uint8))
    work["letters"] = plan.add(batch.haplotypes)
    plan.add(np.zeros(PADDING + batch.widest, dtype=np.uint8), aligned=False)
    work["start_match"], work["start_deletion"] = batch.start.match, batch.start.deletion
    if batch.qualities is not None:
        _add_qualities(batch, plan, work)
        return plan, work, Kept(np.zeros(batch.reads), 1.0), np.ones(batch.reads, dtype=bool)
    if batch.profiles is not None:
        mm = _add_profiles(batch.profiles, plan, work)
        log10 = np.diff(batch.read_offset) * (np.log10(mm) if mm > 0 else 0.0)
        return plan, work, Kept(log10, float(np.log10(2.0))), np.full(batch.reads, mm > 0)
    assert batch.rows is not None
    folded = fold(batch.rows, batch.read_offset)
    work["rows"] = plan.add(folded.rows) // 4
    return plan, work, Kept(folded.log_kept, 0.0), folded.folds


def _add_qualities(batch: PairBatch, plan: Plan, work: NDArray[np.void]) -> None:
    """GATK's five bytes a base, but for arrays that hold one number all over: one byte crosses for these."""
    assert batch.qualities is not None
    for name in Qualities.__dataclass_fields__:
        values = getattr(batch.qualities, name)
        varies = name not in batch.constant_qualities
        work[name] = plan.add(values if varies else values[:1])
        work[name + "_step"] = int(varies)


def _add_profiles(profiles: Profiles, plan: Plan, work: NDArray[np.void]) -> float:
    """Probabilities of a profile model, and its constants, as pairs; its transition mm, without which nothing folds."""
    mm, im, dm, mi, ii, md, dd = profiles.transitions.tolist()
    kept = mm or 1.0
    transitions = [dm * md / kept, im * mi / kept / kept, ii / kept, mi / kept, dd, mi, dm / kept]
    constants = np.concatenate([profiles.match.reshape(-1), profiles.insertion, transitions])
    work["constants"] = plan.add(pairs_of(constants)) // 4
    work["rows"] = plan.add(profiles.probabilities) // 4
    return float(mm)
