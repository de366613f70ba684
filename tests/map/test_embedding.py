"""Parts of the map: weights, planes, cells, exact scaling, trustworthiness, neighbours and distances."""

import numpy as np
import pytest

from pairhmm.errors import OptionError
from pairhmm.map import similarity
from pairhmm.map.embedding import cells_by_cdf, cells_by_rank, matrices_of, scaled, trustworthiness, weights_of
from pairhmm.map.reference import ReferenceEmbedder
from pairhmm.map.similarity import PUBLISHED, distances_of, joint_sketches, nearest_neighbours, sketches_of
from pairhmm.map.sketch.base import COMPARERS
from tests.map import any_samples


def test_weights_sum_to_1():
    assert weights_of(["kmers", "hits"], {"hits": 3}).tolist() == [0.25, 0.75]
    for wrong in ({"sheet": 1}, {"hits": -1}, {"hits": 0, "kmers": 0}):
        with pytest.raises(OptionError):
            weights_of(["kmers", "hits"], wrong)


def test_planes_depend_on_seed_and_group_only():
    both, one = matrices_of(["kmers", "hits"], 5), matrices_of(["hits"], 5)
    assert (both[1] == one[0]).all() and (both[0] != both[1]).any() and (matrices_of(["hits"], 6) != one).any()
    assert both.std() == pytest.approx(1 / np.sqrt(128), rel=0.1)


def test_cells_are_spread_evenly():
    positions = np.random.default_rng(1).standard_normal((5000, 2)).astype(np.float32)
    for cells in (cells_by_cdf(positions), cells_by_rank(positions)):
        assert cells.min() >= 0 and cells.max() < 65536
        assert np.histogram(cells[:, 0], 8, (0, 65536))[0] == pytest.approx(np.full(8, 625), rel=0.15)
        assert (np.argsort(cells[:, 1], kind="stable") == np.argsort(positions[:, 1], kind="stable")).mean() > 0.9
    same = np.ones((3, 2), dtype=np.float32)
    assert (cells_by_cdf(same) == 32768).all() and not cells_by_rank(same).any()


def test_scaling_finds_points_of_a_plane_again():
    points = np.random.default_rng(2).standard_normal((40, 2))
    truth = np.linalg.norm(points[:, None] - points, axis=2)
    found = scaled(truth)
    assert np.linalg.norm(found[:, None] - found, axis=2) == pytest.approx(truth)
    assert trustworthiness(truth, found, 5) == 1


def test_trustworthiness_is_the_formula():
    random = np.random.default_rng(3)
    points, positions, k = random.standard_normal((30, 6)), random.standard_normal((30, 2)), 4
    truth = np.linalg.norm(points[:, None] - points, axis=2)
    penalty = 0
    for i in range(30):
        by_truth = sorted((j for j in range(30) if j != i), key=lambda j: truth[i, j])
        on_map = sorted((j for j in range(30) if j != i), key=lambda j: np.linalg.norm(positions[i] - positions[j]))
        penalty += sum(max(0, by_truth.index(j) + 1 - k) for j in on_map[:k])
    assert trustworthiness(truth, positions, k) == pytest.approx(1 - 2 * penalty / (30 * k * (60 - 3 * k - 1)))
    assert trustworthiness(truth[:2, :2], positions[:2], 4) is None


def test_neighbours_share_most_and_lacks_make_nobody_alike():
    sets = [list(range(start, start + 40)) for start in (0, 4, 8, 1000, 1004)] + [[], [], [9_000_000]]
    embedder = ReferenceEmbedder()
    groups = [any_samples.token_sets(sets)] * 3
    sketches = joint_sketches(groups, embedder, 1)
    found, _ = nearest_neighbours(sketches, 2, COMPARERS.load("reference"), 1)
    rows = [found.indices[begin:end].tolist() for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    assert rows[0] == [1, 2] and rows[4][0] == 3 and rows[3][0] == 4
    assert COMPARERS.load("reference").equal_slots(sketches, sketches, 1)[5, 6] <= 3
    assert sorted(set(rows[1])) == [0, 2]


def test_joint_sketches_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch):
    groups = [any_samples.token_sets([[1, 2], [], [2, 3], [4], [5, 6, 7]])] * 2
    whole = joint_sketches(groups, ReferenceEmbedder(), 1)
    monkeypatch.setattr(similarity, "_VALUES_AT_ONCE", 512)
    assert np.array_equal(joint_sketches(groups, ReferenceEmbedder(), 1).planes, whole.planes)


def test_distances_take_groups_that_both_have():
    first = ReferenceEmbedder().signatures(any_samples.token_sets([[1, 2, 3], [1, 2, 3], [4, 5], []]), 1)
    second = ReferenceEmbedder().signatures(any_samples.token_sets([[7], [8], [7], [7]]), 1)
    has = [np.array([True, True, True, False]), np.array([True] * 4)]
    both = [sketches_of(first, PUBLISHED), sketches_of(second, PUBLISHED)]
    found = distances_of(both, has, np.array([0.75, 0.25]), lambda scheme: COMPARERS.load("reference"), 1)
    assert found[0] == pytest.approx(np.sqrt([0, 0.25, 0.75, 0]))
    assert not found.diagonal().any() and (found == found.T).all()
