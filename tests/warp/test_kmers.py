"""Expected levels of sequences, and the tables that have those of all k-mers."""

import io
from itertools import product

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.sequences.letters import encode_sets
from pairhmm.warp.kmers import KmerTable, kmers, read_kmer_table, write_kmer_table

HEADER = "kmer\tlevel_mean\tlevel_stdv"


def rows(k=2, change=lambda lines: lines):
    lines = [f"{kmer}\t{80 + at}.5\t1.{at}" for at, kmer in enumerate(kmers(k))]
    return "\n".join(["#k\t2", HEADER, *change(lines)]) + "\n"


def table_of(tmp_path, text):
    path = tmp_path / "x.model"
    path.write_text(text)
    return read_kmer_table(str(path))


def test_columns_and_rows_may_come_in_any_order(tmp_path):
    lines = [f"2\t{kmer.lower().replace('t', 'u')}\t9\t{80 + at}" for at, kmer in enumerate(kmers(2))]
    found = table_of(tmp_path, "\n".join(["#x", "", "level_stdv\tkmer\tweight\tlevel_mean", *reversed(lines)]))
    assert found.means.tolist() == list(range(80, 96))
    assert found.deviations.tolist() == [2.0] * 16


def test_what_is_written_is_read(tmp_path):
    rng = np.random.default_rng(1)
    table = KmerTable(5, rng.normal(90, 12, 4**5).round(6), rng.uniform(1, 2, 4**5).round(6))
    out = io.StringIO()
    write_kmer_table(out, table)
    found = table_of(tmp_path, out.getvalue())
    assert found.k == 5
    assert np.array_equal(found.means, table.means)
    assert np.array_equal(found.deviations, table.deviations)


def test_the_table_of_f5c(shared_data):
    (path,) = (shared_data / "sigfish-sarscov2").glob("*.model")
    table = read_kmer_table(str(path))
    assert (table.k, len(table.means)) == (6, 4096)
    assert (table.means[0], table.deviations[0], table.means[1]) == (86.486336, 1.517846, 83.948838)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda lines: lines[:3] + lines[4:],
            "x.model: 1 of 16 2-mers are missing: AT is the first; give a whole table",
        ),
        (lambda lines: [], "x.model: no k-mer in it; "),
        (lambda lines: ["AAA\t1\t1", *lines], "line 4: AA is no 3-mer, as the rows before it have; "),
        (lambda lines: [*lines, "AM\t1\t1"], "line 19: letter 'M' in AM: k-mers are of A, C, G and T; "),
        (lambda lines: [*lines, "AN\t1\t1"], "line 19: letter 'N' in AN"),
        (lambda lines: [*lines, lines[0]], "line 19: AA occurs a second time; remove one of the rows"),
        (lambda lines: [*lines[:4], "CA\t1"], "line 7: 2 fields, fewer than the header has; it may be cut off"),
        (lambda lines: [*lines[:4], "CA\tx\t1"], "line 7 (CA): 'x' is not a number; repair the line"),
        (lambda lines: [*lines[:4], "CA\tnan\t1"], "line 7 (CA): a level that is not finite"),
        (lambda lines: [*lines[:4], "CA\t90\t-1"], "line 7 (CA): a level that is not finite, or a deviation below 0"),
        (lambda lines: [f"{'A' * 11}\t1\t1"], "line 3: a 11-mer: k is from 1 to 10; "),
        (lambda lines: ["\t1\t1"], "line 3: a 0-mer: k is from 1 to 10; "),
    ],
)
def test_tables_that_can_not_be_used(tmp_path, change, message):
    with pytest.raises(InputError) as error:
        table_of(tmp_path, rows(change=change))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "#k\t6\n", "AAAAAA\t90\t1\n", "kmer\tlevel_mean\nAA\t1\n"])
def test_headers_that_are_missing(tmp_path, text):
    with pytest.raises(InputError, match=r"line \d: the header has no column (kmer|level_stdv); give a table with"):
        table_of(tmp_path, text)


@pytest.mark.parametrize(
    ("comment", "pore"),
    [("#kit\tr9.4_450bps", "R9"), ("#model_name r10.4.1_400bps.9mer", "R10"), ("#k\t2", ""), ("#r9 and r10", "")],
)
def test_the_pore_of_a_table(tmp_path, comment, pore):
    assert table_of(tmp_path, comment + "\n" + rows()).pore == pore


def test_a_table_of_direct_rna(tmp_path):
    with pytest.raises(
        InputError, match=r"x\.model: holds levels of direct RNA: .*; give the table of the pore for DNA"
    ):
        table_of(tmp_path, "#kit\trna_r9.4_70bps\n" + rows())


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    return KmerTable(3, rng.normal(90, 12, 64), rng.uniform(1, 2, 64))


def by_letters(table, values):
    return {"".join(kmer): values[at] for at, kmer in enumerate(product("ACGT", repeat=table.k))}


def test_each_kmer_has_its_level(table):
    means, deviations = table.levels(encode_sets("ACGTTGu"))
    expected = [by_letters(table, table.means)[kmer] for kmer in ("ACG", "CGT", "GTT", "TTG", "TGT")]
    assert means.tolist() == expected
    assert deviations.tolist() == [by_letters(table, table.deviations)[k] for k in ("ACG", "CGT", "GTT", "TTG", "TGT")]


def test_n_has_the_mean_of_what_it_may_be(table):
    known = by_letters(table, table.means)
    means, _ = table.levels(encode_sets("ACNR"))
    assert means[0] == pytest.approx(np.mean([known["AC" + last] for last in "ACGT"]))
    assert means[1] == pytest.approx(np.mean([known["C" + a + b] for a in "ACGT" for b in "ACGT"]))


def test_sequences_shorter_than_a_kmer_have_no_level(table):
    assert [len(levels) for levels in table.levels(encode_sets("AC"))] == [0, 0]
    assert [len(levels) for levels in table.levels(encode_sets("ACG"))] == [1, 1]
