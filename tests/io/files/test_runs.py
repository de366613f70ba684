"""Columns of runs have the checksums and the values of the rows that they stand for."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from pairhmm.compiled import native
from pairhmm.genomics.names import Names
from pairhmm.io.files.parquet_footer import MAGIC, footer_bytes
from pairhmm.io.files.parquet_pages import row_group
from pairhmm.io.files.runs import Cycles, Runs

NAMES = ["", "one", "zwei ä", "a name of more letters"]


def text_sums(rows):
    """What `Runs.sums` is for texts."""
    texts, lengths = "".join(rows).encode(), np.array([len(row.encode()) for row in rows], dtype=np.int32).tobytes()
    return (zlib.crc32(texts), len(texts)), (zlib.crc32(lengths), len(lengths))


def runs_of(rng, runs):
    code, count = rng.integers(0, len(NAMES), runs), rng.integers(0, 5, runs)
    return code, count, [NAMES[one] for one in np.repeat(code, count)]


@pytest.mark.parametrize("runs", [0, 1, 2, 50])
def test_sums_of_runs(runs):
    rng = np.random.default_rng(runs)
    code, count, rows = runs_of(rng, runs)
    assert Runs.of(Names.of(NAMES), count, code).sums() == text_sums(rows)
    for kind in (np.int8, np.int32, np.int64):
        values = rng.integers(0, 100, len(NAMES)).astype(kind)
        data = np.repeat(values[code], count).tobytes()
        assert Runs.of(values, count, code).sums() == ((zlib.crc32(data), len(data)),)


def test_sums_of_cycles():
    texts = ["a", "b", "c", "ä", "b", "long one"]
    cycles = Cycles.of(texts, np.array([2, 0, 1, 3]), np.array([3, 9, 0, 2]))
    assert cycles.sums() == text_sums(["a", "b"] * 3 + ["ä", "b", "long one"] * 2)


def test_the_sum_of_a_run_does_not_depend_on_its_length():
    """It is computed in steps that double."""
    for count in (1, 7, 128, 100_003):
        found = native.runs_crc32(
            np.frombuffer(b"xyz", dtype=np.uint8), np.array([3], dtype=np.int64), np.array([count], dtype=np.int64)
        )
        assert found == zlib.crc32(b"xyz" * count)
    assert native.joined_crc32(zlib.crc32(b"ab"), zlib.crc32(b"cde"), 3) == zlib.crc32(b"abcde")


@pytest.mark.parametrize("names", [1, 2, 3, 200, 70_000])
def test_pages_are_read_as_the_rows(names):
    """With dictionaries whose codes have 1 to 17 bits, and scores of more than a page."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from pairhmm.io.files.parquet import Table

    texts, rows = [f"n{number}" for number in range(names)], max(names, 140_001)
    count = np.bincount(np.arange(rows) % names, minlength=names)
    scores = np.random.default_rng(names).normal(size=rows)
    columns = [
        Runs.of(Names.of(texts), count),
        Cycles.of([*texts, "last"], np.array([names, 1]), np.array([rows // names, rows - rows // names * names])),
        Runs.of(np.arange(names, dtype=np.int64) - 1, count),
        Runs.of((np.arange(names) % 100).astype(np.int8), count),
        scores,
    ]
    kinds = arrow.string(), arrow.string(), arrow.int64(), arrow.int8(), arrow.float64()
    fields = list(zip("abcde", kinds, strict=True))
    body, group = row_group("abcde", columns, rows, "ac", lambda content: arrow.compress(content, "zstd", asbytes=True))
    file = MAGIC + body + footer_bytes(Table(arrow, fields, object).footer(), [group], rows, {})
    made = parquet.ParquetFile(arrow.BufferReader(file), page_checksum_verification=True)
    found = {name: column.to_pylist() for name, column in zip("abcde", made.read().columns, strict=True)}
    numbers = np.repeat(np.arange(names), count)
    assert found["a"] == [texts[number] for number in numbers]
    assert found["b"] == (texts * (rows // names) + ["last"] * (rows % names))
    assert found["c"] == (numbers - 1).tolist()
    assert found["d"] == (numbers % 100).tolist()
    assert found["e"] == scores.tolist()
    about = [made.metadata.row_group(0).column(number).statistics for number in range(5)]
    assert [(one.min, one.max) for one in about if one is not None and one.has_min_max] == [
        (min(texts), max(texts)),
        (-1, names - 2),
    ]
