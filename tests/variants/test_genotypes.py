"""Alleles, observations and genotypes."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from pairhmm.native import is_compiled, native
from pairhmm.sequences.arrays import Names
from pairhmm.variants import genotypes
from pairhmm.variants.genotypes import (
    MAX_GENOTYPES,
    SampleGenotype,
    count_genotypes,
    genotype_table,
    log10_priors,
    site_quality,
)

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

SNV = (1e-3,)
NO_FLOOR = 300.0


def site_reads(scores, fragments=None, *, allele_of=None, alleles=None, floor=NO_FLOOR, score_floor=np.inf, **arrays):
    """The reads over a site at [10, 11). Without more, each haplotype is an allele, and one sample has all reads."""
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    count, haplotypes = scores.shape
    allele_of = list(range(haplotypes)) if allele_of is None else list(allele_of)
    sample = np.asarray(arrays.get("sample", np.zeros(count)), dtype=np.int32)
    return native.SiteReads(
        scores,
        np.asarray(arrays.get("set_aside", np.zeros(count)), dtype=np.bool_),
        np.asarray(arrays.get("start", np.full(count, 0)), dtype=np.int64),
        np.asarray(arrays.get("end", np.full(count, 100)), dtype=np.int64),
        sample,
        np.asarray(np.arange(count) if fragments is None else fragments, dtype=np.int64),
        10,
        11,
        allele_of,
        max(allele_of) + 1 if alleles is None else alleles,
        int(sample.max(initial=0)) + 1,
        score_floor,
        floor,
    )


def call_sample(rows, fragments, priors, ploidy) -> SampleGenotype:
    return genotypes.call_sample(site_reads(rows, fragments), 0, priors, ploidy)


def reads_of(n_reference: int, n_alternative: int, lead: float = 3.0) -> np.ndarray:
    return np.array([[0.0, -lead]] * n_reference + [[-lead, 0.0]] * n_alternative)


@pytest.mark.parametrize(
    ("n_alleles", "ploidy", "expected"),
    [
        (2, 1, [[0], [1]]),
        (3, 2, [[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]]),
        (2, 3, [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]),
    ],
)
def test_genotypes_stand_in_vcf_order(n_alleles, ploidy, expected):
    assert genotype_table(n_alleles, ploidy).tolist() == expected


@pytest.mark.parametrize(("n_alleles", "ploidy"), [(1, 1), (5, 1), (4, 2), (1, 5), (4, 6), (3, 20)])
def test_every_genotype_has_its_place(n_alleles, ploidy):
    every = combinations_with_replacement(range(n_alleles), ploidy)
    expected = sorted(every, key=lambda genotype: genotype[::-1])
    assert [tuple(genotype) for genotype in genotype_table(n_alleles, ploidy).tolist()] == expected
    assert count_genotypes(n_alleles, ploidy) == len(expected)


@pytest.mark.parametrize("ploidy", [1, 2, 3, 4])
@pytest.mark.parametrize("n_alternatives", [1, 2, 3])
def test_priors_are_probabilities_that_fall_with_copies(n_alternatives, ploidy):
    priors = log10_priors((1e-3,) * n_alternatives, ploidy)
    assert np.power(10.0, priors).sum() == pytest.approx(1.0)
    assert priors.argmax() == 0
    table = genotype_table(n_alternatives + 1, ploidy).tolist()
    by_genotype = dict(zip(map(tuple, table), priors, strict=True))
    if ploidy == 2:
        assert by_genotype[1, 1] == pytest.approx(by_genotype[0, 1] + np.log10(0.5))


@pytest.mark.parametrize(
    ("reference", "alternative", "genotype"),
    [(20, 0, (0, 0)), (10, 10, (0, 1)), (0, 20, (1, 1)), (19, 1, (0, 0))],
)
def test_diploid_calls(reference, alternative, genotype):
    rows = reads_of(reference, alternative)
    sample = call_sample(rows, np.arange(len(rows)), SNV, 2)
    assert sample.alleles == genotype
    assert sample.depths == (reference, alternative)
    assert sample.depth == reference + alternative
    assert min(sample.likelihoods) == 0
    assert (site_quality([sample]) >= 30) == (genotype != (0, 0))


def test_higher_ploidy_tells_dosage():
    rows = reads_of(30, 10, lead=4.0)
    assert call_sample(rows, np.arange(40), SNV, 4).alleles == (0, 0, 0, 1)


@pytest.mark.parametrize("ploidy", [6, 20])
def test_alleles_beyond_the_most_genotypes_are_those_with_the_fewest_reads(ploidy):
    n_alternatives = 40
    carried = [0] * 20 + [7] * 20 + [33] * 20 + [2]
    rows = np.full((len(carried), n_alternatives + 1), -4.5)
    rows[np.arange(len(carried)), carried] = 0.0
    sample = call_sample(rows, np.arange(len(rows)), SNV * n_alternatives, ploidy)
    assert set(sample.alleles) == {0, 7, 33}
    assert len(sample.alleles) == ploidy
    assert sample.depths == tuple(carried.count(allele) for allele in range(n_alternatives + 1))
    assert sample.likelihoods == ()
    weighed = n_alternatives - sample.left_out
    assert count_genotypes(weighed + 1, ploidy) <= MAX_GENOTYPES < count_genotypes(weighed + 2, ploidy)
    few = [0, 7, 33]
    alone = call_sample(rows[:-1, few], np.arange(len(rows) - 1), SNV * 2, ploidy)
    assert tuple(few[allele] for allele in alone.alleles) == sample.alleles
    assert (alone.left_out, len(alone.likelihoods)) == (0, count_genotypes(3, ploidy))


def test_many_alleles_and_no_read():
    sample = call_sample(np.empty((0, 41)), np.empty(0, dtype=int), SNV * 40, 20)
    assert (sample.alleles, sample.likelihoods, len(sample.depths)) == (None, (), 41)


def test_a_sample_without_reads_has_no_genotype():
    sample = call_sample(np.empty((0, 2)), np.empty(0, dtype=int), SNV, 2)
    assert sample.alleles is None
    assert sample.depth == 0
    assert sample.likelihoods == (0, 0, 0)
    assert site_quality([sample]) == 0


@pytest.mark.parametrize("ploidy", [1, 2, 3, 20])
@pytest.mark.parametrize("alleles", [2, 3, 5])
def test_reads_that_say_nothing_make_no_genotype(ploidy, alleles):
    """A genotype of equal likelihoods would be that of the prior."""
    sample = call_sample(np.zeros((30, alleles)), np.arange(30), SNV * (alleles - 1), ploidy)
    assert (sample.alleles, sample.quality, sample.depth, set(sample.depths)) == (None, 0, 30, {0})
    assert not any(sample.likelihoods)
    assert sample.genotype == "/".join("." * ploidy)
    assert site_quality([sample]) == 0


def test_reads_that_contradict_each_other_as_much_make_no_haploid_genotype():
    rows = np.array([[0.0, -3.0], [-3.0, 0.0]] * 5)
    assert call_sample(rows, np.arange(10), SNV, 1).alleles is None
    assert call_sample(rows, np.arange(10), SNV, 2).alleles == (0, 1)


def test_both_mates_count_in_depth_and_once_in_the_genotype():
    rows = reads_of(4, 2)
    alone = call_sample(rows[[0, 2, 4]], np.arange(3), SNV, 2)
    mates = call_sample(rows, np.array([0, 0, 1, 1, 2, 2]), SNV, 2)
    assert mates.depth == 6
    assert mates.likelihoods == alone.likelihoods


def test_quality_adds_up_over_samples():
    samples = [call_sample(reads_of(10, 3), np.arange(13), SNV, 2) for _ in range(3)]
    alone = site_quality(samples[:1])
    assert site_quality(samples) == pytest.approx(3 * alone)


def test_confidence_is_capped_and_finite():
    sample = call_sample(reads_of(0, 5000, lead=4.5), np.arange(5000), SNV, 2)
    assert sample.quality == 99
    assert all(isinstance(value, int) and value >= 0 for value in sample.likelihoods)
    assert sample.likelihoods[0] > sample.likelihoods[1] > sample.likelihoods[2] == 0


def test_reads_of_one_name_have_one_number():
    names = Names.of(["a", "bc", "", "a", "b", "bc", "a"])
    numbers = np.empty(len(names), dtype=np.int64)
    native.number_names(names.text, names.end, numbers)
    assert numbers.tolist() == [0, 1, 2, 0, 4, 1, 0]
