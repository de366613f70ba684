"""Simulated signatures and samples: the same seed the same bytes, and all that is planted is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pairhmm.errors import InputError
from pairhmm.scan.files import scan_files
from pairhmm.simulate.signatures import simulate_samples, simulate_signatures

SMALL = {
    "num_no_virus": 3,
    "num_with_virus": 2,
    "min_viruses": 3,
    "max_viruses": 6,
    "min_length": 500,
    "max_length": 900,
    "min_phred": 10,
    "max_phred": 30,
    "n_ratio": 0.2,
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    simulate_signatures("sig.fa", count=20, min_length=60, max_length=200, n_ratio=0.1, seed=3)
    simulate_samples("sig.fa", "x.fq", truth="truth.tsv", **SMALL, seed=3)


def rows(name: str, *columns: str) -> list[tuple[str, ...]]:
    head, *lines = Path(name).read_text().splitlines()
    at = [head.lstrip("#").split("\t").index(column) for column in columns]
    return [tuple(line.split("\t")[index] for index in at) for line in lines]


def test_all_that_is_planted_is_found_and_nothing_else(made):
    scan_files("sig.fa", ["x.fq"], "hits.tsv")
    truth = rows("truth.tsv", "sample", "signature", "start", "end", "strand")
    assert 6 <= len(truth) <= 12 and len({row[0] for row in truth}) == 2
    assert sorted(rows("hits.tsv", "record", "signature", "start", "end", "strand")) == sorted(truth)


def test_sizes_and_ratios_are_those_asked_for(made):
    signatures = Path("sig.fa").read_text().splitlines()[1::2]
    assert len(signatures) == 20 and all(60 <= len(one) <= 200 for one in signatures)
    text = Path("x.fq").read_text().splitlines()
    assert len(text) == 4 * 5
    letters, qualities = "".join(text[1::4]), "".join(text[3::4])
    assert 0.15 < letters.count("N") / len(letters) < 0.25
    assert {ord(min(qualities)) - 33, ord(max(qualities)) - 33} == {10, 30}


def test_a_seed_gives_the_same_bytes_and_another_one_others(made):
    written = Path("sig.fa").read_bytes(), Path("x.fq").read_bytes(), Path("truth.tsv").read_bytes()
    simulate_signatures("sig.fa", count=20, min_length=60, max_length=200, n_ratio=0.1, seed=3, overwrite=True)
    simulate_samples("sig.fa", "x.fq", truth="truth.tsv", **SMALL, seed=3, overwrite=True)
    assert (Path("sig.fa").read_bytes(), Path("x.fq").read_bytes(), Path("truth.tsv").read_bytes()) == written
    simulate_samples("sig.fa", "x.fq", **SMALL, seed=4, overwrite=True)
    assert Path("x.fq").read_bytes() != written[1]


def test_samples_of_a_signatures_seed_do_not_hold_them(tmp_path, monkeypatch):
    """Both draw bases: from one stream the samples would begin with the signatures."""
    monkeypatch.chdir(tmp_path)
    simulate_signatures("sig.fa", count=20, min_length=60, max_length=200, n_ratio=0.0, seed=3)
    simulate_samples("sig.fa", "x.fq", **SMALL | {"num_with_virus": 0, "n_ratio": 0.0, "min_length": 200}, seed=3)
    assert scan_files("sig.fa", ["x.fq"], "hits.tsv").hits == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"min_viruses": 7}, "--min-viruses: must be from 1 to --max-viruses"),
        ({"max_viruses": 21}, "--max-viruses: must be at most the 20 signatures"),
        ({"min_length": 0}, "--min-length: must be from 1 to --max-length"),
        ({"max_phred": 94}, "--min-phred: must be from 0 to --max-phred, at most 93"),
        ({"n_ratio": 1.5}, "--n-ratio: must be from 0 to 1"),
        ({"num_no_virus": -1}, "--num-no-virus: must not be negative"),
        ({"seed": -1}, "--seed: must not be negative"),
    ],
)
def test_arguments_out_of_range(made, changed, message):
    with pytest.raises(InputError, match=message):
        simulate_samples("sig.fa", "y.fq", **SMALL | {"seed": 1} | changed)
    assert not Path("y.fq").exists()
    with pytest.raises(InputError, match="--count: must be at least 1"):
        simulate_signatures("y.fa", count=0)
