"""Pools of pretended GPUs: order, out of memory, lost devices, pairs that they cannot do, errors and Ctrl-C."""

import _thread
import itertools
import logging
import threading
import time

import numpy as np
import pytest

from pairhmm import backends
from pairhmm.backends import Backend, Status, cpu, reference
from pairhmm.engine import device_pool
from pairhmm.engine.device_pool import DevicePool, cut
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.models.batch import FLOAT32, FLOAT64, SCALED_FLOAT32, UNSCORED, Group, PairBatch, Read, Scores

READ, HAPLOTYPE = 10, 20
CELLS = READ * HAPLOTYPE
UNABLE = 2  # a first base quality that the pretended GPUs cannot do


class FakeGpu(Backend):
    """The oracle with the limits of a GPU: it scores at most `memory` cells at once, and `calls` times."""

    name = "gpu"
    chunk_cells = 6 * CELLS
    first_chunk_cells = CELLS

    def __init__(self, index=0, *, concurrency=1, memory=10**9, calls=10**9, seconds=0.0, error=None):
        self.label = f"gpu:{index}"
        self.concurrency = concurrency
        self.memory, self.calls, self.error = memory, calls, error
        self.sizes, self.threads = [], set()
        self._oracle = reference.make()
        self._wait = np.random.default_rng(index).uniform(0, seconds, 1000).tolist()

    def forward(self, batch, skip_read, threads):
        self.threads.add(threading.current_thread())
        time.sleep(self._wait.pop())
        if self.error is not None:
            raise self.error
        if batch.cells > self.memory:
            raise OutOfDeviceMemory("no memory")
        if len(self.sizes) >= self.calls:
            raise DeviceLost(self.label, "fell off the bus")
        self.sizes.append(batch.cells)
        scores = self._score(batch, np.arange(batch.pairs), threads, FLOAT32)
        lost = scores.log10 < np.median(scores.log10)
        lost |= np.repeat(skip_read, np.repeat(np.diff(batch.group_haplotype), np.diff(batch.group_read)))
        scores.log10[lost], scores.precision[lost] = np.nan, UNSCORED
        return scores

    def forward_pairs(self, batch, pairs, threads):
        return self._score(batch, pairs, threads, SCALED_FLOAT32)

    def _score(self, batch, pairs, threads, precision):
        scores = self._oracle.forward_pairs(batch, pairs, threads)
        reads, _ = batch.pair_indices(pairs)
        scores.precision[:] = precision
        unable = batch.qualities.base_quality[batch.read_offset[reads]] == UNABLE
        scores.log10[unable], scores.precision[unable] = np.nan, UNSCORED
        return scores


class RoomyGpu(FakeGpu):
    """One that writes scores where they stay."""

    def room_for(self, pairs):
        self.room = Scores.none(pairs)
        return self.room

    def forward_into(self, batch, skip_read, threads, into):
        scores = self.forward(batch, skip_read, threads)
        into.log10[:], into.precision[:] = scores.log10, scores.precision
        return into


@pytest.fixture(autouse=True)
def no_simd(monkeypatch):
    """What falls to the CPU takes the oracle, so that every score can be compared bit for bit."""
    unavailable = Status(False, reason="switched off", cure="none")
    monkeypatch.setattr(cpu, "status", lambda: unavailable)


@pytest.fixture
def warnings(monkeypatch):
    """Every warning that was logged, so far."""
    told = []
    monkeypatch.setattr(
        logging.getLogger("pairhmm.engine.device_pool"), "warning", lambda *args: told.append(args[0] % args[1:])
    )
    return told


def batch_of(reads_of, *, haplotypes=1, unable=()):
    """Groups of that many reads of ten bases; the reads that `unable` numbers are too much for a pretended GPU."""
    rng = np.random.default_rng(7)
    total = sum(reads_of)
    reads = []
    for number in range(total):
        bases = rng.integers(0, 4, READ).astype(np.uint8)
        qualities = [rng.integers(5, 40, READ).astype(np.uint8) for _ in range(4)]
        qualities[0][0] = UNABLE if number in unable else 30
        reads.append(Read(bases, *qualities))
    groups = []
    for count in reads_of:
        targets = [rng.integers(0, 4, HAPLOTYPE).astype(np.uint8) for _ in range(haplotypes)]
        groups.append(Group([reads.pop() for _ in range(count)], targets))
    return PairBatch.from_groups(groups)


def oracle(batch):
    return reference.make().forward_pairs(batch, np.arange(batch.pairs), 1).log10


def assert_oracles(scores, batch):
    assert scores.log10.tolist() == oracle(batch).tolist()


@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("chunk_cells", [None, CELLS, 5 * CELLS])
def test_scores_stand_in_order(devices, concurrency, chunk_cells, warnings):
    batch = batch_of([3, 0, 17, 1, 8], haplotypes=2)
    fakes = [FakeGpu(index, concurrency=concurrency, seconds=0.004) for index in range(devices)]
    pool = DevicePool(fakes)
    assert_oracles(pool.forward(batch, chunk_cells=chunk_cells), batch)
    assert set(np.unique(pool.forward(batch).precision)) == {FLOAT32, SCALED_FLOAT32}
    assert max(size for fake in fakes for size in fake.sizes) <= FakeGpu.chunk_cells
    assert warnings == []


@pytest.mark.parametrize("limits", [{}, {"memory": 3 * CELLS}, {"calls": 2}])
def test_scores_stay_where_a_device_wrote_them(limits, warnings):
    batch = batch_of([3, 0, 17, 1, 8], haplotypes=2, unable=(4,))
    fake = RoomyGpu(concurrency=3, **limits)
    scores = DevicePool([fake]).forward(batch)
    assert scores.log10 is fake.room.log10
    assert_oracles(scores, batch)


def test_no_score_is_lost_with_a_device():
    """The one that is left takes no new room for them."""
    batch = batch_of([3, 0, 17, 1, 8], haplotypes=2)
    fakes = [RoomyGpu(0, concurrency=2, calls=1), RoomyGpu(1, concurrency=2, seconds=0.01)]
    assert_oracles(DevicePool(fakes).forward(batch), batch)


def test_every_device_takes_part():
    fakes = [FakeGpu(index, concurrency=2, seconds=0.02) for index in range(3)]
    DevicePool(fakes).forward(batch_of([60]), chunk_cells=CELLS)
    assert all(len(fake.threads) == 2 for fake in fakes)


def test_one_call_at_a_time_needs_no_thread():
    fake = FakeGpu()
    DevicePool([fake]).forward(batch_of([40]))
    assert fake.threads == {threading.main_thread()}


def test_the_cpu_is_left_alone_where_it_is_not_needed(monkeypatch):
    monkeypatch.setattr(backends, "load", None)
    DevicePool([FakeGpu()]).forward(batch_of([4]))


def test_chunks_grow():
    fake = FakeGpu()
    DevicePool([fake]).forward(batch_of([20]))
    assert [size // CELLS for size in fake.sizes] == [1, 2, 4, 5, 4, 4]


def test_chunks_grow_for_each_device():
    fakes = [FakeGpu(index, concurrency=2, seconds=0.001) for index in range(2)]
    DevicePool(fakes).forward(batch_of([12]))
    assert sorted(fakes[0].sizes + fakes[1].sizes) == [CELLS, CELLS, 2 * CELLS, 2 * CELLS, 3 * CELLS, 3 * CELLS]


def test_devices_start_before_the_whole_batch_is_cut(monkeypatch):
    fake = FakeGpu(concurrency=2)
    left = []

    def cut_and_count(*arguments):
        for number, chunk in enumerate(cut(*arguments)):
            left.append((number, len(fake.sizes)))
            yield chunk

    monkeypatch.setattr(device_pool, "cut", cut_and_count)
    DevicePool([fake]).forward(batch_of([40]), chunk_cells=CELLS)
    assert len(left) == 40 and all(done > 0 for number, done in left if number > 2 * fake.concurrency)


def test_a_small_batch_is_not_cut(monkeypatch):
    monkeypatch.setattr(FakeGpu, "first_chunk_cells", 6 * CELLS)
    fake = FakeGpu(concurrency=3)
    DevicePool([fake]).forward(batch_of([6]))
    assert fake.sizes == [6 * CELLS]
    assert fake.threads == {threading.main_thread()}


@pytest.mark.parametrize("concurrency", [1, 3])
def test_chunks_shrink_until_they_fit(concurrency, warnings, monkeypatch):
    monkeypatch.setattr(FakeGpu, "first_chunk_cells", 6 * CELLS)
    batch = batch_of([5, 30])
    fake = FakeGpu(concurrency=concurrency, memory=2 * CELLS)
    pool = DevicePool([fake])
    assert_oracles(pool.forward(batch, chunk_cells=6 * CELLS), batch)
    assert warnings == [
        "gpu:0: out of memory; chunks of 600 cells now",
        "gpu:0: out of memory; chunks of 300 cells now",
    ]
    assert_oracles(pool.forward(batch), batch)
    assert len(warnings) == 2, "the size that fits is kept"


def test_a_chunk_that_fits_later_stays_whole(warnings, monkeypatch):
    """A device that gives back what earlier calls left gets the same chunk again."""
    batch = batch_of([5, 30])
    fake = FakeGpu()
    forward = fake.forward
    refusals = iter([True, False, True])

    def refuse_some(*arguments):
        if next(refusals, False):
            error = OutOfDeviceMemory("what earlier calls left")
            error.fits_later = True
            raise error
        return forward(*arguments)

    monkeypatch.setattr(fake, "forward", refuse_some)
    assert_oracles(DevicePool([fake]).forward(batch), batch)
    assert warnings == []


@pytest.mark.parametrize("memory", [0, CELLS - 1])
def test_a_read_that_does_not_fit_goes_to_the_cpu(memory, warnings):
    batch = batch_of([3, 2])
    pool = DevicePool([FakeGpu(memory=memory)])
    scores = pool.forward(batch)
    assert_oracles(scores, batch)
    assert (scores.precision == FLOAT64).all()
    told = "backend gpu: reads whose scores do not fit the device's memory go to backend reference"
    assert warnings[-1] == told
    pool.forward(batch)
    assert warnings.count(told) == 1


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("calls", [0, 3])
def test_the_cpu_finishes_for_a_lost_device(concurrency, calls, warnings, monkeypatch):
    monkeypatch.setattr(FakeGpu, "first_chunk_cells", 2 * CELLS)
    batch = batch_of([20])
    fake = FakeGpu(concurrency=concurrency, calls=calls, seconds=0.002)
    pool = DevicePool([fake])
    scores = pool.forward(batch, chunk_cells=2 * CELLS)
    assert_oracles(scores, batch)
    assert (scores.precision != FLOAT64).sum() == 2 * calls
    assert warnings == ["gpu:0 is lost (fell off the bus); its work goes to backend reference"]
    assert_oracles(pool.forward(batch), batch)
    assert len(fake.sizes) == calls, "a lost device is not asked again"


@pytest.mark.parametrize("concurrency", [1, 3])
def test_other_devices_go_on_for_a_lost_one(concurrency, warnings):
    batch = batch_of([20, 20])
    fakes = [FakeGpu(index, concurrency=concurrency, seconds=0.02) for index in range(3)]
    fakes[1].calls = 1
    scores = DevicePool(fakes).forward(batch, chunk_cells=CELLS)
    assert_oracles(scores, batch)
    assert not (scores.precision == FLOAT64).any()
    assert warnings == ["gpu:1 is lost (fell off the bus); its work goes to gpu:0, gpu:2"]


def test_the_cpu_finishes_when_no_device_is_left(warnings):
    batch = batch_of([40])
    fakes = [FakeGpu(index, concurrency=2, calls=2, seconds=0.004) for index in range(2)]
    assert_oracles(DevicePool(fakes).forward(batch, chunk_cells=CELLS), batch)
    assert len(warnings) == 2
    assert warnings[1].endswith("its work goes to backend reference")


def test_a_chunk_given_back_late_finds_another_device(warnings):
    """The device that is lost last holds the only chunk left, when the other has nothing more to do."""
    batch = batch_of([2])
    fakes = [FakeGpu(0, calls=0), FakeGpu(1)]
    fakes[0]._wait = [0.2]
    scores = DevicePool(fakes).forward(batch)
    assert_oracles(scores, batch)
    assert not (scores.precision == FLOAT64).any()
    assert len(warnings) == 1


@pytest.mark.parametrize("concurrency", [1, 3])
def test_pairs_that_a_device_cannot_do_go_to_the_cpu(concurrency, warnings):
    batch = batch_of([9, 11], haplotypes=2, unable=(4, 15))
    pool = DevicePool([FakeGpu(concurrency=concurrency)])
    for _ in range(2):
        scores = pool.forward(batch, chunk_cells=4 * CELLS)
        assert_oracles(scores, batch)
        assert (scores.precision == FLOAT64).sum() == 4
    assert warnings == ["backend gpu: pairs that it cannot score go to backend reference"]


def test_a_long_read_is_not_for_fast_arithmetic(monkeypatch):
    monkeypatch.setattr(FakeGpu, "longest_fast_read", READ - 1)
    batch = batch_of([4])
    scores = DevicePool([FakeGpu()]).forward(batch)
    assert (scores.precision == SCALED_FLOAT32).all()


@pytest.mark.parametrize(("longest", "calls"), [(READ, 1), (READ - 1, 0)])
def test_fast_arithmetic_is_not_asked_where_all_reads_are_long(longest, calls, monkeypatch):
    monkeypatch.setattr(FakeGpu, "longest_fast_read", longest)
    gpu, batch = FakeGpu(), batch_of([1])
    assert_oracles(DevicePool([gpu]).forward(batch), batch)
    assert len(gpu.sizes) == calls


def test_an_error_in_a_thread_is_the_callers():
    fakes = [FakeGpu(0, concurrency=2, seconds=0.002), FakeGpu(1, error=ValueError("defect"))]
    with pytest.raises(ValueError, match="defect"):
        DevicePool(fakes).forward(batch_of([60]), chunk_cells=CELLS)
    assert len(fakes[0].sizes) < 59, "the others stop"


def test_ctrl_c_stops_the_threads():
    calls = itertools.count()

    class Interrupting(FakeGpu):
        def forward(self, batch, skip_read, threads):
            if next(calls) == 10:
                _thread.interrupt_main()
            return super().forward(batch, skip_read, threads)

    fake = Interrupting(concurrency=3, seconds=0.02)
    with pytest.raises(KeyboardInterrupt):
        DevicePool([fake]).forward(batch_of([300]), chunk_cells=CELLS)
    done = len(fake.sizes)
    assert done < 100
    time.sleep(0.1)
    assert len(fake.sizes) == done
