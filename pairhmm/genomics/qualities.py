"""Phred qualities as callers give them: numbers, or the characters of a FASTQ file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

HIGHEST_QUALITY = 127
"""Phred qualities are at most this: 8-bit signed numbers in GATK."""

HIGHEST_SAM_QUALITY = 93
"""Phred qualities are at most this in SAM and FASTQ: ``~``, the last character that is printed."""

PHRED_OFFSET = 33
"""Of characters: ``!`` is 0."""

PhredValues: TypeAlias = "Sequence[int] | NDArray[np.integer] | str | bytes"
"""Numbers, or characters (Phred+33)."""


def phred(values: PhredValues, name: str) -> NDArray[np.uint8]:
    """Phred qualities as uint8 (m,).

    Parameters
    ----------
    values : sequence of int, str or bytes
        0 to 127, or characters (Phred+33).
    name : str
        What messages call them.

    Raises
    ------
    ValueError
        For what is not of one dimension, is no whole number, or out of range.
    """
    if isinstance(values, str | bytes):
        text = values.encode() if isinstance(values, str) else values
        numbers = np.frombuffer(text, dtype=np.uint8).astype(np.int64) - PHRED_OFFSET
    else:
        numbers = np.asarray(values)
    if numbers.ndim != 1:
        raise ValueError(f"{name} has {numbers.ndim} dimensions: qualities are a sequence of whole numbers")
    if len(numbers) == 0:
        return np.empty(0, dtype=np.uint8)
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {numbers.dtype}: qualities are whole numbers from 0 to {HIGHEST_QUALITY}")
    wrong = np.flatnonzero((numbers < 0) | (numbers > HIGHEST_QUALITY))
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(f"{name}[{at}] is {numbers[at]}: qualities are whole numbers from 0 to {HIGHEST_QUALITY}")
    return numbers.astype(np.uint8)
