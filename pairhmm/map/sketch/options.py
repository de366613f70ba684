"""What a sketch is made of, as a user chooses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from pairhmm.map.sketch import published
from pairhmm.map.sketch.sketches import Scheme, SchemeName
from pairhmm.options import Within, check_fields

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
