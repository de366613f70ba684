"""Rows of a Parquet table that another program wrote are read, and a line says what can't be known of them."""

import importlib.util
import shutil

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow
from pyarrow.parquet import read_table, write_table

from pairhmm.calling.gather import gather
from pairhmm.errors import InputError
from pairhmm.likelihoods.reader import LikelihoodTable
from tests.likelihoods.rows import region_of, write_regions

UNKNOWN = "of another program: whether rows are missing or damaged can't be checked; no model is named"
LEAST = -4.0


@pytest.fixture
def table(tmp_path):
    """A table of two regions."""
    rng, names = np.random.default_rng(2), [f"r{number}" for number in range(30)]
    samples = {"samples": ["one", "two"], "sample": np.arange(30, dtype=np.int32) % np.int32(2)}
    regions = [region_of("chr1", start, names, rng.uniform(-8, -1, (30, 2)), **samples) for start in (100, 300)]
    write_regions(tmp_path / "t.parquet", regions, "profile (normalised)")
    return tmp_path / "t.parquet"


def by_pandas(source, target):
    import pandas

    rows = pandas.read_parquet(source)
    rows[rows.log10_likelihood > LEAST].to_parquet(target)


def by_polars(source, target):
    import polars

    polars.read_parquet(source).filter(polars.col("log10_likelihood") > LEAST).write_parquet(target)


def by_duckdb(source, target):
    import duckdb

    with duckdb.connect() as database:
        database.sql(f"COPY (SELECT * FROM '{source}' WHERE log10_likelihood > {LEAST}) TO '{target}' (FORMAT parquet)")


@pytest.mark.parametrize("program", [by_pandas, by_polars, by_duckdb])
def test_rows_that_another_program_chose(run_cli, require, table, tmp_path, program):
    name = program.__name__.removeprefix("by_")
    require(name, importlib.util.find_spec(name) is not None, f"{name} is not installed")
    chosen = tmp_path / f"{name}.parquet"
    program(table, chosen)
    shutil.copy(tmp_path / "t.haplotypes.parquet", tmp_path / f"{name}.haplotypes.parquet")
    expected = [row for row in read_table(table).to_pylist() if row["log10_likelihood"] > LEAST]
    assert 0 < len(expected) < 120

    done = run_cli("report", "--likelihoods", chosen, "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"{chosen}: {UNKNOWN}: it is taken for gatk") == 1
    done = run_cli("gather", chosen, table, "-o", tmp_path / "all.parquet")
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1 and f"{chosen}: {UNKNOWN}" in done.stderr
    made = read_table(tmp_path / "all.parquet")
    assert made.to_pylist() == expected + read_table(table).to_pylist()
    assert made.schema.equals(read_table(table).schema)


def test_a_companion_of_another_program(table, tmp_path, caplog):
    described = tmp_path / "t.haplotypes.parquet"
    by_hand = read_table(described)
    wide = pyarrow.schema([(name, wider(by_hand.schema.field(name).type)) for name in by_hand.column_names])
    write_table(by_hand.replace_schema_metadata().cast(wide).add_column(0, "more", [["x"] * 4]), described)
    read = LikelihoodTable(str(table))
    assert [len(one.names) for one in read.haplotypes()] == [2, 2]
    assert read.model() == "profile (normalised)"
    assert caplog.messages == [f"{described}: {UNKNOWN}: it is taken for profile (normalised); not read: more"]


def wider(kind):
    if pyarrow.types.is_integer(kind):
        return pyarrow.int64()
    return pyarrow.large_string()


CHANGES = {
    "missing": (lambda rows: rows.drop_columns(["mate"]), "has no column mate"),
    "type": (lambda rows: changed(rows, "start", pyarrow.float64()), "its column start has the type double, not int64"),
    "null": (lambda rows: changed(rows, "mate", None), "its column mate has rows without a value"),
    "wide": (lambda rows: changed(rows, "mate", 300), "its column mate has a number that int8 does not hold"),
}


def changed(rows, name, to):
    at = rows.column_names.index(name)
    column = rows.column(name).cast(to) if isinstance(to, pyarrow.DataType) else pyarrow.array([to] * 120, "int16")
    return rows.set_column(at, name, column)


@pytest.mark.parametrize("case", CHANGES)
def test_columns_that_can_not_be_used(table, tmp_path, case):
    change, message = CHANGES[case]
    write_table(change(read_table(table)), table)
    with pytest.raises(InputError, match=f"t.parquet: {message}"):
        gather([str(table)], str(tmp_path / "all.parquet"))
    assert not (tmp_path / "all.parquet").exists()
    with pytest.raises(InputError, match=f"t.parquet: {message}"):
        list(LikelihoodTable(str(table)).regions(lambda place: None))
