"""Devices that several processes share."""

import gc
import multiprocessing
import multiprocessing.connection
import os
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.engine import shared_devices
from pairhmm.engine.device_pool import DevicePool
from pairhmm.engine.device_thread import DeviceThread
from pairhmm.engine.shared_devices import RemoteDevices, SharedDevices, device_address
from pairhmm.errors import InputError, PairhmmError
from pairhmm.models.batch import Group, PairBatch, Read
from pairhmm.models.profile import preset

FORK = multiprocessing.get_context("fork")


def batch_of(seed, reads=5, profile=None):
    rng = np.random.default_rng(seed)
    letters = lambda size: rng.integers(0, 4, size).astype(np.uint8)  # noqa: E731
    made = [Read(letters(50), *(rng.integers(5, 40, 50).astype(np.uint8) for _ in range(4))) for _ in range(reads)]
    batch = PairBatch.from_groups([Group(made, [letters(80) for _ in range(3)]), Group(made[:1], [letters(60)])])
    if profile is None:
        return batch
    calls = profile.base_calls(batch.qualities.bases, batch.qualities.base_quality)
    arrays = (batch.group_read, batch.group_haplotype, batch.read_offset, batch.haplotype_offset, batch.haplotypes)
    return PairBatch(*arrays, profile.start, profiles=calls)


@contextmanager
def shared(backend="cpu"):
    with (
        device_address() as address,
        DeviceThread(lambda: backend if isinstance(backend, DevicePool) else engine.choose(backend), 1) as devices,
        SharedDevices(devices, address),
    ):
        yield address


def assert_scored(scores, batch):
    expected = engine.forward(batch, "cpu")
    assert scores.log10.tolist() == expected.log10.tolist()
    assert scores.precision.tolist() == expected.precision.tolist()


@pytest.mark.parametrize("profile", [None, preset("normalised")], ids=["gatk", "profile"])
def test_scores_are_those_of_the_devices(profile):
    with shared() as address:
        remote = RemoteDevices(address)
        batches = [batch_of(seed, 1 + 700 * (seed % 3), profile) for seed in range(7)]
        waits = []
        for at, batch in enumerate(batches):
            waits.append(remote.begin(batch))
            if at >= remote.ahead:
                assert_scored(waits[at - 1](), batches[at - 1])
        assert_scored(waits[-1](), batches[-1])


def test_memory_grows(monkeypatch):
    monkeypatch.setattr(shared_devices, "_GROWTH", 1)
    with shared() as address:
        remote = RemoteDevices(address)
        for reads in (1, 200, 20, 3000, 1):
            batch = batch_of(1, reads)
            assert_scored(remote.begin(batch)(), batch)


def test_an_empty_batch():
    with shared() as address:
        assert len(RemoteDevices(address).begin(PairBatch.from_groups([]))().log10) == 0


def test_several_processes():
    def work(address, seed, results):
        remote = RemoteDevices(address)
        scored = []
        for number in range(5):
            batch = batch_of(10 * seed + number)
            scored.append(remote.begin(batch)().log10.tolist())
        results.put((seed, scored))

    results = FORK.SimpleQueue()
    with device_address() as address:
        processes = [FORK.Process(target=work, args=(address, seed, results)) for seed in range(3)]
        with DeviceThread(lambda: engine.choose("cpu"), 1) as devices, SharedDevices(devices, address):
            for process in processes:
                process.start()
            found = dict(results.get() for _ in processes)
            for process in processes:
                process.join()
    for seed, scored in found.items():
        expected = [engine.forward(batch_of(10 * seed + number), "cpu").log10.tolist() for number in range(5)]
        assert scored == expected


class Failing:
    name, label = "failing", "failing:0"
    concurrency, chunk_cells, first_chunk_cells, longest_fast_read = 1, 10**9, 10**9, 500
    failures = 1

    def __init__(self):
        self._cpu = engine.choose("cpu").devices[0]

    def forward(self, batch, skip_read, threads):
        if self.failures:
            self.failures -= 1
            raise PairhmmError("it fell off the bus")
        return self._cpu.forward(batch, skip_read, threads)


def test_a_batch_may_pass_another():
    """The scores are taken in the order of the batches."""
    first, go_on = threading.Event(), threading.Event()

    class Slow(Failing):
        concurrency, failures = 4, 0

        def forward(self, batch, skip_read, threads):
            if batch.reads > 100:
                first.set()
                assert go_on.wait(10)
            return super().forward(batch, skip_read, threads)

    with shared(DevicePool([Slow()])) as address:
        remote = RemoteDevices(address)
        waits = [remote.begin(batch_of(1, 200))]
        assert first.wait(10)
        waits.append(remote.begin(batch_of(2)))
        assert multiprocessing.connection.wait([remote._connection], 10)
        go_on.set()
        assert_scored(waits[0](), batch_of(1, 200))
        assert_scored(waits[1](), batch_of(2))


def test_an_error_is_raised_where_the_scores_are_taken():
    with shared(DevicePool([Failing()])) as address:
        remote = RemoteDevices(address)
        wait = remote.begin(batch_of(1))
        with pytest.raises(PairhmmError, match="fell off the bus"):
            wait()
        assert_scored(remote.begin(batch_of(2))(), batch_of(2))


def test_a_worker_that_is_gone_stops_nobody():
    with shared() as address:
        gone, other = RemoteDevices(address), RemoteDevices(address)
        gone.begin(batch_of(1))
        gone._connection.close()
        for seed in range(3):
            assert_scored(other.begin(batch_of(seed))(), batch_of(seed))


def test_a_worker_that_is_killed_within_a_request_stops_nobody():
    with shared() as address:
        killed, other = RemoteDevices(address), RemoteDevices(address)
        # A message of 100 bytes, of which 4 come.
        os.write(killed._connection.fileno(), (100).to_bytes(4, "big") + b"some")
        killed._connection.close()
        for seed in range(3):
            assert_scored(other.begin(batch_of(seed))(), batch_of(seed))


def test_no_worker_waits_where_requests_are_not_served_any_more(caplog):
    with shared() as address:
        broken, other = RemoteDevices(address), RemoteDevices(address)
        assert_scored(other.begin(batch_of(1))(), batch_of(1))
        broken._connection.send_bytes(b"no request")
        with pytest.raises(PairhmmError, match="the process that has the devices is gone"):
            while True:
                other.begin(batch_of(2))()
    assert "worker processes can't use the devices any more" in caplog.text


def test_a_worker_is_told_that_the_devices_are_gone():
    with shared() as address:
        remote = RemoteDevices(address)
        remote.begin(batch_of(1))()
    with pytest.raises(PairhmmError, match="the process that has the devices is gone"):
        remote.begin(batch_of(1))()


def test_nothing_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gc.collect()  # What other tests left would be closed meanwhile.
    before = os.listdir("/proc/self/fd")
    with shared() as address:
        assert (Path(address.path).parent.stat().st_mode & 0o777) == 0o700
        remote = RemoteDevices(address)
        remote.begin(batch_of(1))()
        # A worker has these until it ends.
        for memory in remote._memories:
            memory.close()
        remote._connection.close()
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_long_folder_has_a_short_address(tmp_path, monkeypatch):
    folder = tmp_path / ("x" * 90)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with shared() as address:
        assert_scored(RemoteDevices(address).begin(batch_of(1))(), batch_of(1))


def test_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    monkeypatch.setattr(shared_devices, "_LONGEST_FOLDER", 10**6)
    with pytest.raises(InputError, match="No such file or directory; set TMPDIR"), device_address():
        pass
