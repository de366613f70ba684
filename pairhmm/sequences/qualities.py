"""Phred qualities as callers give them: numbers, or the characters of a FASTQ file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

HIGHEST_QUALITY = 127
"""The highest Phred quality that is taken: GATK's are 8-bit signed integers."""

HIGHEST_SAM_QUALITY = 93
"""The highest Phred quality in SAM and FASTQ: ``~``, the last character that is printed."""

PHRED_OFFSET = 33
"""Code of the character that stands for quality 0 (``!``), in FASTQ and SAM."""

PhredValues: TypeAlias = "Sequence[int] | NDArray[np.integer] | str | bytes"
"""Numbers, or characters (Phred+33)."""


def phred(values: PhredValues, name: str) -> NDArray[np.uint8]:
    """Phred qualities as uint8 (m,).

    Parameters
    ----------
    values : sequence of int, str or bytes
        0 to 127, or characters (Phred+33).
    name : str
        Name of the values, for messages.

    Raises
    ------
    ValueError
        For values that are not one-dimensional, not whole numbers, or out of range.
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
