"""Text formats of pairs: `.in` groups and files of reference likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, TextIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.inputs import opening
from pairhmm.files.outputs import open_output
from pairhmm.models.batch import Group, Read
from pairhmm.models.partially_determined import flags_of
from pairhmm.sequences.letters import HIGHEST_QUALITY, PHRED_OFFSET, codes_of, decode, encode, encode_case

READ_COLUMNS = ("base", "insertion", "deletion", "gap continuation")
REFERENCE_COLUMNS = 7
Encode = Callable[[str], NDArray[np.uint8]]
_UNDECODABLE = "\N{REPLACEMENT CHARACTER}"

# The most digits of a count: more than any real count has, and fewer than Python refuses to convert.
_MOST_DIGITS = 1000


@dataclass(frozen=True, slots=True)
class ReferencePair:
    """A line of a reference-likelihood file."""

    line: int  # 1-based number of the line
    haplotype: NDArray[np.uint8]  # uint8[n]
    read: Read
    expected: float  # The known log10 likelihood
    flags: NDArray[np.uint8] | None = None  # uint8[n] of a partially determined haplotype

    @property
    def group(self) -> Group:
        """The pair as a group of its own."""
        return Group([self.read], [self.haplotype], None if self.flags is None else [self.flags])


def read_in(path: str | Path) -> Iterator[Group]:
    """Groups of a `.in` file: a line `R H`, R lines `read base ins del gcp` (Phred+33), H lines of haplotypes."""
    with as_text(open_input(path)) as handle:
        yield from parse_groups(path, handle, 1)


def parse_groups(path: str | Path, text: Iterable[str], first_line: int) -> Iterator[Group]:
    """`read_in` for some lines of `path`. The first is line `first_line` (1-based), where a group begins."""
    lines = enumerate(text, start=first_line)
    for number, line in lines:
        if not line.strip():
            continue
        n_reads, n_haplotypes = _counts(path, number, line)
        reads = [_read(path, *_next_line(path, lines, 5)) for _ in range(n_reads)]
        haplotypes = []
        for _ in range(n_haplotypes):
            at, fields = _next_line(path, lines, 1)
            haplotypes.append(_encode(path, at, fields[0]))
        yield Group(reads, haplotypes)


def write_in(path: str | Path, groups: Iterator[Group]) -> None:
    """Write groups in the `.in` format; ``-`` is stdout."""
    with open_output(path) as out:
        for group in groups:
            out.write(f"{len(group.reads)} {len(group.haplotypes)}\n")
            for read in group.reads:
                columns = (read.base_quality, read.insertion_quality, read.deletion_quality, read.gap_quality)
                text = " ".join(
                    (column + PHRED_OFFSET).astype(np.uint8).tobytes().decode("ascii") for column in columns
                )
                out.write(f"{decode(read.bases)} {text}\n")
            out.writelines(f"{decode(haplotype)}\n" for haplotype in codes_of(group.haplotypes))


def read_reference_likelihoods(path: str | Path) -> Iterator[ReferencePair]:
    """Pairs with their known scores: columns haplotype, read, base, ins, del and gcp qualities (Phred+33), log10.

    Empty lines and lines that begin with ``#`` are skipped. InputError names a line that can't be used.
    """
    for number, line in _lines(path):
        fields = line.split()
        if len(fields) != REFERENCE_COLUMNS:
            rule = f"{len(fields)} columns instead of {REFERENCE_COLUMNS}"
            cure = "give hap, read, four quality strings, log10"
            if len(fields) > 1 and fields[1].startswith("["):
                cure = f"{cure}; haplotypes with flags need --model pdhmm"
            raise InputError(str(path), f"line {number}", rule, cure)
        expected = _expected(path, number, fields[6])
        yield ReferencePair(number, _encode(path, number, fields[0]), _read(path, number, fields[1:6]), expected)


def read_partially_determined(path: str | Path, are_scored: bool = True) -> Iterator[ReferencePair]:
    """Pairs of partially determined haplotypes: the columns of known scores, with ``[flags]`` behind the haplotype.

    Flags are numbers from -128 to 255, one a letter, with commas between them. Unless pairs are scored, the last column
    may be missing. What is skipped and InputError are as in `read_reference_likelihoods`.
    """
    for number, line in _lines(path):
        haplotype, opened, rest = line.partition("[")
        flags, closed, others = rest.partition("]")
        fields = [*haplotype.split(), *others.split()]
        if not are_scored and len(fields) == REFERENCE_COLUMNS - 1:
            fields.append("nan")
        if not opened or not closed or len(haplotype.split()) != 1 or len(fields) != REFERENCE_COLUMNS:
            rule = f"not {REFERENCE_COLUMNS + 1} columns with [flags] as the second"
            raise InputError(str(path), f"line {number}", rule, "give hap, [flags], read, four quality strings, log10")
        codes = _encode(path, number, fields[0], encode_case)
        read = _read(path, number, fields[1:6], encode_case)
        expected = _expected(path, number, fields[6])
        yield ReferencePair(number, codes, read, expected, _flags(path, number, flags, len(codes)))


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those that are empty or begin with ``#``."""
    with as_text(open_input(path)) as handle:
        for number, line in enumerate(handle, start=1):
            if line.strip() and not line.startswith("#"):
                yield number, line


def _expected(path: str | Path, number: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(str(path), f"line {number}", f"{text!r} is not a number", "give log10") from None


def _flags(path: str | Path, number: int, text: str, letters: int) -> NDArray[np.uint8]:
    try:
        return flags_of([int(flag) for flag in text.split(",")], letters)
    except ValueError as error:
        cure = "give one number a letter, with commas between them"
        raise InputError(str(path), f"line {number}", f"flags: {error}", cure) from None


def open_input(path: str | Path) -> BufferedReader:
    """Open a file to read bytes. InputError where it can't be opened."""
    opening(path)
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(str(path), "", error.strerror or "can't be read", "check the path") from error


def as_text(file: IO[bytes]) -> TextIO:
    """The file as text. A byte that is not ASCII becomes a character that is later refused, with its line."""
    return TextIOWrapper(file, encoding="ascii", errors="replace")


def _counts(path: str | Path, number: int, line: str) -> tuple[int, int]:
    fields = line.split()
    if len(fields) != 2 or not all(field.isdecimal() and len(field) <= _MOST_DIGITS for field in fields):
        raise InputError(str(path), f"line {number}", "not a line `reads haplotypes`", "the file may be cut off")
    return int(fields[0]), int(fields[1])


def _next_line(path: str | Path, lines: Iterator[tuple[int, str]], columns: int) -> tuple[int, list[str]]:
    number, line = next(lines, (0, ""))
    if not number:
        raise InputError(str(path), "", "ends inside a group", "the file is cut off")
    fields = line.split()
    if len(fields) != columns:
        what = "a read and four quality strings" if columns > 1 else "a haplotype"
        raise InputError(str(path), f"line {number}", f"not {what}", "check the counts of the group")
    return number, fields


def _read(path: str | Path, number: int, fields: list[str], encoded: Encode = encode) -> Read:
    bases = _encode(path, number, fields[0], encoded)
    qualities = []
    for name, text in zip(READ_COLUMNS, fields[1:], strict=True):
        known = text.replace(_UNDECODABLE, "\0")
        values = np.frombuffer(known.encode("ascii"), dtype=np.uint8) - np.uint8(PHRED_OFFSET)
        if len(values) != len(bases):
            rule = f"{len(values)} {name} qualities for {len(bases)} bases"
            raise InputError(str(path), f"line {number}", rule, "give one a base")
        if int(values.max()) > HIGHEST_QUALITY:
            raise InputError(str(path), f"line {number}", f"{name} quality outside Phred+33", "use '!' to '~'")
        qualities.append(values)
    return Read(bases, *qualities)


def _encode(path: str | Path, number: int, text: str, encoded: Encode = encode) -> NDArray[np.uint8]:
    try:
        return encoded(text)
    except ValueError as error:
        raise InputError(str(path), f"line {number}", str(error), "use A C G T U and IUPAC codes") from error
