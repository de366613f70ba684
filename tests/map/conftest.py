"""The random samples that the tests of all placers share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def any_samples() -> ModuleType:
    """The module `any_samples.py`. Test files are no package, so they can't import it."""
    spec = importlib.util.spec_from_file_location(
        "pairhmm_tests_any_samples", Path(__file__).with_name("any_samples.py")
    )
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def cohorts():
    """The module cohorts.py."""
    spec = importlib.util.spec_from_file_location("pairhmm_tests_cohorts", Path(__file__).with_name("cohorts.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
