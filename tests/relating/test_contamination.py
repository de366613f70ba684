"""Shares of foreign reads, against plain loops and simulated cohorts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pairhmm.relating import contamination
from pairhmm.relating.alleles import AlleleUrn, CohortAlleles
from pairhmm.relating.cohort import counted_evidence
from pairhmm.relating.contamination import POPULATION, estimate_contamination
from pairhmm.relating.likelihoods import add_reads, allele_frequencies
from tests.relating.cohorts import child, founder, frequencies, reads

SITES = 4000


def estimate(genotypes, depth, seed, foreign=None, error=0.005):
    counts = reads(genotypes, depth, np.random.default_rng(seed), foreign, error)
    names = tuple(f"s{index}" for index in range(len(genotypes)))
    evidence = counted_evidence(names, counts)
    likelihoods = add_reads(np.zeros((*counts.shape[:2], 3), dtype=np.float32), evidence)
    return estimate_contamination(evidence, likelihoods, allele_frequencies(likelihoods))


def founders(count, sites=SITES, seed=5):
    rng = np.random.default_rng(seed)
    shares = frequencies(sites)
    return [founder(shares, rng) for _ in range(count)]


def test_likelihoods_are_those_of_plain_loops():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 4, (1, 12, 2)).astype(np.uint16)
    evidence = counted_evidence(("a",), counts)
    own = contamination._Reads(evidence, 0)
    shares, error = np.array([0.0, 0.1, 0.5]), 0.003
    found = own.likelihoods(shares, error)
    odds = 0.995 / 0.005
    for place, site in enumerate(own.sites):
        reference, alternative = counts[0, site].tolist()

        def plain(share, one, other, reference=reference, alternative=alternative):
            q = (1 - share) * one / 2 + share * other / 2
            q = q * (1 - error) + (1 - q) * error
            return ((1 - q) + q / odds) ** reference * ((1 - q) + q * odds) ** alternative

        best = max(plain(0, one, 0) for one in range(3))
        for one, other, (index, share) in product(range(3), range(3), enumerate(shares)):
            assert found[one, other, index, place] == pytest.approx(plain(share, one, other) / best, rel=1e-4)


def drawn(urn, site, alleles):
    """Probability to draw these alleles from an urn, one after the other."""
    alternative, total, result = urn.alternative[site], urn.total[site], 1.0
    for number, allele in enumerate(alleles):
        share = (alternative + sum(alleles[:number])) / (total + number)
        result *= share if allele else 1 - share
    return result


def test_genotypes_are_pairs_of_drawn_alleles():
    urn = AlleleUrn(np.array([0.7, 12.0]), np.array([2.0, 60.0]))
    for site, (first, second) in product(range(2), product(range(3), repeat=2)):
        pairs = [[(a, b) for a in range(2) for b in range(2) if a + b == genotype] for genotype in (first, second)]
        expected = sum(drawn(urn, site, one + other) for one, other in product(*pairs))
        assert urn.genotypes[first, site] * urn.after(first).genotypes[second, site] == pytest.approx(expected)


def test_relatives_share_the_alleles_that_probabilities_say():
    urn = AlleleUrn(np.array([0.5, 14.0]), np.array([2.5, 20.0]))
    joint = np.random.default_rng(1).random((3, 3, 1, 2)).astype(np.float32)
    found = contamination._by_ancestry(joint, urn)
    for site, (a, b) in product(range(2), product(range(2), repeat=2)):
        other, own = a + b, joint[:, a + b, 0, site]
        of_other = drawn(urn, site, (a, b))
        none = sum(drawn(urn, site, (a, b, c, d)) * own[c + d] for c, d in product(range(2), repeat=2)) / of_other
        # One of the two alleles is shared, and the other is drawn.
        one = sum(drawn(urn, site, (a, b, c)) * (own[a + c] + own[b + c]) / 2 for c in range(2)) / of_other
        np.testing.assert_allclose(found[:, other, 0, site], [none, one, own[other]], rtol=1e-5)


def certain(genotypes):
    likelihoods = np.full((len(genotypes), len(genotypes[0]), 3), -30, dtype=np.float32)
    for sample, own in enumerate(genotypes):
        likelihoods[sample, np.arange(len(own)), own] = 0
    return likelihoods


def test_the_urn_leaves_samples_out():
    genotypes = founders(30, 50)
    everybody = np.mean(genotypes, axis=0) / 2
    urn = CohortAlleles(certain(genotypes), everybody).without(0, 1)
    left = np.clip(np.mean(genotypes[2:], axis=0) / 2, 0.005, 0.995)
    np.testing.assert_allclose(urn.frequencies, left, atol=1e-6)
    # 28 samples of two alleles, and one more of each.
    np.testing.assert_allclose(urn.total, 58, rtol=1e-3)


def test_samples_of_one_individual_are_alike():
    father, mother, other = founders(3)
    genotypes = [*founders(20, seed=9), father, mother, child(father, mother, np.random.default_rng(1)), other, other]
    likelihoods = certain(genotypes)
    found = CohortAlleles(likelihoods, allele_frequencies(likelihoods)).likeness(24)
    assert found[23] > 0.85 and np.abs(found[:23]).max() < 0.2
    found = CohortAlleles(likelihoods, allele_frequencies(likelihoods)).likeness(22)
    assert found[[20, 21]] == pytest.approx(0.5, abs=0.1)


def test_a_frequency_that_is_given_has_nothing_of_the_samples():
    is_given = np.arange(50) < 20
    cohort = CohortAlleles(certain(founders(30, 50)), np.full(50, 0.3), is_given)
    urn = cohort.without(0)
    np.testing.assert_allclose(urn.frequencies[is_given], 0.3)
    assert urn.total[is_given].min() > 1e5 > urn.total[~is_given].max()


def test_the_share_and_its_source_are_found():
    found = estimate(founders(24), 30, 1, {3: (7, 0.03), 9: (15, 0.1)})
    assert np.flatnonzero(found.is_contaminated).tolist() == [3, 9]
    assert found.source[[3, 9]].tolist() == [7, 15]
    for sample, truth in ((3, 0.03), (9, 0.1)):
        assert found.fraction[sample] == pytest.approx(truth, rel=0.1)
        assert found.low[sample] < found.fraction[sample] < found.high[sample]
    assert np.delete(found.fraction, [3, 9]).max() < 0.005


def test_a_source_outside_the_cohort_is_the_population():
    genotypes = founders(25)
    counts = reads(genotypes, 30, np.random.default_rng(2), {0: (24, 0.05)})[:24]
    evidence = counted_evidence(tuple(map(str, range(24))), counts)
    likelihoods = add_reads(np.zeros((*counts.shape[:2], 3), dtype=np.float32), evidence)
    found = estimate_contamination(evidence, likelihoods, allele_frequencies(likelihoods))
    assert found.source[0] == POPULATION
    assert found.fraction[0] == pytest.approx(0.05, rel=0.15)
    assert np.flatnonzero(found.is_contaminated).tolist() == [0]


@pytest.mark.parametrize("depth", [2, 30])
def test_relatives_and_duplicates_are_no_sources(depth):
    people = founders(20)
    rng = np.random.default_rng(8)
    people += [child(people[0], people[1], rng) for _ in range(2)] + [people[2], people[2]]
    found = estimate(people, depth, 4)
    assert not found.is_contaminated.any()


def test_wrong_reads_of_all_samples_are_no_foreign_ones():
    # Twice as many as likelihoods of reads say, and a fifth.
    for error in (0.01, 0.001):
        found = estimate(founders(24), 2, 6, error=error)
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
    evidence = counted_evidence(tuple("abcdef"), counts)
    likelihoods = add_reads(np.zeros((6, 500, 3), dtype=np.float32), evidence)
    found = estimate_contamination(evidence, likelihoods, allele_frequencies(likelihoods))
    assert np.isnan(found.fraction).tolist() == [False, False, True, False, False, False]
    assert not found.is_contaminated.any()


@pytest.mark.parametrize("depth", [2, 30])
def test_a_few_clean_samples_are_not_flagged(depth):
    found = estimate(founders(3), depth, 3)
    assert not found.is_contaminated.any()


@pytest.mark.parametrize("is_given", [False, True])
def test_a_second_sample_of_an_individual_is_no_source(is_given):
    shares = frequencies(SITES)
    genotypes = founders(16) + [founder(shares, np.random.default_rng(77))] * 3
    counts = reads(genotypes, 4, np.random.default_rng(3), {17: (2, 0.1)})
    evidence = counted_evidence(tuple(map(str, range(19))), counts)
    likelihoods = add_reads(np.zeros((*counts.shape[:2], 3), dtype=np.float32), evidence)
    of_cohort = allele_frequencies(likelihoods)
    given = np.ones(SITES, dtype=bool) if is_given else None
    found = estimate_contamination(evidence, likelihoods, shares if is_given else of_cohort, given)
    assert np.flatnonzero(found.is_contaminated).tolist() == [17] and found.source[17] in (2, POPULATION)
    assert found.fraction[17] == pytest.approx(0.1, abs=0.03)
