"""Which samples are of one individual, by their genotypes."""

import numpy as np
import pytest

from pairhmm.map.genotype_likelihoods import LEAST, allele_frequencies
from pairhmm.map.individuals import find_individuals
from pairhmm.map.population import CohortAlleles
from tests.map.cohorts import child, founder, frequencies, likelihoods_of, reads

SITES = 2000


def individuals_of(genotypes, depth, foreign=None, shares=None):
    likelihoods = likelihoods_of(reads(genotypes, depth, np.random.default_rng(7), foreign))
    found = allele_frequencies(likelihoods) if shares is None else shares
    return find_individuals(likelihoods, found, CohortAlleles(likelihoods, found).correlations, shares is not None)


@pytest.mark.parametrize("strangers", [1, 34])
@pytest.mark.parametrize("depth", [2, 30])
@pytest.mark.parametrize("are_given", [False, True])
def test_samples_of_one_individual_are_found(strangers, depth, are_given):
    rng, shares = np.random.default_rng(3), frequencies(SITES)
    father, mother, *others = (founder(shares, rng) for _ in range(2 + strangers))
    first, second = child(father, mother, rng), child(father, mother, rng)
    genotypes = [*others, first, father, mother, second, first, first, father]
    found = individuals_of(genotypes, depth, shares=shares if are_given else None)
    own = np.arange(strangers, strangers + 4)
    assert found.of_sample.tolist() == [*range(strangers), *own, own[0], own[0], own[1]]
    assert found.first_sample.tolist() == [*range(strangers), *own]


def test_foreign_reads_hide_no_individual():
    rng, shares = np.random.default_rng(3), frequencies(SITES)
    genotypes = [founder(shares, rng) for _ in range(34)]
    found = individuals_of([*genotypes, genotypes[3]], 2, {34: (5, 0.1)})
    assert found.of_sample[34] == 3


def test_likelihoods_of_an_individual_are_those_of_its_samples():
    rng, shares = np.random.default_rng(3), frequencies(SITES)
    one, other = founder(shares, rng), founder(shares, rng)
    likelihoods = likelihoods_of(reads([one, other, one, one], 2, rng))
    individuals = find_individuals(likelihoods, shares, np.ones((4, 4), dtype=np.float32), True)
    assert individuals.of_sample.tolist() == [0, 1, 0, 0]

    def total(*samples):
        summed = likelihoods[list(samples)].sum(axis=0)
        return np.maximum(summed - summed.max(axis=1, keepdims=True), LEAST)

    np.testing.assert_allclose(individuals.likelihoods(likelihoods), [total(0, 2, 3), total(1)], atol=1e-4)
    np.testing.assert_allclose(individuals.by_others(likelihoods, 2), total(0, 3), atol=1e-4)
    assert not individuals.by_others(likelihoods, 1).any()
