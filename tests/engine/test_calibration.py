"""What is kept of a machine's speeds, and what "auto" makes of it."""

import logging
from dataclasses import replace

import pytest

from pairhmm import backends
from pairhmm.backends import Entry, Status, cpu
from pairhmm.bench import calibrate
from pairhmm.engine import calibration, choice
from pairhmm.engine.calibration import Calibration, DeviceSpeed, crossover

CPU = DeviceSpeed("cpu", "avx2", 0.0, 0.001, 1e11)
GPU = DeviceSpeed("gpu", "Big, 80 GiB", 0.9, 0.002, 1e13)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: tmp_path / "cache")
    return tmp_path / "cache" / "calibration.json"


@pytest.fixture
def found(monkeypatch):
    """Statuses by name; each one that is asked for is noted."""
    asked = []
    statuses = {
        "gpu": Status(True, "a library", ("Big, 80 GiB",)),
        "other": Status(True, "a library", ("Small, 8 GiB",)),
        "cpu": Status(True, "avx2"),
        "reference": Status(True, "NumPy"),
    }
    devices = Entry("gpu", has_devices=True), Entry("other", has_devices=True)
    monkeypatch.setattr(backends, "REGISTRY", (*devices, Entry("cpu"), Entry("reference", is_oracle=True)))
    monkeypatch.setattr(backends, "status", lambda name: asked.append(name) or statuses[name])
    return asked


def first(cells, threads=1):
    return choice._ranked(backends.names(), choice.Choice(), cells, threads)[0]


def test_crossover():
    cells = crossover(CPU, GPU)
    assert GPU.seconds(cells) == pytest.approx(CPU.seconds(cells))
    assert GPU.seconds(2 * cells) < CPU.seconds(2 * cells)
    assert crossover(CPU, DeviceSpeed("gpu", "", 0.0, 0.0, 1e10)) is None
    assert crossover(CPU, DeviceSpeed("gpu", "", 0.0, 0.0, 1e12)) == 0


def test_what_is_kept_comes_back(cache):
    assert list(calibration.load().speeds) == []
    assert calibration.save(Calibration([CPU, GPU])) == cache
    assert calibration.load() == Calibration([CPU, GPU])
    assert [file.name for file in cache.parent.iterdir()] == ["calibration.json"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 2}', '{"version": 2, "speeds": [{"backend": "cpu"}]}'])
def test_a_file_that_is_broken_is_announced(cache, caplog, text):
    cache.parent.mkdir()
    cache.write_text(text)
    assert list(calibration.load().speeds) == []
    assert "pairhmm devices --calibrate makes it anew" in caplog.text


def test_a_file_of_another_version_is_left_alone(cache, caplog):
    calibration.save(Calibration([CPU]))
    cache.write_text(cache.read_text().replace('"version": 2', '"version": 1'))
    assert list(calibration.load().speeds) == []
    assert not caplog.records


def test_auto_goes_by_what_was_measured(found):
    calibration.save(Calibration([CPU, GPU]))
    worth = crossover(CPU, GPU)
    assert worth > choice.WORTH_A_DEVICE
    assert first(worth - 1) == "other"  # by default, since it was not measured
    found.clear()
    calibration.save(Calibration([CPU, GPU, DeviceSpeed("other", "Small, 8 GiB", 0.1, 0.001, 3e11)]))
    assert first(100_000_000) == "cpu"
    assert found == []  # no driver was asked
    assert first(30_000_000_000) == "other"
    assert first(1_000_000_000_000) == "gpu"


def test_another_device_than_was_measured_is_taken_by_size(found):
    calibration.save(Calibration([CPU, DeviceSpeed("gpu", "Old, 4 GiB", 0.0, 0.0, 1e12)]))
    assert first(choice.WORTH_A_DEVICE - 1) == "cpu"
    assert first(choice.WORTH_A_DEVICE) == "gpu"


@pytest.mark.parametrize("kept", [[], [CPU, GPU, DeviceSpeed("other", "Small, 8 GiB", 9.0, 0.001, 1e13)]])
def test_a_device_has_to_be_faster_than_all_threads(found, monkeypatch, kept):
    monkeypatch.setattr(choice, "usable_cores", lambda: 16)
    calibration.save(Calibration(kept))
    worth = crossover(CPU, GPU) if kept else choice.WORTH_A_DEVICE
    assert first(2 * worth, 1) == "gpu"
    assert first(2 * worth, 4) == "cpu"
    assert first(8 * worth, 4) == "gpu"
    # Threads that share a core are no faster.
    assert first(30 * worth, 16) == first(30 * worth, 64)


def test_batches_of_unknown_size_are_the_cpus(found):
    calibration.save(Calibration([CPU, GPU]))
    assert first(None) == "cpu"


def test_measure(monkeypatch, caplog):
    """The CPU and the oracle in a device's place; a software adapter is none that auto takes."""
    monkeypatch.setattr(backends, "REGISTRY", (Entry("cpu"), Entry("reference", is_oracle=True)))
    monkeypatch.setattr(calibrate, "LARGE_SECONDS", 0.0)
    with caplog.at_level(logging.WARNING):
        (speed,) = calibrate.measure(replace(calibrate.WORKS["forward"], sizes=(0, 1)), 1)
    assert (speed.backend, speed.device, speed.start_seconds) == ("cpu", cpu.chosen_isa(), 0.0)
    assert 0 < speed.call_seconds < 1 and 1e8 < speed.cells_per_second < 1e12


PLACING = [
    DeviceSpeed("cpu", "avx2", 0.0, 0.001, 1e6, calibration.PLACE),
    DeviceSpeed("gpu", "Big, 80 GiB", 1.0, 0.001, 1e8, calibration.PLACE),
]


@pytest.mark.parametrize(("units", "threads", "is_worth"), [(900_000, 1, False), (1_100_000, 1, True)])
def test_other_work_than_scores_has_its_own_crossover(found, units, threads, is_worth):
    """A thread places a million sets in the second that the device takes to start."""
    calibration.save(Calibration([CPU, GPU, *PLACING]))
    assert calibration.is_worth_a_device(calibration.PLACE, units, threads, 1) == is_worth
    assert first(10**9) == "cpu"


@pytest.mark.parametrize("kept", [[], [CPU, GPU], PLACING[:1], PLACING[1:]])
def test_other_work_that_was_not_measured_has_a_default(found, kept, monkeypatch):
    monkeypatch.setattr(calibration, "usable_cores", lambda: 2)
    calibration.save(Calibration(kept))
    assert not calibration.is_worth_a_device(calibration.PLACE, 199, 8, 100)
    assert calibration.is_worth_a_device(calibration.PLACE, 200, 8, 100)


def test_a_slower_device_is_never_worth_it(found):
    calibration.save(Calibration([PLACING[0], DeviceSpeed("gpu", "Old", 0.0, 0.0, 1e5, calibration.PLACE)]))
    assert not calibration.is_worth_a_device(calibration.PLACE, 10**15, 1, 1)
