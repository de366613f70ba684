"""The ladder of shaders/published/wavefront.wgsl beside the oracle, and what each rung asks of the device."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from pairhmm import backends, engine
from pairhmm.backends import reference
from pairhmm.bench.published import webgpu_ladder
from pairhmm.bench.published.wavefront import make_pair
from pairhmm.bench.published.webgpu_ladder import OURS, default_lengths, measure_ladder
from pairhmm.bench.published.webgpu_wavefront import LADDER, Wavefront, log_pair
from pairhmm.cli.bench import command
from pairhmm.engine import Choice
from pairhmm.errors import InputError
from pairhmm.models import gatk, profile
from pairhmm.models.batch import Group, PairBatch, Profiles, Read

RUNGS = pytest.mark.parametrize("rung", LADDER, ids=lambda rung: rung.name)
SIZES = [(1, 1), (1, 40), (40, 1), (20, 33), (70, 70), (90, 50)]


@pytest.fixture(scope="module")
def wavefront(adapter):
    return Wavefront(adapter)


def pair_of(profiles, haplotype, start):
    one, ends = np.array([0, 1]), np.array([0, len(profiles.probabilities)])
    return PairBatch(one, one, ends, np.array([0, len(haplotype)]), haplotype, start, profiles=profiles)


def gatk_pair(m, n):
    """A pair of the gatk model, as profiles and as it is: without N and with constant gap qualities it is both."""
    rng = np.random.default_rng(m)
    haplotype = rng.integers(0, 4, n, dtype=np.uint8)
    gaps = (np.full(m, quality, dtype=np.uint8) for quality in (45, 40, 10))
    read = Read(np.resize(haplotype[n // 3 :], m), rng.integers(6, 41, m, dtype=np.uint8), *gaps)
    probabilities = profile.one_hot(read.bases, gatk.ERROR[read.base_quality])
    profiles = Profiles(probabilities, np.eye(4, 5), np.ones(4), gatk.rows(read)[0, 5:])
    return pair_of(profiles, haplotype, gatk.START), PairBatch.from_groups([Group([read], [haplotype])])


def profile_pair(preset, m, n):
    rng = np.random.default_rng(m)
    model = profile.preset(preset)
    profiles = model.profiles(rng.dirichlet([0.3] * 4, m))
    return pair_of(profiles, rng.integers(0, 5, n, dtype=np.uint8), model.start)


@RUNGS
@pytest.mark.parametrize(("m", "n"), SIZES)
@pytest.mark.parametrize("model", ["gatk", *profile.PRESETS])
def test_scores_of_small_pairs(wavefront, rung, model, m, n):
    batch, oracles = gatk_pair(m, n) if model == "gatk" else [profile_pair(model, m, n)] * 2
    expected = engine.forward(oracles, "reference").log10[0]
    assert np.isfinite(expected)
    assert wavefront.score(log_pair(batch), rung).score == pytest.approx(expected, rel=1e-4)


@RUNGS
def test_more_than_a_workgroup(wavefront, rung):
    batch = make_pair(300)
    expected = engine.forward(batch, "reference").log10[0]
    assert wavefront.score(log_pair(batch), rung).score == pytest.approx(expected, rel=1e-4)


@RUNGS
def test_a_pair_that_is_impossible(wavefront, rung):
    pair = log_pair(profile_pair("normalised", 3, 3))
    nothing = replace(pair, tables=np.where(np.arange(31) < 24, 0, pair.tables).astype(np.float32))
    assert wavefront.score(nothing, rung).score == -math.inf


class Counting:
    """A device or a queue that counts its calls."""

    def __init__(self, counted, calls):
        self._counted, self._calls = counted, calls

    def __getattr__(self, name):
        value = getattr(self._counted, name)
        if name == "queue":
            return Counting(value, self._calls)
        self._calls[name] += callable(value)
        return value


@RUNGS
def test_calls_of_a_rung(wavefront, monkeypatch, rung):
    batch = profile_pair("normalised", 20, 30)
    calls, diagonals = Counter(), 51
    monkeypatch.setattr(wavefront, "device", Counting(wavefront.device, calls))
    wavefront.score(log_pair(batch), rung)
    assert calls["create_bind_group"] == (1 if rung.offsets else diagonals) == rung.bind_groups(diagonals)
    assert calls["submit"] == (diagonals if rung.waits else 1)
    # The score is read once, and a wait is a read.
    assert calls["read_buffer"] == 1 + (diagonals if rung.waits else 0)
    assert rung.round_trips(diagonals) == calls["submit"]


def test_calls_of_ours(make_backend, monkeypatch):
    """One submission a call, and a bind group for as long as its buffers are large enough."""
    backend, batch, calls = make_backend(), make_pair(100), Counter()
    monkeypatch.setattr(backend._runtime, "device", Counting(backend._runtime.device, calls))
    for call in (1, 2):
        backend.forward_pairs(batch, np.array([0]), 1)
        assert (calls["create_bind_group"], calls["submit"]) == (1, call)


def test_rungs_differ_in_one_thing_each():
    switches = [(not rung.waits, rung.offsets, rung.cached) for rung in LADDER]
    assert switches == [(False,) * 3, (True, False, False), (True, True, False), (True,) * 3]


@pytest.mark.parametrize(("kind", "longest"), [("CPU", 1_000), ("DiscreteGPU", 100_000)])
def test_default_lengths(adapter, kind, longest):
    assert default_lengths(replace(adapter, kind=kind))[-1] == longest


@pytest.fixture
def exact(require):
    require("cpu", backends.status("cpu").available, "the float64 scores are the compiled part's")


def test_a_baseline_that_takes_too_long_is_left_out(adapter, exact, monkeypatch):
    monkeypatch.setattr(webgpu_ladder, "MOST_WAITS", 50)
    said = []
    speeds = list(measure_ladder(Choice("webgpu"), (20, 30), repetitions=1, announce=said.append))
    names = [rung.name for rung in LADDER]
    assert [speed.rung for speed in speeds] == [*names, OURS, *names[1:], OURS]
    assert [speed.speedup is None for speed in speeds] == [False] * 5 + [True] * 4
    assert said[-1] == "30 bases: no baseline, whose 61 round trips take minutes"


def run(*options):
    options = ("wavefront", "--backend", "webgpu", "--lengths", "10,20", "--repetitions", "2", *options)
    return CliRunner().invoke(command, options, catch_exceptions=False)


def test_table(adapter, exact):
    header, *rows = [line.split("\t") for line in run().stdout.splitlines()]
    columns = ["round_trips", "bind_groups", "storage_reads", "seconds", "speedup", "share_of_cuda", "difference"]
    assert header == ["length", "rung", *columns]
    rungs = [*(rung.name for rung in LADDER), OURS]
    assert [row[:2] for row in rows] == [[length, rung] for length in ("10", "20") for rung in rungs]
    assert [row[2:4] for row in rows[:5]] == [["21", "21"], ["1", "21"], ["1", "1"], ["1", "1"], ["1", "1"]]
    assert [row[6] for row in rows[::5]] == ["1", "1"]
    assert all(float(row[8]) < 1e-4 for row in rows)


def test_json_beside_cuda(adapter, exact, monkeypatch):
    """A backend "cuda" that is the oracle."""
    load, status = backends.load, backends.status
    oracle = reference.make()
    monkeypatch.setattr(backends, "load", lambda name, *given: oracle if name == "cuda" else load(name, *given))
    monkeypatch.setattr(backends, "status", lambda name: status("reference" if name == "cuda" else name))
    rows = json.loads(run("--json").stdout)["wavefront"]
    assert [len(row["seconds"]) for row in rows] == [2] * 10
    assert all(row["share_of_cuda"] == row["cuda_seconds"] / np.median(row["seconds"]) for row in rows)


def test_a_device_that_is_not_there(adapter, exact):
    with pytest.raises(InputError, match="webgpu has device"):
        measure_ladder(Choice("webgpu", (99,)))
