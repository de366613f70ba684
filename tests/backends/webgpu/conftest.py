"""What the tests of WebGPU share: the batches of the CUDA tests, and the backends that the same tests run on."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest


@cache
def from_cuda(name: str) -> ModuleType:
    """A module of the CUDA tests, which are in no package."""
    full = f"pairhmm_tests_{name}"
    if full not in sys.modules:
        path = Path(__file__).parents[1] / "cuda" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(full, path)
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


@pytest.fixture(scope="session")
def batches() -> ModuleType:
    return from_cuda("batches")


@pytest.fixture(scope="session")
def adapter(require):
    """The first adapter; skips where there is none."""
    from pairhmm import backends
    from pairhmm.backends.webgpu import setup as webgpu_setup

    status = backends.status("webgpu")
    require("webgpu", status.available, f"{status.reason}; {status.cure}")
    return webgpu_setup.adapters()[0]


@pytest.fixture(scope="session", params=["shuffles", "memory"])
def make_backend(request, adapter) -> Callable:
    """``make_backend(memory=None)``: the webgpu backend, its lanes handing values on in either way."""
    from pairhmm.backends.webgpu.backend import WebgpuBackend

    shuffles = request.param == "shuffles"
    return lambda memory=None: WebgpuBackend(adapter, "webgpu:0", memory, shuffles=shuffles)


@pytest.fixture(scope="session")
def backend(make_backend):
    return make_backend()
