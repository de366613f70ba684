"""What the whole suite shares: reference data, requirements, the command line as a subprocess, strict arithmetic."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# A checkout's pairhmm/ has no compiled part: `python -m pairhmm` in a test must find the installed package.
os.environ.setdefault("PYTHONSAFEPATH", "1")

# Time limits are pytest-timeout's, and a failure must be the same one on every machine.
settings.register_profile("pairhmm", deadline=None, derandomize=True)
settings.load_profile("pairhmm")

np.seterr(all="raise")

Require = Callable[[str, bool, str], None]


@pytest.fixture(scope="session")
def require() -> Require:
    """``require(name, available, reason)``: skip with the reason, or fail where PAIRHMM_TEST_REQUIRE lists the name."""
    required = os.environ.get("PAIRHMM_TEST_REQUIRE", "").split(",")

    def check(name: str, available: bool, reason: str) -> None:
        if not available:
            if name in required:
                pytest.fail(f"{name} is required here: {reason}")
            pytest.skip(reason)

    return check


@pytest.fixture(scope="session")
def shared_data(require: Require) -> Path:
    """The folder of reference data: PAIRHMM_SHARED_DATA, or ../shared/data from the project's root."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PAIRHMM_SHARED_DATA", default))
    require("shared", folder.is_dir(), f"no reference data at {folder}; PAIRHMM_SHARED_DATA names another folder")
    return folder


RunCli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run_cli() -> RunCli:
    """``run_cli(*arguments, env={}, **options)``: the command in a process of its own; options are subprocess.run's."""

    def run(
        *arguments: object, env: dict[str, str] | None = None, **options: object
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pairhmm", *map(str, arguments)]
        environment = os.environ | (env or {})
        return subprocess.run(command, capture_output=True, text=True, env=environment, **options)  # type: ignore[call-overload, no-any-return]

    return run
