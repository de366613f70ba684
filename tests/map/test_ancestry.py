"""Axes of ancestry: of populations, not of families; and what they do for shares of foreign reads."""

from __future__ import annotations

import numpy as np

from pairhmm.map.contamination import estimate_contamination
from pairhmm.map.drift import DriftedPairs
from pairhmm.map.genotype_likelihoods import add_reads, allele_frequencies
from pairhmm.map.population import CohortAlleles, find_axes
from tests.map.cohorts import child, evidence, founder, reads

SITES, FST = 3000, 0.1


def populations(rng):
    ancestral = rng.uniform(0.05, 0.95, SITES)
    size = (1 - FST) / FST
    return np.clip(rng.beta(ancestral * size, (1 - ancestral) * size, (2, SITES)), 0.001, 0.999)


def likelihoods_of(counts):
    return add_reads(np.zeros((*counts.shape[:2], 3), dtype=np.float32), evidence(counts))


def axes_of(genotypes, depth, rng):
    likelihoods = likelihoods_of(reads(genotypes, depth, rng))
    frequencies = allele_frequencies(likelihoods)
    likeness = CohortAlleles(likelihoods, frequencies).likeness
    return find_axes(likeness, DriftedPairs(likelihoods, frequencies).are_related)


def family(shares, rng, children):
    father, mother = founder(shares, rng), founder(shares, rng)
    return [father, mother, *(child(father, mother, rng) for _ in range(children))]


def test_populations_have_an_axis():
    rng = np.random.default_rng(3)
    majority, minority = populations(rng)
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
    shares = rng.uniform(0.05, 0.95, SITES)
    genotypes = [founder(shares, rng) for _ in range(16)]
    for _ in range(3):
        genotypes += family(shares, rng, 3)
    # Half-siblings by one father.
    genotypes += [child(genotypes[16], founder(shares, rng), rng) for _ in range(2)]
    assert axes_of(genotypes, 5, rng).shape[1] == 0


def test_foreign_reads_in_a_cohort_of_two_ancestries():
    rng = np.random.default_rng(5)
    majority, minority = populations(rng)
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
    shares = rng.uniform(0.05, 0.95, SITES)
    genotypes = [one for _ in range(6) for one in family(shares, rng, 1)] + [founder(shares, rng) for _ in range(14)]
    foreign = {3 * number + 2: (3 * number + 1, 0.04) for number in range(6)}
    counts = reads(genotypes, 2, rng, foreign)
    likelihoods = likelihoods_of(counts)
    found = estimate_contamination(evidence(counts), likelihoods, allele_frequencies(likelihoods))
    children = list(foreign)
    # By strangers' reads alone, they would be half as many. 95% of the intervals hold the truth.
    assert ((found.low[children] <= 0.04) & (found.high[children] >= 0.0390)).all()
