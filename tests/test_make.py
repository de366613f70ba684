"""`make test-all` installs what the tests need and lets none of them skip; README.md and CI name what is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]

if not (PROJECT / "Makefile").exists() or shutil.which("make") is None:
    pytest.skip("a wheel has no Makefile", allow_module_level=True)


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def bare(tmp_path) -> Path:
    """Programs of a fresh Debian, as far as these scripts go: apt-get and sudo only write down what they are told."""
    folder = tmp_path / "bin"
    script(folder / "apt-get", f'echo "$*" >> {tmp_path}/installed')
    script(folder / "sudo", f'echo sudo >> {tmp_path}/installed; exec "$@"')
    for name in ("bash", "env", "id", "make", "sh"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def run(*command: str, path: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PAIRHMM_TEST", "MAKE"))}
    done = subprocess.run(
        command, env={**kept, **environment, "PATH": str(path)}, capture_output=True, text=True, cwd=PROJECT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def make(bare: Path, **environment: str) -> str:
    """`make test-all` with a pytest that says what it may not skip."""
    venv = bare.parent / "venv"
    script(venv / "bin" / "pytest", 'echo "required: $PAIRHMM_TEST_REQUIRE"')
    script(venv / "installed", "")
    return run("make", "-s", "test-all", f"VENV={venv}", path=bare, **environment)


def test_what_is_missing_is_installed(bare):
    said = make(bare)
    installed = (bare.parent / "installed").read_text()
    for package in (
        "mesa-vulkan-drivers",
        "libvulkan1",
        "chromium",
        "chromium-driver",
        "slurmctld",
        "munge",
        "nodejs",
        "npm",
    ):
        assert f" {package}" in installed
    assert ("sudo" in installed) == (os.getuid() != 0)
    required = set(said.splitlines()[-1].removeprefix("required: ").split(","))
    assert required >= {"cpu", "parquet", "workflow", "emulator", "nvrtc", "webgpu", "browser", "node"}
    assert ("slurm" in required) == (os.getuid() == 0)
    assert "cuda" not in required


def test_what_is_required_can_be_said(bare):
    assert make(bare, PAIRHMM_TEST_REQUIRE="cpu").splitlines()[-1] == "required: cpu"


def test_without_apt_the_tests_run_all_the_same(bare):
    (bare / "apt-get").unlink()
    first, last = make(bare).splitlines()
    assert "can't be installed here" in first and last.startswith("required: cpu,")


def test_lint_without_npx_says_what_it_skips(bare):
    assert run("make", "-s", "lint-page", path=bare).startswith("skipped: JavaScript and CSS are not checked")


def test_the_commands_of_the_documents_are_there():
    targets = set(re.findall(r"^([\w-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        named = set(re.findall(r"(?:^ {4}|`|^)make ([\w-]+)", (PROJECT / name).read_text(), re.MULTILINE))
        assert "test-all" in named and named <= targets, name
    # One script installs, so that no machine has what another lacks.
    assert "apt-get" not in (PROJECT / ".ci" / "run").read_text()
