"""Shares of foreign reads in simulated cohorts."""

import numpy as np
import pytest

from pairhmm.map.contamination import POPULATION, estimate_contamination, least_gain
from pairhmm.map.genotype_likelihoods import allele_frequencies
from tests.map.cohorts import child, evidence, founder, founders, frequencies, likelihoods_of, reads

SITES = 4000


def estimate_counts(counts, **given):
    likelihoods = likelihoods_of(counts)
    given = {"frequencies": allele_frequencies(likelihoods)} | given
    return estimate_contamination(evidence(counts), likelihoods, **given)


def estimate(genotypes, depth, seed, foreign=None, error=0.005):
    return estimate_counts(reads(genotypes, depth, np.random.default_rng(seed), foreign, error))


def test_the_share_and_its_source_are_found():
    found = estimate(founders(24, SITES), 30, 1, {3: (7, 0.03), 9: (15, 0.1)})
    assert np.flatnonzero(found.is_contaminated).tolist() == [3, 9]
    assert found.source[[3, 9]].tolist() == [7, 15]
    for sample, truth in ((3, 0.03), (9, 0.1)):
        assert found.fraction[sample] == pytest.approx(truth, rel=0.1)
        assert found.low[sample] < found.fraction[sample] < found.high[sample]
    assert np.delete(found.fraction, [3, 9]).max() < 0.005


def test_a_source_outside_the_cohort_is_the_population():
    genotypes = founders(25, SITES)
    counts = reads(genotypes, 30, np.random.default_rng(2), {0: (24, 0.05)})[:24]
    found = estimate_counts(counts)
    assert found.source[0] == POPULATION
    assert found.fraction[0] == pytest.approx(0.05, rel=0.15)
    assert np.flatnonzero(found.is_contaminated).tolist() == [0]


@pytest.mark.parametrize("depth", [2, 30])
def test_relatives_and_duplicates_are_no_sources(depth):
    people = founders(20, SITES)
    rng = np.random.default_rng(8)
    people += [child(people[0], people[1], rng) for _ in range(2)] + [people[2], people[2]]
    found = estimate(people, depth, 4)
    assert not found.is_contaminated.any()


def test_wrong_reads_of_all_samples_are_no_foreign_ones():
    # Twice as many as likelihoods of reads say, and a fifth.
    for error in (0.01, 0.001):
        found = estimate(founders(24, SITES), 2, 6, error=error)
        assert not found.is_contaminated.any()
        assert np.mean(found.low == 0) > 0.8


@pytest.mark.parametrize(("depth", "truth"), [(2, 0.1), (10, 0.03)])
def test_the_interval_holds_the_truth(depth, truth):
    covered = []
    for seed in range(5):
        found = estimate(founders(16, 2500, seed), depth, seed, {index: (index + 8, truth) for index in range(4)})
        covered += ((found.low[:4] <= truth) & (truth <= found.high[:4])).tolist()
        covered += (found.low[4:] <= 0).tolist()
    # Of 80, 95% in the mean.
    assert sum(covered) >= 70


def test_samples_without_reads_are_not_known():
    counts = reads(founders(6, 500), 20, np.random.default_rng(1))
    counts[2] = 0
    found = estimate_counts(counts)
    assert np.isnan(found.fraction).tolist() == [False, False, True, False, False, False]
    assert not found.is_contaminated.any()


@pytest.mark.parametrize("depth", [2, 30])
def test_a_few_clean_samples_are_not_flagged(depth):
    found = estimate(founders(3, SITES), depth, 3)
    assert not found.is_contaminated.any()


def test_other_samples_of_an_individual_make_foreign_reads_visible():
    # Alone, a gain of about 3 is expected.
    people = founders(10, SITES)
    alone = estimate(people, 2, 5, {3: (7, 0.04)})
    assert not alone.is_contaminated.any() and alone.gain[3] < 8
    found = estimate([*people, people[3], people[3]], 2, 5, {3: (7, 0.04)})
    assert np.flatnonzero(found.is_contaminated).tolist() == [3]
    assert found.low[3] < 0.04 < found.high[3]


def test_a_relative_is_no_source_of_anothers_reads():
    people, rng = founders(10, SITES), np.random.default_rng(4)
    people += [child(people[0], people[1], rng) for _ in range(2)]
    found = estimate(people, 5, 7, {10: (9, 0.1), 11: (1, 0.2)})
    assert np.flatnonzero(found.is_contaminated).tolist() == [10, 11]
    assert found.source[[10, 11]].tolist() == [9, 1]
    assert (found.low[[10, 11]] < [0.1, 0.2]).all() and (found.high[[10, 11]] > [0.1, 0.2]).all()


def test_the_gain_that_is_asked_for_grows_with_the_samples():
    # Of a standard normal number: 1 in 1,000 is above 3.09, and 1 in 60,000 above 4.15.
    assert least_gain(1) == pytest.approx(3.09**2 / 2, abs=0.01)
    assert least_gain(60) == pytest.approx(4.15**2 / 2, abs=0.02)


@pytest.mark.parametrize("is_given", [False, True])
def test_a_second_sample_of_an_individual_is_no_source(is_given):
    shares = frequencies(SITES)
    genotypes = founders(16, SITES) + [founder(shares, np.random.default_rng(77))] * 3
    counts = reads(genotypes, 4, np.random.default_rng(3), {17: (2, 0.1)})
    given = {"frequencies": shares, "is_given": np.ones(SITES, dtype=bool)} if is_given else {}
    found = estimate_counts(counts, **given)
    assert np.flatnonzero(found.is_contaminated).tolist() == [17] and found.source[17] in (2, POPULATION)
    assert found.fraction[17] == pytest.approx(0.1, abs=0.03)
