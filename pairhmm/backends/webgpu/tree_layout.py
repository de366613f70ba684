"""Where the trees of a batch, and the scratch memory of the workgroups that walk them, lie for forward/trees.wgsl."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import SentTrees

HAPLOTYPES_OF_TREES = 64
"""Most haplotypes of a pair of trees. A workgroup keeps up to 5 kB of each while it walks the trees."""

COLUMNS_OF_SUM = 256
"""Columns of a path that are added to one sum. Where a sum ends, lanes take single steps."""

WALKERS = 2112
"""Most workgroups of a dispatch that walks trees. They take items from a list, and more of them than a large GPU works
on at once only need more scratch memory."""

ENTRY_BYTES = 16
"""Bytes of an entry of scratch memory."""


def quads_of(rows: int) -> int:
    """Fours of a lane's rows."""
    return -(-rows // 4)


def lane_entries(rows: int) -> int:
    """Entries of a lane in a slot: S and D of its rows, in fours, and its sums."""
    return 2 * quads_of(rows) + 1


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
