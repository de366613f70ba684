"""Files of pieces put together in order: VCF, tables as text, and Parquet. Rows are copied as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pairhmm.errors import InputError
from pairhmm.io.bgzip import BgzipText
from pairhmm.io.calls import open_vcf
from pairhmm.io.endings import require_ending
from pairhmm.io.intervals import MOST_DIGITS
from pairhmm.io.outputs import TextSink, open_output, output_errors, whole_files
from pairhmm.io.parquet_sums import ColumnSums
from pairhmm.io.provenance import run_header
from pairhmm.io.tables import (
    ENDINGS,
    INDICES,
    PARQUET_READING,
    PARQUET_WRITING,
    ROWS_PER_GROUP,
    index_table,
    parquet_errors,
    pyarrow_for,
)
from pairhmm.io.text_lines import read_lines

_TAB = "\t"
_VCF_COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
_CONTIG = re.compile(r"##contig=<ID=([^,>]+)(?:.*?[,<]length=([0-9]{1,10})\b)?")
_SAME = "give the pieces of one run"
_IN_ORDER = "an index needs rows in order: mind the order of the files, or write .tsv"
_DAMAGED = "the file may be damaged: make it again"
# What BAM, VCF and their indices hold.
_LAST_POSITION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text file: its header and the lines behind it, with their numbers."""

    path: str
    header: list[str]
    lines: Iterator[tuple[int, str]]

    def rows(self) -> Iterator[tuple[int, str]]:
        """The lines, each of as many fields as the header's last has."""
        width = self.header[-1].count("\t")
        for number, line in self.lines:
            if line.count("\t") != width:
                rule = f"{line.count(chr(9)) + 1} fields where the header has {width + 1}"
                raise self.fault(number, rule, "the file may be cut off")
            yield number, line

    def position(self, number: int, text: str) -> int:
        """A place of line `number`."""
        if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) <= _LAST_POSITION):
            raise self.fault(number, f"{text[:30]!r} is not a position", _DAMAGED)
        return int(text)

    def fault(self, number: int, rule: str, cure: str) -> InputError:
        """What is wrong with line `number`."""
        return InputError(self.path, f"line {number}", rule, cure)


def gather_vcf(pieces: Sequence[str], destination: str) -> None:
    """Put VCF files, plain or bgzipped, together; the header is the first one's, with the provenance of all.

    Parameters
    ----------
    pieces : sequence of str
        In order.
    destination : str
        By its extension VCF, bgzipped VCF or BCF, with an index.

    Raises
    ------
    InputError
        For pieces of other samples or contigs, or in another order.
    """
    headers = [_vcf_header(pieces[0])]
    contigs, samples = _contigs(headers[0]), headers[0][-1]
    for path in pieces[1:]:
        header = _vcf_header(path)
        for what, own, first in (("contigs", _contigs(header), contigs), ("samples", header[-1], samples)):
            if own != first:
                raise InputError(path, "", f"its {what} are not those of {pieces[0]}", _SAME)
        headers.append([line for line in header if "=<" not in line])
    rank = {name: number for number, name in enumerate(contigs)}
    tabs = samples.count(_TAB)
    text = "".join(f"{line}\n" for line in run_header(headers))
    last = (-1, -1)
    with open_vcf(destination, text, max(contigs.values(), default=0)) as out:
        for path in pieces:
            with _opened(path) as piece:
                for number, line in piece.rows():
                    if line.count(_TAB) != tabs:
                        raise piece.fault(
                            number, f"{line.count(_TAB) + 1} columns, the header has {tabs + 1}", _DAMAGED
                        )
                    chrom, pos, _ = line.split("\t", 2)
                    if chrom not in rank:
                        raise piece.fault(number, f"its header has no contig {chrom[:30]!r}", _DAMAGED)
                    place = (rank[chrom], piece.position(number, pos))
                    if place < last:
                        raise InputError(path, f"{chrom}:{pos}", "not behind the piece before it", "mind the order")
                    last = place
                    out.write(line + "\n")


def _vcf_header(path: str) -> list[str]:
    """The lines of a header; the last names the samples."""
    with _opened(path) as piece:
        if not piece.header or not piece.header[-1].startswith(_VCF_COLUMNS):
            raise InputError(path, "", "not a VCF file", "gather takes .vcf and .vcf.gz into .vcf, .vcf.gz or .bcf")
        for number, line in enumerate(piece.header[:-1], start=1):
            if not line.startswith("##"):
                raise piece.fault(number, f"{line[:30]!r} within the header", _DAMAGED)
        return piece.header


def _contigs(header: Sequence[str]) -> dict[str, int]:
    """The contigs of a header with their lengths."""
    found = [contig for line in header if (contig := _CONTIG.match(line))]
    return {one[1]: int(one[2] or 0) for one in found}


def gather_table(pieces: Sequence[str], destination: str, samples: Sequence[str] = ()) -> None:
    """Put tables, plain or bgzipped, together; their header lines must be the same.

    Parameters
    ----------
    pieces : sequence of str
        In order.
    destination : str
        Bgzipped where it ends in ``.gz``, and then with an index where the table has the columns chrom, start and end.
    samples : sequence of str
        One a piece, for a first column `sample`.

    Raises
    ------
    InputError
        For tables with other columns, rows that have more or fewer, and, where there is to be an index, rows that are
        not in order.
    """
    with _opened(pieces[0]) as first:
        header = first.header[-1] if first.header else ""
    if not header.startswith("#"):
        raise InputError(pieces[0], "", "has no header line", "gather takes tables that pairhmm wrote")
    columns = header[1:].split("\t")
    if samples and "sample" in columns:
        raise InputError("--sample", "", f"{pieces[0]} has a column of that name", "leave it out")
    columns = ["sample", *columns] if samples else columns
    is_indexed = destination.endswith(".gz") and {"chrom", "start", "end"} <= set(columns)
    order = _Order(*map(columns.index, ("chrom", "start", "end"))) if is_indexed else None
    with _table(destination, order) as out:
        out.write("#" + "\t".join(columns) + "\n")
        for at, path in enumerate(pieces):
            begin = f"{samples[at]}\t" if samples else ""
            with _opened(path) as piece:
                if piece.header != [header]:
                    raise InputError(path, "", f"its columns are not those of {pieces[0]}", _SAME)
                for number, line in piece.rows():
                    if order is not None:
                        order.check(piece, number, begin + line)
                    out.write(f"{begin}{line}\n")


class _Order:
    """Looks at rows that are to be indexed: contigs in blocks, and in each the starts in order.

    Parameters
    ----------
    chrom, start, end : int
        Columns.

    Attributes
    ----------
    chrom : int
    furthest : int
        The last end.
    """

    def __init__(self, chrom: int, start: int, end: int) -> None:
        self.chrom, self._start, self._end = chrom, start, end
        self.furthest = 0
        self._last = ("", 0)
        self._contigs: set[str] = set()

    def check(self, piece: _Piece, number: int, row: str) -> None:
        """Take a row, the next one."""
        fields = row.split("\t")
        chrom = fields[self.chrom]
        start, end = piece.position(number, fields[self._start]), piece.position(number, fields[self._end])
        if start > end:
            raise piece.fault(number, f"its interval ends at {end}, before its start at {start}", _DAMAGED)
        if chrom != self._last[0]:
            if not chrom or chrom in self._contigs:
                raise piece.fault(number, f"the rows of contig {chrom[:30]!r} are not together", _IN_ORDER)
            self._contigs.add(chrom)
        elif start < self._last[1]:
            raise piece.fault(number, f"starts at {start}, before the row above it", _IN_ORDER)
        self._last = (chrom, start)
        self.furthest = max(self.furthest, end)


@contextmanager
def _table(destination: str, order: _Order | None) -> Iterator[TextSink]:
    """A text file; bgzipped where its name asks for that, and then with an index if rows have an order."""
    require_ending(destination, "tables", ENDINGS)
    if not destination.endswith(".gz"):
        with open_output(destination) as out:
            yield out
        return
    with whole_files(destination, *INDICES) as scratch, output_errors(destination):
        with BgzipText(scratch) as zipped:
            yield zipped
        if order is not None:
            index_table(scratch, order.chrom, order.furthest)


def gather_parquet(pieces: Sequence[str], destination: str) -> None:
    """Put Parquet files of one schema together.

    Raises
    ------
    InputError
        For files that are not Parquet, have other columns, or do not fit the checksum that they carry; and without
        pyarrow.
    """
    arrow = pyarrow_for(destination)
    from pyarrow import parquet

    schema = _parquet(arrow, pieces[0]).schema_arrow.remove_metadata()
    sums = ColumnSums(schema)
    with whole_files(destination) as scratch, output_errors(destination):
        with parquet.ParquetWriter(str(scratch), schema, **PARQUET_WRITING) as writer:
            held: list[Any] = []
            for path in pieces:
                file = _parquet(arrow, path)
                if file.schema_arrow != schema:
                    raise InputError(path, "", f"its columns are not those of {pieces[0]}", _SAME)
                for batch in _batches(arrow, path, file):
                    held.append(batch.replace_schema_metadata())
                    sums.add(batch)
                    if sum(map(len, held)) >= ROWS_PER_GROUP:
                        writer.write_table(arrow.Table.from_batches(held, schema))
                        held = []
            writer.write_table(arrow.Table.from_batches(held, schema))
            sums.write(writer)


def _parquet(arrow: Any, path: str) -> Any:
    from pyarrow import parquet

    with parquet_errors(arrow, path):
        return parquet.ParquetFile(path, **PARQUET_READING)


def _batches(arrow: Any, path: str, file: Any) -> Iterator[Any]:
    """The rows of a file; errors are told of it, and not of what is written meanwhile."""
    batches = file.iter_batches(ROWS_PER_GROUP, use_threads=False)
    sums = ColumnSums(file.schema_arrow)
    while True:
        with parquet_errors(arrow, path):
            batch = next(batches, None)
            if batch is not None:
                sums.add(batch)
        if batch is None:
            sums.compare(path, file)
            return
        yield batch


@contextmanager
def _opened(path: str) -> Iterator[_Piece]:
    lines = ((number, line) for number, line in enumerate(read_lines(path), start=1) if line.strip())
    with closing(lines):
        header: list[str] = []
        first = next(lines, None)
        while first is not None and first[1].startswith("#"):
            header.append(first[1])
            first = next(lines, None)
        yield _Piece(path, header, iter(()) if first is None else chain([first], lines))


def is_vcf(path: str | Path) -> bool:
    """Whether a name is one for calls."""
    return str(path).endswith((".vcf", ".vcf.gz", ".bcf"))
