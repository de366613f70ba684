"""How forward/long.wgsl cuts pairs: into strips of rows, segments of lanes, and blocks of columns."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import LETTERS, LETTERS_SCALED, Shape
from pairhmm.backends.webgpu.declarations import places

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

BLOCK_WORDS = 2 * BLOCK + 1
"""Words of a block in a border: S and I of its columns, and an exponent."""

LEAD = LEAD_BLOCKS * BLOCK
"""Steps that a strip begins before its first column."""

ENTERING_COLUMNS = BLOCK
"""Columns that enter a strip at once from the one above."""


def skew(segment: int) -> int:
    """Steps from a column's first lane of a segment to that of the next one."""
    return segment + 2 * BLOCK


def lag(segment: int) -> int:
    """Steps after which a column that entered a strip's first lane is in the border below."""
    return (LONG.lanes // segment - 1) * skew(segment) + segment


def distance(segment: int) -> int:
    """Steps that a strip is behind the one above when it waits for none: what it reads ahead is there by then."""
    return lag(segment) + LEAD + BLOCK


def in_blocks(steps: T) -> T:
    """Steps, up to a whole number of blocks."""
    return (steps + BLOCK - 1) // BLOCK * BLOCK


def all_steps(columns: NDArray[np.int64], segment: int) -> NDArray[np.int64]:
    """Steps of a strip, until its last lane has had all columns."""
    return in_blocks(LEAD + columns + lag(segment) - 1)


def border_words(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of 32 bits of the border between two strips."""
    return (columns + 2 * BLOCK - 2) // BLOCK * BLOCK_WORDS


def passing_entries(segment: int) -> int:
    """Columns between segments that a lane keeps between two dispatches, at most."""
    columns = (LONG.lanes // segment - 1) * BLOCKS * BLOCK
    return -(-columns // LONG.lanes)


def lane_entries(segment: int) -> dict[str, int]:
    """Entries of 16 bytes that a lane keeps of its strip, in their order. Those of rows have four rows each.

    Made once:
    EMISSIONS [letter]; COEFFICIENTS [from_deletion, from_insertion, extend_insertion, extend_deletion];
    STRIP_LANE: what `sum_falls` says, and the bits of the strip's first_deletion.

    Kept between two dispatches:
    STATES [S, D]; BELOW: what goes to the next lane, and its exponent; SUM: a value, its exponent, the steps
    that are done; PASSING: columns between segments, each with an exponent.
    """
    quads = -(-LONG.rows // 4)
    return {
        "EMISSIONS": LETTERS * quads,
        "COEFFICIENTS": 4 * quads,
        "STRIP_LANE": 1,
        "STATES": 2 * quads,
        "BELOW": 1,
        "SUM": 1,
        "PASSING": passing_entries(segment),
    }


def strip_entries(segment: int) -> int:
    """Entries of each lane of a strip."""
    return sum(lane_entries(segment).values())


def long_constants(segment: int) -> dict[str, int]:
    """Constants of long.wgsl and long_rows.wgsl."""
    return {
        "BLOCKS": BLOCKS,
        "BLOCK_WORDS": BLOCK_WORDS,
        "LEAD": LEAD,
        "SKEW": skew(segment),
        "LAG": lag(segment),
        "PASSING_ENTRIES": passing_entries(segment),
        "STRIP_ENTRIES": strip_entries(segment),
        **places(lane_entries(segment)),
    }


def workgroup_bytes(segment: int) -> int:
    """Workgroup memory of forward/long.wgsl: emissions, what passes between segments, and the lanes' exponents."""
    segments = LONG.lanes // segment
    emissions = 4 * LETTERS_SCALED * LONG.rows * LONG.lanes
    passing = (segments + 1) * BLOCKS * (8 * BLOCK + 4)
    of_strip = 12
    return emissions + passing + of_strip + 4 * (2 * LONG.lanes + segments * min(BLOCK, segment))
