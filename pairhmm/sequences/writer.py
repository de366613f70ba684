"""Writes FASTA and FASTQ record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.files.descriptors import STDOUT
from pairhmm.files.outputs import open_binary_output, whole_files
from pairhmm.sequences.iupac import decode_sets
from pairhmm.sequences.qualities import PHRED_OFFSET

WriteRecord = Callable[[str, NDArray[np.uint8], NDArray[np.uint8] | None], None]
"""Writes a record of a name, sets of bases, and Phred qualities: FASTQ with qualities, FASTA without."""


@contextmanager
def open_sequences(destination: str | Path) -> Iterator[WriteRecord]:
    """Open a file, and give the function that writes a record to it.

    The file is bgzipped if its name ends in ``.gz``. It appears when the block ends well.

    Raises
    ------
    InputError
        Where the destination can't be written.
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
