from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pairhmm.sequences.letters import encode_sets
from pairhmm.warp.kmers import KmerTable


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
