"""How forward/long.wgsl cuts pairs: into strips of rows, segments of lanes, and blocks of columns."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import LETTERS_SCALED, Shape

T = TypeVar("T", int, NDArray[np.int64])

LONG = Shape(64, 8)
"""Lanes and rows of a strip."""

STEPS = 256
"""Of a strip in a dispatch, where strips take turns; a multiple of its RESCALE_STEPS."""

SHORTEST_SEGMENT, LONGEST_SEGMENT = 8, 32
"""Lanes that shuffle: a power of two, and what a subgroup has of it."""

BLOCKS = 4
"""Of RESCALE_STEPS columns, that pass from a segment to the next."""

LEAD_BLOCKS = 3
"""Of as many columns, that a strip begins before its first one."""


def rescale_steps(rows: int) -> int:
    """RESCALE_STEPS of lanes with so many rows: at most those.

    What enters a lane then does not leave it on a path of matches before the next rescaling.
    """
    return 8 if rows < 16 else 16


BLOCK = rescale_steps(LONG.rows)
"""Columns of a block."""


def skew(segment: int) -> int:
    """Steps from a column's first lane of a segment to that of the next one."""
    return segment + 2 * BLOCK


def lag(segment: int) -> int:
    """Steps after which a column that entered a strip's first lane is in the border below."""
    return (LONG.lanes // segment - 1) * skew(segment) + segment


def distance(segment: int) -> int:
    """Steps that a strip is behind the one above when it waits for none: what it reads ahead is there by then."""
    return lag(segment) + (LEAD_BLOCKS + 1) * BLOCK


def in_blocks(steps: T) -> T:
    """Steps, up to a whole number of blocks."""
    return (steps + BLOCK - 1) // BLOCK * BLOCK


def all_steps(columns: NDArray[np.int64], segment: int) -> NDArray[np.int64]:
    """Steps of a strip, until its last lane has had all columns."""
    return in_blocks(LEAD_BLOCKS * BLOCK + columns + lag(segment) - 1)


def border_words(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of 32 bits of the border between two strips: blocks of S and I of their columns, and an exponent."""
    return (columns + 2 * BLOCK - 2) // BLOCK * (2 * BLOCK + 1)


def passing_entries(segment: int) -> int:
    """Columns between segments that a lane keeps between two dispatches, at most."""
    columns = (LONG.lanes // segment - 1) * BLOCKS * BLOCK
    return -(-columns // LONG.lanes)


def strip_entries(segment: int) -> int:
    """STRIP_ENTRIES of shaders/forward/strips.wgsl."""
    return 11 * -(-LONG.rows // 4) + 3 + passing_entries(segment)


def workgroup_bytes(segment: int) -> int:
    """Workgroup memory of forward/long.wgsl: emissions, what passes between segments, and the lanes' exponents."""
    segments = LONG.lanes // segment
    emissions = 4 * LETTERS_SCALED * LONG.rows * LONG.lanes
    passing = (segments + 1) * BLOCKS * (8 * BLOCK + 4)
    of_strip = 12
    return emissions + passing + of_strip + 4 * (2 * LONG.lanes + segments * min(BLOCK, segment))
