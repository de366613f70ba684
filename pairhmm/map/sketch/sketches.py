"""Sketches of samples as arrays: bit planes of their slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OptionError
from pairhmm.options import Within, check_fields

SchemeName = Literal["permutation", "published"]
WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a sketch is made. Sketches of different schemes can't be compared.

    Attributes
    ----------
    name : str
        "permutation": one permutation hashing with densification, b bits of each slot (Li, Owen and Zhang 2012;
        Shrivastava 2017). "published": 128 slots of 31 bits (`pairhmm.map.sketch.published`).
    k : int
        Length of the k-mers.
    slots : int
        A power of two, 128 to 8,192; 128 for the published scheme.
    bits : int
        Bits of a slot that are kept, 1 to 16; 31 for the published scheme.
    """

    name: SchemeName = "permutation"
    k: Annotated[int, Within(1, 31)] = 21
    slots: Annotated[int, Within(128, 8192)] = 1024
    bits: Annotated[int, Within(1, 31)] = 8

    def __post_init__(self) -> None:
        check_fields(self)
        if self.slots & (self.slots - 1):
            raise OptionError("slots", self.slots, "is not a power of two")
        if self.name == "published" and (self.slots, self.bits) != (128, 31):
            raise OptionError("scheme", self.name, "has 128 slots of 31 bits")
        if self.name == "permutation" and self.bits > 16:
            raise OptionError("bits", self.bits, "is more than 16")


@dataclass(frozen=True, slots=True)
class Sketches:
    """Sketches of one scheme.

    Attributes
    ----------
    scheme : Scheme
    names : sequence of str
        The samples.
    planes : ndarray, shape (samples, bits, slots // 64), uint64
        Bit b of slot s is bit ``s % 64`` of word ``s // 64`` of plane b. Two slots are equal where no plane differs.
    kmers : ndarray, shape (samples,), float64
        Distinct k-mers of each sample, estimated from the slots before bits were cut.
    least_counts : ndarray, shape (samples,), int32
        How often a k-mer had to be seen in a sample to count (the abundance cut).
    """

    scheme: Scheme
    names: Sequence[str]
    planes: NDArray[np.uint64]
    kmers: NDArray[np.float64]
    least_counts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.names)

    def part(self, begin: int, end: int) -> Sketches:
        """The samples from `begin` to `end`."""
        return Sketches(
            self.scheme,
            self.names[begin:end],
            self.planes[begin:end],
            self.kmers[begin:end],
            self.least_counts[begin:end],
        )
