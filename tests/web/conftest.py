"""Fixtures for the page's programs: they run in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
WASM = PROJECT / "build/web/pairhmm.wasm"
PARAMETERS = PROJECT / "web/src/models/parameters.js"


@dataclass(frozen=True, slots=True)
class NodeRun:
    """What a run in Node gave: its texts, and what it said."""

    vcf: str
    tsv: str
    companion: str
    events: list[Mapping[str, object]]

    @property
    def error(self) -> str:
        """The message of an InputProblem; empty without one."""
        return next((str(event["text"]) for event in self.events if event["kind"] == "error"), "")

    def told(self, kind: str) -> list[str]:
        """Texts of "warning" or "note" events."""
        return [str(event["text"]) for event in self.events if event["kind"] == kind]


CallInNode = Callable[..., NodeRun]


@pytest.fixture(scope="session")
def node(require) -> str:
    """Node's path; skips without it, without its packages, or without what is built for its programs."""
    program = shutil.which("node")
    require("node", program is not None, "no Node: apt install nodejs npm")
    require("node", (PROJECT / "web/node_modules").is_dir(), "web/ has no packages: npm ci in web/")
    for path in (WASM, PARAMETERS):
        require("node", path.is_file(), f"{path.relative_to(PROJECT)} is missing: make web-module")
    assert program is not None
    return program


@pytest.fixture(scope="session")
def call_in_node(node, tmp_path_factory) -> CallInNode:
    """``call_in_node(bams, reference, **given)``: a run of web/src/call/run.js; `given` is that of call.mjs."""
    folder, numbers = tmp_path_factory.mktemp("node"), count()

    def call(bams, reference, **given) -> NodeRun:
        number = next(numbers)
        outputs = {name: str(folder / f"{number}.{name}") for name in ("vcf", "tsv", "companion")}
        files = [
            [Path(path).name, str(path), None if index is None else str(index)]
            for path, index in (one if isinstance(one, tuple) else (one, index_of(one)) for one in bams)
        ]
        fasta = reference if isinstance(reference, tuple) else files_of(reference)
        given = {key: str(value) if isinstance(value, Path) else value for key, value in given.items()}
        configuration = folder / f"{number}.json"
        configuration.write_text(
            json.dumps(
                {"wasm": str(WASM), "bam": files, "reference": [Path(fasta[0]).name, *fasta], **outputs, **given}
            )
        )
        script = Path(__file__).with_name("call.mjs")
        done = subprocess.run(
            [node, str(script), str(configuration)], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        texts = [Path(path).read_text() if Path(path).exists() else "" for path in outputs.values()]
        return NodeRun(*texts, events=json.loads(done.stdout)["events"])

    return call


def files_of(reference) -> list[str | None]:
    """A FASTA and the indexes beside it."""
    paths = [Path(f"{reference}{ending}") for ending in ("", ".fai", ".gzi")]
    return [str(path) if path.exists() else None for path in paths]


def index_of(path) -> Path | None:
    """The index beside an alignment file."""
    return next((one for ending in (".bai", ".crai", ".csi") if (one := Path(f"{path}{ending}")).exists()), None)
