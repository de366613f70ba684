"""Fixtures of the tests of all aligners: any_pairs.py, which is in no package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pairhmm_tests_any_aligned", Path(__file__).with_name("any_pairs.py"))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def any_pairs() -> ModuleType:
    return _load()
