"""Simulated cohorts, and what `map relate` finds in them."""

from __future__ import annotations

import csv
from pathlib import Path

import pysam
import pytest

from pairhmm.errors import InputError, OptionError
from pairhmm.map.relate import write_relations
from pairhmm.simulate.cohort import FILES, simulate_cohort

FAULTS = {"swaps": 3, "duplicates": 2, "contamination": (0.03, 0.1)}


def rows(path):
    with open(path) as lines:
        names, *cells = csv.reader(lines, delimiter="\t")
    return [dict(zip([name.removeprefix("#") for name in names], one, strict=True)) for one in cells]


def expected_flags(truth):
    """Flags of each sample: those of its own faults, and of the samples that it or others duplicate."""
    twice = {one["true_individual"] for one in truth if one["duplicate_of"] != "."}
    for one in truth:
        flags = {"swap?"} if one["swapped_with"] != "." else set()
        flags |= {"duplicate"} if one["true_individual"] in twice else set()
        yield one["sample"], flags | ({"contaminated"} if one["contamination_source"] != "." else set())


@pytest.mark.parametrize(("depth", "sites", "seed"), [(30, 4_000, 1), (2, 10_000, 2)])
def test_all_faults_of_a_cohort_are_found_and_no_others(tmp_path, depth, sites, seed):
    folder, found = tmp_path / "cohort", tmp_path / "found.tsv"
    simulate_cohort(folder, depth=depth, sites=sites, seed=seed, **FAULTS)
    write_relations([folder / "cohort.vcf.gz"], tmp_path / "pairs.tsv", found, sheet=folder / "samples.tsv")
    truth, samples = rows(folder / "truth.tsv"), rows(found)
    assert len(samples) == 60
    assert {one["sample"]: set(one["flags"].split(",")) - {"."} for one in samples} == dict(expected_flags(truth))
    for known, one in zip(truth, samples, strict=True):
        if known["contamination_source"] != ".":
            assert float(one["contamination"]) == pytest.approx(float(known["contamination"]), abs=0.012)
    # Pairs with a fault are those of the samples with one.
    flagged = {
        name for pair in rows(tmp_path / "pairs.tsv") if pair["flags"] != "." for name in list(pair.values())[:2]
    }
    faulty = {name for name, flags in expected_flags(truth) if flags & {"swap?", "duplicate"}}
    assert faulty <= flagged


def test_the_files_can_be_read_and_the_same_options_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        simulate_cohort(tmp_path / name, sites=60, depth=3, **FAULTS)
    for file in FILES:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    with pysam.VariantFile(str(tmp_path / "a" / "cohort.vcf.gz")) as calls:
        names, records = list(calls.header.samples), list(calls.fetch("chr2"))
    assert len(records) == 3
    for record in records:
        for call in record.samples.values():
            assert sum(call["AD"]) == call["DP"]
            assert call["DP"] == 0 or call["PL"][sum(call["GT"])] == 0
    sheet = rows(tmp_path / "a" / "samples.tsv")
    assert [one["sample"] for one in sheet] == names
    assert [one["father"] for one in sheet[:4]] == ["", "", "family1_father", "family1_father"]


def test_there_may_be_families_only(tmp_path):
    simulate_cohort(tmp_path / "a", families=1, individuals=0, sites=5, depth=0)
    assert len(rows(tmp_path / "a" / "truth.tsv")) == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"swaps": 40}, "too few samples of .*raise --families or --individuals"),
        ({"families": 0, "individuals": 0}, "the cohort has no sample"),
    ],
)
def test_cohorts_that_can_not_be_made(tmp_path, given, message):
    with pytest.raises(InputError, match=message):
        simulate_cohort(tmp_path / "a", sites=5, **given)
    assert not Path(tmp_path / "a").exists()


@pytest.mark.parametrize(
    "given",
    [{"sites": 0}, {"families": -1}, {"contamination": (0.6,)}, {"depth": -1}, {"error_rate": 0}, {"samples_each": 0}],
)
def test_arguments_out_of_range(tmp_path, given):
    with pytest.raises(OptionError):
        simulate_cohort(tmp_path / "a", **given)
