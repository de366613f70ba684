"""Requests beyond what a machine should give are bounded, announced, and can be stopped."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def demo(tmp_path_factory, run_cli):
    folder = tmp_path_factory.mktemp("limits") / "demo"
    assert run_cli("simulate", "-o", folder, "--length", 20_000).returncode == 0
    return folder


def test_threads_by_the_million(demo, run_cli):
    few, many = (
        run_cli("call", "-@", threads, "--no-version", "-f", demo / "reference.fa", demo / "reads.bam")
        for threads in (1, 1_000_000)
    )
    assert many.returncode == 0
    assert few.stdout == many.stdout
    assert "1000000 threads are too many for" in many.stderr
