"""IUPAC letters as sets of bases, one bit a base. Two letters match where their sets intersect.

A C G T are 1 2 4 8, as in BAM (SAM specification, section 4.2); N is all four, 15. Case-insensitive, U = T.
The pair-HMM has five codes instead (`pairhmm.sequences.letters`).
"""

from __future__ import annotations

import numpy as np
from Bio.Data.IUPACData import ambiguous_dna_letters, ambiguous_dna_values
from numpy.typing import NDArray

BASES = "ACGT"
"""The base of each bit, the lowest bit first."""

ANY = 15
"""The set of N: all four bases."""


def _set_table() -> NDArray[np.uint8]:
    """uint8[256]: the set of each letter; 0 for characters that are no IUPAC letter."""
    table = np.zeros(256, dtype=np.uint8)
    values = {letter: ambiguous_dna_values[letter] for letter in ambiguous_dna_letters} | {"U": "T"}
    for letter, bases in values.items():
        table[[ord(letter), ord(letter.lower())]] = sum(1 << BASES.index(base) for base in bases)
    return table


SET_OF_LETTER = _set_table()
"""uint8[256]: the set of bases of each character; 0 for characters that are no IUPAC letter."""

_COMPLEMENT = bytes(sum(8 >> bit for bit in range(4) if letters >> bit & 1) for letters in range(16)).ljust(256)
_LETTER_OF_SET = b"?ACMGRSVTWYHKDBN".ljust(256)


def encode_sets(sequence: str | bytes) -> NDArray[np.uint8]:
    """The set of bases of each letter (uint8, 1..15).

    Raises ValueError for a character that is no IUPAC letter; names it and its 1-based position.
    """
    text = sequence.encode("utf-8") if isinstance(sequence, str) else sequence
    # bytes.translate: indexing with NumPy would first turn each letter into eight bytes.
    sets = np.frombuffer(text.translate(SET_OF_LETTER.tobytes()), dtype=np.uint8)
    if len(sets) and int(sets.min()) == 0:
        at = int(sets.argmin())
        raise ValueError(f"letter {chr(text[at])!r} at position {at + 1} is not an IUPAC base")
    return sets


def decode_sets(sets: NDArray[np.uint8]) -> str:
    """The IUPAC letters of sets."""
    return sets.tobytes().translate(_LETTER_OF_SET).decode()


def reverse_complement(sets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The other strand, read in its own direction."""
    return np.frombuffer(sets[::-1].tobytes().translate(_COMPLEMENT), dtype=np.uint8)
