"""Numbers that keep the forward within the range of its floating-point type. GPU kernels are handed them from here.

Fast kernels have no exponents: they start from a large value, and leave pairs whose sums fall too low to the rescue.
Scaled kernels keep the values of a lane as value * 2^exponent.
"""

from __future__ import annotations

START_EXPONENT = 116
"""Exponent of 2 that a read's states start from in kernels without exponents.

Just so high that no state overflows (float32 ends at 2^128): what lies below is the range that a score may fall.
"""

LEAST_SUM = 1e-28
"""Least sum of such a kernel that counts: a score (log10) about 62 below that of a perfect match.

Of a smaller one states may have lost digits to underflow: its pair is rescued.
"""

MOST_SUM = 3e38
"""Largest sum that counts. Larger ones may have overflowed; shader compilers may remove a test for infinity."""

NO_EXPONENT = -(1 << 28)
"""Exponent of a value of zero: below any other, and far from overflow when exponents are added."""

TOP_EXPONENT, TOP_EXPONENT_64 = 100, 900
"""Exponent of 2 that a lane's largest value is brought to at each rescaling, in kernels with an exponent a lane: in
float32, and in float64."""

GAP_RANGE, GAP_RANGE_64 = 160.0, 1650.0
"""Bits of the type's range that an insertion through two lanes of rows may take, beside its opening."""

DELETION_RANGE, DELETION_RANGE_64 = 180.0, 620.0
"""Bits that a deletion from one rescaling to the next may take, beside its opening.

In float64 they are few: gaps are often extended more rarely than opened there, and a single factor, which is not below
2^-1022, takes values to the next lane.
"""

LEAST_OPENING, LEAST_OPENING_64 = 1e-6, 1e-30
"""Least probability of an insertion's opening that lanes with exponents hold."""

LEAST_DELETION, LEAST_DELETION_64 = LEAST_OPENING / 16, LEAST_OPENING_64 / 16
"""Least coefficient of a deletion's end that they hold: little is lost with it, which is beside the opening here."""
