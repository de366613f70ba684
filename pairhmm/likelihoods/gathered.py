"""Joins the shards of a table, in order, as text or Parquet. Rows are copied unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from pairhmm.errors import InputError
from pairhmm.files.bgzip import BgzipText
from pairhmm.files.formats import TABIX_INDICES, require_ending
from pairhmm.files.inputs import opening
from pairhmm.files.outputs import ByteSink, open_binary_output, output_errors, whole_files
from pairhmm.files.pipes import require_file
from pairhmm.files.shards import DAMAGED, SAME_RUN, ShardFile, open_shard
from pairhmm.files.tabix import TableIndex
from pairhmm.files.text_lines import read_lines
from pairhmm.likelihoods import parquet
from pairhmm.likelihoods.mixture_table import MIXTURE_COLUMNS
from pairhmm.likelihoods.parquet_tables import ParquetTable, tell_of_unchecked
from pairhmm.likelihoods.table import ENDINGS, MODEL_KEY, MODEL_LINE, Format, companion

_REGION = "chrom", "start", "end"
_IN_ORDER = "an index needs rows in order: mind the order of the files, or write .tsv"


def gather_table(shards: Sequence[str], destination: str, samples: Sequence[str] = ()) -> None:
    """Join tables, plain or bgzipped. Their headers must be the same, with the lines that begin with ``##``.

    A destination that ends in ``.gz`` is bgzipped, and gets an index if the table has the columns chrom, start and end.
    `samples` has a name for each shard, for a first column `sample`. Of a mixture's region at a
    cut, which is in two shards, rows are written once.

    Raises InputError for tables with different columns, for rows with more or fewer fields, and, if an index is made,
    for rows out of order.
    """
    with open_shard(shards[0]) as first:
        header = first.header
    if not header:
        raise InputError(shards[0], "", "has no header line", "gather takes tables that pairhmm wrote")
    columns = header[-1][1:].split("\t")
    if samples and "sample" in columns:
        raise InputError("--sample", "", f"{shards[0]} has a column of that name", "leave it out")
    columns = ["sample", *columns] if samples else columns
    is_indexed = Format.of(destination) is Format.TSV_GZ and {"chrom", "start", "end"} <= set(columns)
    order = _Order(*map(columns.index, ("chrom", "start", "end"))) if is_indexed else None
    is_of_mixture = columns == [*MIXTURE_COLUMNS]
    place = -1 if order is None and not is_of_mixture else columns.index("chrom") - bool(samples)
    region, written = [""], [""]  # of a mixture: that of the last row, and the last one of the shards before
    with _table(destination, order) as (out, index):
        out.write("".join(f"{line}\n" for line in (*header[:-1], "#" + "\t".join(columns))).encode())
        for at, path in enumerate(shards):
            begin = f"{samples[at]}\t" if samples else ""
            with open_shard(path) as shard:
                _check_header(shard, header, shards[0])
                _check_model(path, shards[0])
                written = region
                for number, line in shard.rows():
                    rows = f"{line}\n".encode() + shard.alike(place)
                    if is_of_mixture:
                        region = line.split("\t")[place : place + 3]
                        if region == written:
                            continue
                    if begin:
                        rows = b"".join(b"%s%s\n" % (begin.encode(), row) for row in rows[:-1].split(b"\n"))
                    if order is not None:
                        order.check(shard, number, begin + line)
                    out.write(rows)
                    if order is not None and index is not None:
                        index.add((*order.last, rows.count(b"\n"), len(rows)))


def _check_header(shard: ShardFile, header: Sequence[str], first: str) -> None:
    """Require the header of the first shard."""
    above = [*header[:-1], *shard.header[:-1]]
    if shard.header[-1:] != header[-1:] or not all(line.startswith("##") for line in above):
        raise InputError(shard.path, "", f"its columns are not those of {first}", SAME_RUN)
    if shard.header != header:
        said, expected = (" ".join(lines[:-1]) or "nothing" for lines in (shard.header, header))
        rule = f"says {said} above its columns, but {first} says {expected}"
        raise InputError(shard.path, "", rule, SAME_RUN)


def _check_model(path: str, first: str) -> None:
    """Require the model of the first shard, where both have companions, which name it."""
    model, expected = map(_model_line, (path, first))
    if model and expected and model != expected:
        raise InputError(path, "", f"its companion says {model}, but that of {first} says {expected}", SAME_RUN)


def _model_line(path: str) -> str:
    beside = companion(path)
    line = next(read_lines(beside), "") if os.path.isfile(beside) else ""
    return line if line.startswith(MODEL_LINE) else ""


class _Order:
    """Checks the order of rows that are to be indexed: each contig's rows together, in order of their starts.

    `chrom`, `start` and `end` are indices of columns; `last` has the last row's contig, start and end.
    """

    def __init__(self, chrom: int, start: int, end: int) -> None:
        self.chrom, self._start, self._end = chrom, start, end
        self.last = ("", 0, 0)
        self._contigs: set[str] = set()

    def check(self, shard: ShardFile, number: int, row: str) -> None:
        """Check the next row."""
        fields = row.split("\t")
        chrom = fields[self.chrom]
        start, end = shard.position(number, fields[self._start]), shard.position(number, fields[self._end])
        if start > end:
            raise shard.fault(number, f"its interval ends at {end}, before its start at {start}", DAMAGED)
        if chrom != self.last[0]:
            if not chrom or chrom in self._contigs:
                raise shard.fault(number, f"the rows of contig {chrom[:30]!r} are not together", _IN_ORDER)
            self._contigs.add(chrom)
        elif start < self.last[1]:
            raise shard.fault(number, f"starts at {start}, before the row above it", _IN_ORDER)
        self.last = (chrom, start, end)


@contextmanager
def _table(destination: str, order: _Order | None) -> Iterator[tuple[ByteSink, TableIndex | None]]:
    """Open a text file. It is bgzipped if its name ends in ``.gz``, and then has an index if `order` is given."""
    require_ending(destination, "tables", ENDINGS)
    if Format.of(destination) is not Format.TSV_GZ:
        with open_binary_output(destination) as out:
            yield out, None
        return
    with whole_files(destination, *TABIX_INDICES) as scratch, output_errors(destination):
        with BgzipText(scratch) as zipped:
            index = None if order is None else TableIndex(zipped, order.chrom)
            yield zipped, index
        if index is not None:
            index.write(scratch)


def gather_parquet(shards: Sequence[str], destination: str) -> None:
    """Join Parquet tables, or companions, with the same columns and one model.

    A model that another program has dropped is taken for that of the others. A line says of which files that holds. A
    mixture's region at a cut is written once, as in `gather_table`.

    Raises InputError for files that are not Parquet, or have different columns or models; also without pyarrow.
    """
    parquet.pyarrow_for(destination)
    tables = []
    for path in shards:
        with _parquet(path) as table:
            tables.append(table)
    first, named = tables[0], next((table for table in tables if table.model is not None), tables[0])
    for table in tables:
        if table.schema != first.schema:
            raise InputError(table.path, "", f"its columns are not those of {first.path}", SAME_RUN)
        if table.model not in (None, named.model):
            rule = f"its model is {table.model}, but that of {named.path} is {named.model}"
            raise InputError(table.path, "", rule, SAME_RUN)
    is_of_mixture = first.schema.names == [*MIXTURE_COLUMNS]
    if not is_of_mixture:  # its tables name no model
        tell_of_unchecked(tables, "it may differ from that of the others")
    metadata = {} if named.model is None else {MODEL_KEY: named.model}
    with whole_files(destination) as scratch, output_errors(destination):
        with closing(parquet.RowGroups(scratch, first.schema, metadata)) as out:
            region, written = (), ()
            for path in shards:
                written = region
                with _parquet(path) as table:
                    for batch in table.batches(parquet.ROWS_PER_GROUP):
                        if is_of_mixture:
                            regions = list(zip(*(batch[name].to_pylist() for name in _REGION), strict=True))
                            region = regions[-1]
                            batch = batch.filter([one != written for one in regions])
                        out.append(batch)


def _parquet(path: str) -> ParquetTable:
    require_file(path, "Parquet is read from its end")
    opening(path)
    return ParquetTable(path)
