"""How the webgpu backend drives a device: limits, budgets, what goes wrong, and what it leaves behind."""

import dataclasses
import gc
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.backends import tiles
from pairhmm.backends.webgpu import backend as webgpu
from pairhmm.backends.webgpu import kernels as webgpu_kernels
from pairhmm.backends.webgpu import layout as webgpu_packed
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu import slot as webgpu_slot
from pairhmm.backends.webgpu.layout import LONGEST_TILE
from pairhmm.engine import device_pool
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.models import gatk, profile
from pairhmm.models.batch import SCALED_FLOAT32, Group, PairBatch, Read, Start


@pytest.mark.parametrize("indel", [(4, 8), (4, 128), (60, 128), (100, 128)], ids=str)
@pytest.mark.parametrize("gap", [(1, 128), 0, 127], ids=str)
def test_gap_qualities(indel, gap, backend, batches):
    """The whole range. What float32 with exponents cannot hold is NaN, for the CPU: there is no float64 here."""
    given = batches.batch(8, (9, 150), each=6, indel=indel, gap=gap)
    expected = batches.oracle(given)
    scores = device_pool.score(given, backend, 1)
    held = ~np.isnan(scores.log10)
    log10 = np.where(held, scores.log10, expected)
    batches.check(log10, given, expected)
    # Pairs that match need no rescue, whatever their gaps.
    assert held[expected > -40].all() or gap == 0 or indel[0] < 10


def test_rare_gaps_go_to_the_cpu(backend, batches, caplog):
    rng = np.random.default_rng(18)
    haplotype = batches.noise(rng, 700)
    bases = np.concatenate([haplotype[:200], batches.noise(rng, 40), haplotype[200:500]])
    given = batches.pair(bases, haplotype, 40, 90, 90, 60)
    assert np.isnan(backend.forward_pairs(given, np.array([0]), 1).log10).all()
    batches.check(engine.forward(given, backend), given)
    assert "backend webgpu: pairs that it cannot score go to backend cpu" in caplog.text


@pytest.mark.parametrize("name", profile.PRESETS)
@pytest.mark.parametrize("error", [0.1, 0.3, None])
def test_profile_rounding_does_not_add_up(name, error, backend, batches):
    """Rows that are all alike round alike: what the device makes of probabilities needs more than float32's 24 bits."""
    rng = np.random.default_rng(5)
    model, haplotype = profile.preset(name), batches.noise(rng, 600)
    reads = [batches.noise(rng, 250), *(batches.copied(rng, haplotype, m, 0.02) for m in (150, 500, 640))]
    probabilities = [
        profile.one_hot(read, np.full(len(read), error)) if error else rng.dirichlet(np.full(4, 0.2), len(read))
        for read in reads
    ]
    rows = batches.of_rows([model.rows(p) for p in probabilities], [haplotype, haplotype[:100]], model.start)
    given = dataclasses.replace(rows, rows=None, profiles=model.profiles(np.concatenate(probabilities)))
    scores = device_pool.score(given, backend, 1)
    held = np.isfinite(scores.log10)
    # Deletions that no path of `published` opens are beyond float32's range in long reads: these pairs are the CPU's.
    assert held.all() if name != "published" else held[: 2 * 2].all()
    pairs = np.flatnonzero(held)
    assert (batches.excess(scores.log10[pairs], given, pairs=pairs) <= 1).all()
    batches.check(engine.forward(given, backend), given)


def test_longest_tile(backend, batches):
    """A read of that many bases is scored with the others, and one base more is not."""
    rng = np.random.default_rng(30)
    haplotype = batches.noise(rng, 2200)
    reads = [batches.read(rng, haplotype[20 : 20 + m].copy()) for m in (LONGEST_TILE, LONGEST_TILE + 1)]
    given = PairBatch.from_groups([Group(reads, [haplotype])])
    assert np.isnan(batches.forward(backend, given).log10).tolist() == [False, True]
    scores = device_pool.score(given, backend, 1)
    batches.check(scores, given)
    assert scores.precision[1] == SCALED_FLOAT32


def test_as_many_columns_a_loop_as_on_a_gpu(make_backend, batches):
    """A software adapter takes fewer, which its compiler is faster with."""
    backend = make_backend()
    backend._part = webgpu_kernels.PART
    given = batches.batch(14, (150, 640), widths=(1, 150, 650), each=4)
    batches.check(device_pool.score(given, backend, 1), given)


def test_strips_of_tall_reads(make_backend, batches, monkeypatch):
    """Also where what is between strips has room for one item at a time.

    Insertions are cheap here, so that float32 holds the scores of haplotypes of any length.
    """
    rng = np.random.default_rng(12)

    def rows(m):
        mm, ii = np.full(m, 0.6), 0.6 * rng.uniform(0.93, 0.99, m)
        opening, closing = rng.uniform(0.002, 0.01, (2, m)), rng.uniform(0.1, 0.9, (2, m))
        emissions = rng.uniform(0.9, 1, (5, m))
        return np.stack(
            [*emissions, mm, opening[0], closing[0], opening[1], ii, rng.uniform(0.001, 0.002, m), closing[1]], axis=1
        )

    reads = [rows(m) for m in (609, 640, 641, 1217, 2048)]
    haplotypes = [batches.noise(rng, n, 5) for n in (1, 2, 12, 13, 31, 33, 45, 100, 650)]
    given = batches.of_rows(reads, haplotypes, Start(match=1.0, deletion=0.5))
    few = make_backend()
    with monkeypatch.context() as patch:
        patch.setattr(webgpu_packed, "BETWEEN_BYTES", 1)
        scores = batches.forward(few, given)
    batches.check(scores, given)
    assert batches.same(batches.forward(few, given).log10, scores.log10)


def test_the_rows_of_a_lane_change_no_bit(backend, batches, monkeypatch):
    """Where few reads would have tiles of their own, they share larger ones."""
    given = batches.batch(11, (66, 78, 90, 100, 150, 170, 250), each=4)
    scores = []
    for cells in (0, 10**12):
        monkeypatch.setattr(webgpu_packed, "TIER_CELLS", cells)
        webgpu_packed.shapes.cache_clear()
        scores.append(device_pool.score(given, backend, 1).log10)
    webgpu_packed.shapes.cache_clear()
    np.testing.assert_array_equal(*scores)


def test_the_rows_of_a_lane_rescue_no_other_pair(backend, batches):
    """11 rows a lane, or 19 beside a longer read: what these hold of its insertions is not what the rescue holds."""
    rng = np.random.default_rng(1)
    haplotype = batches.noise(rng, 120)
    reads = []
    for length in (85, 150):
        bases, quality, gap = batches.noise(rng, length), np.full(length, 40, np.uint8), np.full(length, 10, np.uint8)
        reads.append(Read(bases, quality, quality + 5, quality, gap))
    reads[0].insertion_quality[[19, 38]] = 59, 10
    given = [PairBatch.from_groups([Group(some, [haplotype])]) for some in (reads[:1], reads)]
    alone, beside = (device_pool.score(batch, backend, 1) for batch in given)
    assert alone.log10[0] == beside.log10[0]
    assert alone.precision[0] == beside.precision[0] == SCALED_FLOAT32


def test_many_workgroups_take_two_dimensions(backend, batches, monkeypatch):
    given = batches.batch(31, (9, 40, 150), each=6)
    expected = batches.forward(backend, given).log10
    for most in (1, 3):
        monkeypatch.setattr(webgpu_setup, "MOST_WORKGROUPS", most)
        assert batches.same(batches.forward(backend, given).log10, expected)


def test_submissions_are_short(backend, batches, monkeypatch):
    """Work that would take the device too long is submitted in parts, which change no bit."""
    given = batches.batch(32, (9, 150, 700), each=20)
    pairs = np.arange(given.pairs)
    expected = batches.forward(backend, given).log10, backend.forward_pairs(given, pairs, 1).log10
    queue = backend._runtime.device.queue
    submissions = []
    submit = queue.submit
    monkeypatch.setattr(queue, "submit", lambda buffers: submissions.append(len(buffers)) or submit(buffers))
    monkeypatch.setattr(webgpu, "SUBMIT_SECONDS", 1e-9)
    assert batches.same(batches.forward(backend, given).log10, expected[0])
    assert len(submissions) > 5
    assert batches.same(backend.forward_pairs(given, pairs, 1).log10, expected[1])


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [(webgpu_slot, "WORK_ROOM", 0), (webgpu.WebgpuBackend, "_is_alone", True)],
    ids=["no room behind a batch", "no other call"],
)
def test_ways_that_a_software_adapter_does_not_take(owner, name, value, backend, batches, monkeypatch):
    """What a call has much of goes by the queue; who is alone looks for its end itself."""
    given = batches.batch(37, (9, 150))
    expected = batches.forward(backend, given).log10
    monkeypatch.setattr(owner, name, value)
    assert batches.same(batches.forward(backend, given).log10, expected)


@pytest.fixture
def long_pairs(batches, monkeypatch):
    """Pairs of one strip to six, whose haplotypes end before, in and behind a block of columns; some are in halves."""
    monkeypatch.setattr(tiles, "LEAST_CUT", 77)
    rng = np.random.default_rng(41)
    haplotypes = [batches.noise(rng, n) for n in (1, 8, 9, 77, 700, 1500)]
    reads = [*(batches.copied(rng, haplotypes[5], m, 0.02) for m in (1400, 512, 513)), batches.noise(rng, 40)]
    rows = [profile.preset("normalised").rows(profile.one_hot(read, np.full(len(read), 0.05))) for read in reads]
    rows.append(np.tile(rows[0], (3, 1))[:3000])
    return batches.of_rows(rows, haplotypes, profile.preset("normalised").start)


def test_strips_follow_each_other_or_take_turns(make_backend, long_pairs, batches, monkeypatch):
    """In one dispatch or in many, waiting or never, in vain or not: the bits are the same."""
    backend, pairs = make_backend(), np.arange(long_pairs.pairs)
    backend._polls = webgpu.POLLS
    expected = backend.forward_pairs(long_pairs, pairs, 1)
    batches.check(expected, long_pairs)
    for submit_seconds, polls in product((webgpu.SUBMIT_SECONDS, 1e-9), (0, 1, webgpu.POLLS)):
        monkeypatch.setattr(webgpu, "SUBMIT_SECONDS", submit_seconds)
        backend._polls = polls
        scores = backend.forward_pairs(long_pairs, pairs, 1)
        assert batches.same(scores.log10, expected.log10), (submit_seconds, polls)
        assert (scores.precision == expected.precision).all()


def test_strips_that_wait_in_vain(make_backend, long_pairs, batches, monkeypatch, caplog):
    """They stop, and what is not done is done in turns: here no strip is the first one."""
    backend, pairs = make_backend(), np.arange(long_pairs.pairs)
    backend._polls = 0
    expected = backend.forward_pairs(long_pairs, pairs, 1).log10
    backend._polls = webgpu.POLLS
    planned = backend._strip_dispatches

    def without_the_first_strip(*arguments):
        dispatches = planned(*arguments)
        if backend._polls:
            for dispatch in dispatches:
                dispatch.work["first_item"] = 1
        return dispatches

    monkeypatch.setattr(backend, "_strip_dispatches", without_the_first_strip)
    assert batches.same(backend.forward_pairs(long_pairs, pairs, 1).log10, expected)
    said = "webgpu:0: workgroups do not run side by side; strips of long pairs take turns instead"
    assert caplog.messages == [said]
    assert batches.same(backend.forward_pairs(long_pairs, pairs, 1).log10, expected)
    assert caplog.messages == [said]


def test_small_calls_say_nothing_of_a_device_s_speed(make_backend, batches, monkeypatch):
    """A batch of long reads has nothing for forward/forward.wgsl: the dispatches of its pairs are none the shorter."""
    backend = make_backend()
    backend._polls, backend._speed = webgpu.POLLS, 1e12
    rng = np.random.default_rng(42)
    model, read = profile.preset("normalised"), batches.noise(rng, 1300)
    rows = model.rows(profile.one_hot(read, np.full(len(read), 0.05)))
    given = batches.of_rows([rows], [batches.noise(rng, 900)], model.start)
    counts = []
    planned = backend._strip_dispatches

    def counted(*arguments):
        counts.append(len(planned(*arguments)))
        return planned(*arguments)

    monkeypatch.setattr(backend, "_strip_dispatches", counted)
    for _ in range(2):
        device_pool.score(given, backend, 1)
    assert counts == [1, 1]
    backend._note_speed(int(1e12), 2.0)
    assert backend._speed == 5e11


@pytest.mark.parametrize("as_rows", [False, True])
def test_lanes_outside_a_subgroup_are_noticed(as_rows, adapter, batches, caplog):
    """A driver may give a kernel smaller subgroups than it gave before: the work is done again without them."""
    backend = webgpu.WebgpuBackend(adapter, "webgpu:0", None)
    if not 0 < backend._runtime.subgroup < 32:
        pytest.skip(f"subgroups of {backend._runtime.subgroup} here")
    given = batches.batch(33, (9, 500))
    if as_rows:
        given = dataclasses.replace(given, qualities=None, rows=gatk.rows(given.qualities))
    for score in (
        lambda: batches.forward(backend, given),
        lambda: backend.forward_pairs(given, np.arange(given.pairs), 1),
    ):
        caplog.clear()
        backend._runtime.subgroup = 32
        batches.check(score(), given)
        assert backend._runtime.subgroup == 0
        assert caplog.messages == ["webgpu:0: subgroups change their size; lanes use workgroup memory instead"]


def test_time_without_timestamps(backend, batches, monkeypatch, caplog):
    monkeypatch.setattr(webgpu, "TIMESTAMPS", "no such feature")
    seconds = backend.kernel_seconds(batches.batch(25, (9, 77)), 2)
    assert len(seconds) == 2 and min(seconds) > 0
    assert "timed by the clock" in caplog.text


def test_too_large_for_a_binding(adapter, batches):
    backend = webgpu.WebgpuBackend(adapter, "webgpu:0", None)
    slot = webgpu_slot.BatchSlot(backend._runtime.device, "webgpu:0", None)
    with pytest.raises(OutOfDeviceMemory, match=r"webgpu:0: \d+ bytes are over its limit"):
        slot.make_room("in", backend._runtime.device.limits["max-storage-buffer-binding-size"] + 1)


def test_lost_device(adapter, batches, caplog):
    """It is said once, and the run goes on without it."""
    backend = webgpu.WebgpuBackend(adapter, "webgpu:0", None)
    given = batches.batch(34, (77,))
    backend._runtime.device.destroy()
    with pytest.raises(DeviceLost, match="webgpu:0"):
        batches.forward(backend, given)
    batches.check(engine.forward(given, backend), given)
    assert caplog.text.count("webgpu:0 is lost") == 1


@pytest.mark.parametrize("method", ["submit", "downloaded"])
def test_a_call_that_fails_leaves_its_slot_whole(method, adapter, batches, monkeypatch):
    """Before the batch is submitted, and after; the next one has the same buffers, or larger ones."""
    backend = webgpu.WebgpuBackend(adapter, "webgpu:0", None)
    several = [batches.batch(35, (9, 150), each=each) for each in (1, 4)]
    for given in several:
        expected = batches.forward(backend, given).log10
        for later in several:
            with monkeypatch.context() as patch:
                patch.setattr(backend._runtime, method, lambda *_, **__: 1 / 0)
                with pytest.raises(ZeroDivisionError):
                    batches.forward(backend, given)
            batches.forward(backend, later)
            assert batches.same(batches.forward(backend, given).log10, expected)


def test_scores_may_be_asked_for_again(adapter, batches):
    """What maps the memory of the next batch has begun by then."""
    backend = webgpu.WebgpuBackend(adapter, "webgpu:0", None)
    given = batches.batch(36, (9,))
    expected = batches.forward(backend, given).log10
    with backend._slot() as slot, backend._runtime.downloaded(slot, 8) as words:
        assert words[0]
    assert batches.same(batches.forward(backend, given).log10, expected)


def test_memory_does_not_grow(adapter, batches):
    """200 batches of several sizes, one after the other: neither the process nor the device's buffers grow."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the size of a process is read from /proc")
    backend = webgpu.WebgpuBackend(adapter, "webgpu:0", None)
    several = [batches.batch(seed, (9, 150), each=4) for seed in range(4)]

    def resident():
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def run(count):
        for number in range(count):
            batches.forward(backend, several[number % len(several)])

    run(20)
    before = resident()
    run(200)
    assert resident() - before < 8 << 20


def test_a_process_ends_quietly(adapter):
    """Devices, buffers and the polling thread are gone without a word."""
    code = (
        "import numpy as np\n"
        "from pairhmm import backends, make_read\n"
        "from pairhmm.models.batch import Group, PairBatch\n"
        "backend = backends.load('webgpu')\n"
        "given = PairBatch.from_groups([Group([make_read('ACGTACGT', [30] * 8)], [np.zeros(9, np.uint8)])])\n"
        "assert np.isfinite(backend.forward(given, np.zeros(1, bool), 1).log10).all()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
