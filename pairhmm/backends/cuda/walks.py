"""Launches of the kernel that walks trees: which tiers share one, and what memory they take."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import kernels as cuda_kernels
from pairhmm.backends.cuda.layout import TREE_TIER, WARP
from pairhmm.backends.tiles import Tier, TreeSizes, rescuer_of

PACKED_TIER = struct.Struct("<2q10I")
"""A `TREE_TIER`. NumPy takes three times as long to fill one."""

NO_LIST = 0xFFFFFFFF
"""The list of a tier whose pairs `forward_pairs` scores where float32 does not hold them."""

assert PACKED_TIER.size == TREE_TIER.itemsize


class Walk(NamedTuple):
    """A launch of trees.cu: the tiers whose lanes have this many rows, and whose reads have one strip, or several."""

    rows: int
    strips: int  # of its longest read
    items: int
    item_bytes: int  # Bytes that tree_rows.cu makes for an item
    made: int  # Byte offset of what it makes for this launch


class Walks(NamedTuple):
    """The launches of a batch, few items first, so that none waits behind all items of another."""

    launches: list[Walk]
    tiers: NDArray[np.uint8]  # uint8[bytes]: A `TREE_TIER` for each tier, in the order of launches
    tier_count: int
    items: int  # Work items of all launches
    made_bytes: int  # Bytes that tree_rows.cu makes for them


def walks_of(
    tiers: Sequence[Tier], extension: float | None, first_of_list: Sequence[int], longest_read: int = 0
) -> Walks:
    """Launches of tiers whose haplotypes are in trees.

    Parameters
    ----------
    extension : float or None
        As in `KernelVariant`.
    first_of_list : sequence of int
        Where each rescuer's list of pairs begins, in pairs. Pairs of tall tiers are on no list.
    longest_read : int
        Bases of the longest read in a tile.
    """
    by_rows: dict[tuple[bool, int], list[Tier]] = {}
    for tier in tiers:
        by_rows.setdefault((tier.shape.tall, tier.shape.rows), []).append(tier)
    table = bytearray()
    launches: list[Walk] = []
    number = start = at = 0
    for (tall, rows), tiers_of_rows in sorted(by_rows.items(), key=lambda entry: sum(tier.items for tier in entry[1])):
        strips = -(-longest_read // (WARP * rows)) if tall else 1
        size, items = cuda_kernels.made_bytes(rows, extension, strips), sum(tier.items for tier in tiers_of_rows)
        first = number
        for tier in tiers_of_rows:
            list_ = NO_LIST if tall else rescuer_of(tier.shape)
            table += PACKED_TIER.pack(
                *(at, 0 if tall else first_of_list[list_], start, tier.items, tier.first_item, tier.last),
                *(tier.shape.lanes, rows, first, len(tiers_of_rows), size, list_),
            )
            number, start = number + 1, start + tier.items
        launches.append(Walk(rows, strips, items, size, at))
        at += size * items
    return Walks(launches, np.frombuffer(table, dtype=np.uint8), number, start, at)


def scratch_of(
    walks: Sequence[Walk], sizes: TreeSizes, extension: float | None, multiprocessors: int, most: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Blocks of each launch, and `kernels.scratch_places` of one of them.

    A launch gets as many blocks as the device holds. If scratch memory for all of them is more than `most` bytes, each
    launch gets fewer, but at least one.
    """
    places = [cuda_kernels.scratch_places(walk.rows, sizes, walk.strips) for walk in walks]
    blocks = [min(w.items, multiprocessors * cuda_kernels.resident_trees(w.rows, extension)) for w in walks]
    wanted = sum(count * size for count, (size, *_) in zip(blocks, places, strict=True))
    share = min(1.0, most / max(1, wanted))
    return [(max(1, int(count * share)), place) for count, place in zip(blocks, places, strict=True)]
