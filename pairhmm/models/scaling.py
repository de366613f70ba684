"""Numbers that keep the forward's values within the range of a floating-point type. Kernels are handed them from here.

Probabilities of long reads leave the range of any such type. Fast kernels start from a large value and leave the pairs
whose sums fall too low. Scaled kernels keep a block of values as value * 2^exponent, with an exponent for each block.
"""

from __future__ import annotations

from dataclasses import dataclass

START_EXPONENT = 116
"""The fast kernels' first value is 2^START_EXPONENT. float32 ends at 2^128: a factor of 2^12 is left for sums."""

LOWEST_SUM = 1e-28
"""Smallest sum that float32 holds without an exponent, on the scale of `START_EXPONENT`: a score (log10) about 62 below
that of a perfect match. Values that float32 loses are below 1.2e-38, each of them 1e-10 of such a sum."""

NO_EXPONENT = -(1 << 28)
"""Exponent of a block whose values are all zero: below any other, and far from the ends of int32."""

RARE_DELETION = 1 / 16
"""Times `BlockRange.least_opening`, the least probability of a deletion that a scaled block holds: that of its opening
times that of its end, which takes little away."""


@dataclass(frozen=True, slots=True)
class BlockRange:
    """How far apart the values of one block, which share an exponent, may lie.

    Attributes
    ----------
    top : int
        Exponent that a block's largest value is brought to.
    gap_bits : float
        Powers of two between the largest value of a block and the least one that matters, for insertions: what the type
        has below `top`, less the two openings of gaps and the digits of a score.
    deletion_bits : float
        The same for deletions, which reach back to where a row above can be by the next rescaling.
    least_opening : float
        Probability. Rows where gaps open more rarely are beyond this range.
    """

    top: int
    gap_bits: float
    deletion_bits: float
    least_opening: float


FLOAT32_BLOCKS = BlockRange(top=100, gap_bits=160.0, deletion_bits=180.0, least_opening=1e-6)
FLOAT64_BLOCKS = BlockRange(top=900, gap_bits=1650.0, deletion_bits=620.0, least_opening=1e-30)
"""In float64, gaps are often extended more rarely than opened, and a single factor, which is not below 2^-1022, takes
values from one block to the next: deletions have less range than insertions."""
