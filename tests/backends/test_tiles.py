"""`pairhmm.backends.tiles`: how a batch is packed by several threads, and sent while it is packed."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.backends.cuda import layout
from pairhmm.bench.workloads import Workload, make_workload
from pairhmm.native import is_compiled, native

if not is_compiled():
    pytest.skip("the compiled part is not installed", allow_module_level=True)

LARGE = make_workload(Workload(16, 700, 8, 150, 200, spread=100))
"""So many bytes that threads share the work, in so few groups that one of them makes all trees: then the bytes do not
depend on how many threads there are. Otherwise there are zeros between the trees of two threads."""


class Host:
    """A `Staging` in the host's memory, which notes what is sent."""

    def __init__(self, threads: int = 3) -> None:
        self.packer = native.Packer(native.ThreadPool(threads))

    def begin(self, size, behind):
        self.buffer, self.behind, self.sent = np.zeros(size, np.uint8), behind, []
        return self.buffer, self.buffer[behind:]

    def send(self, first, end):
        self.sent.append((first, end))


def packed(batch, staging):
    layout.pack(batch, np.zeros(batch.reads, dtype=bool), 2048, staging)
    return staging.buffer


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_change_no_byte(threads):
    alone = packed(LARGE, Host(0))
    host = Host(threads)
    for _ in range(3):
        assert np.array_equal(packed(LARGE, host), alone)


def test_a_packer_forgets_the_batch_before():
    """Its memory stays, and nothing that was in it counts."""
    host, few = Host(), LARGE.take_reads(1000, 1010)
    packed(LARGE, host)
    assert np.array_equal(packed(few, host), packed(few, Host()))


def test_an_error_of_a_device_is_raised_and_the_packer_stays_sound():
    class Broken(Host):
        def send(self, first, end):
            raise OSError("lost")

    host = Broken()
    for _ in range(3):
        with pytest.raises(OSError, match="lost"):
            packed(LARGE, host)
    host.send = lambda first, end: None
    assert np.array_equal(packed(LARGE, host), packed(LARGE, Host()))
