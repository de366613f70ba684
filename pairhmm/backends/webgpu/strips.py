"""Sizes of the parts that forward/long.wgsl cuts pairs into: strips of rows, segments of lanes, blocks of columns."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import tiles
from pairhmm.backends.tiles import HALVES, LETTERS, LETTERS_SCALED, Shape
from pairhmm.backends.webgpu.declarations import places

T = TypeVar("T", int, NDArray[np.int64])

LONG = Shape(32, 12)
"""Lanes and rows of a strip."""

STEPS = 256
"""Steps of a strip in one dispatch, where strips take turns. They are a multiple of RESCALE_STEPS."""

SHORTEST_SEGMENT, LONGEST_SEGMENT = 8, 32
"""Fewest and most lanes of a segment that shuffles. Its lanes are a power of two, and lie in one subgroup."""

BLOCKS = 4
"""Blocks of RESCALE_STEPS columns that there is room for between two segments."""

LEAD_BLOCKS = 2
"""Blocks of steps that a strip begins before its first column."""


def rescale_steps(rows: int) -> int:
    """RESCALE_STEPS of lanes that have `rows` rows.

    They are at most the number of rows. So what enters a lane does not leave it on a path of matches before the next
    rescaling.
    """
    return 8 if rows < 16 else 16


BLOCK = rescale_steps(LONG.rows)
"""Columns of a block, which are also the steps between two rescalings."""

BLOCK_WORDS = 2 * BLOCK + 1
"""Words of a block in a border: S and I of each column, and one exponent."""

LEAD = LEAD_BLOCKS * BLOCK
"""Steps that a strip begins before its first column."""


def skew(segment: int) -> int:
    """Steps that a column takes from the first lane of a segment to the first lane of the next segment."""
    return segment + 2 * BLOCK


def lag(segment: int) -> int:
    """Steps from a column's entry into a strip's first lane until it is in the border below."""
    return (LONG.lanes // segment - 1) * skew(segment) + segment


def distance(segment: int) -> int:
    """Steps that a strip stays behind the one above if it never has to wait for what it reads ahead."""
    return lag(segment) + LEAD + BLOCK


def halves_of(letters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Halves of haplotypes that have so many letters: short ones are not cut, and all of them is the left half."""
    return np.where(letters >= tiles.LEAST_CUT, HALVES, 1)


def half_columns(letters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Columns of the left and the right half of such haplotypes (int64[haplotypes, HALVES]).

    Each half has a column before its first letter. Where there is no right half, it has none.
    """
    left = letters // halves_of(letters) + 1
    return np.stack([left, letters + 1 - left], axis=1)


def in_blocks(steps: T) -> T:
    """Steps, rounded up to a whole number of blocks."""
    return (steps + BLOCK - 1) // BLOCK * BLOCK


def all_steps(columns: NDArray[np.int64], segment: int) -> NDArray[np.int64]:
    """Steps of a strip until its last lane has had all columns, and has saved what crosses behind them."""
    return in_blocks(LEAD + columns + lag(segment))


def border_words(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of 32 bits of the border between two strips; none without columns."""
    return np.where(columns > 0, (columns + 2 * BLOCK - 2) // BLOCK * BLOCK_WORDS, 0)


def passing_entries(segment: int) -> int:
    """Most columns between segments that one lane saves from one dispatch to the next."""
    columns = (LONG.lanes // segment - 1) * BLOCKS * BLOCK
    return -(-columns // LONG.lanes)


def lane_entries(segment: int) -> dict[str, int]:
    """Number of 16-byte entries that a lane saves of each part, in their order. An entry of rows holds four rows.

    Made once: EMISSIONS [letter]; COEFFICIENTS [from_deletion, from_insertion, extend_insertion, extend_deletion];
    STRIP_LANE: the result of `sum_falls`, and the bits of the strip's first_deletion.

    Saved between two dispatches: STATES [S, D]; BELOW: what goes to the next lane, and its exponent; SUM: a value, its
    exponent, and the number of steps done; PASSING: columns between segments, each with an exponent.

    Saved for join.wgsl: CROSSING [matches, deletions], and their exponent.
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
        "CROSSING": 2 * quads + 1,
    }


def strip_entries(segment: int) -> int:
    """Entries that each lane of a strip saves."""
    return sum(lane_entries(segment).values())


def long_constants(segment: int) -> dict[str, int]:
    """Constants that are declared to long.wgsl, long_rows.wgsl and join.wgsl."""
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
    """Bytes of workgroup memory of forward/long.wgsl: emissions, columns between segments, and lanes' exponents."""
    segments = LONG.lanes // segment
    emissions = 4 * LETTERS_SCALED * LONG.rows * LONG.lanes
    passing = (segments + 1) * BLOCKS * (8 * BLOCK + 4)
    of_strip = 12
    return emissions + passing + of_strip + 4 * (2 * LONG.lanes + segments * min(BLOCK, segment))
