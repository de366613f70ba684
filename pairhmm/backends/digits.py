"""GATK's five bytes of a base as digits of one number: most batches have few values, and the bus then takes less.

A base and its qualities are sent as one number of one or two bytes, if every position's fits. Reads of a BAM file have
no indel qualities of their own, so that a number has the base and its quality, and fits a byte. Devices take the
numbers apart again, and the scores are the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import PairBatch, Qualities

__all__ = ["RECIPROCAL_BITS", "Digits", "digits_of"]

RECIPROCAL_BITS = 31
"""A radix divides by a multiplication: with ceil(2^31 / radix), whose product keeps its upper bits. Numbers are below
2^16 and radices at most 2^15, so the quotient is exact; and with 31 bits the radix 1 needs no care."""

MOST_BYTES = 2
"""Most bytes of a number."""


@dataclass(frozen=True, slots=True)
class Digits:
    """How the arrays of `Qualities` become one number a position.

    Attributes
    ----------
    arrays : sequence of uint8[m]
        Those that vary, the lowest digit first.
    weights : sequence of int
        What a value of each of `arrays` adds.
    offset : int
        What is taken off the sum.
    width : int
        Bytes of a number.
    least, radix : sequence of int
        Of each array of `Qualities`: its least value, and how many values a digit of it has, 1 where it is constant.
    """

    arrays: Sequence[NDArray[np.uint8]]
    weights: Sequence[int]
    offset: int
    width: int
    least: Sequence[int]
    radix: Sequence[int]

    @property
    def reciprocal(self) -> list[int]:
        """2^`RECIPROCAL_BITS` over each radix, rounded up."""
        return [-(-(1 << RECIPROCAL_BITS) // radix) for radix in self.radix]

    def __len__(self) -> int:
        return len(self.arrays[0])


def digits_of(batch: PairBatch) -> Digits | None:
    """The digits of a batch of GATK's model; None where its numbers would not take fewer bytes than its arrays."""
    assert batch.qualities is not None
    ranges = [batch.quality_ranges[name] for name in Qualities.__dataclass_fields__] if batch.bases else []
    least, radix = [low for low, _ in ranges], [high - low + 1 for low, high in ranges]
    varying = [k for k, count in enumerate(radix) if count > 1]
    width = next((width for width in range(1, MOST_BYTES + 1) if math.prod(radix) <= 1 << 8 * width), None)
    if width is None or len(varying) <= width:
        return None
    arrays = [getattr(batch.qualities, name) for name in Qualities.__dataclass_fields__]
    weights = [math.prod(radix[:k]) for k in varying]
    offset = sum(weight * least[k] for k, weight in zip(varying, weights, strict=True))
    return Digits([arrays[k] for k in varying], weights, offset % (1 << 16), width, least, radix)
