"""`pairhmm validate` as a command: table, verdict and exit codes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.command_line.start import command

SHARED = Path(os.environ.get("PAIRHMM_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
REFERENCE = SHARED / "gatk-pairhmm-testdata.txt"
LINE = "ACGTTGCAAGCT GTTGCAAG ???????? IIIIIIII IIIIIIII ++++++++ {}\n"


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    given = [*command(), "validate", *map(str, arguments)]
    return subprocess.run(given, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """Two pairs with likelihoods that no model gives."""
    path = tmp_path / "wrong.txt"
    path.write_text("# haplotype read base ins del gcp expected\n" + LINE.format(-50) + LINE.format(-99))
    return path


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_gatk_reference_likelihoods(backend: str) -> None:
    if not REFERENCE.exists():
        if "shared" in os.environ.get("PAIRHMM_TEST_REQUIRE", ""):
            pytest.fail(f"{REFERENCE} is required")
        pytest.skip(f"{REFERENCE} is not there")
    done = run(REFERENCE, "--backend", backend, "--tolerance", "1e-5", "--worst", "3")
    assert done.returncode == 0, done.stderr
    assert "104 pairs, worst difference" in done.stderr
    assert "all pairs are within" in done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split("\t")[0] == "#line"
    assert len(rows) == 3
    differences = [float(row.split("\t")[5]) for row in rows]
    assert differences == sorted(differences, reverse=True)


def test_a_difference_over_the_tolerance_exits_with_one(wrong: Path) -> None:
    done = run(wrong, "--backend", "reference")
    assert done.returncode == 1
    assert "2 pairs exceed it or are not finite" in done.stderr
    assert [row.split("\t")[0] for row in done.stdout.splitlines()] == ["#line", "3", "2"]


def test_the_tolerance_decides(wrong: Path) -> None:
    assert run(wrong, "--backend", "reference", "--tolerance", "100").returncode == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no pairs"),
        (LINE.format("much"), ":1"),
        (LINE.format(-1).replace("?", "", 1), ":1"),
        ("ACGT ACGT\n", ":1"),
        (None, "bad.txt"),
    ],
    ids=["empty", "not a number", "too few qualities", "too few columns", "missing"],
)
def test_bad_input_is_one_line_and_exit_code_two(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "bad.txt"
    if content is not None:
        path.write_text(content)
    done = run(path, "--backend", "reference")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "bad.txt" in done.stderr
    assert message in done.stderr.replace("line ", ":").replace(": :", ":")
    assert done.stdout == ""
