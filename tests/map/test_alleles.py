"""The alleles of a cohort, without some individuals and their relatives."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.map.genotype_likelihoods import allele_frequencies
from pairhmm.map.population import CohortAlleles
from tests.map.cohorts import certain, child, founder, frequencies

SITES = 4000


def founders(count, sites=SITES, seed=5):
    rng = np.random.default_rng(seed)
    shares = frequencies(sites)
    return [founder(shares, rng) for _ in range(count)]


def alleles_of(genotypes):
    likelihoods = certain(genotypes)
    return CohortAlleles(likelihoods, allele_frequencies(likelihoods))


def test_the_urn_leaves_individuals_out():
    genotypes = founders(30)
    urn = alleles_of(genotypes).without(0, 1)
    # 28 individuals of two alleles, and a few more for the spectrum of frequencies.
    others = np.sum(genotypes[2:], axis=0)
    added = urn.total - 56
    assert added.max() - added.min() < 1e-3 and 2 < added[0] < 4
    np.testing.assert_allclose(urn.alternative - others, added / 2, atol=0.1)


def test_heterozygotes_are_as_frequent_as_the_urn_says():
    urn = alleles_of(founders(12)).without(0)
    shares = frequencies(SITES)
    assert urn.genotypes[1].mean() == pytest.approx((2 * shares * (1 - shares)).mean(), abs=0.01)


def test_relatives_are_left_out_and_tell_less_of_the_population():
    rng, genotypes = np.random.default_rng(2), founders(24)
    families = [genotypes[0], genotypes[1], *(child(genotypes[0], genotypes[1], rng) for _ in range(4))]
    alleles = alleles_of([*families, *genotypes[2:]])
    strangers, of_child = alleles_of(genotypes), alleles.without(2)
    # Without the six of the family, 22 strangers are left.
    added = strangers.without(0, 1).total.mean() - 2 * 22
    assert of_child.total.mean() - added == pytest.approx(2 * 22, abs=0.5)
    # 21 strangers and the family are 27, whose correlations add up to 41: 27 ** 2 / 41 = 17.8.
    assert 2 * 17 < alleles.without(10).total.mean() - added < 2 * 20


def test_relatives_are_alike():
    father, mother, other = founders(3)
    genotypes = [*founders(20, seed=9), father, mother, child(father, mother, np.random.default_rng(1)), other, other]
    found = alleles_of(genotypes).likeness
    assert found[24, 23] > 0.85 and np.abs(found[24, :23]).max() < 0.2
    assert found[22, [20, 21]] == pytest.approx(0.5, abs=0.1)


def test_a_frequency_that_is_given_has_nothing_of_the_samples():
    is_given = np.arange(50) < 20
    urn = CohortAlleles(certain(founders(30, 50)), np.full(50, 0.3), is_given).without(0)
    np.testing.assert_allclose(urn.frequencies[is_given], 0.3)
    assert urn.total[is_given].min() > 1e5 > urn.total[~is_given].max()


def test_of_relatives_alone_an_urn_knows_nothing():
    rng, (father, mother) = np.random.default_rng(2), founders(2)
    urn = alleles_of([father, mother, child(father, mother, rng)]).without(2)
    assert urn.total.max() < 10 and np.isfinite(urn.frequencies).all()
