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
    """How samples are sketched.

    Attributes
    ----------
    scheme : str
        "permutation", or "published" (`pairhmm.map.sketch.published`).
    k : int
        Length of the k-mers.
    slots : int, optional
        A power of two. By default 1,024; 128 for the published scheme, which has no other number.
    bits : int, optional
        Bits of a slot that are kept, 1 to 16. By default 8; 31 for the published scheme, which has no other number.
    min_count : int, optional
        How often a k-mer must be seen in a sample. By default 2 for reads, and 1 for FASTA.
    """

    scheme: SchemeName = "permutation"
    k: Annotated[int, Within(1, 31)] = _DEFAULT.k
    slots: Annotated[int | None, Within(128, 8192)] = None
    bits: Annotated[int | None, Within(1, 31)] = None
    min_count: Annotated[int | None, Within(1, 255)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        self.full_scheme()

    def full_scheme(self) -> Scheme:
        """The scheme, with the defaults in it.

        Raises
        ------
        OptionError
            For numbers that the scheme can't have.
        """
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
    """The lowest bits of slots as planes.

    Parameters
    ----------
    values : ndarray, shape (samples, slots), uint32
        The number of slots is a multiple of 64.
    bits : int
        1 to 32.

    Returns
    -------
    ndarray, shape (samples, bits, slots // 64), uint64
    """
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
