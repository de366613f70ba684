"""Likelihoods of mixed reads and probabilities of genotypes, against plain loops."""

from itertools import product

import numpy as np
import pytest

from pairhmm.map import mixtures
from pairhmm.map.mixtures import MixedReads, of_informed_population, of_population, of_source
from pairhmm.map.population import AlleleUrn
from pairhmm.map.sites import counted_evidence

ODDS, ERROR = 0.995 / 0.005, 0.003
URN = AlleleUrn(np.array([0.5, 14.0]), np.array([2.5, 20.0]))
OTHER = np.array([[0.2, 0.5], [0.5, 0.1], [0.3, 0.4]], dtype=np.float32)


def of_reads(counts, share, own, foreign):
    q = (1 - share) * own / 2 + share * foreign / 2
    q = q * (1 - ERROR) + (1 - q) * ERROR
    return ((1 - q) + q / ODDS) ** counts[0] * ((1 - q) + q * ODDS) ** counts[1]


def made_reads():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 3, (1, 40, 2)).astype(np.uint16)
    others = np.log(rng.uniform(0.01, 1, (40, 3))).astype(np.float32)
    return counts[0], others, MixedReads(counted_evidence(("a",), counts), 0, others)


def test_likelihoods_are_those_of_plain_loops():
    counts, others, reads = made_reads()
    assert sorted(reads.sites.tolist()) == np.flatnonzero(counts.sum(axis=1)).tolist()
    genotypes = np.random.default_rng(4).uniform(0, 1, (2, 3, 3, 40)).astype(np.float32)
    shares = np.array([0.0, 0.1, 0.5])
    found = reads.log_likelihoods(shares, ERROR, genotypes[..., reads.sites])

    def plain(share, of_relation):
        return sum(
            np.log(
                sum(
                    of_relation[own, other, site]
                    * np.exp(others[site, own])
                    * of_reads(counts[site], share, own, other)
                    for own, other in product(range(3), repeat=2)
                )
            )
            for site in reads.sites
        )

    expected = np.array([max(plain(share, one) for one in genotypes) for share in shares])
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-5)


def test_a_fit_is_that_of_plain_loops():
    counts, others, reads = made_reads()
    priors = np.random.default_rng(5).uniform(0, 1, (3, 40))
    plain = sum(
        np.log(
            sum(priors[own, site] * np.exp(others[site, own]) * of_reads(counts[site], 0, own, 0) for own in range(3))
        )
        for site in reads.sites
    )
    assert reads.fit(ERROR, priors[:, reads.sites]) == pytest.approx(plain, rel=1e-5)


def drawn(urn, site, alleles):
    """Probability to draw these alleles from an urn, one after the other."""
    alternative, total, result = urn.alternative[site], urn.total[site], 1.0
    for number, allele in enumerate(alleles):
        share = (alternative + sum(alleles[:number])) / (total + number)
        result *= share if allele else 1 - share
    return result


def pairs(genotype):
    return [(a, b) for a in range(2) for b in range(2) if a + b == genotype]


def test_genotypes_of_strangers_are_pairs_of_drawn_alleles():
    found = of_population(URN)[0]
    for site, own, foreign in product(range(2), range(3), range(3)):
        expected = sum(drawn(URN, site, one + two) for one, two in product(pairs(own), pairs(foreign)))
        assert found[own, foreign, site] == pytest.approx(expected, rel=1e-5)


def of_relation(k, site, own, other):
    """P(own | genotype of the other), which has the alleles a and b, by the IBD states of a relation."""
    total = 0.0
    for a, b in pairs(other):
        seen = drawn(URN, site, (a, b)) / sum(drawn(URN, site, pair) for pair in pairs(other))
        none = sum(drawn(URN, site, (a, b, *pair)) for pair in pairs(own)) / drawn(URN, site, (a, b))
        # One of the two alleles is shared, and the other is drawn.
        one = sum(drawn(URN, site, (a, b, c)) * ((a + c == own) + (b + c == own)) / 2 for c in range(2))
        total += seen * (k[0] * none + k[1] * one / drawn(URN, site, (a, b)) + k[2] * (own == other))
    return total


@pytest.mark.parametrize("relation", range(5))
def test_relatives_share_the_alleles_that_probabilities_say(relation):
    k = mixtures._RELATIONS[relation]
    source, informed = of_source(URN, OTHER)[relation], of_informed_population(URN, OTHER)[relation]
    for site, own, other in product(range(2), range(3), range(3)):
        expected = OTHER[other, site] * of_relation(k, site, own, other)
        assert source[own, other, site] == pytest.approx(expected, rel=1e-5, abs=1e-8)
        of_own = sum(OTHER[one, site] * of_relation(k, site, own, one) for one in range(3))
        after = URN.after(own)
        expected = of_own * sum(drawn(after, site, pair) for pair in pairs(other))
        assert informed[own, other, site] == pytest.approx(expected, rel=1e-5)
