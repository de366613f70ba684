"""What fuzzing found, and what was mended since: every case of the corpus again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
CASES = sorted(path.parent.name for path in CORPUS.glob("*/case.json"))


@pytest.fixture(scope="module")
def verdicts() -> dict[str, dict[str, object]]:
    """What each case did; all run in one process, which forks for each."""
    command = [sys.executable, str(HERE), "--replay", str(CORPUS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(CASES), done.stderr
    return {one["case"]: one for one in told}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_wrong(verdicts, name):
    assert not verdicts[name]["wrong"], verdicts[name]["stderr"]
