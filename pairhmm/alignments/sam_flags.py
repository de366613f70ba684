"""SAM flags (SAM specification, section 1.4), and what they say of mates."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

PAIRED: Final = 0x1
PROPER_PAIR: Final = 0x2
UNMAPPED: Final = 0x4
MATE_UNMAPPED: Final = 0x8
REVERSE: Final = 0x10
MATE_REVERSE: Final = 0x20
FIRST: Final = 0x40
SECOND: Final = 0x80
SECONDARY: Final = 0x100
QC_FAIL: Final = 0x200
DUPLICATE: Final = 0x400
SUPPLEMENTARY: Final = 0x800

ALL: Final = 0xFFFF
"""All bits that the field can hold."""


ReadKey = tuple[str, str, int]
"""Sample, name and mate of a read; the mate is that of `mate_of`."""


def mate_of(flag: int) -> int:
    """1 or 2 for the first or second read of a pair; 0 for a read without a mate."""
    if not flag & PAIRED:
        return 0
    return 1 if flag & FIRST else 2 if flag & SECOND else 0


# Of each value of a flag's lower byte, which holds all bits that tell.
_MATES = np.array([mate_of(low) for low in range(256)], dtype=np.uint8)


def mates_of(flags: NDArray[np.integer]) -> NDArray[np.uint8]:
    """`mate_of` for many reads."""
    mates: NDArray[np.uint8] = _MATES[flags.astype(np.uint8)]
    return mates
