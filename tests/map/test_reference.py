"""The oracle of the map against plain loops."""

import math

import numpy as np
import pytest

from pairhmm.map.reference import ReferenceEmbedder, blend, projection, z_scores
from pairhmm.map.sketch.published import PRIME, signature
from tests.map import any_samples


def test_signatures_are_those_of_each_sample():
    sets = [[], [5], list(range(11)), list(range(12)), list(range(500))]
    found = ReferenceEmbedder().signatures(any_samples.token_sets(sets), 1)
    assert [row.tolist() for row in found] == [signature(np.array(one, dtype=np.uint32)).tolist() for one in sets]


def test_z_scores_have_mean_0_and_deviation_1():
    signatures = ReferenceEmbedder().signatures(any_samples.any_tokens(np.random.default_rng(3), 60, 30), 1)
    present = signatures[:, 0] != PRIME
    scores = z_scores(signatures)
    assert not present.all() and not scores[~present].any()
    assert scores[present].mean(axis=0) == pytest.approx(np.zeros(128), abs=1e-12)
    assert scores[present].std(axis=0) == pytest.approx(np.ones(128))


def test_a_slot_that_is_equal_in_all_samples_has_no_say():
    signatures = np.random.default_rng(4).integers(0, PRIME, (7, 128)).astype(np.uint32)
    signatures[:, 9] = 1_234_567_890
    assert not z_scores(signatures)[:, 9].any()
    assert not projection(
        np.tile(signatures[:1], (5, 1)), any_samples.any_matrices(np.random.default_rng(1), 1)[0]
    ).any()


def test_projections_are_sums_of_products():
    random = np.random.default_rng(6)
    groups = [any_samples.any_tokens(random, 20, 25) for _ in range(3)]
    matrices = any_samples.any_matrices(random, 3)
    found = ReferenceEmbedder().projections(groups, matrices, 1)
    scores = z_scores(ReferenceEmbedder().signatures(groups[2], 1))
    by_hand = sum(scores[11, slot] * float(matrices[2, slot, 1]) for slot in range(128))
    assert found.shape == (3, 20, 2) and found.dtype == np.float32
    assert found[2, 11, 1] == pytest.approx(by_hand, rel=1e-6)


def test_blending_is_the_formula():
    random = np.random.default_rng(8)
    start = random.standard_normal((30, 2)).astype(np.float32)
    neighbours = any_samples.any_neighbours(random, 30, 4)
    where = [tuple(map(float, row)) for row in start]
    for _ in range(5):
        where = [step(sample, start, neighbours, where) for sample in range(30)]
    assert blend(start, neighbours, 0.3, 5) == pytest.approx(np.array(where))
    assert (blend(start, neighbours, 0.3, 5)[0] == start[0]).all()


def step(sample, start, neighbours, where):
    of_sample = neighbours.indices[neighbours.offsets[sample] : neighbours.offsets[sample + 1]]
    if not len(of_sample):
        return tuple(map(float, start[sample]))
    means = [math.fsum(where[other][axis] for other in of_sample) / len(of_sample) for axis in (0, 1)]
    return tuple(0.7 * float(start[sample, axis]) + 0.3 * means[axis] for axis in (0, 1))


def test_no_neighbours_and_no_passes_leave_positions():
    start = np.random.default_rng(9).standard_normal((4, 2)).astype(np.float32)
    none = any_samples.any_neighbours(np.random.default_rng(1), 4, 0)
    assert (blend(start, none, 0.5, 5) == start).all()
    assert (blend(start, any_samples.any_neighbours(np.random.default_rng(1), 4, 3), 0.5, 0) == start).all()
