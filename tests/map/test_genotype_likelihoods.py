"""Likelihoods of genotypes against sums over reads, one by one; frequencies and heterozygosity of simulated samples."""

from math import log

import numpy as np
import pytest

from pairhmm.map.genotype_likelihoods import (
    LEAST,
    add_reads,
    allele_frequencies,
    allele_shares,
    from_phred,
    genotype_priors,
    has_data,
    heterozygosity,
)
from pairhmm.map.sites import binned_evidence, evidence_codes
from tests.map import cohorts

SITES = 4


def some_reads():
    """Reads of two samples: (sample, site, log10 ratio)."""
    rng = np.random.default_rng(5)
    return [(int(rng.integers(2)), int(rng.integers(SITES)), round(rng.uniform(-4, 4), 1)) for _ in range(60)]


def evidence_of_reads(reads):
    parts = [evidence_codes(np.array([sample]), site, SITES, np.array([ratio])) for sample, site, ratio in reads]
    codes, count = np.unique(np.concatenate(parts), return_counts=True)
    return binned_evidence(("a", "b"), SITES, codes, count)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_reads_are_multiplied_one_by_one(share):
    reads = some_reads()
    foreign = np.array([0.1, 0.5, 0.7, 0.9])
    found = add_reads(
        np.zeros((2, SITES, 3), np.float32), evidence_of_reads(reads), {1: share} if share else {}, {1: foreign}
    )
    for sample in range(2):
        for site in range(SITES):
            own = [0.0, 0.0, 0.0]
            for of_sample, of_site, ratio in reads:
                if (of_sample, of_site) == (sample, site):
                    ratio = max(-3.0, min(3.0, ratio))
                    c = share if sample == 1 else 0.0
                    for genotype in range(3):
                        q = (1 - c) * genotype / 2 + c * foreign[site]
                        own[genotype] += log((1 - q) + q * 10**ratio) if abs(ratio) >= 0.05 else 0.0
            expected = [max(float(LEAST), one - max(own)) for one in own]
            assert found[sample, site] == pytest.approx(expected, abs=1e-4)


def test_likelihoods_of_a_vcf_are_phred():
    assert from_phred(np.array([0, 10, 100], dtype=np.uint8)) == pytest.approx([0, -log(10), -10 * log(10)], rel=1e-6)


def test_hardy_weinberg():
    assert genotype_priors(np.array([0.25]))[:, 0] == pytest.approx([9 / 16, 6 / 16, 1 / 16])


def test_what_is_not_known_has_no_data():
    assert has_data(np.array([[[0, 0, 0], [0, -1, -2]]], np.float32)).tolist() == [[False, True]]


@pytest.mark.parametrize(("depth", "off"), [(30, 0.05), (2, 0.07)])
def test_frequencies_and_heterozygosity_of_a_cohort(depth, off):
    rng = np.random.default_rng(2)
    shares = cohorts.frequencies(3000)
    genotypes = [cohorts.founder(shares, rng) for _ in range(60)]
    likelihoods = add_reads(np.zeros((60, 3000, 3), np.float32), cohorts.evidence(cohorts.reads(genotypes, depth, rng)))
    found = allele_frequencies(likelihoods)
    assert np.sqrt(np.mean((found - shares) ** 2)) < off
    truth = [(one == 1).mean() for one in genotypes]
    assert heterozygosity(likelihoods) == pytest.approx(truth, abs=0.04)
    assert np.abs(allele_shares(likelihoods[0], found) - genotypes[0] / 2).mean() < (0.01 if depth == 30 else 0.2)


def test_a_sample_without_data_has_no_heterozygosity():
    assert np.isnan(heterozygosity(np.zeros((1, 5, 3), np.float32))).all()
