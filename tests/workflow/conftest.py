"""Runs of the workflow that several tests look at."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from pairhmm.cli.workflow import workflow_folder
from tests.command_line.start import command


class Snakemake:
    """Runs Snakemake in forks of a process that has imported it and its plugins, and `pairhmm` in forks of another.

    Attributes
    ----------
    workflow : Path
        The workflow's folder.
    """

    workflow = workflow_folder()

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        path = programs / "pairhmm"
        path.write_text(f'#!/bin/sh\nexec {shlex.join(command())} "$@"\n')
        path.chmod(0o755)

    @staticmethod
    def environment(folder: Path) -> Mapping[str, str]:
        """For runs that are killed: rules run the `pairhmm` beside this Python. Caches stay in the test's folder."""
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        return os.environ | {"PATH": path, "XDG_CACHE_HOME": str(folder / ".cache")}

    def arguments(self, folder: Path, *more: str, snakefile: Path | None = None) -> list[str]:
        return ["-s", str(snakefile or self.workflow / "Snakefile"), "-d", str(folder), *more]

    def command(self, folder: Path, *arguments: str) -> list[str]:
        """An interpreter of its own, to be killed."""
        return [sys.executable, "-m", "snakemake", *self.arguments(folder, *arguments)]

    def __call__(
        self, folder: Path, *arguments: str, snakefile: Path | None = None, cores: int | None = 2
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in `folder`, by default with the workflow's own Snakefile."""
        on = ["--cores", str(cores)] if cores else []
        line = [*command("snakemake"), *self.arguments(folder, *on, *arguments, snakefile=snakefile)]
        environment = self.environment(folder)
        path = os.pathsep.join((str(self._programs), environment["PATH"]))
        given = {"capture_output": True, "text": True, "timeout": 280, "env": {**environment, "PATH": path}}
        return subprocess.run(line, check=False, **given)


@pytest.fixture(scope="session")
def snakemake(require, tmp_path_factory) -> Snakemake:
    """Runs Snakemake."""
    try:
        import snakemake as found
    except ImportError:
        found = None
    require("workflow", found is not None, "snakemake is not installed; cure: pip install 'pairhmm[workflow]'")
    return Snakemake(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="session")
def cohort(snakemake, tmp_path_factory) -> tuple[Path, str]:
    """Four simulated samples with scans, as `make demo` has them, and what the run printed. Tests only read them."""
    # Workers of pytest-xdist share it: the run takes seconds.
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, said = root / "cohort", root / "cohort.txt"
    with (root / "cohort.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not said.exists():
            folder.mkdir()
            done = snakemake(folder, "--config", "length=24000", snakefile=snakemake.workflow / ".test" / "Snakefile")
            assert done.returncode == 0, done.stderr
            said.write_text(done.stdout + done.stderr)
    return folder, said.read_text()


@pytest.fixture(scope="session")
def real_reads(shared_data) -> Callable[[Path], list[str]]:
    """``real_reads(folder)`` configures a run over real reads there, and gives the arguments that it takes."""
    data = shared_data / "na12878-chr22-tiny"

    def configure(folder: Path) -> list[str]:
        # Its read groups call the sample 1.
        row = f"1\t{data}/NA12878.chr22.tiny.bam\tF\t2"
        (folder / "samples.tsv").write_text(f"sample\talignments\tsex\tploidy\n{row}\n")
        # Without a date in the header, so that runs on both sides of midnight give the same bytes.
        keys = {"samples": "samples.tsv", "reference": f"{data}/q.fa", "pieces": 4, "call_options": "--no-version"}
        (folder / "config.yaml").write_text("".join(f"{key}: {value}\n" for key, value in keys.items()))
        return ["--configfile", str(folder / "config.yaml")]

    return configure


@pytest.fixture(scope="session")
def tiny(snakemake, real_reads, tmp_path_factory) -> Path:
    """The folder of a finished run over real reads."""
    folder = tmp_path_factory.mktemp("tiny")
    done = snakemake(folder, *real_reads(folder))
    assert done.returncode == 0, done.stderr
    return folder
