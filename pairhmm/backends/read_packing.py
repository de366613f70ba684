"""Packs reads for devices: qualities as one number a base, and a cached table of a profile model's distinct rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import PairBatch, Profiles, Qualities

RECIPROCAL_BITS = 31
"""A radix divides by a multiplication: with ceil(2^31 / radix), whose product keeps its upper bits. Numbers are below
2^16 and radices at most 2^15, so the quotient is exact; and with 31 bits the radix 1 needs no care."""

MOST_BYTES = 2
"""Most bytes of a number."""


@dataclass(frozen=True, slots=True)
class PackedQualities:
    """How the arrays of `Qualities` become one number a position."""

    arrays: Sequence[NDArray[np.uint8]]  # sequence of uint8[m]: those that vary, the lowest digit first
    weights: Sequence[int]  # What a value of each of `arrays` adds
    offset: int  # What is taken off the sum
    width: int  # Bytes of a number
    # For each array of `Qualities`: its least value, and how many values a digit of it has, 1 where it is constant
    least: Sequence[int]
    radix: Sequence[int]

    @property
    def reciprocal(self) -> list[int]:
        """2^`RECIPROCAL_BITS` over each radix, rounded up."""
        return [-(-(1 << RECIPROCAL_BITS) // radix) for radix in self.radix]

    def __len__(self) -> int:
        return len(self.arrays[0])


def pack_qualities(batch: PairBatch) -> PackedQualities | None:
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
    return PackedQualities([arrays[k] for k in varying], weights, offset % (1 << 16), width, least, radix)


TABLES = 4
"""How many tables are kept: a run has one model, and Python callers may have a few."""

ARRAYS = ("probabilities", "match", "insertion", "transitions")
"""The arrays that a table is made from."""

Table = NDArray[Any]


def cached_row_table(make: Callable[[Profiles], Table]) -> Callable[[Profiles], Table]:
    """`make` for any `Profiles`; equal rows and constants get the table that was made first. It cannot be written to.

    `make` must not look at `Profiles.kinds`.
    """

    @lru_cache(maxsize=TABLES)
    def table_of(*given: tuple[bytes, tuple[int, ...]]) -> Table:
        probabilities, match, insertion, transitions = (np.frombuffer(values).reshape(shape) for values, shape in given)
        table = make(Profiles(probabilities, match, insertion, transitions))
        table.flags.writeable = False
        return table

    @wraps(make)
    def found(profiles: Profiles) -> Table:
        arrays = (getattr(profiles, name) for name in ARRAYS)
        return table_of(*((values.tobytes(), values.shape) for values in arrays))

    return found
