"""Row groups that are encoded apart make the file that pyarrow would write."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow
from pyarrow import parquet as arrow_parquet

from pairhmm.io.files import parquet, parquet_footer
from pairhmm.io.files.arrow_arrays import Coded, Coder
from pairhmm.io.files.parquet import RowGroups, Table
from pairhmm.io.files.parquet_sums import ColumnSums

FIELDS = [
    ("name", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
    ("score", pyarrow.float64()),
    ("count", pyarrow.int64()),
]
SCHEMA = pyarrow.schema(FIELDS)


@dataclass
class Items:
    """Items of numbers."""

    items: list

    @property
    def rows(self):
        return np.array([len(item) for item in self.items], dtype=np.int64)

    @classmethod
    def concatenate(cls, parts):
        return cls([item for part in parts for item in part.items])

    def take(self, first, end):
        return Items(self.items[first:end])

    def columns(self):
        numbers = np.concatenate(self.items)
        coder = Coder()
        codes = coder.codes([["p", "q", ""][number % 3] for number in numbers.tolist()])
        return [Coded(codes, coder.names), numbers / 7, numbers]


def table():
    return Table(pyarrow, FIELDS, Items)


def rows_of(parts):
    numbers = np.concatenate(parts)
    names = [["p", "q", ""][number % 3] for number in numbers.tolist()]
    return pyarrow.table({"name": names, "score": numbers / 7, "count": numbers}).cast(SCHEMA)


def parts_of(*sizes):
    ends = np.cumsum([0, *sizes])
    return [np.arange(first, end) for first, end in pairwise(ends.tolist())]


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 100)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([], []),
        ([30], [30]),
        ([30, 40, 50, 5], [120, 5]),
        ([30, 100, 20, 300, 99, 1], [30, 100, 20, 300, 100]),
        ([100] * 20, [100] * 20),
    ],
)
def test_the_file_is_that_of_pyarrow(tmp_path, sizes, groups, threads):
    parts, made = parts_of(*sizes), []
    # One file from rows, and one whose large parts were encoded before.
    for name in ("rows", "encoded", "together"):
        out = RowGroups(tmp_path / name, table(), {"key": "value"}, threads)
        if name == "together":
            out.append(Items(parts))
        else:
            for part in parts:
                item = Items([part])
                out.append(table().encoded([item]) if name == "encoded" and len(part) >= 100 else item)
        out.close()
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1] == made[2]
    expected, sums = tmp_path / "expected", ColumnSums(SCHEMA)
    with arrow_parquet.ParquetWriter(str(expected), SCHEMA, **parquet.writing(pyarrow, SCHEMA)) as writer:
        for part in parts_of(*groups):
            rows = rows_of([part])
            sums.add(rows)
            writer.write_table(rows)
        writer.add_key_value_metadata({"key": "value", **sums.metadata()})
    ours, theirs = (arrow_parquet.ParquetFile(str(path)) for path in (tmp_path / "rows", expected))
    assert ours.metadata.to_dict() == theirs.metadata.to_dict()
    assert made[0] == expected.read_bytes()
    assert ours.read().equals(theirs.read())
    sums.compare("rows", ours)


def test_a_footer_is_written_as_it_was_read():
    """More columns than fit the short form of a list, and numbers of every size."""
    wide = pyarrow.table({f"column {number}": [number, -(2**62), 2**62] for number in range(40)})
    sink = pyarrow.BufferOutputStream()
    arrow_parquet.write_table(wide, sink, row_group_size=1)
    file = sink.getvalue().to_pybytes()
    body, footer = parquet_footer.split(file)
    groups, rows = parquet_footer.row_groups(footer)
    parquet_footer.move(groups, 0, 0)
    assert rows == 3
    again = parquet_footer.MAGIC + bytes(body) + parquet_footer.footer_bytes(footer, groups, rows, {})
    assert again == file


def test_an_error_of_writing_is_raised(tmp_path):
    class Failing(Items):
        def columns(self):
            raise ValueError("no columns")

    before = threading.active_count()
    out = RowGroups(tmp_path / "x", Table(pyarrow, FIELDS, Failing), None, 2)
    out.append(Failing([np.arange(150)]))
    with pytest.raises(ValueError, match="no columns"):
        out.close()
    assert threading.active_count() == before
