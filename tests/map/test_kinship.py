"""Relations by likelihood: against sums over genotypes and shared alleles, and on simulated families."""

from itertools import product
from math import log

import numpy as np
import pytest

from pairhmm.map import kinship as module
from pairhmm.map.drift import OUTLIERS
from pairhmm.map.genotype_likelihoods import allele_frequencies
from pairhmm.map.kinship import (
    SharedAlleles,
    UncertainFrequencies,
    all_pairs,
    best_relations,
    kinship,
    log_likelihoods,
)
from pairhmm.variants.genealogy import IBD, RELATIONS, UNKNOWN, UNRELATED
from tests.map import cohorts


def probability(p, shared, first, second):
    """P(genotypes of two samples | how many alleles are shared), by all ways to draw their alleles."""
    total = 0.0
    for alleles in product((0, 1), repeat=4 - shared):
        weight = np.prod([p if allele else 1 - p for allele in alleles])
        common, rest = alleles[:shared], alleles[shared:]
        own, other = rest[: 2 - shared], rest[2 - shared :]
        total += weight * (sum(common + own) == first and sum(common + other) == second)
    return total


def looped(own, other, p):
    """A0, A1, A2 of a site, not divided by A0."""
    return [
        sum(own[a] * other[b] * probability(p, shared, a, b) for a, b in product(range(3), repeat=2))
        for shared in range(3)
    ]


def some_likelihoods(samples, sites):
    found = np.random.default_rng(4).uniform(-6, 0, (samples, sites, 3)).astype(np.float32)
    return found - found.max(axis=2, keepdims=True)


def test_shared_alleles_are_sums_over_genotypes():
    likelihoods, frequencies = some_likelihoods(3, 5), np.array([0.05, 0.3, 0.5, 0.8, 0.97])
    first, second = all_pairs(3)
    one, two = SharedAlleles.of(likelihoods, frequencies).of_pairs(first, second)
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        for site, p in enumerate(frequencies):
            sums = looped(np.exp(likelihoods[i, site]), np.exp(likelihoods[j, site]), p)
            assert one[pair, site] == pytest.approx(sums[1] / sums[0], rel=1e-5)
            assert two[pair, site] == pytest.approx(sums[2] / sums[0], rel=1e-5)


def test_uncertain_frequencies_are_the_mean_over_all():
    likelihoods = some_likelihoods(2, 3)
    one, two = UncertainFrequencies(likelihoods).of_pairs(*all_pairs(2))
    steps = (np.arange(400) + 0.5) / 400
    for site in range(3):
        own, other = np.exp(likelihoods[:, site])
        sums = np.sum([looped(own, other, p) for p in steps], axis=0)
        assert one[0, site] == pytest.approx(sums[1] / sums[0], rel=1e-4)
        assert two[0, site] == pytest.approx(sums[2] / sums[0], rel=1e-4)


def test_likelihoods_of_relations_are_sums_of_logarithms():
    one, two = np.random.default_rng(3).uniform(0, 2, (2, 4, 30)).astype(np.float32)
    found = log_likelihoods(one, two)
    for pair in range(4):
        for relation, (k0, k1, k2) in enumerate(IBD):
            expected = sum(
                log(OUTLIERS + (1 - OUTLIERS) * (k0 + k1 * a + k2 * b))
                for a, b in zip(one[pair], two[pair], strict=True)
            )
            assert found[pair, relation] == pytest.approx(expected, abs=1e-4)


def test_probabilities_of_shared_alleles_sum_to_one():
    assert IBD.sum(axis=1).tolist() == [1.0] * len(RELATIONS)


def test_a_small_lead_is_no_relation():
    assert best_relations(np.array([[0.0, 4.0, 1.0, -5.0, -9.0], [0.0, 5.0, 0.0, -5.0, -9.0]])).tolist() == [UNKNOWN, 1]


def relations(found, samples):
    names = [RELATIONS[number] if number != UNKNOWN else "." for number in found.relation]
    return dict(zip(zip(*all_pairs(samples), strict=True), names, strict=True))


@pytest.mark.parametrize("prefilter", [False, True])
@pytest.mark.parametrize("depth", [30, 2])
def test_a_family_among_strangers(monkeypatch, depth, prefilter):
    if prefilter:
        monkeypatch.setattr(module, "ALL_PAIRS", 0)
        monkeypatch.setattr(module, "_ROWS", 16)
    rng = np.random.default_rng(7)
    genotypes, close = cohorts.family(cohorts.frequencies(10_000), rng, strangers=44)
    likelihoods = cohorts.likelihoods_of(cohorts.reads(genotypes, depth, rng))
    shared = SharedAlleles.of(likelihoods, allele_frequencies(likelihoods))
    found = kinship(shared, np.ones(len(all_pairs(50)[0]), dtype=bool))
    named = relations(found, 50)
    for pair, relation in named.items():
        expected = close.get(pair, "unrelated")
        # At 2x, second degree may be too far to tell.
        assert relation == expected or (depth == 2 and expected == "related" and relation in (".", "unrelated")), pair
    values = dict(zip(named, found.relatedness.tolist(), strict=True))
    assert values[2, 5] == pytest.approx(1, abs=0.1)
    assert values[0, 2] == pytest.approx(0.5, abs=0.1)
    assert values[2, 3] == pytest.approx(0.5, abs=0.12)
    assert values[0, 1] == pytest.approx(0, abs=0.05 if prefilter else 0.03)


@pytest.mark.parametrize("depth", [30, 2])
def test_a_trio_alone(depth):
    rng = np.random.default_rng(8)
    genotypes, _ = cohorts.family(cohorts.frequencies(10_000), rng)
    likelihoods = cohorts.likelihoods_of(cohorts.reads(genotypes[:3], depth, rng))
    found = kinship(UncertainFrequencies(likelihoods), np.zeros(3, dtype=bool))
    assert relations(found, 3) == {(0, 1): "unrelated", (0, 2): "parent-child", (1, 2): "parent-child"}


@pytest.mark.parametrize("depth", [30, 2])
def test_foreign_reads_make_no_relatives(depth):
    rng = np.random.default_rng(9)
    shares = cohorts.frequencies(10_000)
    genotypes = [cohorts.founder(shares, rng) for _ in range(40)]
    likelihoods = cohorts.likelihoods_of(cohorts.reads(genotypes, depth, rng, {3: (5, 0.03), 7: (9, 0.1)}))
    found = kinship(SharedAlleles.of(likelihoods, allele_frequencies(likelihoods)), np.zeros(780, dtype=bool))
    assert (found.relation == UNRELATED).all()


def test_a_few_sites_tell_nothing():
    rng = np.random.default_rng(10)
    genotypes = [cohorts.founder(cohorts.frequencies(5), rng) for _ in range(40)]
    likelihoods = cohorts.likelihoods_of(cohorts.reads(genotypes, 2, rng))
    found = kinship(SharedAlleles.of(likelihoods, allele_frequencies(likelihoods)), np.zeros(780, dtype=bool))
    assert (found.relation == UNKNOWN).mean() > 0.95


def test_relatedness_is_where_the_likelihood_is_highest():
    rng = np.random.default_rng(11)
    one, two = rng.gamma(0.5, 2, (2, 12, 60)).astype(np.float32) + np.float32(1e-6)
    found = module._estimated_relatedness(one, two)
    k1, k2 = (axis.ravel() for axis in np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)))
    k1, k2 = k1[k1 + k2 <= 1], k2[k1 + k2 <= 1]
    for pair in range(12):
        sites = 1 + k1[:, None] * (one[pair] - 1) + k2[:, None] * (two[pair] - 1)
        best = np.log(np.maximum(sites, 1e-9)).sum(axis=1).argmax()
        assert found[pair] == pytest.approx(k1[best] / 2 + k2[best], abs=0.02)
