"""What is missing for WebGPU is named in one line; software adapters are for those who name them."""

import logging
import sys

import pytest

from pairhmm import backends, engine
from pairhmm.backends import Entry, Status
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.errors import DeviceLost, OutOfDeviceMemory

LIMITS = {"max-compute-workgroup-storage-size": 32768, "max-storage-buffer-binding-size": 1 << 30}


class FakeAdapter:
    def __init__(self, name, kind, api="Vulkan", features=("subgroup",), storage=32768):
        self.info = {"device": name, "adapter_type": kind, "backend_type": api, "description": "driver 1"}
        self.features, self.limits = set(features), LIMITS | {"max-compute-workgroup-storage-size": storage}


class FakeWgpu:
    """The part of wgpu that lists adapters."""

    __version__ = "1.2"

    def __init__(self, *adapters):
        self._adapters = adapters

    @property
    def gpu(self):
        return self

    def enumerate_adapters_sync(self):
        return list(self._adapters)


@pytest.fixture
def machine(monkeypatch):
    """``machine(*adapters)``: a machine with wgpu, the Vulkan loader and these adapters."""
    pytest.importorskip("wgpu", reason="wgpu is not installed; pip install 'pairhmm[webgpu]'")

    def make(*adapters):
        wgpu = FakeWgpu(*adapters)
        monkeypatch.setattr(webgpu_setup, "_wgpu", lambda: wgpu)
        monkeypatch.setattr(webgpu_setup, "_loads", lambda library: True)

    return make


def test_no_wgpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "wgpu", None)
    assert webgpu_setup.status() == Status(False, reason="wgpu is not installed", cure="pip install 'pairhmm[webgpu]'")


@pytest.mark.skipif(sys.platform != "linux", reason="Vulkan is Linux's")
def test_no_loader(machine, monkeypatch):
    machine()
    monkeypatch.setattr(webgpu_setup, "_loads", lambda library: False)
    status = webgpu_setup.status()
    assert status.reason == "no Vulkan loader (libvulkan.so.1)"
    assert "apt install libvulkan1" in status.cure


def test_no_adapter(machine):
    machine()
    status = webgpu_setup.status()
    assert status.reason == "no WebGPU adapter"
    assert "apt install mesa-vulkan-drivers" in status.cure


def test_order_of_adapters(machine):
    """Discrete, integrated, others, software; OpenGL and those with too little workgroup memory are left out."""
    machine(
        FakeAdapter("llvmpipe", "CPU"),
        FakeAdapter("Virtual", "Unknown"),
        FakeAdapter("Inside", "IntegratedGPU"),
        FakeAdapter("Big", "DiscreteGPU", features=()),
        FakeAdapter("Big", "DiscreteGPU", api="OpenGL"),
        FakeAdapter("Tiny", "DiscreteGPU", storage=8192),
    )
    status = webgpu_setup.status()
    assert [name.split(" (")[0] for name in status.devices] == ["Big", "Inside", "Virtual", "llvmpipe"]
    assert status.software == (3,)
    assert status.devices[0] == (
        "Big (discrete GPU), Vulkan driver 1, bindings of 1024 MiB, 32 KiB a workgroup, no subgroups"
    )
    assert status.detail == "wgpu 1.2"


@pytest.fixture
def chosen(monkeypatch):
    """What `engine.choose` loads, in place of any device."""
    loaded = []

    class Loaded:
        chunk_cells = 1

        def __init__(self, name, device=None, memory=None):
            self.name = self.label = name
            loaded.append((name, device))

    monkeypatch.setattr(
        backends,
        "REGISTRY",
        (
            Entry("webgpu", has_devices=True),
            Entry("cpu"),
        ),
    )
    monkeypatch.setattr(backends, "load", Loaded)
    return loaded


def test_auto_leaves_software_alone(machine, chosen, caplog):
    machine(FakeAdapter("llvmpipe", "CPU"))
    with caplog.at_level(logging.INFO):
        assert engine.choose(cells=engine.WORTH_A_DEVICE).name == "cpu"
    assert "webgpu: a software adapter, slower than the CPU; --backend webgpu takes it" in caplog.text
    assert engine.choose("webgpu").name == "webgpu"


def test_auto_takes_a_gpu(machine, chosen):
    machine(FakeAdapter("llvmpipe", "CPU"), FakeAdapter("Big", "DiscreteGPU"))
    assert engine.choose(cells=engine.WORTH_A_DEVICE).name == "webgpu"
    assert engine.choose(engine.Choice(devices=(0,))).name == "webgpu"
    assert chosen == [("webgpu", None), ("webgpu", 0)]


class GPUOutOfMemoryError(Exception):
    pass


class GPUValidationError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (GPUOutOfMemoryError("no room"), OutOfDeviceMemory),
        (GPUValidationError("Validation Error\n\nCaused by:\n  Not enough memory left."), OutOfDeviceMemory),
        (GPUValidationError("In wgpuQueueWriteBuffer\n  Parent device is lost"), DeviceLost),
        (RuntimeError("Could not map buffer (4 : device is lost)."), DeviceLost),
        (GPUValidationError("Buffer size is wrong"), None),
        (ValueError("lost"), None),
    ],
    ids=repr,
)
def test_errors_have_names(error, kind):
    translation = webgpu_setup.translate(error, "webgpu:0")
    assert type(translation) is (kind or type(None))
    if kind:
        assert str(translation).startswith("webgpu:0: ") and "\n" not in str(translation)
