"""Alleles, observations and genotypes."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, log10

import numpy as np
import pytest

from pairhmm.calling.genotyping import Site
from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import MAX_GENOTYPES, GenotypeOptions, SampleGenotype
from tests.calling.scored import evidence_of, genotyped

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

THETA = GenotypeOptions().snv_prior / 3
"""A site has three letters beside the reference's."""


def call_site(rows, fragments, ploidies) -> Site:
    """A site of samples that have the same reads, of which each row has the likelihoods of the alleles."""
    samples = len(ploidies)
    sample = np.repeat(np.arange(samples), len(rows))
    fragments = [f"{own}.{one}" for own in range(samples) for one in fragments]
    (site,) = genotyped(evidence_of(np.tile(rows, (samples, 1)), fragments, sample=sample), ploidies)
    return site


def call_sample(rows, fragments, ploidy) -> SampleGenotype:
    (sample,) = call_site(rows, fragments, [ploidy]).samples
    return sample


def reads_of(n_reference: int, n_alternative: int, lead: float = 3.0) -> np.ndarray:
    return np.array([[0.0, -lead]] * n_reference + [[-lead, 0.0]] * n_alternative)


@pytest.mark.parametrize(("n_alleles", "ploidy"), [(1, 1), (5, 1), (3, 2), (4, 2), (1, 5), (4, 6), (3, 20)])
def test_every_genotype_has_its_place(n_alleles, ploidy):
    """In VCF order: by the last allele, then the one before."""
    every = combinations_with_replacement(range(n_alleles), ploidy)
    expected = sorted(every, key=lambda genotype: genotype[::-1])
    for place, genotype in enumerate(expected):
        rows = np.full((4 * ploidy, n_alleles), -9.0)
        rows[np.arange(len(rows)), np.repeat(genotype, 4)] = 0
        found = call_sample(rows, range(len(rows)), ploidy)
        assert (found.alleles, found.likelihoods[place], len(found.likelihoods)) == (genotype, 0, len(expected))


@pytest.mark.parametrize("ploidy", [1, 2, 3, 4])
def test_priors_fall_with_copies(ploidy):
    """k copies of the alternative allele are as likely as theta / k."""
    others = sum(THETA / copies for copies in range(1, ploidy + 1))
    assert call_sample(np.empty((0, 2)), (), ploidy).log10_reference == pytest.approx(log10(1 - others))


@pytest.mark.parametrize(
    ("reference", "alternative", "genotype"),
    [(20, 0, (0, 0)), (10, 10, (0, 1)), (0, 20, (1, 1)), (19, 1, (0, 0))],
)
def test_diploid_calls(reference, alternative, genotype):
    rows = reads_of(reference, alternative)
    site = call_site(rows, range(len(rows)), [2])
    (sample,) = site.samples
    assert sample.alleles == genotype
    assert sample.depths == (reference, alternative)
    assert sample.depth == reference + alternative
    assert min(sample.likelihoods) == 0
    assert (site.quality >= 30) == (genotype != (0, 0))


def test_higher_ploidy_tells_dosage():
    rows = reads_of(30, 10, lead=4.0)
    assert call_sample(rows, np.arange(40), 4).alleles == (0, 0, 0, 1)


@pytest.mark.parametrize("ploidy", [6, 20])
def test_alleles_beyond_the_most_genotypes_are_those_with_the_fewest_reads(ploidy):
    n_alternatives = 40
    carried = [0] * 20 + [7] * 20 + [33] * 20 + [2]
    rows = np.full((len(carried), n_alternatives + 1), -4.5)
    rows[np.arange(len(carried)), carried] = 0.0
    sample = call_sample(rows, np.arange(len(rows)), ploidy)
    assert set(sample.alleles) == {0, 7, 33}
    assert len(sample.alleles) == ploidy
    assert sample.depths == tuple(carried.count(allele) for allele in range(n_alternatives + 1))
    assert sample.likelihoods == ()
    weighed = n_alternatives - sample.left_out
    assert comb(weighed + ploidy, ploidy) <= MAX_GENOTYPES < comb(weighed + ploidy + 1, ploidy)
    few = [0, 7, 33]
    alone = call_sample(rows[:-1, few], np.arange(len(rows) - 1), ploidy)
    assert tuple(few[allele] for allele in alone.alleles) == sample.alleles
    assert (alone.left_out, len(alone.likelihoods)) == (0, comb(ploidy + 2, ploidy))


def test_many_alleles_and_no_read():
    sample = call_sample(np.empty((0, 41)), (), 20)
    assert (sample.alleles, sample.likelihoods, len(sample.depths)) == (None, (), 41)


def test_a_sample_without_reads_has_no_genotype():
    site = call_site(np.empty((0, 2)), (), [2])
    (sample,) = site.samples
    assert sample.alleles is None
    assert sample.depth == 0
    assert sample.likelihoods == (0, 0, 0)
    assert site.quality == 0


@pytest.mark.parametrize("ploidy", [1, 2, 3, 20])
@pytest.mark.parametrize("alleles", [2, 3, 5])
def test_reads_that_say_nothing_make_no_genotype(ploidy, alleles):
    """A genotype of equal likelihoods would be that of the prior."""
    site = call_site(np.zeros((30, alleles)), range(30), [ploidy])
    (sample,) = site.samples
    assert (sample.alleles, sample.quality, sample.depth, set(sample.depths)) == (None, 0, 30, {0})
    assert not any(sample.likelihoods)
    assert sample.genotype == "/".join("." * ploidy)
    assert site.quality == 0


def test_reads_that_contradict_each_other_as_much_make_no_haploid_genotype():
    rows = np.array([[0.0, -3.0], [-3.0, 0.0]] * 5)
    assert call_sample(rows, np.arange(10), 1).alleles is None
    assert call_sample(rows, np.arange(10), 2).alleles == (0, 1)


def test_both_mates_count_in_depth_and_once_in_the_genotype():
    rows = reads_of(4, 2)
    alone = call_sample(rows[[0, 2, 4]], np.arange(3), 2)
    mates = call_sample(rows, np.array([0, 0, 1, 1, 2, 2]), 2)
    assert mates.depth == 6
    assert mates.likelihoods == alone.likelihoods


def test_quality_adds_up_over_samples_with_too_many_genotypes():
    """They do not share the frequencies of alleles."""
    rows = np.full((4, 41), -2.0)
    rows[:, 3] = 0
    alone, three = (call_site(rows, range(4), [20] * samples).quality for samples in (1, 3))
    assert alone > 0 and three == pytest.approx(3 * alone)


def test_confidence_is_capped_and_finite():
    sample = call_sample(reads_of(0, 5000, lead=4.5), np.arange(5000), 2)
    assert sample.quality == 99
    assert all(isinstance(value, int) and value >= 0 for value in sample.likelihoods)
    assert sample.likelihoods[0] > sample.likelihoods[1] > sample.likelihoods[2] == 0
