"""cuda/published/wavefront.cu through the emulator, one launch a diagonal, beside the reference backend."""

from __future__ import annotations

import json
import math
import os
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from click.testing import CliRunner

from pairhmm import backends, engine
from pairhmm.backends import Status, reference
from pairhmm.bench.lengths import make_groups
from pairhmm.bench.published import wavefront
from pairhmm.bench.published.wavefront import Wavefront, _cells, log_pair, make_pair, source
from pairhmm.cli.bench import command
from pairhmm.models import gatk, profile
from pairhmm.models.batch import Group, PairBatch, Read


@pytest.fixture(scope="module")
def kernels(emulator):
    return emulator.Emulated([source()])


class Array(np.ndarray):
    """cupy.ndarray, on the host."""

    def set(self, values):
        self[...] = values

    def get(self):
        return np.array(self)


class FakeCupy:
    """What `Wavefront` uses of CuPy: kernels run in the emulator, at once or when their graph is launched."""

    def __init__(self, kernels):
        self.kernels, self.recorded, self.launches = kernels, None, 0
        one = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
        self.stream = MagicMock(begin_capture=self.begin, end_capture=self.end)
        self.stream.__enter__.return_value = self.stream
        self.cuda = SimpleNamespace(
            Device=MagicMock(), Stream=lambda **_: self.stream, Event=lambda: one, get_elapsed_time=lambda *_: 1500.0
        )
        self.RawModule = lambda code, options: SimpleNamespace(get_function=self.function)

    def empty(self, shape, dtype):
        return np.full(shape, 7, dtype).view(Array)

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype).view(Array)

    def function(self, name):
        def launch(grid, block, arguments):
            self.launches += 1
            self.kernels.launch(name, *grid, *block, arguments)

        return lambda *given: launch(*given) if self.recorded is None else self.recorded.append((launch, given))

    def begin(self):
        self.recorded = []

    def end(self):
        recorded, self.recorded = self.recorded, None
        return SimpleNamespace(
            upload=lambda stream: None, launch=lambda stream: [launch(*given) for launch, given in recorded]
        )


@pytest.fixture
def cupy(kernels, monkeypatch):
    fake = FakeCupy(kernels)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake


def score(kernels, batch, block=32, recorded=None):
    """log10 by launches as `Wavefront.score` makes them, or in runs of `recorded` with an advance after each."""
    pair = log_pair(batch)
    m, n = pair.rows.shape[1], len(pair.letters)
    first, last = np.zeros(1, np.int32), np.full(n + 1, np.nan, np.float32)
    states, result = np.full((3, 3, m + 1), np.nan, np.float32), np.empty(1)
    before = [pair.rows, pair.letters, np.int32(m), np.int32(n), *pair.starts, first]
    diagonals = m + n + 1
    for diagonal in range(diagonals if recorded is None else -(-diagonals // recorded) * recorded):
        step = diagonal if recorded is None else diagonal % recorded
        cells = _cells(diagonal, m, n) if recorded is None else min(m, n) + 1
        kernels.launch("wavefront_diagonal", -(-cells // block), block, [*before, np.int32(step), states, last])
        if recorded is not None and step == recorded - 1:
            kernels.launch("wavefront_advance", 1, 1, [first, np.int32(recorded)])
    kernels.launch("wavefront_sum", 1, 32, [last, np.int32(n), result])
    return result[0] / math.log(10)


def gatk_pair(read_length, haplotype_length):
    (group,) = make_groups(max(read_length, haplotype_length), 1, seed=read_length)
    names = ("bases", "base_quality", "insertion_quality", "deletion_quality", "gap_quality")
    read = Read(*(getattr(group.reads[0], name)[:read_length] for name in names))
    return PairBatch.from_groups([Group([read], [group.haplotypes[0][:haplotype_length]])])


def profile_pair(preset, read_length, haplotype_length):
    rng = np.random.default_rng(read_length)
    model = profile.preset(preset)
    rows = model.rows(rng.dirichlet([0.3] * 4, read_length))
    one = np.array([0, 1])
    ends = np.array([0, read_length]), np.array([0, haplotype_length])
    return PairBatch(one, one, *ends, rng.integers(0, 5, haplotype_length, dtype=np.uint8), model.start, rows=rows)


SIZES = [(1, 1), (1, 40), (40, 1), (20, 33), (70, 70), (90, 50)]


@pytest.mark.parametrize(("m", "n"), SIZES)
@pytest.mark.parametrize("model", ["gatk", *profile.PRESETS])
def test_scores_of_small_pairs(kernels, model, m, n):
    batch = gatk_pair(m, n) if model == "gatk" else profile_pair(model, m, n)
    expected = engine.forward(batch, "reference").log10[0]
    assert np.isfinite(expected)
    assert score(kernels, batch) == pytest.approx(expected, rel=1e-4)


def test_a_score_below_the_range_of_float32(kernels):
    batch = profile_pair("normalised", 100, 80)
    expected = engine.forward(batch, "reference").log10[0]
    assert expected < -45
    assert score(kernels, batch) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("recorded", [1, 7, 61, 100])
def test_launches_that_are_replayed(kernels, recorded):
    batch = profile_pair("normalised", 25, 35)
    assert score(kernels, batch, recorded=recorded) == score(kernels, batch)


def test_a_pair_that_is_impossible(kernels):
    batch = profile_pair("normalised", 3, 3)
    batch.rows[:, :5] = 0
    batch.rows[:, 8:10] = 0
    with np.errstate(divide="ignore"):
        assert score(kernels, batch) == -np.inf


def test_pairs_that_are_measured_fit_each_other():
    batch = make_pair(300)
    assert (batch.pairs, batch.cells) == (1, 90_000)
    assert batch.start == profile.STARTS["match"]
    assert -60 < engine.forward(batch, "reference").log10[0] < 0


def test_logarithms_of_gatk_rows():
    batch = gatk_pair(10, 12)
    pair = log_pair(batch)
    assert pair.rows.shape == (12, 10) and pair.rows.flags.c_contiguous and pair.rows.dtype == np.float32
    assert np.exp(pair.rows) == pytest.approx(gatk.rows(batch.qualities).T, rel=1e-6)
    assert pair.starts == pytest.approx((-np.inf, -np.log(12), -np.log(12)))


@pytest.mark.parametrize(("m", "n"), [(3, 5), (5, 3), (1, 1)])
def test_cells_of_all_diagonals(m, n):
    assert sum(_cells(diagonal, m, n) for diagonal in range(m + n + 1)) == (m + 1) * (n + 1)


@pytest.mark.parametrize("replay", [False, True])
def test_host_code(cupy, monkeypatch, replay):
    monkeypatch.setattr(wavefront, "RECORDED_LAUNCHES", 20)
    monkeypatch.setattr(wavefront, "BLOCK", 32)
    batch = make_pair(50)
    run = Wavefront().score(log_pair(batch), replay)
    assert run.score == pytest.approx(engine.forward(batch, "reference").log10[0], rel=1e-4)
    assert run.events == 1.5 and run.seconds > 0
    assert cupy.launches == (6 * 21 + 1 if replay else 101 + 1)


@pytest.fixture
def cuda(cupy, monkeypatch, require):
    """A backend "cuda" that is the oracle."""
    require("cpu", backends.status("cpu").available, "the float64 scores are the compiled part's")
    load, status = backends.load, backends.status
    oracle, found = reference.make(), Status(True, "a library", ("Big",))
    monkeypatch.setattr(backends, "load", lambda name, *given: oracle if name == "cuda" else load(name, *given))
    monkeypatch.setattr(backends, "status", lambda name: found if name == "cuda" else status(name))
    monkeypatch.setattr("pairhmm.bench.device._driver_version", lambda: "600.1")


def run(*options):
    return CliRunner().invoke(
        command, ["wavefront", "--lengths", "10,20", "--repetitions", "2", *options], catch_exceptions=False
    )


def test_table(cuda):
    lines = [line.split("\t") for line in run().stdout.splitlines()]
    columns = ["launched_seconds", "replayed_seconds", "ours_seconds", "ratio", "difference", "ours_difference"]
    assert lines[0] == ["length", *columns]
    assert [line[0] for line in lines[1:]] == ["10", "20"]
    assert all(0 < float(line[5]) < 1e-4 and float(line[6]) < 1e-9 for line in lines[1:])


def test_json(cuda):
    figures = json.loads(run("--json").stdout)
    assert figures["devices"][0] == {"backend": "cuda", "device": "Big", "runs on": "a library", "driver": "600.1"}
    assert [len(row["launched_seconds"]) for row in figures["wavefront"]] == [2, 2]
    assert figures["wavefront"][0]["launched_events"] == [1.5, 1.5]


def test_without_a_gpu(run_cli):
    done = run_cli("bench", "wavefront", env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"})
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pairhmm: error: backend cuda: ")
    assert done.stderr.count("\n") == 1
