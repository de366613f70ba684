"""What the tests of all aligners share: any_pairs.py."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.conftest import load_helper


@pytest.fixture(scope="session")
def any_pairs() -> ModuleType:
    return load_helper("align/any_pairs", "any_aligned")
