"""Batches that are scored in a thread: their order, what is scored together, errors, Ctrl-C and the end."""

import _thread
import logging
import threading
import time

import numpy as np
import pytest

from pairhmm.backends import Backend
from pairhmm.engine import device_thread
from pairhmm.engine.device_pool import DevicePool, Stopped
from pairhmm.engine.device_thread import DeviceThread
from pairhmm.errors import BackendUnavailable
from pairhmm.models.batch import Group, PairBatch, Read, Scores

CELLS = 10 * 20


def batch_of(reads, first=0):
    """A group of so many reads of 10 bases, whose first base qualities are numbers from `first` on."""
    made = [Read(*(np.full(10, value, dtype=np.uint8) for value in (0, first + at, 3, 3, 3))) for at in range(reads)]
    return PairBatch.from_groups([Group(made, [np.zeros(20, dtype=np.uint8)])])


def numbers(batch):
    return batch.qualities.base_quality[batch.read_offset[:-1]].tolist()


class Slow(Backend):
    """A device that gives each read its number. It waits until it is told to go on."""

    name, label = "slow", "slow:0"
    concurrency, chunk_cells, first_chunk_cells, longest_fast_read = 1, 10**9, 10**9, 500

    def __init__(self):
        self.calls, self.begun, self.go_on = [], threading.Event(), threading.Event()
        self.error = None

    def forward(self, batch, skip_read, threads):
        self.begun.set()
        assert self.go_on.wait(10)
        self.calls.append(batch.reads)
        if self.error is not None:
            raise self.error
        return Scores(np.array(numbers(batch), dtype=float), np.zeros(batch.pairs, dtype=np.uint8))


@pytest.fixture
def device():
    return Slow()


def test_what_waits_is_scored_together(device):
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        waits = [devices.begin(batch_of(2))]
        assert device.begun.wait(10)
        waits += [devices.begin(batch_of(reads, 10 * reads)) for reads in (1, 3, 2)]
        device.go_on.set()
        assert [wait().log10.tolist() for wait in waits] == [[0, 1], [10], [30, 31, 32], [20, 21]]
    assert device.calls == [2, 6]


def test_a_call_has_a_limit(device, monkeypatch):
    monkeypatch.setattr(device_thread, "MAX_MERGED_CELLS", 4 * CELLS)
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        waits = [devices.begin(batch_of(1))]
        assert device.begun.wait(10)
        waits += [devices.begin(batch_of(reads)) for reads in (1, 3, 2, 9, 1)]
        device.go_on.set()
        assert [len(wait().log10) for wait in waits] == [1, 1, 3, 2, 9, 1]
    assert device.calls == [1, 4, 2, 9, 1]


def test_a_batch_is_one_chunk_where_it_can_be(device):
    """The next batch keeps the device at work, so that the first chunk need not be small."""
    device.first_chunk_cells = CELLS
    device.go_on.set()
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        assert len(devices.begin(batch_of(50))().log10) == 50
    assert device.calls == [50]


def test_a_batch_may_pass_another(device):
    """Where a device takes several calls."""
    device.concurrency = 4
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        slow = devices.begin(batch_of(1))
        assert device.begun.wait(10)
        score, device.forward = device.forward, lambda batch, *others: Scores(np.ones(1), np.zeros(1, dtype=np.uint8))
        assert devices.begin(batch_of(1))().log10.tolist() == [1]
        device.forward = score
        assert device.calls == []
        device.go_on.set()
        assert slow().log10.tolist() == [0]
    assert not [one for one in threading.enumerate() if one.name == "pairhmm devices"]


def test_an_error_reaches_everyone_whose_batch_it_is(device):
    device.error = ValueError("wrong")
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        first = devices.begin(batch_of(1))
        assert device.begun.wait(10)
        others = [devices.begin(batch_of(1)) for _ in range(2)]
        device.go_on.set()
        for wait in (first, *others):
            with pytest.raises(ValueError, match="wrong"):
                wait()
        device.error = None
        assert devices.begin(batch_of(1, 7))().log10.tolist() == [7]


def test_devices_that_do_not_start(device):
    def fail():
        raise BackendUnavailable("gpu", "no memory", "free some")

    with DeviceThread("gpu:0", fail, 1) as devices:
        for wait in (devices.begin(batch_of(1)), devices.begin(batch_of(1)), devices.conclude):
            with pytest.raises(BackendUnavailable, match="no memory; free some"):
                wait()


def test_the_end_does_not_wait_for_all_chunks(device):
    device.chunk_cells = device.first_chunk_cells = CELLS
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        wait = devices.begin(batch_of(50))
        assert device.begun.wait(10)
        threading.Timer(0.1, device.go_on.set).start()
    assert len(device.calls) == 1
    with pytest.raises(Stopped):
        wait()


def test_ctrl_c_ends_a_wait(device):
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        wait = devices.begin(batch_of(1))
        assert device.begun.wait(10)
        threading.Timer(0.1, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            wait()
        device.go_on.set()
    assert not [one for one in threading.enumerate() if one.name == "pairhmm devices"]


def test_without_a_thread_batches_are_scored_at_once(device, monkeypatch, caplog):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    device.go_on.set()
    with caplog.at_level(logging.WARNING), DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        wait = devices.begin(batch_of(2))
        assert device.calls == [2]
        assert wait().log10.tolist() == [0, 1]
    assert caplog.messages == ["no thread could be started for slow:0: reading and scoring take turns"]


def test_a_caller_that_waits_for_nothing_leaves_the_thread_free(device):
    device.go_on.set()
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        for _ in range(3):
            devices.begin(batch_of(1))
        begin = time.monotonic()
        assert devices.begin(batch_of(1, 5))().log10.tolist() == [5]
    assert time.monotonic() - begin < 10


def test_a_batch_that_no_device_has_begun_is_taken_back(device):
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        first, queued = devices.submit(batch_of(1)), devices.submit(batch_of(2, 1))
        assert device.begun.wait(10)
        later = [devices.submit(batch_of(reads, 10)) for reads in (3, 4)]
        assert later[0].cancel()
        device.go_on.set()
        assert later[1].result(10).log10.tolist() == [10, 11, 12, 13]
        assert queued.result(10).log10.tolist() == [1, 2]
        assert first.result(10).log10.tolist() == [0]
    assert sum(device.calls) == 7


def test_the_first_call_may_be_taken_back_while_its_kernels_are_compiled(device, caplog):
    with DeviceThread("slow:0", lambda: DevicePool([device]), 1) as devices:
        first = devices.submit(batch_of(1))
        assert device.begun.wait(10)
        assert first.cancel()
        devices.count(CELLS)
        device.go_on.set()
        second = devices.submit(batch_of(3, 5))
        assert second.result(10).log10.tolist() == [5, 6, 7]
        assert not second.cancel()
        with caplog.at_level(logging.INFO):
            devices.conclude()
    assert caplog.messages == ["slow:0 scored 75% of all cells, the CPU the others"]


def test_devices_that_nothing_needs_do_not_start(caplog):
    started = []
    with DeviceThread("slow:0", lambda: started.append(1), 1) as devices, caplog.at_level(logging.INFO):
        devices.count(CELLS)
        devices.conclude()
    assert not started
    assert len(caplog.messages) == 1


def test_what_keeps_devices_from_starting_is_raised_soon():
    def fail():
        raise BackendUnavailable("gpu", "none", "buy one")

    with DeviceThread("gpu:0", fail, 1, check=fail) as devices:
        with pytest.raises(BackendUnavailable, match="none; buy one"):
            devices.conclude()
        with pytest.raises(BackendUnavailable, match="none; buy one"):
            devices.count(CELLS)
