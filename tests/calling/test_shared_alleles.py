"""Samples that share the frequencies of alleles, and families: the compiled sums against every case, one by one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import comb

import numpy as np
import pytest

from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import SampleGenotype
from pairhmm.variants.pedigree import Pedigree, SampleFamily
from tests.calling.scored import evidence_of, genotyped

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

THETA = 1e-3
DE_NOVO = 1e-7


def call_site(
    samples: Sequence[Sequence[Sequence[float]]],
    ploidies: Sequence[int],
    families: Sequence[SampleFamily] = (),
    *,
    alleles: int = 2,
    theta: float = THETA,
) -> tuple[list[SampleGenotype], float]:
    """The genotypes of some samples and QUAL, from log10 P(read | allele) of the reads of each."""
    rows = np.array([row for sample in samples for row in sample], dtype=np.float64).reshape(-1, alleles)
    of_read = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    # Each of three letters has a third of the prior of SNVs.
    (site,) = genotyped(evidence_of(rows, sample=of_read), ploidies, families, priors=(3 * theta, theta))
    return site.samples, site.quality


def shown(reference: int, alternative: int, lead: float = 3.0) -> list[list[float]]:
    return [[0.0, -lead]] * reference + [[-lead, 0.0]] * alternative


def likelihoods(sample: Sequence[Sequence[float]], ploidy: int) -> list[float]:
    """P(reads | k alternative copies), for each k."""
    by_read = [[10.0**value for value in row] for row in sample]
    return [
        float(np.prod([((ploidy - k) * ref + k * alt) / ploidy for ref, alt in by_read])) for k in range(ploidy + 1)
    ]


def transmitted(parent: int, ploidy: int) -> dict[int, float]:
    """P(allele passed on) of a parent with so many alternative copies."""
    share = parent / ploidy
    alternative = share * (1 - DE_NOVO) + (1 - share) * DE_NOVO
    return {0: 1 - alternative, 1: alternative}


def child_given(copies: int, ploidy: int, father: tuple[int, int], mother: tuple[int, int]) -> float:
    """P(a child's alternative copies | its parents' copies and ploidies)."""
    if ploidy == 1:
        return transmitted(*(mother if mother[1] else father))[copies]
    both = transmitted(*father), transmitted(*mother)
    return sum(both[0][a] * both[1][copies - a] for a in (0, 1) if 0 <= copies - a <= 1)


def by_cases(
    samples: Sequence[Sequence[Sequence[float]]], ploidies: Sequence[int], families: Sequence[SampleFamily] = ()
) -> tuple[list[np.ndarray], float]:
    """Posteriors of each sample's alternative copies, and of no copy in any sample with reads, over all cases.

    k copies among the founders' N chromosomes are as likely as theta / k, however they lie.
    """
    children = {child: family for family in families for child in family.children}
    counted = [i for i, sample in enumerate(samples) if len(sample) or any(i in (f.father, f.mother) for f in families)]
    total = sum(ploidies[i] for i in counted if i not in children)
    own = [likelihoods(sample, ploidy) for sample, ploidy in zip(samples, ploidies, strict=True)]
    posterior = [np.zeros(ploidy + 1) for ploidy in ploidies]
    everything = reference = 0.0
    for case in itertools.product(*(range(ploidies[i] + 1) for i in counted)):
        copies = dict(zip(counted, case, strict=True))
        k = sum(number for i, number in copies.items() if i not in children)
        prior = THETA / k if k else 1 - THETA * sum(1 / j for j in range(1, total + 1))
        probability = prior / comb(total, k)
        for i, number in copies.items():
            if i in children:
                parents = [(copies[one], ploidies[one]) for one in (children[i].father, children[i].mother)]
                probability *= child_given(number, ploidies[i], *parents)
            else:
                probability *= comb(ploidies[i], number)
            probability *= own[i][number]
        everything += probability
        reference += probability * all(not copies[i] for i in counted if len(samples[i]))
        for i, number in copies.items():
            posterior[i][number] += probability
    return [one / everything for one in posterior], reference / everything


def check(samples: Sequence[Sequence[Sequence[float]]], ploidies: Sequence[int], families: Sequence[SampleFamily] = ()):
    found, quality = call_site(samples, ploidies, families)
    expected, reference = by_cases(samples, ploidies, families)
    assert quality == pytest.approx(-10 * np.log10(reference), rel=1e-6, abs=1e-6)
    for sample, genotype, posterior in zip(samples, found, expected, strict=True):
        if not len(sample):
            assert genotype.alleles is None
            continue
        assert genotype.alleles is not None and sum(genotype.alleles) == int(posterior.argmax())
        assert genotype.log10_reference == pytest.approx(np.log10(posterior[0]), rel=1e-6, abs=1e-9)
        wrong = 1 - posterior.max()
        assert genotype.quality == pytest.approx(min(99, -10 * np.log10(max(wrong, 1e-11))), abs=0.51)
    return found


def any_reads(rng: np.random.Generator, count: int) -> list[list[float]]:
    rows = -rng.uniform(0, 3, (count, 2))
    rows[np.arange(count), rng.integers(0, 2, count)] = 0
    return rows.tolist()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ploidies", [(2, 2), (1, 2), (4, 2, 1), (2, 2, 2, 2)])
def test_samples_share_frequencies_as_all_cases_say(seed, ploidies):
    rng = np.random.default_rng(seed)
    check([any_reads(rng, int(rng.integers(0, 5))) for _ in ploidies], ploidies)


TRIO = [SampleFamily(0, 1, (2,))]
THREE_GENERATIONS = [SampleFamily(0, 1, (2,)), SampleFamily(2, 3, (4, 5))]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("ploidies", "families"),
    [
        ((2, 2, 2), TRIO),
        ((2, 2, 2, 2), TRIO),
        ((2, 2, 2, 2, 2, 2), THREE_GENERATIONS),
        ((1, 2, 1), TRIO),
        ((1, 2, 2), TRIO),
    ],
    ids=["trio", "trio and another", "three generations", "son's X", "daughter's X"],
)
def test_families_share_alleles_as_all_cases_say(seed, ploidies, families):
    rng = np.random.default_rng(seed)
    check([any_reads(rng, int(rng.integers(0, 4))) for _ in ploidies], ploidies, families)


def test_one_sample_among_empty_ones_is_called_as_alone():
    reads = shown(5, 3)
    alone, quality = call_site([reads], (2,))
    among, same = call_site([[], reads, []], (2, 2, 2))
    assert among[1].log10_reference == pytest.approx(alone[0].log10_reference, abs=1e-9)
    assert (among[1].alleles, among[1].quality, among[1].likelihoods) == (
        alone[0].alleles,
        alone[0].quality,
        alone[0].likelihoods,
    )
    assert same == pytest.approx(quality, abs=1e-6)


@pytest.mark.parametrize("ploidy", [1, 2, 3])
@pytest.mark.parametrize("families", [[], TRIO], ids=["unrelated", "trio"])
def test_reads_that_say_nothing_change_nothing(ploidy, families):
    """Their sample has no genotype, and others are called as if it had no read."""
    ploidies, silent = (ploidy,) * 3, [[0.0, 0.0]] * 20
    for place in range(3):
        others = [shown(0, 9), shown(4, 4), shown(6, 1)]
        others[place] = silent
        found, quality = call_site(others, ploidies, families)
        others[place] = []
        without, same = call_site(others, ploidies, families)
        assert quality == pytest.approx(same, abs=1e-9)
        assert [strip(one) for one in found] == [strip(one) for one in without]
        assert (found[place].alleles, found[place].depth, found[place].quality) == (None, 20, 0)


def test_an_allele_that_others_have_needs_fewer_reads():
    weak, strong = shown(3, 1), shown(4, 6)
    assert call_site([weak], (2,))[0][0].alleles == (0, 0)
    assert call_site([weak, strong, strong, strong], (2,) * 4)[0][0].alleles == (0, 1)


def test_a_child_has_what_its_parents_have():
    father, mother, child = shown(12, 0), shown(0, 12), shown(0, 3)
    unrelated = call_site([father, mother, child], (2,) * 3)[0]
    related = check([father, mother, child], (2,) * 3, TRIO)
    assert (unrelated[2].alleles, related[2].alleles) == ((1, 1), (0, 1))


def test_a_y_chromosome_comes_from_the_father():
    # The son's two reads differ, and the reference's is a little clearer.
    son = [*shown(1, 0), *shown(0, 1, 2.8)]
    found, _ = call_site([shown(0, 8), [], son], (1, 0, 1), TRIO)
    assert [one.alleles for one in found] == [(1,), None, (1,)]


@pytest.mark.parametrize("depth", [60, 90, 400])
@pytest.mark.parametrize("ploidies", [(2,) * 3, (1, 2, 1), (2,) * 8], ids=["trio", "son's X", "six children"])
def test_relatives_with_many_reads_have_their_own_alleles(depth, ploidies):
    """P(reads | reference) of both parents, multiplied, lies beyond the range of a double."""
    families = [SampleFamily(0, 1, tuple(range(2, len(ploidies))))]
    found, quality = call_site([shown(0, depth, 4.5)] * len(ploidies), ploidies, families)
    assert [one.alleles for one in found] == [(1,) * ploidy for ploidy in ploidies]
    assert quality > 2000 and all(-9e9 < one.log10_reference < -4 * depth for one in found)


@pytest.mark.parametrize("carried", [(0, 1), (1, 2), (2, 2)])
def test_kinds_of_alleles_are_told_apart(carried):
    """Three alleles: what the samples have is found, and what none has stays out."""

    def rows(genotype: tuple[int, ...], each: int) -> list[list[float]]:
        return [[0.0 if allele == own else -3.0 for allele in range(4)] for own in genotype for _ in range(each)]

    samples = [rows(carried, 5), rows((0, 0), 5), rows(carried, 2), rows((0, 2), 4)]
    found, quality = call_site(samples, (2,) * 4, alleles=4)
    assert [one.alleles for one in found] == [carried, (0, 0), carried, (0, 2)]
    assert quality > 60


def test_the_order_of_samples_changes_nothing():
    rng = np.random.default_rng(8)
    samples = [any_reads(rng, 4) for _ in range(5)]
    forward, quality = call_site(samples, (2,) * 5)
    back, same = call_site(samples[::-1], (2,) * 5)
    assert quality == pytest.approx(same, abs=1e-9)
    assert [strip(one) for one in forward] == [strip(one) for one in back[::-1]]


def strip(one: SampleGenotype) -> tuple[object, ...]:
    return one.alleles, one.quality, one.likelihoods


def test_many_samples_at_high_ploidy_stay_finite():
    samples = [shown(0, 60, 4.5), shown(60, 0, 4.5), *([shown(30, 30, 4.5)] * 10)]
    found, quality = call_site(samples, (20,) * 12, theta=0.1)
    assert np.isfinite(quality) and found[0].alleles == (1,) * 20 and found[1].alleles == (0,) * 20
    assert len(found[2].likelihoods) == 21


def test_a_loop_of_families_leaves_the_later_one_out():
    parents = {"c": ("a", "b"), "d": ("a", "b"), "e": ("c", "d"), "x": ("y", "z"), "f": ("", "a")}
    families, left_out = Pedigree(parents).families(["a", "b", "c", "d", "e", "x", "y", "z", "f"])
    assert families == [SampleFamily(0, 1, (2, 3)), SampleFamily(6, 7, (5,))]
    assert left_out == ["e"]
