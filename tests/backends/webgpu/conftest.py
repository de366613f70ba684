"""What the tests of WebGPU share: the batches of the CUDA tests, and the backends that the same tests run on."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.conftest import load_helper


@pytest.fixture(scope="session")
def batches() -> ModuleType:
    return load_helper("backends/cuda/batches")


@pytest.fixture(scope="session")
def adapter(require):
    """The first adapter; skips where there is none."""
    from pairhmm import backends
    from pairhmm.backends.webgpu import setup as webgpu_setup

    status = backends.status("webgpu")
    require("webgpu", status.available, f"{status.reason}; {status.cure}")
    return webgpu_setup.adapters()[0]


@pytest.fixture(scope="session", params=["shuffles", pytest.param("memory", marks=pytest.mark.nightly)])
def make_backend(request, adapter) -> Callable:
    """``make_backend(memory=None)``: the webgpu backend, its lanes handing values on in either way."""
    from pairhmm.backends.webgpu.backend import WebgpuBackend

    shuffles = request.param == "shuffles"
    return lambda memory=None: WebgpuBackend(adapter, "webgpu:0", memory, shuffles=shuffles)


@pytest.fixture(scope="session")
def backend(make_backend):
    return make_backend()
