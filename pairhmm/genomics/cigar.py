"""CIGAR operations, numbered as BAM numbers them: M I D N S H P = X (SAM specification, section 4.2)."""

from __future__ import annotations

import numpy as np

# An operation is stored in four bits, of which seven values are not in use.
_UNUSED = [0] * 7

ALIGNS = np.array([1, 0, 0, 0, 0, 0, 0, 1, 1, *_UNUSED], dtype=bool)
"""bool[16]: whether an operation aligns bases of the read with bases of the reference."""
CONSUMES_QUERY = np.array([1, 1, 0, 0, 1, 0, 0, 1, 1, *_UNUSED], dtype=np.int64)
"""int64[16]: 1 for operations that consume bases of the read."""
CONSUMES_REFERENCE = np.array([1, 0, 1, 1, 0, 0, 0, 1, 1, *_UNUSED], dtype=np.int64)
"""int64[16]: 1 for operations that consume bases of the reference."""
