"""Fixtures of the tests of all backends: any_pairs.py, which is in no package, and the backends that run here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pairhmm import backends
from pairhmm.backends import cpu

LEVELS = [name for name, runs in cpu.instruction_sets() if runs]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pairhmm_tests_any_pairs", Path(__file__).with_name("any_pairs.py"))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def any_pairs() -> ModuleType:
    return _load()


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
