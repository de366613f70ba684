"""Where the trees of a batch, and the scratch memory of the workgroups that walk them, lie for forward/trees.wgsl."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import RESCUERS, SentTrees, Tier, rescuer_of

HAPLOTYPES_OF_TREES = 64
"""Most haplotypes of a pair of trees. A workgroup keeps up to 5 kB of each while it walks the trees."""

COLUMNS_OF_SUM = 256
"""Columns of a path that are added to one sum. Where a sum ends, lanes take single steps."""

WALKERS = 2112
"""Most workgroups of a dispatch that walks trees. They take items from a list, and more of them than a large GPU works
on at once only need more scratch memory."""

ROWS = dict.fromkeys((1, 2, 4, 8, 16), (11, 13, 16, 19)) | {32: range(10, 20)}
"""Rows that a lane may own, by the lanes of a read. Tiers with the same number of rows share a dispatch, and the sum of
a join depends on the rows of a lane: few numbers serve all lengths. Tall reads take theirs from the last entry."""

ENTRY_BYTES = 16
"""Bytes of an entry of scratch memory."""


def quads_of(rows: int) -> int:
    """Fours of a lane's rows."""
    return -(-rows // 4)


def lane_entries(rows: int) -> int:
    """Entries of a lane in a slot: S and D of its rows, in fours, and its sums."""
    return 2 * quads_of(rows) + 1


def launches(tiers: Sequence[Tier], subgroup: int) -> list[list[Tier]]:
    """Tiers that share a dispatch: those with one number of rows, whose lanes lie in a subgroup or do not.

    The tiers with the longest items come first.
    """
    found: dict[tuple[int, bool], list[Tier]] = {}
    for tier in sorted(tiers, key=lambda tier: -tier.longest):
        found.setdefault((tier.shape.rows, tier.shape.lanes <= subgroup), []).append(tier)
    return list(found.values())


def put_tiers(work: NDArray[np.void], tiers: Sequence[Tier], width: int, list_at: Sequence[int]) -> None:
    """Write to a `Work` the tiers that share its dispatch (`TREE_TIER`)."""
    end = 0
    for number, tier in enumerate(tiers):
        end += tier.items
        rescuer = rescuer_of(tier.shape)
        lanes, reads = tier.shape.lanes, width // RESCUERS[rescuer].lanes
        words = (end, tier.first_item, lanes, tier.last, rescuer, reads, list_at[rescuer], 0)
        work["tiers"][2 * number : 2 * number + 2] = np.reshape(words, (2, 4))


def put_trees(work: NDArray[np.void], trees: SentTrees) -> None:
    """Write to a `Work` where the arrays of trees lie."""
    work["of_group"], work["trees"], work["places"] = trees.of_group // 4, trees.trees // 4, trees.places // 4
    work["events"], work["joins"], work["streams"] = trees.events // 4, trees.joins // 2, trees.streams


def put_scratch(work: NDArray[np.void], rows: int, width: int, trees: SentTrees) -> int:
    """Write to a `Work` what a workgroup of `width` lanes has in its scratch memory; returns its bytes."""
    slot, numbers, sizes = width * lane_entries(rows), width // 4, trees.sizes
    work["left_leaves"] = slot * sizes.open_branches
    work["right_leaves"] = int(work["left_leaves"]) + slot * sizes.left_leaves
    work["joined"] = int(work["right_leaves"]) + slot * sizes.right_leaves
    work["from_below"] = int(work["joined"]) + numbers * sizes.joins
    work["scratch"] = int(work["from_below"]) + width * quads_of(rows)
    return ENTRY_BYTES * int(work["scratch"])
