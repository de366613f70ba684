"""Reads FASTA and FASTQ record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.end_markers import check_end
from pairhmm.files.htslib import quiet
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.sequences.letters import encode
from pairhmm.sequences.qualities import HIGHEST_QUALITY, PHRED_OFFSET


@dataclass(frozen=True, slots=True)
class SequenceRecord:
    """A FASTA or FASTQ record: codes (uint8), and Phred qualities (uint8) if the file has them."""

    name: str
    codes: NDArray[np.uint8]
    quality: NDArray[np.uint8] | None


def read_sequences(path: str | Path, encoder: Callable[[str], NDArray[np.uint8]] = encode) -> Iterator[SequenceRecord]:
    """Records of a FASTA or FASTQ file, gzipped or not, with the codes that `encoder` makes of their letters.

    Raises
    ------
    InputError
        For letters outside IUPAC, empty sequences, files of another format, and files that are cut off. The message
        names the record.
    """
    import pysam  # Loading pysam takes as long as a .in file of 50 MB, which does not need it.

    name = ""
    opening(path)
    # This also reports why a file can't be opened, which the system explains better than htslib.
    check_end(str(path))
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
