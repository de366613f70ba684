"""`pairhmm bench dp`: its workload, and that it runs."""

import pytest

from pairhmm import backends
from pairhmm.backends.cuda import setup
from pairhmm.bench import dp


def test_work_has_the_cells_that_were_asked_for(monkeypatch):
    """Pairs that are not drawn repeat others."""
    for length in (100, 1_000):
        work = dp.make_work("linear", length, 2e6)
        assert work.pairs * length**2 == 2_000_000
        assert work.queries.max() < 4 and work.sequences().cells == work.signals().cells == 2_000_000
    assert dp.make_work("warping", 10_000, 1).pairs == 1
    monkeypatch.setattr(dp, "MOST_DISTINCT", 3)
    work = dp.make_work("warping", 10, 700)
    assert work.queries.shape == (3, 10)
    assert work.index.tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_without_cuda_there_is_one_line(run_cli):
    if backends.status("cuda").available:
        pytest.skip("CUDA is here")
    done = run_cli("bench", "dp")
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "backend cuda" in done.stderr


def test_on_a_device(require):
    found = setup.status()
    require("cuda", found.available, f"{found.reason}; {found.cure}")
    assert all(speed.gcups > 0 for speed in dp.measure_cells(0, (100, 1_100), 1, repetitions=1))
