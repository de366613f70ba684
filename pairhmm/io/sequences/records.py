"""Sequence files for `forward`: FASTA and FASTQ records, and profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.genomics.qualities import HIGHEST_QUALITY
from pairhmm.genomics.sequences import encode
from pairhmm.io.files.end_markers import check_end
from pairhmm.io.files.names import check_names
from pairhmm.models.profile import LETTERS, check_profile

PHRED_OFFSET = 33


@dataclass(frozen=True, slots=True)
class SequenceRecord:
    """A FASTA or FASTQ record: codes (uint8), and Phred qualities (uint8) where the file has them."""

    name: str
    codes: NDArray[np.uint8]
    quality: NDArray[np.uint8] | None


def read_sequences(path: str | Path) -> Iterator[SequenceRecord]:
    """Records of a FASTA or FASTQ file, gzipped or not.

    Raises
    ------
    InputError
        Naming the record: for letters outside IUPAC, empty sequences, and files that are neither format or cut off.
    """
    import pysam  # takes as long to load as a .in file of 50 MB, which does without

    name = ""
    # Also because the system says better than htslib why a file can't be opened.
    check_end(str(path))
    # htslib writes to stderr what is raised here as one line.
    verbosity = pysam.set_verbosity(0)
    try:
        with pysam.FastxFile(str(path)) as records:
            for record in records:
                name = record.name or ""
                check_names(str(path), "record", [name], "rename it")
                if not record.sequence:
                    raise InputError(str(path), name, "empty sequence", "remove the record")
                codes, quality = _codes(str(path), name, record.sequence), None
                if record.quality is not None:
                    quality = np.frombuffer(record.quality.encode(), dtype=np.uint8) - PHRED_OFFSET
                    # To pysam a sequence ends at a byte of 0, to htslib at its line's end.
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
    finally:
        pysam.set_verbosity(verbosity)
    if not name:
        raise InputError(str(path), "", "no FASTA or FASTQ record in it", "check the file")


def read_profiles(path: str | Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Reads as probability matrices (float64[m, 4]): `>name`, then a line `A C G T` of probabilities a position.

    Raises
    ------
    InputError
        Naming record and line: for lines that are not four numbers and rows that do not sum to 1.
    """
    name = ""
    rows: list[list[float]] = []
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.startswith(">"):
                    if name:
                        yield name, _profile(str(path), name, rows)
                    name, rows = line[1:].split()[0] if line[1:].strip() else f"line {number}", []
                    check_names(str(path), "record", [name], "rename it")
                elif line.strip():
                    if not name:
                        raise InputError(
                            str(path), f"line {number}", "numbers before the first >name", "add a >name line"
                        )
                    rows.append(_row(str(path), number, line))
    except OSError as error:
        raise InputError(str(path), "", error.strerror or "can't be read", "check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "", "not a text file", "see docs/formats.md for profiles") from error
    if not name:
        raise InputError(str(path), "", "no profile in it", "see docs/formats.md for profiles")
    yield name, _profile(str(path), name, rows)


def _codes(path: str, name: str, sequence: str) -> NDArray[np.uint8]:
    try:
        return encode(sequence)
    except ValueError as error:
        raise InputError(path, name, str(error), "use A C G T U and IUPAC codes") from error


def _row(path: str, number: int, line: str) -> list[float]:
    fields = line.split()
    try:
        if len(fields) != len(LETTERS):
            raise ValueError
        return [float(field) for field in fields]
    except ValueError:
        raise InputError(path, f"line {number}", "not four numbers", "give the probabilities of A C G T") from None


def _profile(path: str, name: str, rows: list[list[float]]) -> NDArray[np.float64]:
    if not rows:
        raise InputError(path, name, "empty profile", "remove the record")
    profile = np.array(rows)
    try:
        check_profile(profile)
    except ValueError as error:
        raise InputError(path, name, str(error), "normalise the row") from error
    return profile
