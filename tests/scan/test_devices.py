"""The scanners on devices give the CPU's bytes, which are the oracle's (test_scanners.py), and never lose a run."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

import numpy as np
import pytest
from click.testing import CliRunner

from pairhmm import backends
from pairhmm.backends import Status
from pairhmm.bench import scan as bench_scan
from pairhmm.bench.cli import command
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.scan import base, cpu, device
from pairhmm.scan.base import SCANNERS, Patterns, Scanned, ScanOptions
from pairhmm.scan.device import DeviceScanner
from pairhmm.scan.index import Index
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures
from tests.conftest import load_helper
from tests.scan.conftest import samples_of, signatures_of

WORKLOADS = range(60)
"""Of test_scanners.py, which compares the CPU's scanner with the oracle on more of them."""


def emulated(patterns: Patterns, options: ScanOptions) -> DeviceScanner:
    with load_helper("backends/cuda/emulated_cupy").installed():
        from pairhmm.scan.cuda import CudaFinder

        index = Index.of(patterns, options.max_mismatches)
        finder = CudaFinder(0, index, int(np.diff(patterns.offset).max(initial=1)), options)
    return DeviceScanner(finder, patterns, options)


@pytest.fixture(scope="module", params=["emulated", "cuda", "webgpu"])
def make(request, require_backend) -> Callable[[Patterns, ScanOptions], DeviceScanner]:
    """A device's ``make(patterns, options)``."""
    if request.param == "emulated":
        request.getfixturevalue("emulator")
        return emulated
    require_backend(request.param)
    return lambda patterns, options: SCANNERS.load(request.param, patterns, options)


def same(found: Scanned, expected: Scanned) -> bool:
    totals = found.quality_totals.tolist() == expected.quality_totals.tolist()
    return totals and found.hits.tobytes() == expected.hits.tobytes()


@pytest.mark.parametrize("seed", WORKLOADS)
def test_random_workloads(make, make_workload, seed):
    work = make_workload(seed)
    patterns = Patterns.of(work.signatures, work.options)
    expected = cpu.make(patterns, work.options).scan(work.samples, 2)
    assert same(make(patterns, work.options).scan(work.samples, 2), expected)


@pytest.mark.parametrize("seed", range(2, 60, 7))
def test_samples_in_small_parts(make, make_workload, seed):
    """A chunk that begins inside a segment finds what reaches into it from the one before, once."""
    work = make_workload(seed)
    patterns = Patterns.of(work.signatures, work.options)
    scanner = make(patterns, work.options)
    scanner._most = 2 * int(np.diff(patterns.offset).max(initial=1)) + 64 * seed
    expected = cpu.make(patterns, work.options).scan(work.samples, 2)
    assert same(scanner.scan(work.samples, 1), expected)


@pytest.mark.parametrize("min_informative", [0, 12])
@pytest.mark.parametrize("max_mismatches", [0, 2])
def test_long_runs_of_n(make, min_informative, max_mismatches):
    rng = np.random.default_rng(7)
    sequences = ["".join(rng.choice(list("ACGT"), size)) for size in (40, 150, 1200)]
    around = ["".join(rng.choice(list("ACGT"), 2100)) for _ in range(2)]
    runs = "N" * 5_000 + sequences[0] + "N" * 70 + sequences[1][30:] + "N" * 9
    samples = samples_of(around[0] + sequences[2][:60] + runs + around[1], "N" * 2_500, "", sequences[1])
    options = ScanOptions(min_informative=min_informative, max_mismatches=max_mismatches)
    patterns = Patterns.of(signatures_of(*sequences), options)
    expected = cpu.make(patterns, options).scan(samples, 2)
    assert len(expected.hits) > 2
    assert same(make(patterns, options).scan(samples, 1), expected)


def test_more_places_than_there_is_room_for(make):
    options = ScanOptions(min_informative=4, every_match=True)
    patterns = Patterns.of(signatures_of("ACAC", "CACACACACACACA"), options)
    samples = samples_of("AC" * 1500)
    scanner = make(patterns, options)
    scanner._finder._capacity = 100
    expected = cpu.make(patterns, options).scan(samples, 1)
    assert len(expected.hits) > 2900
    assert same(scanner.scan(samples, 1), expected)


def test_sums_beyond_32_bits(make):
    """Totals and what lies before a match, of 20 million bases of the highest quality a byte holds."""
    if make is emulated:
        pytest.skip("the emulator takes minutes")
    rng = np.random.default_rng(3)
    letters = np.array([1, 2, 4, 8], dtype=np.uint8)[rng.integers(0, 4, 20_000_000)]
    options = ScanOptions()
    patterns = Patterns.of(Signatures.of(["v"], [letters[-300:].copy()]), options)
    samples = Samples.of([letters], [np.full(len(letters), 255, dtype=np.uint8)])
    found = make(patterns, options).scan(samples, 1)
    assert found.quality_totals.tolist() == [20_000_000 * 255]
    assert found.hits[["start", "total"]].tolist() == [(len(letters) - 300, 300 * 255)]


def test_no_patterns_and_no_samples(make):
    options = ScanOptions()
    none = Patterns.of(signatures_of("N"), options)
    assert len(make(none, options).scan(samples_of("ACGTACGT" * 9), 1).hits) == 0
    patterns = Patterns.of(signatures_of("ACGTACGTACGTA"), options)
    for samples in (Samples.of([]), samples_of("", "")):
        found = make(patterns, options).scan(samples, 1)
        assert len(found.hits) == 0 and found.quality_totals.tolist() == [0] * len(samples)


class Failing:
    """A finder whose device holds so many bases, and none after `calls` calls."""

    label, most_bases = "made:0", 1 << 30

    def __init__(self, holds: int, calls: int = 1 << 30) -> None:
        self.holds, self.calls, self.seen = holds, calls, []

    def find(self, samples):
        self.calls -= 1
        if self.calls < 0:
            raise DeviceLost(self.label, "it fell off")
        if len(samples.letters) > self.holds:
            raise OutOfDeviceMemory("made:0: no")
        self.seen.append(len(samples.letters))
        return np.empty((0, 8), np.uint32), np.zeros(len(samples), np.int64)


@pytest.fixture
def many():
    rng = np.random.default_rng(1)
    signatures = Signatures.of(["v"], [np.array([1, 2, 4, 8], dtype=np.uint8)[rng.integers(0, 4, 60)]])
    noise = np.array([1, 2, 4, 8], dtype=np.uint8)[rng.integers(0, 4, 300_000)]
    return Patterns.of(signatures, ScanOptions()), Samples.of([noise, np.concatenate([noise, signatures.letters])])


def test_parts_are_halved_until_they_fit(many, caplog):
    patterns, samples = many
    finder = Failing(holds=160_000)
    with caplog.at_level(logging.WARNING):
        DeviceScanner(finder, patterns, ScanOptions()).scan(samples, 1)
    assert max(finder.seen) <= 160_000 and sum(finder.seen) >= 600_060
    assert [record.getMessage() for record in caplog.records] == [
        "made:0: out of memory; chunks of 300,030 bases now",
        "made:0: out of memory; chunks of 150,015 bases now",
    ]


@pytest.mark.parametrize(
    ("finder", "told"),
    [(Failing(holds=10), "out of memory, however small the chunks"), (Failing(1 << 30, 0), "lost (it fell off)")],
)
def test_the_cpu_goes_on(many, caplog, finder, told):
    patterns, samples = many
    scanner = DeviceScanner(finder, patterns, ScanOptions())
    with caplog.at_level(logging.WARNING):
        found = [scanner.scan(samples, 1) for _ in range(2)]
    assert [one.hits["start"].tolist() for one in found] == [[300_000]] * 2
    assert [record.getMessage() for record in caplog.records][-1] == f"made:0: {told}; the CPU goes on"
    assert sum("the CPU goes on" in record.getMessage() for record in caplog.records) == 1


def test_parts_end_where_segments_do(make_workload):
    samples = make_workload(3).samples
    for most in (50, 700):
        found = list(device.cut(samples, most, 20))
        assert sum(len(chunk.samples.letters) - chunk.samples.carried for chunk in found) == int(samples.offset[-1]) - (
            samples.carried
        )
        assert all(0 < len(chunk.samples.letters) <= most for chunk in found)


def test_auto_takes_a_device_where_it_helps(monkeypatch):
    """Where it is expected to finish first: with many Ns, of which anchors say nothing, and with many bases."""
    monkeypatch.setattr(backends, "status", lambda name: Status(True, "made", ("Big",)))
    monkeypatch.setattr(SCANNERS, "load", lambda name, patterns, options, device=None: (name, device))
    rng = np.random.default_rng(1)
    for n_ratio, bases, number, expected in (
        (0.5, 10**9, None, ("cuda", None)),
        (0.1, 10**9, None, ("cpu", None)),
        (0.5, 10**6, None, ("cpu", None)),
        (0.5, 0, 0, ("cuda", 0)),
    ):
        letters = np.where(rng.random(100_000) < n_ratio, 15, 1).astype(np.uint8)
        signatures = Signatures.of([f"v{n}" for n in range(1000)], np.split(letters, 1000))
        patterns = Patterns.of(signatures, ScanOptions())
        assert base.choose("auto", number, patterns, ScanOptions(), bases, 1) == expected


@pytest.fixture
def small(monkeypatch):
    """Workloads of `bench scan` that an emulator takes."""
    for name, value in (("SIGNATURE_LENGTHS", (30, 60)), ("SAMPLE_LENGTHS", (300, 700)), ("PLANTED", (3, 5))):
        monkeypatch.setattr(bench_scan, name, value)
    monkeypatch.setattr(bench_scan, "ONE_IN", 2)


def test_bench_on_webgpu(require_backend, small):
    require_backend("webgpu")
    arguments = ["scan", "--backend", "webgpu", "--samples", "3", "--signatures", "8", "--repetitions", "2"]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    header, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert header == ["backend", "bases", "patterns", "hits", "seconds", "speedup", "same"]
    assert [row[0] for row in rows] == [backends.on_the_cpu()[0], "webgpu"]
    assert {row[-1] for row in rows} == {"yes"} and rows[0][5] == "1" and int(rows[1][3]) > 5
    figures = json.loads(CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False).stdout)
    assert [len(row["seconds"]) for row in figures["scan"]] == [2] * 2
