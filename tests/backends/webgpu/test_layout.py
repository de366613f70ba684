"""`pairhmm.backends.webgpu.layout`: what a dispatch has room for, and its parts."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_what_is_between_strips_leaves_room_for_the_lists():
    item = 8 * (HAPLOTYPE + webgpu_packed.BETWEEN_PADDING)
    lists = 8 * 40
    packed = pack([700] * 100 + [150] * 40, lists + 10 * item + item // 2)
    at_once = {tier.shape.tall: (tier.items, tier.at_once) for tier in packed.tiers}
    assert at_once == {True: (100, 10), False: (10, 10)}
    assert packed.list_bytes == lists + 10 * item
    assert pack([700], 0).tiers[0].at_once == 1


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
