"""Alleles of a cohort without some individuals and their relatives; and axes of ancestry."""

import numpy as np
import pytest

from pairhmm.map.contamination import estimate_contamination
from pairhmm.map.drift import DriftedPairs
from pairhmm.map.genotype_likelihoods import allele_frequencies
from pairhmm.map.population import CohortAlleles, find_axes
from tests.map.cohorts import (
    certain,
    child,
    evidence,
    founder,
    founders,
    frequencies,
    likelihoods_of,
    populations,
    reads,
)

SITES = 4000


def alleles_of(genotypes):
    likelihoods = certain(genotypes)
    return CohortAlleles(likelihoods, allele_frequencies(likelihoods))


def test_the_urn_leaves_individuals_out():
    genotypes = founders(30, SITES)
    urn = alleles_of(genotypes).without(0, 1)
    # 28 individuals of two alleles, and a few more for the spectrum of frequencies.
    others = np.sum(genotypes[2:], axis=0)
    added = urn.total - 56
    assert added.max() - added.min() < 1e-3 and 2 < added[0] < 4
    np.testing.assert_allclose(urn.alternative - others, added / 2, atol=0.1)


def test_heterozygotes_are_as_frequent_as_the_urn_says():
    urn = alleles_of(founders(12, SITES)).without(0)
    shares = frequencies(SITES)
    assert urn.genotypes[1].mean() == pytest.approx((2 * shares * (1 - shares)).mean(), abs=0.01)


def test_relatives_are_left_out_and_tell_less_of_the_population():
    rng, genotypes = np.random.default_rng(2), founders(24, SITES)
    families = [genotypes[0], genotypes[1], *(child(genotypes[0], genotypes[1], rng) for _ in range(4))]
    alleles = alleles_of([*families, *genotypes[2:]])
    strangers, of_child = alleles_of(genotypes), alleles.without(2)
    # Without the six of the family, 22 strangers are left.
    added = strangers.without(0, 1).total.mean() - 2 * 22
    assert of_child.total.mean() - added == pytest.approx(2 * 22, abs=0.5)
    # 21 strangers and the family are 27, whose correlations add up to 41: 27 ** 2 / 41 = 17.8.
    assert 2 * 17 < alleles.without(10).total.mean() - added < 2 * 20


def test_relatives_are_alike():
    father, mother, other = founders(3, SITES)
    genotypes = [
        *founders(20, SITES, seed=9),
        father,
        mother,
        child(father, mother, np.random.default_rng(1)),
        other,
        other,
    ]
    found = alleles_of(genotypes).correlations
    assert found[24, 23] > 0.85 and np.abs(found[24, :23]).max() < 0.2
    assert found[22, [20, 21]] == pytest.approx(0.5, abs=0.1)


def test_a_frequency_that_is_given_has_nothing_of_the_samples():
    is_given = np.arange(50) < 20
    urn = CohortAlleles(certain(founders(30, 50)), np.full(50, 0.3), is_given).without(0)
    np.testing.assert_allclose(urn.frequencies[is_given], 0.3)
    assert urn.total[is_given].min() > 1e5 > urn.total[~is_given].max()


def test_of_relatives_alone_an_urn_knows_nothing():
    rng, (father, mother) = np.random.default_rng(2), founders(2, SITES)
    urn = alleles_of([father, mother, child(father, mother, rng)]).without(2)
    assert urn.total.max() < 10 and np.isfinite(urn.frequencies).all()


POPULATION_SITES, FST = 3000, 0.1


def axes_of(genotypes, depth, rng):
    likelihoods = likelihoods_of(reads(genotypes, depth, rng))
    frequencies = allele_frequencies(likelihoods)
    correlations = CohortAlleles(likelihoods, frequencies).correlations
    return find_axes(correlations, DriftedPairs(likelihoods, frequencies).are_related)


def family(shares, rng, children):
    father, mother = founder(shares, rng), founder(shares, rng)
    return [father, mother, *(child(father, mother, rng) for _ in range(children))]


def test_populations_have_an_axis():
    rng = np.random.default_rng(3)
    majority, minority = populations(rng, POPULATION_SITES, FST)
    genotypes = [founder(majority, rng) for _ in range(24)] + [founder(minority, rng) for _ in range(8)]
    genotypes += family(minority, rng, 2)
    # One of half the ancestry is half-way.
    genotypes.append(child(genotypes[0], genotypes[24], rng))
    axes = axes_of(genotypes, 5, rng)
    assert axes.shape[1] == 1
    place = axes[:, 0] * np.sign(axes[24:32, 0].mean())
    ends = place[:24].mean(), place[24:36].mean()
    assert place[24:36].min() > np.mean(ends) > place[:24].max()
    assert 0.25 < (place[36] - ends[0]) / (ends[1] - ends[0]) < 0.75


def test_families_have_none():
    rng = np.random.default_rng(4)
    shares = rng.uniform(0.05, 0.95, POPULATION_SITES)
    genotypes = [founder(shares, rng) for _ in range(16)]
    for _ in range(3):
        genotypes += family(shares, rng, 3)
    # Half-siblings by one father.
    genotypes += [child(genotypes[16], founder(shares, rng), rng) for _ in range(2)]
    assert axes_of(genotypes, 5, rng).shape[1] == 0


def test_foreign_reads_in_a_cohort_of_two_ancestries():
    rng = np.random.default_rng(5)
    majority, minority = populations(rng, POPULATION_SITES, FST)
    genotypes = [founder(majority, rng) for _ in range(24)] + [founder(minority, rng) for _ in range(6)]
    for _ in range(2):
        genotypes += family(minority, rng, 2)
    # Reads of a stranger in a child of each family, of either ancestry, and of a mother in another child.
    foreign = {32: (24, 0.1), 36: (3, 0.1), 37: (35, 0.1)}
    counts = reads(genotypes, 10, rng, foreign)
    likelihoods = likelihoods_of(counts)
    found = estimate_contamination(evidence(counts), likelihoods, allele_frequencies(likelihoods))
    assert np.flatnonzero(found.is_contaminated).tolist() == sorted(foreign)
    for sample in foreign:
        assert found.low[sample] < 0.1 < found.high[sample]


def test_the_interval_of_a_child_has_more_foreign_reads_of_its_mother():
    rng = np.random.default_rng(6)
    shares = rng.uniform(0.05, 0.95, POPULATION_SITES)
    genotypes = [one for _ in range(6) for one in family(shares, rng, 1)] + [founder(shares, rng) for _ in range(14)]
    foreign = {3 * number + 2: (3 * number + 1, 0.04) for number in range(6)}
    counts = reads(genotypes, 2, rng, foreign)
    likelihoods = likelihoods_of(counts)
    found = estimate_contamination(evidence(counts), likelihoods, allele_frequencies(likelihoods))
    children = list(foreign)
    # By strangers' reads alone, they would be half as many. 95% of the intervals hold the truth.
    assert ((found.low[children] <= 0.04) & (found.high[children] >= 0.0390)).all()
