"""What the tests of CUDA share: the emulator, NVRTC, batches, and the backends that the same tests run on."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest


@cache
def helper(name: str) -> ModuleType:
    """A module of this folder, which is in no package."""
    full = f"pairhmm_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, Path(__file__).with_name(f"{name}.py"))
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


@pytest.fixture(scope="session")
def batches() -> ModuleType:
    return helper("batches")


@pytest.fixture(scope="session")
def emulator(require) -> ModuleType:
    """The module emulator.py; skips where it cannot build a kernel."""
    module = helper("emulator")
    require("emulator", module.compiler() is not None, "the CUDA emulator needs Linux and a g++")
    return module


@pytest.fixture(scope="session")
def nvrtc(require) -> ModuleType:
    """The module nvrtc.py; skips where the library is not installed."""
    module = helper("nvrtc")
    require("nvrtc", module.library_path() is not None, "no NVRTC: pip install 'nvidia-cuda-nvrtc>=13'")
    return module


@pytest.fixture(scope="session")
def gpus(require) -> tuple[str, ...]:
    """Names of the GPUs that the cuda backend has; skips where there is none."""
    from pairhmm import backends

    status = backends.status("cuda")
    require("cuda", status.available, f"{status.reason}; {status.cure}")
    return status.devices


@pytest.fixture(scope="session")
def installed(emulator) -> Callable:
    """``installed(memory=1 << 30)``: a context in which `import cupy` finds the emulated one."""
    return helper("emulated_cupy").installed


@pytest.fixture(scope="session")
def emulated(emulator) -> Callable:
    """``emulated(memory=None, size=1 << 30)``: the cuda backend on an emulated GPU of that size."""

    def make(memory: int | None = None, size: int = 1 << 30):
        with helper("emulated_cupy").installed(size):
            from pairhmm.backends.cuda import backend as cuda

            return cuda.CudaBackend(0, memory)

    return make


@pytest.fixture(scope="session", params=["emulated", "cuda"])
def make_backend(request) -> Callable:
    """``make_backend(memory=None)``: the cuda backend, emulated and on the first GPU."""
    if request.param == "emulated":
        return request.getfixturevalue("emulated")
    request.getfixturevalue("gpus")
    from pairhmm import backends

    return lambda memory=None: backends.load("cuda", memory=memory)


@pytest.fixture(scope="session")
def backend(make_backend):
    return make_backend()
