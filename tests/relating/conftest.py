"""The simulated cohorts of cohorts.py, which is in no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cohorts():
    """The module cohorts.py."""
    spec = importlib.util.spec_from_file_location("pairhmm_tests_cohorts", Path(__file__).with_name("cohorts.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
