"""What the comparers on devices share: how work is cut to their memory, and the keys of near targets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.nearest import NO_TARGET, Nearest

TILE = 64
"""Queries, and targets, that a workgroup or block of threads has."""

EACH = 4
"""Queries, and targets, that an invocation or thread has."""

STEP = 16
"""Words of each sketch that are in shared memory at a time."""

STRIDE = TILE // EACH + 1
"""Groups of four words in a row of shared memory. One is left empty, so that few writes meet in a bank."""

MOST_PAIRS = 1 << 25
"""Counts that are on the device at a time."""

PLACE_BITS = 18
"""Low bits of a key: how early a target is."""

MOST_TARGETS = (1 << PLACE_BITS) - EACH
"""Targets of which the nearest are looked for at once. A key of a target is never 0."""

MOST_NEAREST = 64
"""Nearest targets that a device looks for: it reads all counts once for each."""


def columns_of(targets: int) -> int:
    """Counts in a row. They are written EACH at a time, so that rows are padded."""
    return -(-targets // EACH) * EACH


def query_blocks(queries: int, targets: int, most_pairs: int) -> Iterator[tuple[int, int]]:
    """The first query, and one past the last, of blocks of whole tiles with at most so many pairs, or of one tile."""
    size = max(1, most_pairs // (TILE * columns_of(targets))) * TILE
    for first in range(0, queries, size):
        yield first, min(first + size, queries)


def unpacked(keys: NDArray[np.uint32]) -> Nearest:
    """Targets and equal slots of keys; the key 0 is that of no target."""
    last = (1 << PLACE_BITS) - 1
    targets = np.where(keys == 0, NO_TARGET, last - (keys & last).astype(np.int32))
    return targets.astype(np.int32), (keys >> PLACE_BITS).astype(np.uint16)
