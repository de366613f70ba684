"""Freed memory serves the next arrays, and a script that leaves `call` or `likelihoods` before its end ends at once.

None of its threads stays.
"""

import platform
import subprocess
import sys
from itertools import product
from string import Template

import pytest

from pairhmm.simulate.api import simulate

SCRIPT = Template("""
import os, sys, threading
import pairhmm
from pairhmm.calling import parallel

# Few reads would need no threads, and one core would have none.
parallel.WORTH_THREADS, parallel.usable_cores = 0, lambda: 2

def tasks():
    return [one for one in threading.enumerate() if one.name == "pairhmm tasks"]

$devices
kept = pairhmm.$function("$bam", "$reference", $options)
next(kept)
print(len(tasks()))
$end
""")
"""A script that keeps a generator. It prints the number of threads."""

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
module.require_installed = lambda: None
backends.REGISTRY = (*backends.REGISTRY, Entry("gpu", has_devices=True))
"""

FORK = """
child = os.fork()
if child == 0:
    sys.exit(5)
assert os.waitpid(child, 0)[1] >> 8 == 5
"""

GOING_ON = """
from pairhmm.errors import PairhmmError
child = os.fork()
if child == 0:
    try:
        list(kept)
    except PairhmmError as error:
        sys.exit(6)
assert os.waitpid(child, 0)[1] >> 8 == 6
assert list(kept)
"""

ENDS = {
    "end": ("", 0, ""),
    "error": ("raise ValueError('mine')", 1, "ValueError: mine"),
    "exit": ("sys.exit(3)", 3, ""),
    "Ctrl-C": ("raise KeyboardInterrupt", -2, "KeyboardInterrupt"),
    "cycle": ("class Box: pass\nbox = Box(); box.box, box.kept = box, kept; del kept", 0, ""),
    "dropped": ("del kept\nassert not tasks()", 0, ""),
    "closed": ("kept.close()\nassert not tasks()", 0, ""),
    "break": ("for one in kept: break\ndel kept\nassert not tasks()", 0, ""),
    "error in a loop": ("for one in kept: raise ValueError('mine')", 1, "ValueError: mine"),
    "error in a thread": ("threading.Thread(target=lambda: [].pop()).start()", 0, "IndexError: pop from empty list"),
    "used in a thread": ("threading.Thread(target=lambda: list(kept)).start()", 0, ""),
    "used in asyncio": ("import asyncio\nasyncio.run(asyncio.to_thread(next, kept))", 0, ""),
    "fork": (f"{FORK}assert list(kept)", 0, ""),
    "fork that goes on": (GOING_ON, 0, ""),
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


def assert_ends(data, end, function="call", options="threads=2", devices="", threads=2):
    what, code, told = ENDS[end]
    script = SCRIPT.substitute(
        function=function, bam=data.bam, reference=data.reference, options=options, devices=devices, end=what
    )
    # From Python 3.12 on, a fork of a process with threads is warned of: here, the script's own.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    assert (done.stderr.splitlines() or [""])[-1] == told
    assert done.stdout.split() == [str(threads)]


@pytest.mark.parametrize(
    ("end", "function"), [*((end, "call") for end in ENDS), *product(["end", "error"], ["likelihoods"])]
)
def test_a_generator(data, end, function):
    assert_ends(data, end, function)


@pytest.mark.parametrize("end", ["end", "error", "fork"])
@pytest.mark.parametrize("threads", [1, 2])
def test_devices_end_too(data, end, threads):
    options = f"threads={threads}, backend='gpu'"
    assert_ends(data, end, "likelihoods", options, DEVICE, 2 if threads == 2 else 0)


@pytest.mark.parametrize("function", ["call", "profiles"])
def test_one_thread(data, function):
    assert_ends(data, "end", function, "threads=1", threads=0)


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
