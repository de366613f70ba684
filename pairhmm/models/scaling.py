"""Numbers that keep the forward algorithm within the range of its floating-point type. GPU kernels get them from here.

Fast kernels have no exponents. They start from a large value, and leave pairs with too small sums to the rescue. Scaled
kernels keep the values of a lane as value * 2^exponent.
"""

START_EXPONENT = 116
"""Exponent of 2 from which a read's states start in kernels without exponents.

It is as high as possible without an overflow of any state (float32 ends at 2^128). This leaves the most range below for
small scores.
"""

SHARED_EXPONENT = 104
"""The same where haplotypes share columns: the sum is divided by the letters of a haplotype, up to 2^12, at the end."""

LEAST_SUM = 1e-28
"""Smallest sum of such a kernel that counts. It is a score about 62 (log10) below that of a perfect match.

With a smaller sum, states may have lost digits to underflow, so the pair is rescued.
"""

HALF_EXPONENT = 56
"""Exponent of 2 from which each half starts where a haplotype's two halves are joined. float32 holds their product."""

LEAST_JOINED = 2.0 ** (2 * HALF_EXPONENT - 146)
"""Smallest joined sum that counts. It is a score about 44 (log10) below that of a perfect match.

What a half loses to underflow is at least 2^36 times smaller.
"""

MOST_SUM = 3e38
"""Largest sum that counts. Larger ones may have overflowed. Shader compilers may remove a test for infinity."""

NO_EXPONENT = -(1 << 28)
"""Exponent of the value zero. It is below any other exponent, and does not overflow when exponents are added."""

TOP_EXPONENT, TOP_EXPONENT_64 = 100, 900
"""Exponents of 2 to which each rescaling brings a lane's largest value, in float32 and in float64.

They are for kernels with an exponent for each lane.
"""

GAP_RANGE, GAP_RANGE_64 = 160.0, 1650.0
"""Bits of range that an insertion through the rows of two lanes may take, in addition to its opening."""

DELETION_RANGE, DELETION_RANGE_64 = 180.0, 620.0
"""Bits of range that a deletion from one rescaling to the next may take, in addition to its opening.

In float64 they are few: gap continuations are often rarer than openings there, and values go to the next lane by a
single factor, which is not below 2^-1022.
"""

LEAST_OPENING, LEAST_OPENING_64 = 1e-6, 1e-30
"""Smallest opening probability of an insertion that lanes with exponents can hold."""

LEAST_DELETION, LEAST_DELETION_64 = LEAST_OPENING / 16, LEAST_OPENING_64 / 16
"""Smallest coefficient of a deletion's end that lanes with exponents can hold. Little is lost at a lower limit."""
