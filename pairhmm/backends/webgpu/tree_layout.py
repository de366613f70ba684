"""Where the trees of a batch, and the scratch memory of the workgroups that walk them, lie for forward/trees.wgsl."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import LETTERS, SentTrees, Tier, rescuer_of
from pairhmm.backends.webgpu.work import (
    MADE,
    MASK_ENTRIES,
    MOST_TREE_TIERS,
    RESCUERS,
    TASK_ENTRIES,
    TREE_TIER,
    copy_of,
)

HAPLOTYPES_OF_TREES = 64
"""Most haplotypes of a pair of trees. A workgroup keeps up to 5 kB of each left half while it walks the trees."""

COLUMNS_OF_SUM = 256
"""Columns of a path that are added to one sum. Where a sum ends, lanes take single steps."""

LEAD = TAIL = 31
"""Letters of the path before each node that restores, and of the left half behind each right leaf
(`cpu/packing/tree_streams.hpp`): one for each lane of a read but one."""

WALKERS = 2112
"""Most workgroups of a dispatch that walks trees. They take items from a list, and more of them than a large GPU works
on at once only need more scratch memory."""

ROWS = dict.fromkeys((1, 2, 4, 8, 16), (12, 19)) | {32: range(10, 20)}
"""Rows that a lane may own, by the lanes of a read. Tiers with the same number of rows share a dispatch, and the sum of
a join depends on the rows of a lane: few numbers serve all lengths. Each further one costs a dispatch, whose end is
idle time. Tall reads take theirs from the last entry."""

MOST_ITEMS = (1 << 16) - 1
"""Most items of a dispatch that walks trees: products of two ranks fit 32 bits (tree_tasks.wgsl)."""

ENTRY_BYTES, EVENT_BYTES = 16, 4
"""Bytes of an entry of scratch memory, and of an event. The joins follow the events."""


LONG_RUNS = 24
"""Columns between two events, on average, from which on a walk's loop has longer iterations. 20 copies of 1m have 14,
s150 has 40, and s150 with one haplotype a group has 176."""


def has_long_runs(trees: SentTrees) -> bool:
    """Whether trees have few events among their columns."""
    events = (trees.joins - trees.events) // EVENT_BYTES
    return int(trees.columns.sum()) >= LONG_RUNS * events


def quads_of(rows: int) -> int:
    """Fours of a lane's rows."""
    return -(-rows // 4)


def lane_entries(rows: int) -> int:
    """Entries of a lane in a slot: S and D of its rows, in fours, and what goes down between lanes."""
    return 2 * quads_of(rows) + 1


def made_entries(rows: int, width: int, *, masked: bool) -> int:
    """Entries that tree_rows.wgsl makes for an item: tasks of its lanes, and arrays of their rows, in fours."""
    arrays = len(MADE) - 1 + (1 if masked else LETTERS) + 1  # the last one is of extensions
    return width * (TASK_ENTRIES + MASK_ENTRIES * masked + arrays * quads_of(rows))


def launches(tiers: Sequence[Tier], subgroup: int) -> list[list[Tier]]:
    """Tiers that share a dispatch: those with one number of rows, whose lanes lie in a subgroup or do not.

    The tiers with the longest items come first.
    """
    found: dict[tuple[int, bool], list[Tier]] = {}
    for tier in sorted(tiers, key=lambda tier: -tier.longest):
        found.setdefault((tier.shape.rows, tier.shape.lanes <= subgroup), []).append(tier)
    return list(found.values())


def put_tiers(work: NDArray[np.void], tiers: Sequence[Tier], list_at: Sequence[int]) -> None:
    """Write to a `Work` the tiers that share its dispatch (`TREE_TIER`)."""
    words, end = [], 0
    for tier in tiers:
        end += tier.items
        rescuer = rescuer_of(tier.shape, RESCUERS)
        words.append((end, tier.first_item, tier.shape.lanes, tier.last, rescuer, list_at[rescuer], 0, 0))
    # At once, because NumPy takes long for each assignment.
    work["tiers"].reshape(MOST_TREE_TIERS, -1)[: len(words)] = words


def part_of(work: NDArray[np.void], part: int, parts: int) -> NDArray[np.void]:
    """A copy of a `Work`, for one of so many parts of its dispatch. Each has its share of every tier."""
    own = copy_of(work)
    tiers = work["tiers"].reshape(MOST_TREE_TIERS, -1).astype(np.int64)
    end, first = (tiers[:, TREE_TIER.index(name)] for name in ("end", "first_item"))
    items = np.diff(end, prepend=0).clip(0)  # tiers that are not there end at 0
    taken = items * (part + 1) // parts - items * part // parts
    first += items * part // parts
    tiers = tiers[taken > 0]
    tiers[:, TREE_TIER.index("end")] = np.cumsum(taken[taken > 0])
    own["tiers"] = 0
    own["tiers"][: 2 * len(tiers)] = tiers.reshape(-1, 4)
    own["first_item"], own["end_item"] = 0, taken.sum()
    return own


def put_trees(work: NDArray[np.void], trees: SentTrees) -> None:
    """Write to a `Work` where the arrays of trees lie."""
    work["of_group"], work["trees"], work["places"] = trees.of_group // 4, trees.trees // 4, trees.places // 4
    work["events"], work["joins"], work["streams"] = trees.events // 4, trees.joins // 2, trees.streams


def put_scratch(work: NDArray[np.void], rows: int, width: int, trees: SentTrees) -> int:
    """Write to a `Work` what a workgroup of `width` lanes has in its scratch memory; returns its bytes."""
    numbers, of_slot, sizes = width // 4, width * lane_entries(rows), trees.sizes
    work["left_leaves"] = left_leaves = of_slot * sizes.open_branches
    work["ended"] = ended = left_leaves + of_slot * sizes.left_leaves
    work["started"] = started = ended + numbers * sizes.left_leaves
    work["joined"] = joined = started + numbers * sizes.right_leaves
    work["scratch"] = scratch = joined + numbers * sizes.joins
    return ENTRY_BYTES * scratch
