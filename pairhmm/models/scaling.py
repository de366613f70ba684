"""Numbers of the scaled float32 arithmetic on GPUs. Kernels are given them, and write none themselves."""

from __future__ import annotations

START_EXPONENT = 116
"""Exponent of 2 that a read's states start from in kernels without exponents.

Just so high that no state overflows (float32 ends at 2^128): what lies below is the range that a score may fall.
"""

LEAST_SUM = 1e-28
"""Least sum of such a kernel that counts.

Of a smaller one states may have lost digits to underflow: its pair is rescued.
"""

MOST_SUM = 3e38
"""Largest sum that counts. Larger ones may have overflowed; shader compilers may remove a test for infinity."""

TOP_EXPONENT = 100
"""Exponent of 2 that a lane's largest value is brought to at each rescaling, in kernels with an exponent a lane."""

NO_EXPONENT = -(1 << 28)
"""Exponent of a value of zero: below any other, and far from overflow when exponents are added."""

GAP_RANGE = 160.0
"""Bits of float32's range that an insertion through two lanes of rows may take, beside its opening."""

DELETION_RANGE = 180.0
"""Bits that a deletion from one rescaling to the next may take, beside its opening."""

LEAST_OPENING = 1e-6
"""Least probability of an insertion's opening that lanes with exponents hold."""

LEAST_DELETION = LEAST_OPENING / 16
"""Least coefficient of a deletion's end that they hold: little is lost with it, which is beside the opening here."""
