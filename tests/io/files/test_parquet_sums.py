"""Damage to a Parquet file is an error or changes nothing, wherever it is: footer and page headers, too."""

from __future__ import annotations

import random

import pytest

from pairhmm.errors import InputError

pytest.importorskip("pyarrow")

import pyarrow
from pyarrow import parquet

from pairhmm.commands.gather import gather
from pairhmm.io.files.parquet import writing
from pairhmm.io.files.parquet_sums import ColumnSums

SCHEMA = pyarrow.schema([("name", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())), ("score", "float64")])
ROWS = {"name": ["p", "q", "p", ""], "score": [1.0, -2.5, 0.0, 7.0]}


def written(path, schema, *groups, summed=True):
    sums = ColumnSums(schema)
    with parquet.ParquetWriter(str(path), schema, **writing(pyarrow, schema)) as writer:
        for group in groups:
            rows = pyarrow.table(group).cast(schema)
            sums.add(rows)
            writer.write_table(rows)
        if summed:
            sums.write(writer)
    return str(path)


def test_the_sum_does_not_depend_on_how_rows_are_cut():
    rows = pyarrow.table(ROWS).cast(SCHEMA)
    whole, cut = ColumnSums(SCHEMA), ColumnSums(SCHEMA)
    whole.add(rows)
    for first, count in ((0, 1), (1, 0), (1, 3)):
        cut.add(rows.slice(first, count))
    assert whole.text() == cut.text()


@pytest.mark.parametrize("text", ["", "a sample"])
def test_a_column_of_one_text_has_the_sum_of_its_texts(text):
    rows = {"name": [text] * 7, "score": [1.0] * 7}
    coded, plain = ColumnSums(SCHEMA), ColumnSums(SCHEMA)
    coded.add(pyarrow.table(rows).cast(SCHEMA))
    plain.add(pyarrow.table(rows))
    assert coded.text() == plain.text()


def test_sums_that_were_made_apart_are_joined():
    rows = pyarrow.table({name: values * 200 for name, values in ROWS.items()}).cast(SCHEMA)
    whole, joined = ColumnSums(SCHEMA), ColumnSums(SCHEMA)
    whole.add(rows)
    for first, count in ((0, 1), (1, 0), (1, 3), (4, 600), (604, 196)):
        apart = ColumnSums(SCHEMA)
        apart.add(rows.slice(first, count))
        joined.join(apart)
    assert joined.text() == whole.text()


@pytest.mark.parametrize("change", [{"name": ["p", "q", "", "p"]}, {"name": ["pq", "", "p", ""]}, {"score": [1.0] * 4}])
def test_other_values_have_another_sum(change):
    sums = [ColumnSums(SCHEMA) for _ in range(2)]
    for one, rows in zip(sums, (ROWS, ROWS | change), strict=True):
        one.add(pyarrow.table(rows).cast(SCHEMA))
    assert sums[0].text() != sums[1].text()


def test_damage_anywhere(tmp_path):
    sound = written(tmp_path / "sound.parquet", SCHEMA, ROWS, ROWS)
    data, chance = (tmp_path / "sound.parquet").read_bytes(), random.Random(7)
    rows = parquet.read_table(sound).to_pylist()
    damaged, output = tmp_path / "damaged.parquet", tmp_path / "all.parquet"
    refused = 0
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        damaged.write_bytes(changed)
        try:
            gather([str(damaged)], str(output))
        except InputError:
            refused += 1
            continue
        assert parquet.read_table(output).to_pylist() == rows
    assert refused > len(data) / 2


def test_a_file_without_a_sum(tmp_path):
    path = written(tmp_path / "x.parquet", SCHEMA, ROWS, summed=False)
    with pytest.raises(InputError, match=r"x.parquet: it has no checksum"):
        gather([path], str(tmp_path / "all.parquet"))
    assert not (tmp_path / "all.parquet").exists()
