"""Copies of the tandem repeat at each base, for many reads at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.gatk import LONGEST_REPEAT_UNIT, MOST_REPEATS
from pairhmm.native import native

_NOT_SET = 255


def copies_of(read_offset: NDArray[np.int64], bases: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """uint8[bases]: copies of the tandem repeat at each base, 1 to 20, as GATK's PCR indel model counts them.

    Parameters
    ----------
    read_offset : int64[reads + 1]
        Where each read's bases begin.
    bases : uint8[bases]
        Codes.
    """
    table = np.arange(MOST_REPEATS + 1, dtype=np.uint8)
    found, other = (np.full(len(bases), _NOT_SET, dtype=np.uint8) for _ in range(2))
    native.cap_indel_qualities(read_offset, bases, table, LONGEST_REPEAT_UNIT, found, other)
    # No gap follows a read's last base, so it has no repeat.
    return np.where(found == _NOT_SET, np.uint8(1), np.maximum(found, np.uint8(1)))
