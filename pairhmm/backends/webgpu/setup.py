"""WebGPU adapters and devices: discovery, wgpu's errors, and commands that all callers share."""

from __future__ import annotations

import ctypes
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.base import Status
from pairhmm.errors import BackendUnavailable, DeviceLost, OutOfDeviceMemory, PairhmmError, raised_as, starting_as
from pairhmm.native import require_compiled

LOADER = "libvulkan.so.1"
"""The Vulkan loader on Linux and similar systems. Metal and Direct3D come with their operating systems."""

KINDS = {"DiscreteGPU": "discrete GPU", "IntegratedGPU": "integrated GPU", "CPU": "software"}
SOFTWARE = "CPU"

INSTANCE_BACKENDS = ("Vulkan", "Metal", "DX12")
"""Graphics APIs whose adapters are listed. OpenGL would list the same devices again, with fewer capabilities."""

INSTANCE_FLAGS = ("Default", "AutomaticTimestampNormalization")
"""Flags of the wgpu instance. The second makes timestamps count nanoseconds, as WebGPU defines them."""

LEAST_STORAGE = 16384
"""Bytes of workgroup memory that WebGPU guarantees. Adapters with less are not listed."""

WANTED_LIMITS = (
    "max-buffer-size",
    "max-storage-buffer-binding-size",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
)
"""Limits that are requested as high as the adapter allows. The others stay at WebGPU's defaults."""

SUBGROUPS, TIMESTAMPS, INT64 = "subgroup", "timestamp-query", "shader-int64"
"""Features that are requested where an adapter has them. Browsers do not have the last one."""

LOST_WORDS = ("lost", "is destroyed", "invalid device")
"""Words by which a lost device is recognised in error messages, since wgpu has no error class for it."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A device that wgpu lists, and how wgpu describes it."""

    handle: Any
    name: str
    kind: str
    api: str
    driver: str

    @property
    def is_software(self) -> bool:
        return self.kind == SOFTWARE

    def __str__(self) -> str:
        limits, features = self.handle.limits, self.handle.features
        return ", ".join(
            (
                f"{self.name} ({KINDS.get(self.kind, self.kind)})",
                self.api if not self.driver else f"{self.api} {self.driver}",
                f"bindings of {limits['max-storage-buffer-binding-size'] >> 20} MiB",
                f"{limits['max-compute-workgroup-storage-size'] >> 10} KiB a workgroup",
                "subgroups" if SUBGROUPS in features else "no subgroups",
            )
        )


def status() -> Status:
    """Whether an adapter here can be used, and if not what is missing and what helps."""
    try:
        known = adapters()
        require_compiled("backend webgpu")
    except BackendUnavailable as error:
        return Status(False, reason=error.reason, cure=error.cure)
    software = tuple(index for index, adapter in enumerate(known) if adapter.is_software)
    return Status(True, f"wgpu {_wgpu().__version__}", tuple(map(str, known)), software=software)


def adapters() -> tuple[Adapter, ...]:
    """The adapters here, discrete GPUs first and software last.

    Raises
    ------
    BackendUnavailable
        With what is missing: wgpu, the Vulkan loader, or any adapter.
    """
    wgpu = _wgpu()
    _require_loader()
    known = _enumerated(wgpu)
    if not known:
        raise _missing(
            "no WebGPU adapter",
            "install the GPU's Vulkan driver: NVIDIA's own, or for the others, and for a software one, "
            "apt install mesa-vulkan-drivers",
        )
    return known


def require_installed() -> None:
    """Raise BackendUnavailable without wgpu or the Vulkan loader. Neither is started, which takes time."""
    try:
        is_there = find_spec("wgpu") is not None
    except ValueError:  # It is in sys.modules, in place of what the system would find.
        is_there = True
    if not is_there:
        raise _not_installed()
    _require_loader()


def _require_loader() -> None:
    if not sys.platform.startswith(("win", "darwin")) and not _loads(LOADER):
        raise _missing(
            f"no Vulkan loader ({LOADER})",
            "apt install libvulkan1, and the GPU's Vulkan driver (NVIDIA's own, or mesa-vulkan-drivers for the others)",
        )


@cache
def _enumerated(wgpu: Any) -> tuple[Adapter, ...]:
    # Mesa's layer that selects a GPU looks for a display, and prints to stderr if there is none.
    os.environ.setdefault("NODEVICE_SELECT", "1")
    with suppress(RuntimeError):  # another user of wgpu in this process has made the instance already
        _name_types_quickly()
        extras = import_module("wgpu.backends.wgpu_native.extras")
        extras.set_instance_extras(backends=INSTANCE_BACKENDS, flags=INSTANCE_FLAGS)
    order = [*KINDS]
    adapters = []
    for handle in wgpu.gpu.enumerate_adapters_sync():
        info = handle.info
        if handle.limits["max-compute-workgroup-storage-size"] >= LEAST_STORAGE and info["backend_type"] != "OpenGL":
            name = info["device"]
            adapters.append(Adapter(handle, name, info["adapter_type"], info["backend_type"], info["description"]))
    rank = {kind: number for number, kind in enumerate(order)}
    return tuple(sorted(adapters, key=lambda adapter: rank.get(adapter.kind, rank[SOFTWARE] - 0.5)))


@cache
def _name_types_quickly() -> None:
    """Make cffi parse a type of wgpu's header without the names of all others, which it takes 10 ms for.

    A device and its first call need about 60 types.
    """
    try:
        parser = import_module("wgpu.backends.wgpu_native._ffi").ffi._parser
        parse, declared = parser._parse, parser._declarations
    except (ImportError, AttributeError):
        return  # Another version of wgpu or cffi: slower, but correct.

    def parse_with_its_names(text: str) -> Any:
        # cffi holds a lock around this.
        names = (f"typedef {word}" for word in re.findall(r"\w+", text))
        parser._declarations = {name: declared[name] for name in names if name in declared}
        try:
            return parse(text)
        finally:
            parser._declarations = declared

    parser._parse = parse_with_its_names


def request_device(adapter: Adapter) -> Any:
    """A device of an adapter, with the adapter's own limits, and the features that kernels use if it has them."""
    handle = adapter.handle
    features = [name for name in (SUBGROUPS, TIMESTAMPS, INT64) if name in handle.features]
    return handle.request_device_sync(
        required_features=features, required_limits={name: handle.limits[name] for name in WANTED_LIMITS}
    )


@contextmanager
def starting(label: str) -> Iterator[None]:
    """A context for making the backend of a device. Whatever keeps it from starting is raised as BackendUnavailable."""
    cure = "name another with --device, or --backend cpu"
    with starting_as(lambda reason: _missing(reason, cure), label), translated(label):
        yield


def translated(label: str) -> AbstractContextManager[None]:
    """A context for calls of wgpu: its errors are raised as the engine knows them, any others as they are."""
    return raised_as(translate, label)


def translate(error: Exception, label: str) -> PairhmmError | None:
    """An error of wgpu as the engine knows it; None if the engine has no error for it.

    Parameters
    ----------
    error : Exception
        wgpu's errors are recognised by their class names, so that wgpu need not be imported here.
    label : str
        The device's label, for the message.
    """
    kind, text = type(error).__name__, " ".join(str(error).split())
    if kind == "GPUOutOfMemoryError":
        return OutOfDeviceMemory(f"{label}: {text}")
    of_wgpu = kind in ("GPUValidationError", "GPUInternalError", "GPUError") or type(error) is RuntimeError
    if of_wgpu and any(word in text.lower() for word in LOST_WORDS):
        return DeviceLost(label, text)
    if of_wgpu and ("not enough memory" in text.lower() or "out of memory" in text.lower()):
        return OutOfDeviceMemory(f"{label}: {text}")
    return None


def _wgpu() -> Any:
    try:
        wgpu = import_module("wgpu")
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "wgpu":
            raise _not_installed() from None
        text = " ".join(str(error).split())
        raise _missing(f"wgpu does not import ({text})", "pip install -U 'pairhmm[webgpu]'") from error
    # wgpu logs lost devices and failed calls, which are raised as errors, too.
    logging.getLogger("wgpu").setLevel(logging.CRITICAL)
    return wgpu


def _not_installed() -> BackendUnavailable:
    return _missing("wgpu is not installed", "pip install 'pairhmm[webgpu]'")


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _missing(reason: str, cure: str) -> BackendUnavailable:
    return BackendUnavailable("webgpu", reason, cure)


MOST_WORKGROUPS = 65535
"""Most workgroups of a dispatch in one dimension: the default limit of WebGPU."""


def make_pipeline(device: Any, text: str, entry: str) -> Any:
    """The pipeline of an entry point. Its layout has the bindings that its text uses."""
    module = device.create_shader_module(code=text)
    return device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": entry})


def record(device: Any, compute: Any, pipeline: Any, buffers: Mapping[int, Any], size: tuple[int, int]) -> None:
    """Record a dispatch of `size` workgroups on whole buffers, by binding. The pipeline comes from `make_pipeline`."""
    entries = [
        {"binding": binding, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
        for binding, buffer in buffers.items()
    ]
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
    compute.dispatch_workgroups(*size)


def grid(workgroups: int) -> tuple[int, int]:
    """Two dimensions with at least `workgroups` workgroups, and hardly more."""
    rows = -(-workgroups // MOST_WORKGROUPS)
    return -(-workgroups // rows), rows


def wait(device: Any, buffer: Any) -> None:
    """Block until everything that was submitted is done. The buffer must have the usage COPY_SRC."""
    # on_submitted_work_done_async raises a TypeError in wgpu 0.32.
    device.queue.read_buffer(buffer, 0, 4)


def mapped(buffer: Any) -> NDArray[np.uint8]:
    """The memory of a mapped buffer, for writing, until the buffer is unmapped."""
    return np.frombuffer(buffer._experimental_get_mapped_range(0, buffer.size), dtype=np.uint8)
