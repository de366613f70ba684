"""What the tests of all warpers share: any_signals.py."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.conftest import load_helper


@pytest.fixture(scope="session")
def any_signals() -> ModuleType:
    return load_helper("warp/any_signals")
