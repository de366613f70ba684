"""The random signals that the tests of all warpers share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def any_signals() -> ModuleType:
    """The module `any_signals.py`. Test files are no package, so they can't import it."""
    spec = importlib.util.spec_from_file_location(
        "pairhmm_tests_any_signals", Path(__file__).with_name("any_signals.py")
    )
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
