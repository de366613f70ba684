"""Where the system starts fewer threads than are asked for, those that run do the work of all."""

import os
import subprocess
import sys

import pytest

from pairhmm import process
from pairhmm.calling.cli import command

MB = 2**20

# Scores of short pairs, which are shared out, and of a long one, which takes all threads for itself.
WORK = """
import resource, sys
import numpy as np
import pairhmm._cpu as native
from pairhmm import backends, engine
from pairhmm.models.batch import Group, PairBatch, Read

def read(rng, length):
    qualities = (np.full(length, quality, dtype=np.uint8) for quality in (30, 45, 45, 10))
    return Read(rng.integers(0, 4, length).astype(np.uint8), *qualities)

rng = np.random.default_rng(7)
letters = lambda length: rng.integers(0, 4, length).astype(np.uint8)
groups = [Group([read(rng, 100) for _ in range(600)], [letters(150) for _ in range(4)])]
groups.append(Group([read(rng, 2500)], [letters(2500)]))
batch = PairBatch.from_groups(groups)
pool = engine.choose("cpu")

def limit():
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[1]), resource.RLIM_INFINITY))

def work(threads):
    return pool.forward(batch, threads).log10
"""

LIMITED = """
before = work(1)
limit()
after = work(16)
assert (before == after).all(), "other scores"
assert native.threads_refused() > 0, "the limit limits nothing"
"""

COPIES = """
from pairhmm._cpu import Copier
values = np.arange(2_000_000, dtype=np.uint8)
target = np.zeros_like(values)
limit()
copier = Copier(16)
copier.wait(copier.begin(values, target, False))
assert (values == target).all()
assert native.threads_refused() > 0, "the limit limits nothing"
"""

TEAM = """
from pairhmm._cpu import ThreadPool, write_all
values = np.arange(2_000_000, dtype=np.uint8)
target = np.zeros_like(values)
limit()
write_all(ThreadPool(15), target, [0], [values], lambda first, end: None)
assert (values == target).all()
assert native.threads_refused() > 0, "the limit limits nothing"
"""

AHEAD = """
from pairhmm.files.background import prefetch
limit()
assert list(prefetch(iter(range(100)))) == list(range(100))
"""

needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space by /proc")


def run(code, room):
    done = subprocess.run(
        [sys.executable, "-c", WORK + code, str(room)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@needs_proc
@pytest.mark.parametrize("room", [3 * MB, 30 * MB], ids=["none", "some"])
@pytest.mark.parametrize("code", [LIMITED, COPIES, TEAM, AHEAD], ids=["forward", "copies", "team", "ahead"])
def test_fewer_threads_do_the_same_work(code, room):
    run(code, room)


def test_threads_are_capped_and_it_is_said(caplog, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2}, raising=False)
    assert process.usable_threads(48) == 48
    assert not caplog.text
    assert process.usable_threads(1_000_000) == 48
    assert "1000000 threads are too many for 3 cores: 48 are used" in caplog.text


def test_the_cap_is_documented():
    (text,) = (option.help for option in command.params if option.name == "threads")
    assert f"at most {process.MOST_PER_CORE} per core" in text
    assert "at most one per core" in text
