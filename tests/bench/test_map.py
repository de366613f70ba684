"""`pairhmm bench map`: its cohorts, its tables, and the speeds that `devices --calibrate` keeps."""

import json
import subprocess
import sys

import numpy as np
import pytest

from pairhmm import backends
from pairhmm.bench import calibrate
from pairhmm.bench.map import make_cohort
from pairhmm.engine.calibration import DISTANCES, PLACE
from pairhmm.map.sketch.published import PRIME
from pairhmm.native import is_compiled


def test_sets_are_sorted_and_distinct():
    cohort = make_cohort(60, 10)
    assert cohort.sets == 600
    sizes = [np.diff(group.offsets) for group in cohort.groups]
    assert (sizes[0].min(), sizes[0].max()) == (1, 11) and sizes[4].min() >= 12
    for group in cohort.groups:
        for begin, end in zip(group.offsets[:-1], group.offsets[1:], strict=True):
            own = group.tokens[begin:end].astype(np.int64)
            assert (np.diff(own) > 0).all() and own[-1] < PRIME


def test_sizes_and_differences(require):
    found = backends.status("webgpu")
    require("webgpu", found.available, f"{found.reason}; {found.cure}")
    command = [sys.executable, "-m", "pairhmm", "bench", "map", "--backend", "webgpu", "--nodes", "34,50"]
    done = subprocess.run(
        [*command, "--groups", "2", "--repetitions", "1", "--accuracy", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert [row["nodes"] for row in figures["map"]] == [34, 50]
    assert all(row["sketch_seconds"] > 0 and row["blend_seconds"] > 0 and row["auto"] for row in figures["map"])
    for row in figures["differences"]:
        assert row["signatures"] == 0
        assert row["projections"] <= 1e-4
        assert row["blends"] <= 1e-5


@pytest.mark.parametrize("name", [PLACE, DISTANCES])
def test_the_work_that_is_calibrated(name):
    """What is timed runs, and its units grow with the samples."""
    work = calibrate.WORKS[name]
    few, run = work.prepare(3)
    many, _ = work.prepare(6)
    assert many in (2 * few, 4 * few)
    run(work.load("reference", None), 1)


def test_speeds_of_the_cpu(monkeypatch, require):
    """Both kinds of work are timed on the CPU; a software adapter is not."""
    require("compiled", is_compiled(), "the compiled part is not installed")
    monkeypatch.setattr(calibrate, "_start_seconds", lambda *_: 0.5)
    monkeypatch.setattr(calibrate, "LARGE_SECONDS", 0.0)
    works = [calibrate.WORKS[name] for name in (PLACE, DISTANCES)]
    speeds = [speed for work in works for speed in calibrate.measure(work, 1) if speed.backend == "cpu"]
    assert [speed.work for speed in speeds] == [PLACE, DISTANCES]
    for speed in speeds:
        assert speed.start_seconds == 0
        assert speed.call_seconds > 0
        assert speed.cells_per_second > 0
