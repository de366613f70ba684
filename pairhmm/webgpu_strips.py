"""How forward_long.wgsl cuts pairs: into strips of rows, segments of lanes, and waves of steps."""

from __future__ import annotations

from pairhmm.packed import LETTERS_SCALED, Shape

LONG = Shape(64, 8)
"""Lanes and rows of a strip."""

STEPS = 256
"""Of a strip in a wave; a multiple of its RESCALE_STEPS."""

SHORTEST_SEGMENT, LONGEST_SEGMENT = 8, 32
"""Lanes that shuffle: a power of two, and what a subgroup has of it."""

BLOCKS = 4
"""Of RESCALE_STEPS columns, that pass from a segment to the next."""


def rescale_steps(rows: int) -> int:
    """RESCALE_STEPS of lanes with so many rows: at most those.

    What enters a lane then does not leave it on a path of matches before the next rescaling.
    """
    return 8 if rows < 16 else 16


def lag(segment: int) -> int:
    """Steps that a strip is behind the one above, besides a wave: until its last lane has had a column."""
    segments = LONG.lanes // segment
    return (segments - 1) * (segment + 2 * rescale_steps(LONG.rows)) + segment


def passing_entries(segment: int) -> int:
    """Columns between segments that a lane keeps between two waves, at most."""
    columns = (LONG.lanes // segment - 1) * BLOCKS * rescale_steps(LONG.rows)
    return -(-columns // LONG.lanes)


def strip_entries(segment: int) -> int:
    """STRIP_ENTRIES of shaders/strips.wgsl."""
    return 11 * -(-LONG.rows // 4) + 3 + passing_entries(segment)


def workgroup_bytes(segment: int) -> int:
    """Workgroup memory of forward_long.wgsl: emissions, what passes between segments, and the lanes' exponents."""
    segments, steps = LONG.lanes // segment, rescale_steps(LONG.rows)
    emissions = 4 * LETTERS_SCALED * LONG.rows * LONG.lanes
    passing = (segments + 1) * BLOCKS * (8 * steps + 4)
    return emissions + passing + 4 * (2 * LONG.lanes + segments * min(steps, segment))
