"""The lines of the score table: the compiled part writes what Python would."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pairhmm.forward import score_lines as module
from pairhmm.forward.score_lines import score_lines
from pairhmm.models.batch import PRECISIONS, PairBatch, Qualities, Scores, Start
from pairhmm.sequences.arrays import offsets


def batch_of(shapes):
    """Groups of so many reads and haplotypes, of one base each."""
    reads, haplotypes = (sum(shape[side] for shape in shapes) for side in (0, 1))
    bases = np.zeros(reads, dtype=np.uint8)
    return PairBatch(
        group_read=offsets([shape[0] for shape in shapes]),
        group_haplotype=offsets([shape[1] for shape in shapes]),
        read_offset=np.arange(reads + 1),
        haplotype_offset=np.arange(haplotypes + 1),
        haplotypes=np.zeros(haplotypes, dtype=np.uint8),
        start=Start(0.0, 1.0),
        qualities=Qualities(*[bases] * 5),
    )


def scores_of(batch, rng):
    return Scores(rng.normal(-50, 40, batch.pairs), rng.integers(0, len(PRECISIONS), batch.pairs).astype(np.uint8))


def written(batch, scores, *names, threads=1, first_group=0):
    return b"".join(score_lines(batch, scores, first_group, *names, threads=threads))


@pytest.fixture
def in_python(monkeypatch):
    def written_in_python(*arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(module, "is_compiled", lambda: False)
            return written(*arguments, **options)

    return written_in_python


@pytest.mark.parametrize("native", [True, False])
def test_a_table(native, require, monkeypatch):
    if native:
        require("cpu", module.is_compiled(), "the compiled part is not installed")
    else:
        monkeypatch.setattr(module, "is_compiled", lambda: False)
    batch = batch_of([(2, 2), (1, 1)])
    scores = Scores(np.array([-1.5, -np.inf, -0.0, -123.4567895, 1e-7]), np.array([0, 1, 0, 0, 1], dtype=np.uint8))
    expected = [
        ("7", "0", "0", "-1.500000", "float32"),
        ("7", "0", "1", "-inf", "float64"),
        ("7", "1", "0", "-0.000000", "float32"),
        ("7", "1", "1", "-123.456789", "float32"),
        ("8", "0", "0", "0.000000", "float64"),
    ]
    assert written(batch, scores, first_group=7).decode() == "".join("\t".join(row) + "\n" for row in expected)
    named = written(batch, scores, ["r1", "ré2", "r3"], ["h1", "h2", "h3"]).decode()
    assert [line.split("\t")[1:3] for line in named.splitlines()] == [
        ["r1", "h1"], ["r1", "h2"], ["ré2", "h1"], ["ré2", "h2"], ["r3", "h3"]
    ]  # fmt: skip


# Exact halves of the last decimal, both ways; neighbours of halves; and the ends of what the integers hold.
HARD = [
    0.0078125,
    0.0234375,
    2.0**-20,
    0.0000005,
    0.9999995,
    0.99999950000000003,
    2.0**43,
    2.0**43 - 2.0**-9,
    5e-324,
    1e300,
]


@given(values=st.lists(st.floats(allow_nan=True), min_size=1, max_size=20))
@example(values=HARD)
@example(values=[-value for value in HARD])
@example(values=[float(np.nextafter(value, side)) for value in HARD for side in (0, 1e9)])
@example(values=[(2 * i + 1) / 2**7 for i in range(-500, 500)])
def test_numbers_are_pythons(values, require):
    require("cpu", module.is_compiled(), "the compiled part is not installed")
    batch = batch_of([(len(values), 1)])
    scores = Scores(np.array(values), np.zeros(len(values), dtype=np.uint8))
    found = [line.split(b"\t")[3].decode() for line in written(batch, scores).splitlines()]
    assert found == [f"{value:.6f}" for value in values]


@given(shapes=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9), at_once=st.integers(1, 100))
def test_every_way_gives_the_same_bytes(shapes, at_once, require):
    require("cpu", module.is_compiled(), "the compiled part is not installed")
    batch = batch_of(shapes)
    scores = scores_of(batch, np.random.default_rng(3))
    names = (
        [f"r{i}" for i in range(len(batch.read_offset) - 1)],
        [f"h{i}" for i in range(len(batch.haplotype_offset) - 1)],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PAIRS_AT_ONCE", at_once)
        found = [written(batch, scores), written(batch, scores, *names, threads=2)]
        patch.setattr(module, "is_compiled", lambda: False)
        assert found == [written(batch, scores), written(batch, scores, *names)]


def test_many_pairs_on_threads(in_python, require):
    require("cpu", module.is_compiled(), "the compiled part is not installed")
    batch = batch_of([(300, 150), (1, 70_000), (70_000, 3)])
    scores = scores_of(batch, np.random.default_rng(4))
    expected = in_python(batch, scores)
    for threads in (1, 2, 5):
        assert written(batch, scores, threads=threads) == expected
