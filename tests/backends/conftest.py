"""Fixtures of the tests of all backends: any_pairs.py, which is in no package, and the backends that run here."""

from __future__ import annotations

from types import ModuleType

import pytest

from pairhmm import backends
from pairhmm.backends import cpu
from tests.conftest import load_helper

LEVELS = [name for name, runs in cpu.instruction_sets() if runs]


@pytest.fixture(scope="session")
def any_pairs() -> ModuleType:
    return load_helper("backends/any_pairs")


@pytest.fixture(scope="session", params=[*(f"cpu:{level}" for level in LEVELS), "webgpu", "emulated", "cuda"])
def backend(request, any_pairs, require):
    """Every backend, each level of the CPU, and CUDA's kernels in their emulator."""
    name = request.param
    if name in ("webgpu", "cuda"):
        status = backends.status(name)
        require(name, status.available, f"{status.reason}; {status.cure}")
    if name == "emulated":
        require("emulator", any_pairs.has_emulator(), "the CUDA emulator needs Linux and a g++")
    return any_pairs.load_backend(name)
