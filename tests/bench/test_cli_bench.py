"""`pairhmm bench forward` as a command."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.command_line.start import command


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command(), "bench", *arguments], capture_output=True, text=True)


def test_speed_and_accuracy_as_tables() -> None:
    done = run("forward", "--backend", "reference", "--lengths", "20,30", "--accuracy", "--repetitions", "1")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert rows[0] == ["backend", "length", "threads", "pairs", "seconds", "gcups", "computed"]
    assert [row[:2] for row in rows[1:3]] == [["reference", "20"], ["reference", "30"]]
    assert rows[3][:4] == ["backend", "length", "pairs", "worst"]
    assert [float(row[3]) for row in rows[4:]] == [0.0, 0.0]
    assert "reference at 30 bases: " in done.stderr


def test_json_has_the_same_figures() -> None:
    done = run("forward", "--backend", "reference", "--lengths", "20", "--accuracy", "--repetitions", "1", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["speed"][0]["length"] == 20
    assert figures["speed"][0]["gcups"] > 0
    assert 0 < figures["speed"][0]["computed"] <= 1
    assert figures["accuracy"][0]["worst"] == 0.0


@pytest.mark.parametrize("lengths", ["", "0", "ten", "10,,20"])
def test_lengths_that_are_not_lengths(lengths: str) -> None:
    done = run("forward", "--backend", "reference", "--lengths", lengths)
    assert done.returncode == 2
    assert "is not a list of lengths" in done.stderr


def test_a_backend_that_is_not_there() -> None:
    done = run("forward", "--backend", "abacus", "--lengths", "20")
    assert done.returncode == 2
    assert "abacus" in done.stderr
    assert "Traceback" not in done.stderr
