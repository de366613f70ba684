"""What the tests of CUDA share: batches, the emulated device, and the backends that the same tests run on."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.conftest import load_helper


@pytest.fixture(scope="session")
def batches() -> ModuleType:
    return load_helper("backends/cuda/batches")


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
    return load_helper("backends/cuda/emulated_cupy").installed


@pytest.fixture(scope="session")
def emulated(emulator) -> Callable:
    """``emulated(memory=None, size=1 << 30)``: the cuda backend on an emulated GPU of that size."""

    def make(memory: int | None = None, size: int = 1 << 30):
        with load_helper("backends/cuda/emulated_cupy").installed(size):
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
