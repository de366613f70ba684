"""The records of a VCF or BCF as lines of text. Contig lines and an index are not needed."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import check_end
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.htslib import UNREADABLE, quiet
from pairhmm.files.pipes import require_file
from pairhmm.files.text_lines import read_texts
from pairhmm.sequences.intervals import MOST_DIGITS
from pairhmm.variants.without_index import open_variants

FIXED = 9
"""Columns before those of the samples."""
_SITE_COLUMNS = 8


class RecordLines:
    """A VCF or BCF; an iterator over its records, split into columns. The last one has all samples.

    Parameters
    ----------
    path : str
    cure : str
        For a file that is no VCF.

    Raises
    ------
    InputError
        For a pipe, and for a file that can't be read or is no VCF.
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
                raise InputError(self.path, f"record {number}", "not a VCF record", "the file may be cut off")
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

    Raises
    ------
    InputError
        For a file that can't be read.
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
