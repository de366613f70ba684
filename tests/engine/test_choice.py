"""Choice of backend and of its devices."""

import logging
import sys
from types import ModuleType

import numpy as np
import pytest

from pairhmm import backends
from pairhmm.backends import Entry, Status, cpu, reference
from pairhmm.engine import Choice
from pairhmm.engine import choice as engine
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.models.batch import Group, PairBatch, Read
from pairhmm.native import Missing


class Gpu(reference.ReferenceBackend):
    """The oracle under another name."""

    name = "gpu"

    def __init__(self, device, memory):
        self.label = f"gpu:{device}"
        self.memory = memory


@pytest.fixture
def gpu(monkeypatch):
    """A module `pairhmm.backends.gpu` at the head of the registry; tests set its `found`. What it made is in `made`."""
    module = ModuleType("pairhmm.backends.gpu")
    module.made = []
    module.found = Status(True, detail="a library", devices=("Big, 80 GiB", "Small, 8 GiB"))

    def make(device, memory):
        module.made.append((device, memory))
        return Gpu(device, memory)

    module.status, module.make = lambda: module.found, make
    monkeypatch.setitem(sys.modules, "pairhmm.backends.gpu", module)
    registry = Entry("gpu", has_devices=True), Entry("cpu"), Entry("reference", is_oracle=True)
    monkeypatch.setattr(backends, "REGISTRY", registry)
    return module


def test_empty_batch():
    scores = engine.forward(PairBatch.from_groups([]), "reference")
    assert len(scores.log10) == 0


def test_named_backend_never_falls_back(monkeypatch):
    monkeypatch.setenv(cpu.ISA_VARIABLE, "none")
    for wanted in ("cpu", "auto"):
        with pytest.raises(InputError, match="PAIRHMM_CPU: none"):
            engine.choose(wanted)
    assert engine.choose("reference").name == "reference"


def test_a_device_is_not_started_where_the_cpu_could_not_help_it(gpu, monkeypatch):
    monkeypatch.setenv(cpu.ISA_VARIABLE, "none")
    with pytest.raises(InputError, match="PAIRHMM_CPU: none"):
        engine.choose("gpu")
    assert gpu.made == []


def test_auto_announces_its_fallback(monkeypatch, caplog):
    monkeypatch.setattr(backends, "REGISTRY", (Entry("cpu"), Entry("reference", is_oracle=True)))
    monkeypatch.setattr("pairhmm.native.native", Missing("which is not installed"))
    with caplog.at_level(logging.WARNING):
        assert engine.choose("auto").name == "reference"
    assert "not installed" in caplog.text and "compiler" in caplog.text


def test_unknown_backend():
    with pytest.raises(BackendUnavailable, match="no such backend"):
        engine.choose("abacus")


def test_auto_takes_the_device_for_large_work(gpu, caplog):
    with caplog.at_level(logging.INFO):
        assert engine.choose(cells=engine.WORTH_A_DEVICE).name == "gpu"
    by_default = "by default (pairhmm devices --calibrate)"
    assert caplog.messages == [
        f"backend gpu (a library), faster than a thread for {engine.WORTH_A_DEVICE:,} cells, {by_default}"
    ]


@pytest.mark.parametrize(("cells", "work"), [(None, "regions"), (engine.WORTH_A_DEVICE - 1, "small batches")])
def test_auto_takes_the_cpu_for_small_work(gpu, caplog, cells, work):
    with caplog.at_level(logging.INFO):
        assert engine.choose(cells=cells).name == "cpu"
    assert caplog.messages == [f"backend cpu ({cpu.chosen_isa()}), the fastest for {work}"]
    assert gpu.made == []


def test_auto_says_what_the_fastest_lacks(gpu, caplog):
    gpu.found = Status(False, reason="no driver", cure="install one")
    with caplog.at_level(logging.INFO):
        assert engine.choose(cells=engine.WORTH_A_DEVICE).name == "cpu"
    assert caplog.messages == [f"backend cpu ({cpu.chosen_isa()}), the fastest here (gpu: no driver; install one)"]


def test_auto_goes_on_where_a_backend_cannot_be_made(gpu, caplog, monkeypatch):
    def make(device, memory):
        raise BackendUnavailable("gpu", "no compiler", "install one")

    monkeypatch.setattr(gpu, "make", make)
    with caplog.at_level(logging.INFO):
        assert engine.choose(cells=engine.WORTH_A_DEVICE).name == "cpu"
    assert "gpu: no compiler; install one" in caplog.text


def test_auto_prefers_a_device_to_the_oracle(gpu, monkeypatch):
    monkeypatch.setattr("pairhmm.native.native", Missing("which is not installed"))
    assert engine.choose().name == "gpu"


def test_a_batch_is_its_own_size(gpu, monkeypatch):
    monkeypatch.setattr(engine, "WORTH_A_DEVICE", 200)
    read = Read(np.zeros(10, dtype=np.uint8), *(np.full(10, 30, dtype=np.uint8) for _ in range(4)))
    for letters, made in ((19, []), (20, [(0, None)])):
        engine.forward(PairBatch.from_groups([Group([read], [np.zeros(letters, dtype=np.uint8)])]))
        assert gpu.made == made


@pytest.mark.parametrize("backend", ["gpu", "auto"])
def test_devices_and_their_memory(gpu, backend):
    engine.choose(Choice(backend, devices=(1, 0), device_memory=1 << 30))
    assert gpu.made == [(1, 1 << 30), (0, 1 << 30)]


def test_the_first_device_is_the_default_and_a_budget_asks_for_none(gpu):
    engine.choose("gpu")
    assert gpu.made == [(0, None)]
    assert engine.choose(Choice(device_memory=1 << 30)).name == "cpu"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice("gpu", (2,)), "devices: 2: gpu has devices 0 to 1; see pairhmm devices"),
        (Choice("gpu", (-1,)), "devices: -1: gpu has devices 0 to 1"),
        (Choice("gpu", (1, 1)), "devices: 1,1: a device is named twice"),
        (Choice("cpu", (0,)), "devices: backend cpu computes on the CPU; leave it out, or name a GPU backend"),
        (Choice("reference", None, 1), "--device-memory: backend reference computes on the CPU"),
    ],
)
def test_devices_that_are_not_there(gpu, choice, message):
    with pytest.raises(InputError) as error:
        engine.choose(choice)
    assert str(error.value).startswith(message)


def test_auto_does_not_leave_out_a_device_that_was_asked_for(gpu):
    gpu.found = Status(False, reason="no driver", cure="install one")
    with pytest.raises(BackendUnavailable, match="gpu: no driver; install one; cpu: it computes on the CPU"):
        engine.choose(Choice(devices=(0,)))
