"""Freed memory serves the next arrays, and a script that leaves `call` or `likelihoods` before its end ends at once.

None of its processes stays.
"""

import os
import platform
import subprocess
import sys
from itertools import product
from string import Template

import pytest

from pairhmm.simulate.api import simulate

workers_are_forked = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, a script has no workers")

SCRIPT = Template("""
import os, sys, threading
import pairhmm
from pairhmm.engine.workers import Workers
from pairhmm.calling import parallel

# Few reads would need no workers, and one core would have none.
parallel.WORTH_PROCESSES, parallel.usable_cores = 0, lambda: 2
begin = Workers.__enter__

def begun(self):
    begin(self)
    pids.extend(one.process.pid for one in self._workers)
    print(*pids)
    return self

Workers.__enter__, pids = begun, []
$devices
kept = pairhmm.$function("$bam", "$reference", $options)
next(kept)
$end
""")
"""A script that keeps a generator. It prints the ids of the workers."""

DEVICE = """
from types import ModuleType
import numpy as np
from pairhmm import backends
from pairhmm.backends import Entry, Status, reference
from pairhmm.models.batch import Scores

class Gpu(reference.ReferenceBackend):
    name, label = "gpu", "gpu:0"
    def forward(self, batch, skip_read, threads):
        return Scores(np.full(batch.pairs, -1.0), np.zeros(batch.pairs, dtype=np.uint8))

module = sys.modules["pairhmm.backends.gpu"] = ModuleType("pairhmm.backends.gpu")
module.status, module.make = lambda: Status(True, devices=("None",)), lambda device, memory: Gpu()
backends.REGISTRY = (*backends.REGISTRY, Entry("gpu", has_devices=True))
"""

FORK = """
child = os.fork()
if child == 0:
    sys.exit(5)
assert os.waitpid(child, 0)[1] >> 8 == 5
"""

ENDS = {
    "end": ("", 0, ""),
    "error": ("raise ValueError('mine')", 1, "ValueError: mine"),
    "exit": ("sys.exit(3)", 3, ""),
    "Ctrl-C": ("raise KeyboardInterrupt", -2, "KeyboardInterrupt"),
    "cycle": ("class Box: pass\nbox = Box(); box.box, box.kept = box, kept; del kept", 0, ""),
    "dropped": ("del kept\nassert not [one for one in pids if os.path.exists(f'/proc/{one}')]", 0, ""),
    "error in a thread": ("threading.Thread(target=lambda: [].pop()).start()", 0, "IndexError: pop from empty list"),
    "used in a thread": ("threading.Thread(target=lambda: list(kept)).start()", 0, ""),
    "used in asyncio": ("import asyncio\nasyncio.run(asyncio.to_thread(next, kept))", 0, ""),
    "fork": (f"{FORK}assert list(kept)", 0, ""),
    "fork that closes": (FORK.replace("sys", "kept.close(); sys") + "assert list(kept)", 0, ""),
    "fork, not at its end": (FORK, 0, ""),
    "pool": (
        "from multiprocessing import get_context\nwith get_context('fork').Pool(2) as pool:\n"
        "    assert pool.map(abs, [-1]) == [1]\nassert next(kept)",
        0,
        "",
    ),
}
"""What a script does then, its exit code, and its last message."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("data"), length=60_000, coverage=30, seed=3)


def assert_ends(data, folder, end, function="call", options="threads=2", devices="", workers=2):
    what, code, told = ENDS[end]
    script = SCRIPT.substitute(
        function=function, bam=data.bam, reference=data.reference, options=options, devices=devices, end=what
    )
    # From Python 3.12 on, a fork of a process with threads is warned of: here, the script's own.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | {"TMPDIR": str(folder)})
    assert done.returncode == code, done.stderr
    assert (done.stderr.splitlines() or [""])[-1] == told
    assert not list(folder.iterdir())
    pids = done.stdout.split()
    assert len(pids) == workers
    assert not [one for one in pids if os.path.exists(f"/proc/{one}")]


@workers_are_forked
@pytest.mark.parametrize(
    ("end", "function"), [*((end, "call") for end in ENDS), *product(["end", "error"], ["likelihoods"])]
)
def test_a_generator(data, tmp_path, end, function):
    assert_ends(data, tmp_path, end, function)


@workers_are_forked
@pytest.mark.parametrize("end", ["end", "error", "fork"])
@pytest.mark.parametrize("threads", [1, 2])
def test_devices_end_too(data, tmp_path, end, threads):
    options = f"threads={threads}, backend='gpu'"
    assert_ends(data, tmp_path, end, "likelihoods", options, DEVICE, 2 if threads == 2 else 0)


@workers_are_forked
@pytest.mark.parametrize("function", ["call", "profiles"])
def test_one_process(data, tmp_path, function):
    assert_ends(data, tmp_path, "end", function, "threads=1", workers=0)


_ARRAYS = """
import resource, sys
from pairhmm.process import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
def faults():
    for size in (3, 9, 20):
        held = [bytearray(b"x" * (size << 20)) for _ in range(4)]
        del held
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = faults()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's parameters")
def test_arrays_take_pages_that_were_freed():
    kept, returned = (
        int(subprocess.run([sys.executable, "-c", _ARRAYS, how], capture_output=True, check=True).stdout)
        for how in ("kept", "returned")
    )
    assert kept < 1000
    assert returned > 10 * kept
