"""Tiles of low complexity, which say nothing of where a read is from: `cpu/scan/complexity.hpp` has the rule."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.native import native
from pairhmm.scan.batch import Tiling
from pairhmm.sequences.signatures import Signatures


def masked_places(letters: NDArray[np.uint8], offset: NDArray[np.int64], tiling: Tiling) -> NDArray[np.int64]:
    """Where the tiles begin that are not searched for: intervals of places in the letters, int64[intervals, 2].

    Parameters
    ----------
    letters : uint8[sum of lengths]
        Sets of bases.
    offset : int64[sequences + 1]
    tiling : Tiling
    """
    if not tiling.mask:
        return np.empty((0, 2), dtype=np.int64)
    return native.low_complexity(letters, offset, tiling.length)


def masked_tiles(signatures: Signatures, tiling: Tiling) -> NDArray[np.int64]:
    """How many tiles of each signature are not searched for, int64[signatures]."""
    places = masked_places(signatures.letters, signatures.offset, tiling)
    owner = np.searchsorted(signatures.offset, places[:, 0], side="right") - 1
    begin, end = (places - signatures.offset[owner][:, None]).T
    # Of the places [begin, end), those that a tile begins at.
    counts = -(-end // tiling.step) - -(-begin // tiling.step)
    return np.bincount(owner, weights=counts, minlength=len(signatures)).astype(np.int64)
