"""Sketches of samples as arrays: the scheme, its options, and slots as bit planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OptionError
from pairhmm.map.sketch import published
from pairhmm.options import Within, check_fields

SchemeName = Literal["permutation", "published"]
WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a sketch is made. Sketches of different schemes can't be compared."""

    # "permutation": one permutation hashing with densification, b bits of each slot (Li, Owen and Zhang 2012;
    # Shrivastava 2017). "published": 128 slots of 31 bits (`pairhmm.map.sketch.published`).
    name: SchemeName = "permutation"
    k: Annotated[int, Within(1, 31)] = 21
    slots: Annotated[int, Within(128, 8192)] = 1024  # a power of two; 128 for the published scheme
    bits: Annotated[int, Within(1, 31)] = 8  # of a slot that are kept, 16 at most; 31 for the published scheme

    def __post_init__(self) -> None:
        check_fields(self)
        if self.slots & (self.slots - 1):
            raise OptionError("slots", self.slots, "is not a power of two, such as 512, 1024 and 2048")
        if self.name == "published" and (self.slots, self.bits) != (128, 31):
            raise OptionError("scheme", self.name, "has 128 slots of 31 bits")
        if self.name == "permutation" and self.bits > 16:
            raise OptionError("bits", self.bits, "is more than 16")


@dataclass(frozen=True, slots=True)
class Sketches:
    """Sketches of one scheme."""

    scheme: Scheme
    names: Sequence[str]
    # (samples, bits, slots // 64). Bit b of slot s is bit ``s % 64`` of word ``s // 64`` of plane b. Two slots are
    # equal where no plane differs.
    planes: NDArray[np.uint64]
    kmers: NDArray[np.float64]  # Distinct k-mers of each sample, estimated from the slots before bits were cut.
    least_counts: NDArray[np.int32]  # How often a k-mer had to be seen in a sample to count (the abundance cut).

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def concatenate(cls, parts: Sequence[Sketches]) -> Sketches:
        """The samples of several sketches of one scheme, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            parts[0].scheme,
            [name for part in parts for name in part.names],
            np.concatenate([part.planes for part in parts]),
            np.concatenate([part.kmers for part in parts]),
            np.concatenate([part.least_counts for part in parts]),
        )

    def part(self, begin: int, end: int) -> Sketches:
        """The samples from `begin` to `end`."""
        return Sketches(
            self.scheme,
            self.names[begin:end],
            self.planes[begin:end],
            self.kmers[begin:end],
            self.least_counts[begin:end],
        )


READS_LEAST_COUNT = 2
"""How often a k-mer of reads must be seen by default: most sequencing errors make k-mers that are seen once."""

_DEFAULT = Scheme()


@dataclass(frozen=True, slots=True)
class SketchOptions:
    """How samples are sketched."""

    scheme: SchemeName = "permutation"
    k: Annotated[int, Within(1, 31)] = _DEFAULT.k
    # a power of two; 1,024 by default, and 128 for the published scheme
    slots: Annotated[int | None, Within(128, 8192)] = None
    # of a slot that are kept, 16 at most; 8 by default, and 31 for the published scheme
    bits: Annotated[int | None, Within(1, 31)] = None
    # how often a k-mer must be seen; 2 for reads by default, 1 for FASTA
    min_count: Annotated[int | None, Within(1, 255)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        self.full_scheme()

    def full_scheme(self) -> Scheme:
        """The scheme, with the defaults in it. Raises OptionError for numbers that the scheme can't have."""
        slots, bits = _DEFAULT.slots, _DEFAULT.bits
        if self.scheme == "published":
            slots, bits = published.SLOTS, published.BITS
        return Scheme(self.scheme, self.k, self.slots or slots, self.bits or bits)

    def least_count(self, is_reads: bool) -> int:
        """How often a k-mer must be seen in a sample of reads, or of FASTA."""
        return self.min_count or (READS_LEAST_COUNT if is_reads else 1)


class SketchKeywords(TypedDict, total=False):
    """The fields of `SketchOptions`."""

    scheme: SchemeName
    k: int
    slots: int | None
    bits: int | None
    min_count: int | None


def planes_of(values: NDArray[np.uint32], bits: int) -> NDArray[np.uint64]:
    """The lowest bits of slots as planes, (samples, bits, slots // 64); the number of slots is a multiple of 64."""
    samples, slots = values.shape
    planes = np.empty((samples, bits, slots // WORD_BITS), dtype="<u8")
    for bit in range(bits):
        octets = np.packbits((values >> np.uint32(bit)).astype(np.uint8) & 1, axis=1, bitorder="little")
        planes[:, bit] = octets.view("<u8")
    return planes.astype(np.uint64, copy=False)


def values_of(planes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The slots of planes, shape (samples, slots), uint32: what `planes_of` was given, cut to its lowest bits."""
    samples, bits, words = planes.shape
    values = np.zeros((samples, words * WORD_BITS), dtype=np.uint32)
    octets = np.ascontiguousarray(planes, dtype="<u8").view(np.uint8)
    for bit in range(bits):
        values |= np.unpackbits(octets[:, bit], axis=1, bitorder="little").astype(np.uint32) << np.uint32(bit)
    return values
