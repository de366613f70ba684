"""Samples of one individual where one lacks alleles of the other: tumours, cell lines, RNA; and real relatives."""

import numpy as np
import pytest

from pairhmm.map.relatedness import relate_samples
from pairhmm.map.sites import SampleSites, counted_evidence
from pairhmm.variants.genealogy import Genealogy
from tests.map.cohorts import child, founder, frequencies

SITES, ERROR = 3000, 0.002
NAMES = ["father", "mother", "first", "second"]
PARENTS = {"first": ("father", "mother"), "second": ("father", "mother")}


def lost(genotypes, rng, share, purity=1.0):
    """Shares of the alternative allele where one chromosome of segments is gone from `purity` of the cells."""
    is_lost, size = np.zeros(SITES, dtype=bool), SITES // 20
    while is_lost.mean() < share:
        begin = rng.integers(SITES)
        is_lost[begin : begin + size] = True
    kept = np.repeat(rng.integers(0, 2, SITES // size), size)
    return np.where(is_lost & (genotypes == 1), purity * kept + (1 - purity) / 2, genotypes / 2)


def of_rna(genotypes, rng, share):
    """Shares of the alternative allele where genes are read from both copies unequally, or from one only."""
    one_copy = rng.random(SITES) < share
    return np.where(genotypes == 1, np.where(one_copy, rng.integers(0, 2, SITES), rng.beta(5, 5, SITES)), genotypes / 2)


def related(shares, names, depth, rng):
    """What is found of samples with these shares of the alternative allele. `X_Y` is a sample of the individual X."""
    counts = np.zeros((len(shares), SITES, 2), dtype=np.uint16)
    for index, share in enumerate(shares):
        reads = rng.poisson(depth, SITES)
        counts[index, :, 1] = rng.binomial(reads, share * (1 - ERROR) + (1 - share) * ERROR)
        counts[index, :, 0] = reads - counts[index, :, 1]
    samples = len(shares)
    sites = SampleSites(
        tuple(names),
        counted_evidence(tuple(names), counts),
        np.zeros((samples, SITES, 3), dtype=np.uint8),
        np.full((samples, SITES), -1, dtype=np.int8),
        np.full(samples, float(depth)),
    )
    return relate_samples(sites, Genealogy({name: name.split("_")[0] for name in names}, PARENTS))


def people(rng, strangers=0):
    shares = frequencies(SITES)
    father, mother, *others = (founder(shares, rng) for _ in range(2 + strangers))
    return [father, mother, child(father, mother, rng), child(father, mother, rng), *others]


def check(found, noted, what):
    """Every relation is the expected one, nobody is flagged, and pairs with a note are these."""
    for pair in found.pairs():
        assert pair.found == pair.expected and not pair.flags, pair
        assert bool(pair.note) == ((pair.sample_1, pair.sample_2) in noted), pair
        assert what in pair.note or not pair.note
    assert {sample.flags for sample in found.samples} == {()}


@pytest.mark.parametrize("strangers", [0, 30])
@pytest.mark.parametrize(
    ("what", "shares_of"),
    [
        ("loss of heterozygosity in first_tumour", lambda own, rng: lost(own, rng, 0.2)),
        ("loss of heterozygosity in first_tumour", lambda own, rng: lost(own, rng, 0.5)),
        ("loss of heterozygosity in first_tumour", lambda own, rng: lost(own, rng, 0.95)),
        ("allelic imbalance in first_tumour", lambda own, rng: lost(own, rng, 0.3, purity=0.8)),
        ("allelic imbalance in first_tumour", lambda own, rng: of_rna(own, rng, 0.1)),
        ("loss of heterozygosity in first_tumour", lambda own, rng: of_rna(own, rng, 0.5)),
    ],
)
def test_losses_make_no_relative(strangers, what, shares_of):
    rng = np.random.default_rng(41)
    everybody = people(rng, strangers)
    shares = [own / 2 for own in everybody] + [shares_of(everybody[2], rng)]
    names = [*NAMES, *(f"stranger{number}" for number in range(strangers)), "first_tumour"]
    check(related(shares, names, 40, rng), {("first", "first_tumour")}, what)


def test_two_tumours_are_of_one_individual():
    rng = np.random.default_rng(42)
    everybody = people(rng, 30)
    shares = [lost(everybody[2], rng, 0.4)] + [own / 2 for own in everybody] + [lost(everybody[2], rng, 0.3)]
    names = ["first_a", *NAMES, *(f"stranger{number}" for number in range(30)), "first_b"]
    noted = {("first_a", "first"), ("first_a", "first_b"), ("first", "first_b")}
    check(related(shares, names, 20, rng), noted, "loss of heterozygosity")


def test_losses_are_found_at_low_depth():
    rng = np.random.default_rng(43)
    everybody = people(rng, 30)
    shares = [own / 2 for own in everybody] + [lost(everybody[2], rng, 0.3)]
    names = [*NAMES, *(f"stranger{number}" for number in range(30)), "first_tumour"]
    check(related(shares, names, 5, rng), {("first", "first_tumour")}, "loss of heterozygosity in first_tumour")


def test_foreign_reads_of_a_tumour_are_told_from_its_losses():
    rng = np.random.default_rng(44)
    everybody = people(rng, 30)
    mixed = 0.95 * lost(everybody[4], rng, 0.4, purity=0.8) + 0.05 * everybody[9] / 2
    shares = [own / 2 for own in everybody] + [mixed]
    names = [*NAMES, *(f"stranger{number}" for number in range(30)), "stranger0_tumour"]
    *others, tumour = related(shares, names, 30, rng).samples
    assert tumour.flags == ("contaminated",) and {sample.flags for sample in others} == {()}
    assert tumour.contamination_low < 0.05 < tumour.contamination_high


def test_tumours_without_another_sample_have_no_contamination():
    rng = np.random.default_rng(45)
    everybody = people(rng, 30)
    shares = [own / 2 for own in everybody] + [lost(everybody[4], rng, share) for share in (0.3, 0.4)]
    names = [*NAMES, *(f"stranger{number}" for number in range(30)), "stranger0_a", "stranger0_b"]
    found = related([*shares[:4], *shares[5:]], [*names[:4], *names[5:]], 30, rng)
    assert [pair.found for pair in found.pairs()][-1] == "identical"
    assert all(np.isnan(sample.contamination) for sample in found.samples[-2:])
