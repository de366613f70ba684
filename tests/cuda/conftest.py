"""The emulator, for the tests of this folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def emulator(require) -> ModuleType:
    """The module emulator.py; skips where it cannot build a kernel."""
    name = "pairhmm_tests_emulator"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("emulator.py"))
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    module = sys.modules[name]
    require("emulator", module.compiler() is not None, "the CUDA emulator needs Linux and a g++")
    return module
