"""Reads and writes FASTA and FASTQ: record by record, and in blocks of records."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import MAKE_AGAIN, check_end
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.descriptors import STDOUT
from pairhmm.files.htslib import quiet
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.files.outputs import open_binary_output, whole_files
from pairhmm.native import native
from pairhmm.sequences.letters import HIGHEST_QUALITY, PHRED_OFFSET, SET_OF_LETTER, decode_sets, encode
from pairhmm.sequences.records import RecordBlock

if TYPE_CHECKING:
    from pairhmm._cpu import SampleText


NO_SEQUENCES = "is BAM or CRAM", "give FASTA or FASTQ, as samtools fastq makes it"
"""Rule and cure of an error for alignments in place of sequences."""


@dataclass(frozen=True, slots=True)
class SequenceRecord:
    """A FASTA or FASTQ record: codes (uint8), and Phred qualities (uint8) if the file has them."""

    name: str
    codes: NDArray[np.uint8]
    quality: NDArray[np.uint8] | None


def read_sequences(path: str | Path, encoder: Callable[[str], NDArray[np.uint8]] = encode) -> Iterator[SequenceRecord]:
    """Records of a FASTA or FASTQ file, gzipped or not, with the codes that `encoder` makes of their letters.

    Raises InputError for letters outside IUPAC, empty sequences, files of another format, and files that are cut off.
    The message names the record.
    """
    import pysam  # Loading pysam takes as long as a .in file of 50 MB, which does not need it.

    name = ""
    opening(path)
    # This also reports why a file can't be opened, which the system explains better than htslib.
    check_end(str(path))
    if os.path.isfile(path):
        with ByteStream(str(path), lambda _: None) as stream:
            if stream.head.startswith((formats.BAM, formats.CRAM)):
                raise InputError(str(path), "", *NO_SEQUENCES)
    try:
        with quiet(), pysam.FastxFile(str(path)) as records:
            for record in records:
                name = record.name or ""
                check_names(str(path), "record", [name], "rename it")
                if not record.sequence:
                    raise InputError(str(path), name, "empty sequence", "remove the record")
                codes, quality = _codes(str(path), name, record.sequence, encoder), None
                if record.quality is not None:
                    quality = np.frombuffer(record.quality.encode(), dtype=np.uint8) - PHRED_OFFSET
                    # For pysam a sequence ends at a zero byte, for htslib at the end of its line.
                    if len(quality) != len(codes):
                        rule = f"{len(quality)} qualities for {len(codes)} bases"
                        raise InputError(str(path), name, rule, "the file may be damaged")
                    if int(quality.max()) > HIGHEST_QUALITY:
                        raise InputError(str(path), name, "a quality below '!'", "qualities must be Phred+33")
                yield SequenceRecord(name, codes, quality)
    except OSError as error:
        what = error.strerror or "can't be read"
        raise InputError(str(path), name, what, "check the path, and that it is FASTA or FASTQ") from error
    except ValueError as error:
        place = f"after {name}" if name else ""
        raise InputError(str(path), place, str(error), "the file may be cut off") from error
    if not name:
        raise InputError(str(path), "", "no FASTA or FASTQ record in it", "check the file")


def _codes(path: str, name: str, sequence: str, encoder: Callable[[str], NDArray[np.uint8]]) -> NDArray[np.uint8]:
    try:
        return encoder(sequence)
    except ValueError as error:
        raise InputError(path, name, str(error), "use A C G T U and IUPAC codes") from error


WriteRecord = Callable[[str, NDArray[np.uint8], NDArray[np.uint8] | None], None]
"""Writes a record of a name, sets of bases, and Phred qualities: FASTQ with qualities, FASTA without."""


@contextmanager
def open_sequences(destination: str | Path) -> Iterator[WriteRecord]:
    """Open a file, and give the function that writes a record to it.

    The file is bgzipped if its name ends in ``.gz``. It appears when the block ends well.

    Raises InputError where the destination can't be written.
    """
    if str(destination) == STDOUT or not str(destination).endswith(".gz"):
        with open_binary_output(destination) as plain:
            yield _writer(plain.write)
        return
    from pairhmm.files.bgzip import BgzipText

    with whole_files(destination) as scratch, BgzipText(scratch) as zipped:
        yield _writer(lambda record: zipped.write(record.decode()))


def _writer(write: Callable[[bytes], object]) -> WriteRecord:
    def write_record(name: str, letters: NDArray[np.uint8], quality: NDArray[np.uint8] | None) -> None:
        write(_record(name, letters, quality))

    return write_record


def _record(name: str, letters: NDArray[np.uint8], quality: NDArray[np.uint8] | None) -> bytes:
    text = decode_sets(letters)
    if quality is None:
        return f">{name}\n{text}\n".encode()
    return f"@{name}\n{text}\n+\n".encode() + (quality + PHRED_OFFSET).tobytes() + b"\n"


def text_blocks(
    stream: ByteStream, chunk_size: int, overlap: int | None, value_of_letter: NDArray[np.uint8] = SET_OF_LETTER
) -> Iterator[RecordBlock]:
    """Blocks of the records of FASTA or FASTQ text.

    Raises InputError for text of another format, letters outside IUPAC, qualities that are not Phred+33 or not one for
    each letter, and files that are cut off or damaged. The message names the record.

    Parameters
    ----------
    chunk_size : int
        Bytes of text that are read at once. A FASTA record with more letters is divided into parts. A FASTQ record is
        held as a whole.
    overlap : int or None
        Letters that such a part shares with the one before it. With None, every record is held as a whole.
    value_of_letter : ndarray, shape (256,), uint8
        What each character becomes; 0 for those that are no letter. By default its set of bases.
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
