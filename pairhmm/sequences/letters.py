"""Letters and IUPAC sets of bases, Phred qualities, and their codes. A C G T N are codes 0 to 4, others are higher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np
from Bio.Data.IUPACData import ambiguous_dna_letters, ambiguous_dna_values
from numpy.typing import NDArray

LETTERS = "ACGTN"
"""The letter of each code."""

CODE_OF_N = 4
"""The highest code of a haplotype's letter."""

READ_LETTERS = LETTERS + "RYSWKMBDHV"
"""The letter of each code of a read. What takes every ambiguous letter for N takes codes above 4 for 4 (`as_n`)."""

Letters: TypeAlias = "str | bytes | NDArray[np.uint8]"
"""A sequence as callers give it: letters, or an array of codes."""

_UNKNOWN = 255
_TEXT = (str, bytes)  # isinstance() takes three times as long with a union


def _code_table(highest: int) -> bytes:
    table = np.full(256, _UNKNOWN, dtype=np.uint8)
    for letter in ambiguous_dna_letters + "U":
        code = READ_LETTERS.find("T" if letter == "U" else letter)
        for case in (letter, letter.lower()):
            table[ord(case)] = CODE_OF_N if code > highest else code
    return table.tobytes()


_CODES = _code_table(CODE_OF_N)
_READ_CODES = _code_table(len(READ_LETTERS))


def encode(sequence: str | bytes) -> NDArray[np.uint8]:
    """Codes (uint8) of a sequence: any case, U = T, any other IUPAC code = N.

    Raises ValueError for a character that is no IUPAC letter; names it and its 1-based position.
    """
    return _encode(sequence, _CODES)


LOWER_CASE = 8
"""Added to the code of a lower-case letter where case counts (`encode_case`)."""


def encode_case(sequence: str | bytes) -> NDArray[np.uint8]:
    """The codes of `encode`, with `LOWER_CASE` added to those of lower-case letters. Errors as in `encode`."""
    codes = encode(sequence)
    text = np.frombuffer(sequence.encode() if isinstance(sequence, str) else sequence, dtype=np.uint8)
    return codes + np.uint8(LOWER_CASE) * (text >= ord("a"))


def encode_read(sequence: str | bytes) -> NDArray[np.uint8]:
    """Codes (uint8) of a read, each IUPAC code its own (`READ_LETTERS`): any case, U = T. Errors as in `encode`."""
    return _encode(sequence, _READ_CODES)


def as_n(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A read's codes with every ambiguous letter as N."""
    return np.minimum(codes, np.uint8(CODE_OF_N))


def _encode(sequence: str | bytes, table: bytes) -> NDArray[np.uint8]:
    text = sequence.encode("utf-8") if isinstance(sequence, str) else sequence
    codes = text.translate(table)
    # For short sequences, a search takes a tenth of the time of an array's maximum.
    at = codes.find(_UNKNOWN)
    if at >= 0:
        raise ValueError(f"letter {chr(text[at])!r} at position {at + 1} is not an IUPAC base")
    return np.frombuffer(codes, dtype=np.uint8)


def codes_of(
    sequences: Letters | Iterable[Letters], encoded: Callable[[str | bytes], NDArray[np.uint8]] = encode
) -> list[NDArray[np.uint8]]:
    """The codes of one sequence or of several, as a list of arrays; errors as in `encode`.

    Raises TypeError for a dict, whose keys would be taken for letters, and for a set, which has no order.
    """
    if isinstance(sequences, Mapping | Set):
        raise TypeError(f"sequences in a {type(sequences).__name__}: give a list, such as that of its values")
    if isinstance(sequences, _TEXT):
        return [encoded(sequences)]
    if isinstance(sequences, np.ndarray) and sequences.ndim == 1 and sequences.dtype.kind in "iu":
        return [sequences]
    return [encoded(sequence) if isinstance(sequence, _TEXT) else sequence for sequence in sequences]


def decode(codes: NDArray[np.uint8]) -> str:
    """The letters of codes: those of `encode` or of `encode_read`."""
    return np.frombuffer(READ_LETTERS.encode(), dtype=np.uint8)[codes].tobytes().decode()


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

    Raises ValueError for values that are not one-dimensional, not whole numbers, or out of range.

    `values`: 0 to 127, or characters (Phred+33). `name`: name of the values, for messages.
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


BASES = "ACGT"
"""The base of each bit, the lowest bit first."""

ANY = 15
"""The set of N: all four bases. A C G T are 1 2 4 8, as in BAM; two letters match where their sets intersect."""


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
