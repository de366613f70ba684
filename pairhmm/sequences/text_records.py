"""Reads FASTA and FASTQ in blocks of records."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.end_markers import MAKE_AGAIN
from pairhmm.native import native
from pairhmm.sequences.iupac import SET_OF_LETTER
from pairhmm.sequences.records import RecordBlock

if TYPE_CHECKING:
    from pairhmm._cpu import SampleText


def text_blocks(
    stream: ByteStream, chunk_size: int, overlap: int | None, value_of_letter: NDArray[np.uint8] = SET_OF_LETTER
) -> Iterator[RecordBlock]:
    """Blocks of the records of FASTA or FASTQ text.

    Parameters
    ----------
    stream : ByteStream
    chunk_size : int
        Bytes of text that are read at once. A FASTA record with more letters is divided into parts. A FASTQ record is
        held as a whole.
    overlap : int or None
        Letters that such a part shares with the one before it. With None, every record is held as a whole.
    value_of_letter : ndarray, shape (256,), uint8
        What each character becomes; 0 for those that are no letter. By default its set of bases.

    Raises
    ------
    InputError
        For text of another format, letters outside IUPAC, qualities that are not Phred+33 or not one for each letter,
        and files that are cut off or damaged. The message names the record.
    """
    longest_held = sys.maxsize if overlap is None else chunk_size
    reader = native.SampleText(value_of_letter, overlap or 0, longest_held)
    buffer = np.empty(chunk_size, dtype=np.uint8)
    while True:
        size = stream.fill(buffer)
        if not reader.feed(buffer[:size]):
            raise _problem(stream.path, reader)
        block = RecordBlock.of(reader.take())
        if len(block.names):
            yield block
        if not size:
            return


def _problem(path: str, reader: SampleText) -> InputError:
    kind, record, name, at, value = reader.problem
    place = f"record {record + 1}" + (f" ({name.decode('utf-8', 'replace')})" if name else "")
    rule, cure = {
        "no record": (f"begins with {chr(value)!r}, not with > or @", "give FASTA, FASTQ, BAM or CRAM"),
        "other format": ("FASTA and FASTQ in one file", "give each format in a file of its own"),
        "letter": (f"letter {chr(value)!r} at position {at} is not an IUPAC base", "use A C G T U and IUPAC codes"),
        "quality": (f"{chr(value)!r} at position {at} is not a quality", "qualities must be Phred+33"),
        "lengths": (f"{at} letters and {value} qualities", "repair or remove the record; the file may be cut off"),
        "cut off": ("the file ends within the record", MAKE_AGAIN),
    }[kind]
    return InputError(path, place, rule, cure)
