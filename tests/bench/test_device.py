"""`pairhmm.bench.device` with pretended GPUs: what is measured, and what is not."""

import pytest
from click.testing import CliRunner

from pairhmm import backends
from pairhmm.backends import Entry, Status, reference
from pairhmm.bench import device as bench_device
from pairhmm.bench import workloads as bench_data
from pairhmm.bench.cli import command
from pairhmm.bench.workloads import Workload
from pairhmm.engine import Choice
from pairhmm.errors import InputError, OutOfDeviceMemory
from pairhmm.models.batch import FLOAT32, SCALED_FLOAT32

TINY = {"one": Workload(2, 3, 2, 12, 50), "two": Workload(1, 3, 2, 12, 50)}


class FakeGpu(type(reference.make())):
    """The oracle that pretends to 10^12 cells a second."""

    name = label = "gpu"
    longest_fast_read = 1024
    times_kernels = True

    def __init__(self):
        super().__init__()
        self.timed = []

    def forward_pairs(self, batch, pairs, threads):
        scores = super().forward_pairs(batch, pairs, threads)
        scores.precision[:] = FLOAT32
        scores.precision[0] = SCALED_FLOAT32
        return scores

    def kernel_seconds(self, batch, repetitions):
        self.timed.append(batch)
        return [batch.cells * 1e-12] * repetitions


@pytest.fixture
def gpu(monkeypatch):
    """A GPU backend "gpu" beside the oracle, and workloads that it scores at once."""
    made, found = FakeGpu(), {"gpu": Status(True, "a library", ("Big",)), "reference": Status(True)}
    monkeypatch.setattr(
        backends,
        "REGISTRY",
        (
            Entry("gpu", has_devices=True),
            Entry("reference", is_oracle=True),
        ),
    )
    monkeypatch.setattr(backends, "status", found.__getitem__)
    monkeypatch.setattr(backends, "load", lambda name, *_: made if name == "gpu" else reference.make())
    monkeypatch.setitem(bench_data.WORKLOADS, "s150", TINY["one"])
    for name in list(bench_data.WORKLOADS):
        monkeypatch.setitem(bench_data.WORKLOADS, name, TINY["one"])
    return made


def test_kernels_get_a_fresh_batch_of_equal_lengths_each_time(gpu):
    (speed,) = bench_device.measure_kernels(Choice("gpu"), [8], repetitions=3, cells=200_000)
    assert (speed.length, speed.groups, speed.cells) == (8, 3, 3 * 32 * 32 * 8 * 8)
    assert speed.seconds == [speed.cells * 1e-12] * 3
    assert speed.gcups == pytest.approx(1000)
    assert [batch.cells for batch in gpu.timed] == [speed.cells] * 4  # the first one warms the device
    assert len({batch.haplotypes.tobytes() for batch in gpu.timed}) == 4


def test_kernels_of_a_backend_without_a_clock(gpu):
    with pytest.raises(InputError, match="backend reference does not time its kernels"):
        list(bench_device.measure_kernels(Choice("reference")))


def test_workloads_without_the_first_repetition(gpu):
    one, two = bench_device.measure_workloads(Choice("gpu"), TINY, repetitions=2)
    assert (one.workload, two.workload) == ("one", "two")
    assert (one.pairs, one.rescued, len(one.seconds), len(one.cells)) == (12, 1, 2, 2)
    assert one.kernel_gcups == pytest.approx(1000)


def test_a_batch_that_does_not_fit_in_one_piece(gpu, monkeypatch, caplog):
    def too_large(batch, repetitions):
        raise OutOfDeviceMemory("gpu: 9 bytes are over the budget of a call")

    monkeypatch.setattr(gpu, "kernel_seconds", too_large)
    (speed,) = bench_device.measure_workloads(Choice("gpu"), {"one": TINY["one"]}, repetitions=1)
    assert speed.kernel_gcups is None
    assert "one: kernels alone are not timed, the batch does not fit in one piece (gpu: 9 bytes" in caplog.text


def test_groups_of_a_file_in_copies(gpu, tmp_path):
    from pairhmm.forward.pair_texts import write_in

    batch = bench_data.make_workload(TINY["one"])
    write_in(tmp_path / "a.in", bench_data.groups_of(batch))
    speed = bench_device.measure_groups(Choice("gpu"), tmp_path / "a.in", 3, repetitions=2)
    assert (speed.workload, speed.pairs, speed.cells) == ("a.in x 3", 3 * batch.pairs, [3 * batch.cells] * 2)


def test_file_to_file():
    speed = bench_device.measure_files(Choice("reference"), workload=TINY["one"], repetitions=2)
    assert (speed.pairs, len(speed.process_seconds), len(speed.again_seconds)) == (12, 2, 2)
    assert min(speed.process_seconds) > max(speed.again_seconds) > 0


def run(*options):
    return CliRunner().invoke(command, ["forward", *options], catch_exceptions=False)


def test_tables_of_a_gpu(gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(bench_device, "MOST_CELLS", 10**6)
    monkeypatch.setattr(bench_device, "FIRST_CELLS", 10**6)
    lines = run(
        "--table", "kernel", "--table", "workloads", "--backend", "gpu", "--repetitions", "1"
    ).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    assert rows[0] == ["backend", "length", "groups", "seconds", "gcups"]
    assert [row[1] for row in rows[1:6]] == ["128", "150", "256", "512", "1024"]
    assert [row[1] for row in rows[7:]] == list(bench_data.WORKLOADS)


def test_all_tables_are_a_gpus_default_and_lengths_are_a_cpus(gpu, monkeypatch):
    for name in ("_kernel_table", "_workload_table", "_file_table"):
        monkeypatch.setattr(
            f"pairhmm.bench.cli_forward.{name}",
            lambda report, choices, *_, name=name, **__: report.table(name, **{name: ""}),
        )
    monkeypatch.setattr("pairhmm.bench.lengths.measure_speed", lambda *_, **__: [])
    assert [line.split("\t")[0] for line in run().stdout.splitlines()] == [
        *("backend", "_kernel_table", "_workload_table", "_file_table"),
    ]
    assert run("--backend", "reference").stdout.splitlines() == [
        "backend\tlength\tthreads\tpairs\tseconds\tgcups\tcomputed"
    ]


def test_a_workload_that_is_none():
    done = CliRunner().invoke(command, ["forward", "--workload", "s151"])
    assert done.exit_code == 2
    assert "'s151' is not one of s150, s250" in done.output
