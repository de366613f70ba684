"""Fixtures of the whole suite."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[1]
REQUIRED = frozenset(filter(None, os.environ.get("PAIRHMM_TEST_REQUIRE", "").split(",")))


def require(name: str, available: bool, reason: str) -> None:
    """Skip the test where `name` is not available; fail where PAIRHMM_TEST_REQUIRE lists it."""
    if available:
        return
    if name in REQUIRED:
        pytest.fail(f"{name} is required here: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the reference data: beside the project, or where PAIRHMM_SHARED_DATA says."""
    folder = Path(os.environ.get("PAIRHMM_SHARED_DATA", PROJECT.parent / "shared" / "data"))
    require("shared", folder.is_dir(), f"no reference data in {folder} (set PAIRHMM_SHARED_DATA)")
    return folder


@pytest.fixture(autouse=True)
def strict_arithmetic() -> Iterator[None]:
    """Overflow, division by zero and NaN are defects; underflow is what scaling is about."""
    with np.errstate(all="raise", under="ignore"):
        yield


@pytest.fixture
def run_cli() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pairhmm", *map(str, arguments)]
        settings = {"capture_output": True, "text": True, "timeout": 300, **options}
        return subprocess.run(command, check=False, **settings)

    return run
