"""The bytes of a Parquet file depend on its rows, however these are divided and sent."""

import threading

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow
from pyarrow.parquet import ParquetFile, read_table

from pairhmm.likelihoods import parquet
from pairhmm.likelihoods.parquet import RowGroups

CODED = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
SCHEMA = pyarrow.schema([("name", CODED), ("score", pyarrow.float64()), ("text", pyarrow.string())])


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 100)


def batch_of(first, end):
    """Rows whose names last for 30 rows, with a name in the dictionary that none has."""
    numbers = np.arange(first, end)
    names = [f"n{number}" for number in range(first // 30, end // 30 + 2)]
    codes = pyarrow.array((numbers // 30 - first // 30).astype(np.int32))
    name = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(names, pyarrow.string()))
    text = pyarrow.array([f"t{number}" for number in numbers], pyarrow.string())
    return pyarrow.RecordBatch.from_arrays([name, pyarrow.array(numbers / 7), text], SCHEMA.names)


@pytest.mark.parametrize("rows", [0, 1, 100, 730])
def test_the_bytes_depend_on_the_rows_alone(tmp_path, rows):
    made = []
    for number, (step, threads) in enumerate(((1000, 1), (30, 1), (7, 3), (130, 3))):
        out = RowGroups(tmp_path / str(number), SCHEMA, {"key": "value"}, threads)
        for first in range(0, rows, step):
            out.append(batch_of(first, min(first + step, rows)))
        out.close()
        made.append((tmp_path / str(number)).read_bytes())
    assert made == [made[0]] * 4
    with ParquetFile(tmp_path / "0") as file:
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        assert [group.num_rows for group in groups] == [100] * (rows // 100) + [rows % 100] * (rows % 100 > 0)
        assert file.metadata.metadata[b"key"] == b"value"
        assert all(group.column(0).compression == "ZSTD" for group in groups)
    assert read_table(tmp_path / "0").to_pylist() == [
        {"name": f"n{number // 30}", "score": number / 7, "text": f"t{number}"} for number in range(rows)
    ]


def test_a_damaged_page_is_an_error(tmp_path):
    out = RowGroups(tmp_path / "x", SCHEMA, {})
    out.append(batch_of(0, 100))
    out.close()
    data = bytearray((tmp_path / "x").read_bytes())
    with ParquetFile(tmp_path / "x") as file:
        column = file.metadata.row_group(0).column(1)
    data[column.data_page_offset + column.total_compressed_size - 9] ^= 1
    (tmp_path / "x").write_bytes(data)
    with ParquetFile(tmp_path / "x", **parquet.READING) as file, pytest.raises(OSError, match="CRC"):
        file.read()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_writing_is_raised(tmp_path, threads):
    before = threading.active_count()
    out = RowGroups(tmp_path / "x", SCHEMA, {}, threads)
    out._out.write = lambda data: 1 // 0
    with pytest.raises(ZeroDivisionError):
        out.append(batch_of(0, 100))
        out.close()
    out._out.close()
    out._behind.__exit__(ValueError)
    assert threading.active_count() == before
