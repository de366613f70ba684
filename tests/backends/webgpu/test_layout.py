"""`pairhmm.backends.webgpu.layout`: which shapes the reads of a batch get."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.backends.tiles import Shape
from pairhmm.backends.webgpu import layout as webgpu_packed
from pairhmm.backends.webgpu.runtime import WIDTH
from pairhmm.models.batch import PairBatch, Qualities
from pairhmm.models.gatk import START
from pairhmm.models.profile import STARTS
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets

HAPLOTYPE = 40


class Memory:
    """Host memory that goes nowhere."""

    packer = native.Packer(native.ThreadPool(3))

    def begin(self, size, behind):
        return np.zeros(behind, dtype=np.uint8), np.zeros(size - behind, dtype=np.uint8)

    def send(self, first, end):
        pass


def batch_of(lengths, start):
    """A group: reads of these lengths beside one haplotype."""
    bases = np.zeros(sum(lengths), dtype=np.uint8)
    quality = np.full(len(bases), 30, dtype=np.uint8)
    return PairBatch(
        offsets([len(lengths)]),
        offsets([1]),
        offsets(lengths),
        offsets([HAPLOTYPE]),
        np.zeros(HAPLOTYPE, dtype=np.uint8),
        start,
        qualities=Qualities(bases, quality, quality, quality, quality),
    )


def pack(lengths, share, start=STARTS["match"]):
    skip_read = np.zeros(len(lengths), dtype=bool)
    return webgpu_packed.pack(batch_of(lengths, start), skip_read, WIDTH, 8, share, Memory())


@pytest.fixture
def tiers(monkeypatch):
    """``tiers(lengths, cells)``: the tiers of such reads, if one costs as much as that many cells."""

    def found(lengths, cells):
        monkeypatch.setattr(webgpu_packed, "TIER_CELLS", cells)
        webgpu_packed.shapes.cache_clear()
        packed = pack(lengths, 1 << 30)
        return {tier.shape: tier.cells // (HAPLOTYPE * tier.shape.lanes * tier.shape.rows) for tier in packed.tiers}

    yield found
    webgpu_packed.shapes.cache_clear()


def test_tiers_that_cost_nothing_fit_their_reads(tiers):
    lengths = [90, 100, 101, 150, 150]
    assert tiers(lengths, 0) == {Shape(8, 12): 1, Shape(8, 13): 2, Shape(8, 19): 2}


def test_few_reads_share_a_tier(tiers):
    assert tiers([90, 100, 101, 150, 150], 10**6) == {Shape(8, 19): 5}
    assert tiers([90, 100, 101], 10**6) == {Shape(8, 13): 3}


def test_reads_of_other_lanes_or_rescuers_never_share_one(tiers):
    """That would change the last bits of their scores."""
    families = [(1, 16), (4, 9), (4, 15), (8, 9), (8, 13), (16, 10), (16, 19), (32, 16)]
    assert list(tiers([10, 30, 60, 70, 100, 155, 300, 500], 10**9)) == [Shape(*family) for family in families]


def test_a_rescue_takes_the_lists_of_lanes_that_pass_values_on_in_the_same_way():
    """Lanes of one number of rows, which lie in a subgroup of 8 or do not."""
    packed = pack([30] * 3 + [70] * 4 + [155] * 5 + [300] * 6 + [500], 1 << 30)
    lists = [
        (rescue.shape, rescue.work["tiers"][: rescue.work["end_item"], [0, 2]].tolist()) for rescue in packed.rescues
    ]
    assert lists == [
        (Shape(8, 10), [[0, 4], [1, 8]]),
        (Shape(32, 10), [[2, 16], [3, 32]]),
        (Shape(32, 20), [[4, 32]]),
    ]
    assert [rescue.workgroups for rescue in packed.rescues] == [1 + 1, 3 + 6, 1]


def test_a_tall_read_gets_the_strips_that_waste_least(tiers):
    found = tiers([609, 700, 1024, 2048], 10**9)
    assert set(found) == {Shape(32, rows, tall=True) for rows in (10, 11, 16)}


def test_what_is_between_strips_leaves_room_for_the_lists():
    item = 8 * (HAPLOTYPE + webgpu_packed.BETWEEN_PADDING)
    lists = 8 * 40
    packed = pack([700] * 100 + [150] * 40, lists + 10 * item + item // 2)
    at_once = {tier.shape.tall: (tier.items, tier.at_once) for tier in packed.tiers}
    assert at_once == {True: (100, 10), False: (10, 10)}
    assert packed.list_bytes == lists + 10 * item
    assert pack([700], 0).tiers[0].at_once == 1


def test_tiers_that_walk_trees_share_dispatches():
    """Those with one number of rows, unless only one of them can shuffle."""
    lengths = [10, 40, 41, 79, 100, 150, 170, 250, 700]
    found = {(tier.shape, tier.items) for tier in pack(lengths, 1 << 30, START).tiers}
    assert found == {
        (Shape(8, 12), 3),  # 10 on 1 lane, 40 and 41 on 4, 79 on 8
        (Shape(8, 19), 1),
        (Shape(16, 12), 1),
        (Shape(16, 19), 1),
        (Shape(32, 11, tall=True), 1),
    }
    launch = next(tier for tier in pack(lengths, 1 << 30, START).tiers if tier.shape == Shape(8, 12))
    ends, firsts, lanes, _ = launch.work["tiers"].reshape(-1, 8)[:3, :4].T.tolist()
    assert ends == [1, 2, 3] and sorted(lanes) == [1, 4, 8] and len(set(firsts)) == 3


def test_workgroups_that_walk_trees_fit_their_share():
    """With the rows of their items. The least is a workgroup and an item."""
    least = pack([150] * 400, 0, START)
    assert [(tier.walkers, tier.at_once) for tier in least.tiers] == [(1, 1)]
    most = pack([150] * 400, 1 << 30, START)
    assert [(tier.walkers, tier.at_once) for tier in most.tiers] == [(100, 100)]
    share = most.scratch_bytes // 3
    some = pack([150] * 400, share, START)
    assert 1 < some.tiers[0].walkers < 100 and 1 < some.tiers[0].at_once < 100
    assert 0.9 * share < some.scratch_bytes <= share


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7, 1000])
def test_parts_of_a_dispatch_have_every_item_once(most):
    tier = next(tier for tier in pack([10] * 100 + [40] * 50 + [79] * 9, 1 << 30, START).tiers if tier.items > 5)
    found: list[int] = []
    for work in tier.parts(most):
        ends, firsts = work["tiers"].reshape(-1, 8)[:, :2].T.astype(int)
        counts = np.diff(ends, prepend=0).clip(0)
        assert (work["first_item"], work["end_item"]) == (0, counts.sum()) and counts.sum() <= max(most, 3)
        found += [first + k for first, count in zip(firsts, counts, strict=True) for k in range(count)]
    assert sorted(found) == list(range(tier.items))
