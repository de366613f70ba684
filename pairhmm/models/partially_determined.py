"""GATK's partially determined haplotypes: a byte of flags a letter says what else may stand there (docs/model.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import Qualities
from pairhmm.models.gatk import ERROR
from pairhmm.sequences.letters import CODE_OF_N

SNP, DELETION_STARTS, DELETION_ENDS, FIRST_ALLELE = 1, 2, 4, 8
"""Flags of a letter. A SNP's other alleles A C G T are four bits from `FIRST_ALLELE` on."""

_ALLELES = 15


def flags_of(values: Sequence[int] | NDArray[np.integer], letters: int) -> NDArray[np.uint8]:
    """The flags of a haplotype of that many letters as bytes, from numbers of -128 to 255.

    Raises ValueError where there is not one a letter, or one is out of range.
    """
    flags = np.asarray(values)
    if flags.shape != (letters,):
        raise ValueError(f"{flags.size} for {letters} letters")
    if flags.dtype.kind not in "iu" or int(flags.min()) < -128 or int(flags.max()) > 255:
        raise ValueError("not whole numbers from -128 to 255")
    return (flags & 255).astype(np.uint8)


class Deletion(NamedTuple):
    """Letters `first` to ``end - 1`` of a haplotype may be deleted."""

    first: int
    end: int
    first_row_only: bool  # whether only the first base of a read may lie beside them


def deletions(flags: NDArray[np.uint8]) -> list[Deletion]:
    """The undetermined deletions of a haplotype, in order.

    A start inside a deletion counts for nothing, and an end without a start deletes one letter. If the last deletion
    has no end, GATK takes each row but the first for inside of it, up to the first end.
    """
    found, first = [], None
    for at in np.flatnonzero(flags & (DELETION_STARTS | DELETION_ENDS)).tolist():
        if first is None:
            first = at
        if flags[at] & DELETION_ENDS:
            found.append(Deletion(first, at + 1, False))
            first = None
    if found and first is not None:
        found[0] = found[0]._replace(first_row_only=True)
    return found


def rows(reads: Qualities, letters: NDArray[np.uint8], flags: NDArray[np.uint8]) -> NDArray[np.float64]:
    """float64[m, k + 7]: the emission of each base beside k kinds of letters, and the transitions mm im dm mi ii md dd.

    Parameters
    ----------
    reads : Qualities
        Bases with their case (`pairhmm.sequences.letters.encode_case`).
    letters, flags : uint8[k]
        A letter of a haplotype, with its case, and its flags.
    """
    bases = reads.bases[:, None]
    error, insertion, deletion, gap = (
        ERROR[values]
        for values in (reads.base_quality, reads.insertion_quality, reads.deletion_quality, reads.gap_quality)
    )
    out = np.empty((len(bases), len(letters) + 7))
    out[:, : len(letters)] = np.where(_match(bases, letters, flags), 1 - error[:, None], error[:, None] / 3)
    ends = 1 - gap
    out[:, -7:] = np.stack(
        [1 - np.minimum(1.0, insertion + deletion), ends, ends, insertion, gap, deletion, gap], axis=1
    )
    return out


def _match(bases: NDArray[np.uint8], letters: NDArray[np.uint8], flags: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether bases match letters. Letters match with their case, and the alleles of a SNP match bases of either."""
    alleles = np.where(flags & SNP, flags // FIRST_ALLELE & _ALLELES, 0)
    alike: NDArray[np.bool_] = (
        (bases == letters) | (bases == CODE_OF_N) | (letters == CODE_OF_N) | (alleles >> (bases & 7) & 1 != 0)
    )
    return alike
