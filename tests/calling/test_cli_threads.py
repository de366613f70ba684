"""Runs with threads end as those of one thread do: with one line, an exit code, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from pairhmm.process import usable_cores
from pairhmm.simulate.api import simulate

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at threads in /proc"),
    pytest.mark.skipif(usable_cores() < 2, reason="one core has no threads"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Reads enough for threads."""
    return simulate(tmp_path_factory.mktemp("data"), length=100_000, coverage=30, seed=3)


SLOW_GPU = """
import sys, time
from types import ModuleType
import numpy as np
from pairhmm import backends
from pairhmm.backends import Entry, Status, reference
from pairhmm.models.batch import Scores

class Gpu(reference.ReferenceBackend):
    name, label = "gpu", "gpu:0"
    chunk_cells = first_chunk_cells = 1000
    def forward(self, batch, skip_read, threads):
        time.sleep(0.05)
        return Scores(np.full(batch.pairs, -1.0), np.zeros(batch.pairs, dtype=np.uint8))

module = sys.modules["pairhmm.backends.gpu"] = ModuleType("pairhmm.backends.gpu")
module.status, module.make = lambda: Status(True, devices=("Slow",)), lambda device, memory: Gpu()
module.require_installed = lambda: None
backends.REGISTRY = (*backends.REGISTRY, Entry("gpu", has_devices=True))
from pairhmm.engine import device_thread
device_thread.WORTH_A_CALL = 0
device_thread.Future.cancel = lambda self: False  # no thread takes a batch back
from pairhmm.cli.main import main
main()
"""
"""A program with a backend whose device takes minutes."""


def start(data, output, *more, program=("-m", "pairhmm")):
    command = [sys.executable, *program, "call", "-f", data.reference, "-@", "2", "-o", output, *more, data.bam]
    # A shell's background jobs ignore Ctrl-C and pass that on: not this one.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        [*map(str, command)], stderr=subprocess.PIPE, text=True, preexec_fn=heed, start_new_session=True
    )
    until = time.monotonic() + 60
    while len(os.listdir(f"/proc/{process.pid}/task")) < 3:
        assert time.monotonic() < until
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("backend", ["reference", "gpu"])
def test_a_signal_ends_a_run(data, tmp_path, number, backend):
    """The oracle takes minutes, and so does this device."""
    program = ("-c", SLOW_GPU) if backend == "gpu" else ("-m", "pairhmm")
    process = start(data, tmp_path / "calls.vcf", "--backend", backend, program=program)
    time.sleep(0.5)
    os.kill(process.pid, number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + number, told
    assert "Traceback" not in told
    assert len([line for line in told.splitlines() if "error" in line]) == 1
    assert not list(tmp_path.iterdir())


def test_a_closed_pipe_ends_all(data, run_cli):
    done = subprocess.run(
        f"{sys.executable} -m pairhmm call -f {data.reference} -@ 3 {data.bam} | head -1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.startswith("##fileformat=VCF")
    assert "Traceback" not in done.stderr


def test_debug_shows_where_a_thread_failed(data, tmp_path, run_cli):
    damaged = tmp_path / "damaged.bam"
    body = bytearray(Path(data.bam).read_bytes())
    # Within the first shard, so that its reads meet it, and not the search for a place to cut.
    body[len(body) // 10 : len(body) // 10 + 2000] = bytes(2000)
    damaged.write_bytes(body)
    (tmp_path / "damaged.bam.bai").write_bytes(Path(f"{data.bam}.bai").read_bytes())
    line = "call", "-f", data.reference, "-@", "3", "-o", tmp_path / "calls.vcf", damaged
    plain, debug = run_cli(*line), run_cli("--debug", *line)
    assert plain.returncode == 2
    assert plain.stderr.splitlines()[-1].endswith("can't be read to its end; it is cut off or damaged: make it again")
    assert "Traceback" not in plain.stderr
    assert "native_reader.py" in debug.stderr
