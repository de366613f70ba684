"""Simulated cohorts: faults that are planned, reads that are drawn, and what `map relate` finds in them."""

import csv
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.errors import InputError, OptionError
from pairhmm.map.relate import write_relations
from pairhmm.simulate.cohort import FILES, draw_genotypes, draw_reads, plan_individuals, plan_samples, simulate_cohort


def planned(seed=1, families=4, individuals=14, samples_each=3, swaps=3, duplicates=2, contamination=(0.03, 0.1)):
    people = plan_individuals(families, individuals)
    rng = np.random.default_rng(seed)
    return plan_samples(rng, people, families, samples_each, swaps, duplicates, contamination)


@pytest.mark.parametrize("seed", range(10))
def test_faults_are_as_many_as_asked_and_apart(seed):
    people, samples = planned(seed)
    by_name = {one.name: one for one in samples}
    parents = {one.name: one.father for one in people}
    swapped = [one for one in samples if one.swapped_with]
    assert (len(samples), len(swapped)) == (60, 6)
    for one in swapped:
        other = by_name[one.swapped_with]
        assert (one.true_individual, other.true_individual) == (other.individual, one.individual)
        assert not parents[one.individual] or parents[one.individual] != parents[other.individual]
    copies = [one for one in samples if one.duplicate_of]
    assert [by_name[one.duplicate_of].true_individual for one in copies] == [one.true_individual for one in copies]
    tainted = [one for one in samples if one.source]
    assert sorted(one.contamination for one in tainted) == [0.03, 0.1]
    assert all(one.source != one.true_individual for one in tainted)
    assert len({one.name for one in (*swapped, *copies, *tainted)}) == 10


def test_samples_without_faults_are_what_they_say():
    _, samples = planned(swaps=0, duplicates=0, contamination=())
    assert all(one.individual == one.true_individual for one in samples)


@pytest.mark.parametrize("given", [{"families": 0, "samples_each": 2}, {"swaps": 20}, {"duplicates": 99}])
def test_too_many_faults(given):
    with pytest.raises(ValueError, match="too few samples"):
        planned(**given)


def test_children_have_an_allele_of_each_parent():
    people = plan_individuals(2, 0)
    genotypes = draw_genotypes(np.random.default_rng(1), people, np.full(500, 0.4))
    for one in people:
        if one.father:
            for parent in (one.father, one.mother):
                assert (np.abs(genotypes[one.name].astype(int) - genotypes[parent]) < 2).all()


def test_reads_have_the_depth_the_errors_and_the_foreign_alleles_that_are_asked():
    _, samples = planned(2, swaps=0, duplicates=0, contamination=(0.2,))
    genotypes = {one.true_individual: np.zeros(4000, np.int8) for one in samples}
    tainted = next(index for index, one in enumerate(samples) if one.source)
    genotypes[samples[tainted].source] = np.full(4000, 2, np.int8)
    counts = draw_reads(np.random.default_rng(1), samples, genotypes, 5.0, 0.01)
    depth = counts.reference + counts.alternative
    assert depth.mean() == pytest.approx(5, rel=0.02)
    clean = [index for index, one in enumerate(samples) if not genotypes[one.true_individual].any() and not one.source]
    assert counts.alternative[:, clean].sum() / depth[:, clean].sum() == pytest.approx(0.01, rel=0.1)
    share = counts.alternative[:, tainted].sum() / depth[:, tainted].sum()
    assert share == pytest.approx(0.2 * 0.99 + 0.8 * 0.01, rel=0.05)


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
        ({"swaps": 40}, "^swaps, duplicates, contamination: .*too few samples of .*raise families or individuals"),
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
