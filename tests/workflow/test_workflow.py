"""The demonstration workflow, whole, as `make demo` runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SNAKEFILE = Path(__file__).parents[2] / "workflows" / "Snakefile"
REQUIRED = "workflow" in os.environ.get("PAIRHMM_TEST_REQUIRE", "").split(",")

if not REQUIRED:
    pytest.importorskip("snakemake", reason="snakemake is not installed; cure: pip install 'pairhmm[workflow]'")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "snakemake", "-s", str(SNAKEFILE), "-d", str(folder), "--cores", "2", *arguments]
    # The rules run `pairhmm`, which stands beside this Python.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = os.environ | {"PATH": path, "XDG_CACHE_HOME": str(folder)}
    return subprocess.run(line, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.timeout(300)
def test_workflow_reaches_the_truth(tmp_path: Path) -> None:
    settings = tmp_path / "smaller.yaml"
    settings.write_text("simulate: {small: {length: 40000, coverage: 25}}\n")
    done = run(tmp_path, "--show-failed-logs", "--configfile", str(settings))
    assert done.returncode == 0, done.stderr
    assert "Accuracy against the simulated truth" in done.stdout + done.stderr
    accuracy = json.loads((tmp_path / "accuracy" / "demo.json").read_text())
    assert accuracy["snv"]["f1"] > 0.95
    assert accuracy["indel"]["recall"] >= 0.5
    assert (tmp_path / "likelihoods" / "demo.tsv.gz.tbi").exists()


@pytest.mark.parametrize(
    ("setting", "words"),
    [("size=huge", "size 'huge' is none of small, medium"), ("threads=0", "0 is less than the minimum of 1")],
)
def test_a_bad_setting_is_told_before_anything_runs(tmp_path: Path, setting: str, words: str) -> None:
    done = run(tmp_path, "--config", setting)
    assert done.returncode == 1
    assert words in done.stdout + done.stderr
    assert not (tmp_path / "data").exists()
