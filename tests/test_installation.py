"""Installations where no C++ compiler works: pip fails with the cure, or makes what was asked for."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
# Where the requirements are, so that nothing but the build's own is downloaded.
REQUIREMENTS = ("Bio", "click", "numpy", "platformdirs", "pysam", "rich", "rich_click")


@pytest.fixture(scope="module")
def build(require, tmp_path_factory):
    """``build(*options)``: what pip says of a wheel of this checkout without a compiler, and the folder for it."""
    require("checkout", (PROJECT / "pyproject.toml").exists() and (PROJECT / "cpu").is_dir(), "not a checkout")
    require("build", importlib.util.find_spec("pip") is not None, "pip is not installed")
    folder = tmp_path_factory.mktemp("wheel")

    def built(*options):
        # CMake looks for compilers beyond PATH; a compiler that is named and missing it takes at its word.
        environment = {**os.environ, "CXX": "/nowhere/c++", "CC": "/nowhere/cc", "PIP_NO_INPUT": "1"}
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder)]
        command += [f"--config-settings=build-dir={folder / 'build'}", *options, str(PROJECT)]
        found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        has_tools = "No matching distribution found" not in found.stdout + found.stderr
        require("build", has_tools, "what builds the package can't be installed from here")
        return found, folder

    return built


def test_it_fails_with_the_cure(build):
    found, folder = build()
    assert found.returncode != 0
    assert not list(folder.glob("*.whl"))
    told = found.stdout + found.stderr
    assert "pairhmm's compiled part could not be built, and nothing was installed" in told
    assert "apt install g++" in told and "pip install --config-settings=wheel.cmake=false" in told


@pytest.fixture(scope="module")
def wheel(build):
    """A wheel without the compiled part."""
    found, folder = build("--config-settings=wheel.cmake=false")
    assert found.returncode == 0, found.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


def test_every_file_is_in_the_wheel(wheel, require):
    is_repository = shutil.which("git") is not None and (PROJECT / ".git").exists()
    require("checkout", is_repository, "not a checkout by git")
    command = ["git", "ls-files", "pairhmm", "cuda", "shaders", "workflows"]
    files = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.splitlines()
    places = {name if name.startswith("pairhmm/") else f"pairhmm/{name}" for name in files}
    with zipfile.ZipFile(wheel) as packed:
        assert places <= set(packed.namelist())


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """``installed(*arguments)``: the command line of an installation without the compiled part."""
    home = tmp_path_factory.mktemp("home")
    venv.create(home / "venv", with_pip=False)
    python = home / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", f"--python={python}", "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True, timeout=120)
    [packages] = (home / "venv/lib").glob("python*/site-packages")
    specs = filter(None, map(importlib.util.find_spec, REQUIREMENTS))
    places = dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in specs)
    (packages / "requirements.pth").write_text("".join(f"{place}\n" for place in places))

    def run(*arguments):
        command = [str(home / "venv/bin/pairhmm"), *map(str, arguments)]
        return subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=120, check=False)

    return run


def test_without_the_compiled_part_commands_start(installed):
    """tests/test_compiled.py has what works then, and what does not."""
    assert installed("call", "--help").returncode == 0
    devices = installed("devices")
    assert devices.returncode == 0, devices.stderr
    assert "cpu        missing    needs pairhmm's compiled part, which is not installed" in devices.stdout
    assert re.search(r"^reference +available", devices.stdout, re.MULTILINE)
    refused = installed("call", "-f", "x.fa", "x.bam")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert refused.stderr.startswith("pairhmm: error: reading alignments needs pairhmm's compiled part")
