"""Reads likelihood tables and companions in Parquet: those of pairhmm, and rows of them that another program wrote."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from pairhmm.errors import InputError
from pairhmm.likelihoods import parquet
from pairhmm.likelihoods.columns import haplotype_schema, score_schema
from pairhmm.likelihoods.mixture_table import mixture_schema
from pairhmm.likelihoods.table import COLUMNS, MODEL_KEY, NEEDED_COLUMNS

log = logging.getLogger(__name__)


class ParquetTable:
    """A Parquet file with the columns of a table, of a companion or of a mixture's table, in any order.

    There may be others beside them.

    Raises InputError for a file that can't be read, and for a column that is missing or of another type.

    Parameters
    ----------
    is_companion : bool, optional
        Which of the first two it has to be. Without it, the columns say so.

    Attributes
    ----------
    schema : pyarrow.Schema
        What is read.
    model : str or None
        None where the metadata lack it: other programs drop metadata.
    others : list of str
        Columns that are not read.
    """

    def __init__(self, path: str, is_companion: bool | None = None) -> None:
        self.path, self._arrow = path, parquet.pyarrow_for(path)
        from pyarrow.parquet import ParquetFile

        with parquet.damage_errors(self._arrow, path):
            self._file = ParquetFile(path, **parquet.READING)
            schema, metadata = self._file.schema_arrow, self._file.metadata.metadata or {}
            model = metadata.get(MODEL_KEY.encode())
            self.model = None if model is None else model.decode("utf-8", "replace")
        is_mixture = is_companion is None and "fraction" in schema.names
        is_companion = "sequence" in schema.names if is_companion is None else is_companion
        self.schema = haplotype_schema() if is_companion else score_schema()
        if not is_companion and COLUMNS[-1] not in schema.names:
            self.schema = self.schema.remove(len(NEEDED_COLUMNS))
        if is_mixture:
            self.schema = mixture_schema()
        self.others = [name for name in schema.names if name not in self.schema.names]
        for field in self.schema:
            self._check(field, [column.type for column in schema if column.name == field.name])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self._file.close()

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of damaged values into those of this file (`pairhmm.likelihoods.parquet.damage_errors`)."""
        return parquet.damage_errors(self._arrow, self.path)

    def batches(self, rows: int) -> Iterator[Any]:
        """All rows as ``pyarrow.RecordBatch`` of `schema`, of so many rows at most.

        Raises InputError for a damaged file, a missing value, and a number that the type of its column does not hold.
        """
        arrow, names = self._arrow, self.schema.names
        batches = self._file.iter_batches(rows, columns=names, use_threads=False)
        while True:
            with self.errors():
                batch = next(batches, None)
            if batch is None:
                return
            columns = [self._cast(batch.column(field.name), field) for field in self.schema]
            yield arrow.RecordBatch.from_arrays(columns, schema=self.schema)

    def _check(self, field: Any, column_types: Sequence[Any]) -> None:
        """Require one column of a type that can stand for that of a field."""
        cure = "give a table of pairhmm likelihoods, or rows of one with all its columns"
        if len(column_types) != 1:
            rule = f"has two columns {field.name}" if column_types else f"has no column {field.name}"
            raise InputError(self.path, "", rule, cure)
        wanted, kind = (getattr(each, "value_type", each) for each in (field.type, *column_types))
        types = self._arrow.types
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        if types.is_string(wanted):
            fits = is_text
        else:
            fits = types.is_integer(kind) if types.is_integer(wanted) else types.is_floating(kind)
        if not fits:
            raise InputError(self.path, "", f"its column {field.name} has the type {kind}, not {wanted}", cure)

    def _cast(self, column: Any, field: Any) -> Any:
        if column.null_count:
            rule = f"its column {field.name} has rows without a value"
            raise InputError(self.path, "", rule, "leave them out, or make the table again")
        if column.type == field.type:
            return column
        if hasattr(column, "dictionary"):
            column = column.dictionary_decode()
        kind = getattr(field.type, "value_type", field.type)
        if column.type != kind:
            try:
                column = column.cast(kind)
            except self._arrow.ArrowInvalid:
                rule = f"its column {field.name} has a number that {kind} does not hold"
                raise InputError(self.path, "", rule, "check the table") from None
        return column if kind == field.type else column.dictionary_encode()


def tell_of_unchecked(tables: Sequence[ParquetTable], model: str) -> None:
    """Say in one line what is not known of files that other programs wrote, if any.

    `model`: what holds for the model where none is named.
    """
    foreign = [table for table in tables if table.model is None or table.others]
    if not foreign:
        return
    more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
    notes = ["whether rows are missing or damaged can't be checked"]
    if any(table.model is None for table in foreign):
        notes.append(f"no model is named: {model}")
    if foreign[0].others:
        notes.append(f"not read: {', '.join(foreign[0].others)}")
    log.warning("%s%s: of another program: %s", foreign[0].path, more, "; ".join(notes))
