"""Records of VCF and BCF as text: the first five columns, contig by contig, or whole lines. No index is needed."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby, takewhile
from typing import BinaryIO, NamedTuple

import pysam

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import check_end
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.htslib import UNREADABLE, quiet
from pairhmm.files.inputs import opening
from pairhmm.files.pipes import require_file, spooled
from pairhmm.files.text_lines import lines_of, read_texts
from pairhmm.sequences.intervals import MOST_DIGITS


def open_variants(path: str) -> pysam.VariantFile:
    """A VCF or BCF to be read from its beginning.

    Of a path, or a file with a name, pysam would load the index, and htslib does not check its numbers: a damaged one
    ends the process. pysam keeps a descriptor of its own.
    """
    with quiet(), open(path, "rb") as file:
        return pysam.VariantFile(file.fileno())


Fields = tuple[str, int, str, str, tuple[str, ...]]
"""CHROM, 0-based POS, ID (empty for `.`), and upper-case REF and ALTs of a record."""
_CONTIG_LINE = re.compile(rb"##contig=<(?:.*,)?ID=([^,>\r\n]+)")
_NO_HEADER = "it must begin with ##fileformat=VCF"


def listed_records(path: str, rank: Mapping[str, int]) -> Iterator[tuple[int, Fields]]:
    """The number of each record in the file, from 0, and its fields.

    Raises InputError for a file that can't be read, is no VCF, or has a record that is none; names the line.

    `path`: VCF or BCF, which its first bytes tell apart; a pipe is copied first. `rank`: the place of each contig in
    the order in which records are given, whatever their order in the file.
    """
    opening(path)
    try:
        with spooled(path) as file:
            check_end(path, file)
            text = _Text(path, file)
            kind = _Bcf(path, file) if text.head.startswith(formats.BCF) else text
            for contigs in _passes(kind, rank):
                for number, fields in enumerate(kind.records()):
                    if contigs is None or fields[0] in contigs:
                        yield number, fields
    # pysam raises NotImplementedError for an unknown kind of compression.
    except (OSError, EOFError, NotImplementedError) as error:
        what = getattr(error, "strerror", None) or "can't be read: it may be cut off"
        raise InputError(path, "", what, "check the file; candidates are VCF or BCF") from error


def _passes(kind: _Text | _Bcf, rank: Mapping[str, int]) -> list[set[str] | None]:
    """The contigs whose records each pass over the file takes; None for all.

    One pass is enough where the header says that contigs come in order. Elsewhere, a first look shows their order. A
    file in which a contig comes twice is not sorted, and is given as it is.
    """
    named = [rank[name] for name in kind.contigs() if name in rank]
    if named and named == sorted(named):
        return [None]
    order = [chrom for chrom, _ in groupby(fields[0] for fields in kind.records())]
    place = {name: number for number, name in enumerate(order)}
    passes: list[set[str]] = [{name for name in order if name not in rank}]
    last = -1
    for name in sorted(place.keys() & rank, key=rank.__getitem__):
        if place[name] < last:
            passes.append(set())
        passes[-1].add(name)
        last = place[name]
    return list(passes) if len(passes) > 1 and len(place) == len(order) else [None]


class _Bcf(NamedTuple):
    """A BCF, compressed or not."""

    path: str
    file: str

    def contigs(self) -> list[str]:
        """The contigs of the header."""
        with self._opened() as records:
            return [str(name) for name in records.header.contigs]

    def records(self) -> Iterator[Fields]:
        with self._opened() as records:
            for record in records:
                alts = tuple(alt.upper() for alt in record.alts or ())
                yield record.chrom, record.pos - 1, record.id or "", (record.ref or "").upper(), alts

    @contextmanager
    def _opened(self) -> Iterator[pysam.VariantFile]:
        try:
            with open_variants(self.file) as records:
                yield records
        except UNREADABLE as error:
            raise InputError(self.path, "", f"not a BCF file ({error})", "check the file") from error


class _Text:
    """A VCF, compressed or not. The text is parsed here, because htslib demands contig lines, which many files lack."""

    def __init__(self, path: str, file: str) -> None:
        self.path, self.file = path, file
        with open(file, "rb") as raw:
            self._is_compressed = raw.read(len(formats.GZIP)) == formats.GZIP
        with self._opened() as lines:
            self.head: bytes = lines.read(len(formats.VCF))

    def contigs(self) -> list[str]:
        """The contigs of the header."""
        with self._opened() as lines:
            header = takewhile(lambda line: line.startswith(b"#"), lines_of(lines))
            found = [_CONTIG_LINE.match(line) for line in header]
        return [one[1].decode("utf-8", "replace") for one in found if one]

    def records(self) -> Iterator[Fields]:
        """Only five columns are needed."""
        with self._opened() as lines:
            seen_header = False
            for number, raw in enumerate(lines_of(lines), start=1):
                # Editors of Windows write a byte order mark.
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "replace").rstrip("\r\n")
                if line.startswith("#"):
                    seen_header = seen_header or line.startswith((formats.VCF.decode(), "#CHROM"))
                    continue
                if not line:
                    continue
                if not seen_header:
                    raise InputError(self.path, f"line {number}", "not a VCF file", _NO_HEADER)
                fields = line.split("\t", 5)
                if len(fields) < 5 or not fields[1].isdecimal() or len(fields[1]) > MOST_DIGITS:
                    raise _not_a_record(self.path, f"line {number}", raw)
                alts = () if fields[4] == "." else tuple(fields[4].upper().split(","))
                yield fields[0], int(fields[1]) - 1, "" if fields[2] == "." else fields[2], fields[3].upper(), alts
            if not seen_header:
                raise InputError(self.path, "", "not a VCF file", _NO_HEADER)

    def _opened(self) -> pysam.BGZFile | BinaryIO:
        return pysam.BGZFile(self.file, "rb", index=None) if self._is_compressed else open(self.file, "rb")


def _not_a_record(path: str, place: str, line: bytes) -> InputError:
    """The error for a line of a VCF that is no record."""
    if b"\t" not in line and len(line.split()) >= _SITE_COLUMNS:
        return InputError(path, place, "has spaces between its columns", "VCF has tabs: write it with those")
    return InputError(path, place, "not a VCF record", "the file may be cut off")


FIXED = 9
"""Columns before those of the samples."""
_SITE_COLUMNS = 8


class RecordLines:
    """A VCF or BCF; an iterator over its records, split into columns. The last one has all samples.

    Raises InputError for a pipe, and for a file that can't be read or is no VCF.

    `cure`: for a file that is no VCF.
    """

    def __init__(self, path: str, cure: str) -> None:
        require_file(path, "it is opened twice")
        self.path = path
        check_end(path)
        with ByteStream(path, lambda _: None) as stream:
            self._is_bcf = stream.head.startswith(formats.BCF)
            if not self._is_bcf and not stream.head.startswith(formats.VCF):
                raise InputError(path, "", "not a VCF or BCF file", cure)

    def samples(self) -> tuple[str, ...]:
        """The samples that the header names."""
        if not self._is_bcf:
            return self._text_samples()
        try:
            with quiet(), open_variants(self.path) as file:
                return tuple(file.header.samples)
        except UNREADABLE as error:
            raise InputError(self.path, "", "not a BCF file", "the file may be damaged") from error

    def _text_samples(self) -> tuple[str, ...]:
        for text in read_texts(self.path):
            for line in text.split(b"\n"):
                if line.startswith(b"#CHROM"):
                    return tuple(line.decode("utf-8", "replace").rstrip("\r").split("\t")[FIXED:])
                if line and not line.startswith(b"#"):
                    break
        raise InputError(self.path, "", "its header has no line #CHROM", "the file may be cut off")

    def __iter__(self) -> Iterator[list[bytes]]:
        lines = self._bcf_lines() if self._is_bcf else self._text_lines()
        for number, line in enumerate(lines, start=1):
            fields = line.split(b"\t", FIXED)
            if len(fields) < _SITE_COLUMNS or not fields[1].isdigit() or len(fields[1]) > MOST_DIGITS:
                raise _not_a_record(self.path, f"record {number}", line)
            yield fields

    def _bcf_lines(self) -> Iterator[bytes]:
        texts = bcf_texts(self.path)
        next(texts)
        return (text.rstrip(b"\n") for text in texts)

    def _text_lines(self) -> Iterator[bytes]:
        for text in read_texts(self.path):
            for line in text.split(b"\n"):
                if line and not line.startswith(b"#"):
                    yield line.removesuffix(b"\r")


def bcf_texts(path: str) -> Generator[bytes]:
    """The header of a BCF as text, then each of its records as a line.

    Raises InputError for a file that can't be read.
    """
    place = "its header"
    try:
        with quiet(), open_variants(path) as file:
            yield str(file.header).encode()
            place = "its first record"
            for record in file:
                place = f"after {record.chrom}:{record.pos}"
                yield str(record).encode()
    except UNREADABLE as error:
        raise InputError(path, place, "can't be read", "the file may be cut off or damaged") from error
