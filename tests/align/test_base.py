"""Chunks, devices that share them, and what is done when one fails. No result depends on any of it."""

import numpy as np
import pytest

from pairhmm import backends
from pairhmm.align import base, reference
from pairhmm.align.base import ALIGNERS, Aligner, AlignerPool, Alignments
from pairhmm.align.scoring import Scoring
from pairhmm.backends.base import Status
from pairhmm.engine import pair_pool
from pairhmm.engine.pair_pool import chunks_of
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from tests.align import any_pairs


class Failing(Aligner):
    """The oracle on a device: out of memory above so many pairs, and lost after so many calls."""

    def __init__(self, label, most=10**9, calls=10**9):
        self.label, self.most, self.calls = label, most, calls
        self.oracle = reference.make()

    def _check(self, pairs):
        if self.calls == 0:
            raise DeviceLost(self.label, "unplugged")
        self.calls -= 1
        if len(pairs) > self.most:
            raise OutOfDeviceMemory(f"{self.label}: out of memory")

    def scores(self, pairs, scoring, threads):
        self._check(pairs)
        return self.oracle.scores(pairs, scoring, threads)

    def alignments(self, pairs, scoring, threads):
        self._check(pairs)
        return self.oracle.alignments(pairs, scoring, threads)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(pair_pool, "CHUNK_CELLS", 5_000)
    monkeypatch.setattr(pair_pool, "MIN_SHARED_CELLS", 0)


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ([("a",)], []),
        ([("a",), ("b",)], []),
        ([("a", 3)], ["a: out of memory; "]),
        ([("a", 0)], ["a: out of memory for one pair, which reference takes"]),
        ([("a", 10**9, 0)], ["a: lost (unplugged); reference goes on"]),
        ([("a", 10**9, 2), ("b",)], ["a: lost (unplugged); b goes on"]),
        ([("a", 10**9, 0), ("b", 10**9, 0)], ["reference goes on"]),
    ],
)
def test_any_pairs(small_chunks, caplog, devices, told):
    for pairs, scoring in any_pairs.any_batches(seed=6, pairs=50, longest=60):
        caplog.clear()
        shared = AlignerPool([Failing(*one) for one in devices], lambda: ALIGNERS.load("reference"))
        with caplog.at_level("WARNING"):
            any_pairs.check(shared, pairs, scoring)
        for message in told:
            assert message in caplog.text
        assert bool(told) == bool(caplog.text)


def test_chunks_have_about_equal_cells():
    for pairs, _ in any_pairs.any_batches(seed=7, pairs=100, longest=60):
        for most in (1, 1_000, 10**9):
            found = chunks_of(pairs, most)[::-1]
            assert [begin for begin, _ in found][1:] == [end for _, end in found][:-1]
            assert (found[0][0], found[-1][1]) == (0, len(pairs))
            largest = int(pairs.cells_of_each.max())
            assert all(pairs.part(*one).cells <= most + largest for one in found)


def test_no_pairs():
    (pairs, scoring), *_ = any_pairs.any_batches(pairs=1)
    shared = AlignerPool([Failing("a")], lambda: ALIGNERS.load("reference"))
    assert shared.scores(pairs.part(0, 0), scoring, 1).tolist() == []
    assert isinstance(shared.alignments(pairs.part(0, 0), scoring, 1), Alignments)


@pytest.mark.parametrize(
    ("cells", "with_cigars", "expected"),
    [(10**13, False, "cuda"), (10**9, False, "cpu"), (20 * 10**9, False, "cpu"), (20 * 10**9, True, "cuda")],
)
def test_auto_takes_a_device_where_it_helps(monkeypatch, cells, with_cigars, expected):
    monkeypatch.setattr(backends, "status", lambda name: Status(True, "made", ("Big",)))
    monkeypatch.setattr(ALIGNERS, "load", lambda name, device=None: Failing(name))
    assert base.choose("auto", None, Scoring(), cells, 1, with_cigars).label == expected


def test_parts_of_sequences():
    (pairs, _), *_ = any_pairs.any_batches(pairs=20)
    part = pairs.queries.part(3, 9)
    assert len(part) == 6 and part.offsets[0] == 0
    assert all(np.array_equal(part[index], pairs.queries[index + 3]) for index in range(6))
