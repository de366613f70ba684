from __future__ import annotations

import numpy as np
import pytest

from pairhmm.simulate.cohort import draw_genotypes, draw_reads, plan_individuals, plan_samples


def planned(seed=1, families=4, individuals=14, samples_each=3, swaps=3, duplicates=2, contamination=(0.03, 0.1)):
    people = plan_individuals(families, individuals)
    rng = np.random.default_rng(seed)
    return plan_samples(rng, people, families, samples_each, swaps, duplicates, contamination)


@pytest.mark.parametrize("seed", range(10))
def test_faults_are_as_many_as_asked_and_apart(seed):
    people, samples = planned(seed)
    by_name = {one.name: one for one in samples}
    parents = {one.name: one.father for one in people}
    swapped = [one for one in samples if one.swapped_with]
    assert (len(samples), len(swapped)) == (60, 6)
    for one in swapped:
        other = by_name[one.swapped_with]
        assert (one.true_individual, other.true_individual) == (other.individual, one.individual)
        assert not parents[one.individual] or parents[one.individual] != parents[other.individual]
    copies = [one for one in samples if one.duplicate_of]
    assert [by_name[one.duplicate_of].true_individual for one in copies] == [one.true_individual for one in copies]
    tainted = [one for one in samples if one.source]
    assert sorted(one.contamination for one in tainted) == [0.03, 0.1]
    assert all(one.source != one.true_individual for one in tainted)
    assert len({one.name for one in (*swapped, *copies, *tainted)}) == 10


def test_samples_without_faults_are_what_they_say():
    _, samples = planned(swaps=0, duplicates=0, contamination=())
    assert all(one.individual == one.true_individual for one in samples)


@pytest.mark.parametrize("given", [{"families": 0, "samples_each": 2}, {"swaps": 20}, {"duplicates": 99}])
def test_too_many_faults(given):
    with pytest.raises(ValueError, match="too few samples"):
        planned(**given)


def test_children_have_an_allele_of_each_parent():
    people = plan_individuals(2, 0)
    genotypes = draw_genotypes(np.random.default_rng(1), people, np.full(500, 0.4))
    for one in people:
        if one.father:
            for parent in (one.father, one.mother):
                assert (np.abs(genotypes[one.name].astype(int) - genotypes[parent]) < 2).all()


def test_reads_have_the_depth_the_errors_and_the_foreign_alleles_that_are_asked():
    _, samples = planned(2, swaps=0, duplicates=0, contamination=(0.2,))
    genotypes = {one.true_individual: np.zeros(4000, np.int8) for one in samples}
    tainted = next(index for index, one in enumerate(samples) if one.source)
    genotypes[samples[tainted].source] = np.full(4000, 2, np.int8)
    counts = draw_reads(np.random.default_rng(1), samples, genotypes, 5.0, 0.01)
    depth = counts.reference + counts.alternative
    assert depth.mean() == pytest.approx(5, rel=0.02)
    clean = [index for index, one in enumerate(samples) if not genotypes[one.true_individual].any() and not one.source]
    assert counts.alternative[:, clean].sum() / depth[:, clean].sum() == pytest.approx(0.01, rel=0.1)
    share = counts.alternative[:, tainted].sum() / depth[:, tainted].sum()
    assert share == pytest.approx(0.2 * 0.99 + 0.8 * 0.01, rel=0.05)
