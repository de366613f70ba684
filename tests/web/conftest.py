"""Fixtures for the page's programs: they run in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
WASM = PROJECT / "build/web/pairhmm.wasm"
PARAMETERS = PROJECT / "web/src/models/parameters.js"


@dataclass(frozen=True, slots=True)
class NodeRun:
    """What a run in Node gave: its texts, what it said, and the message of an InputProblem."""

    vcf: str
    tsv: str
    companion: str
    events: list[Mapping[str, object]]
    error: str
    model: str

    def told(self, kind: str) -> list[str]:
        """Texts of "warning" or "note" events."""
        return [str(event["text"]) for event in self.events if event["kind"] == kind]


Ask = Callable[[Mapping[str, object]], Mapping[str, object]]
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
def ask(node) -> Iterator[Ask]:
    """``ask(run)``: the answer to a run of calls.mjs; one process has all runs."""
    command = [node, str(Path(__file__).with_name("calls.mjs")), str(WASM)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        to, answers = process.stdin, process.stdout

        def answered(run: Mapping[str, object]) -> Mapping[str, object]:
            print(json.dumps(run, default=str), file=to, flush=True)
            answer: Mapping[str, object] = json.loads(answers.readline())
            assert not answer["defect"], answer["defect"]
            return answer

        yield answered
        to.close()


@pytest.fixture(scope="session")
def call_in_node(ask) -> CallInNode:
    """``call_in_node(bams, reference, **given)``: a run of web/src/call/run.js; `given` is that of calls.mjs."""

    def call(bams, reference, **given) -> NodeRun:
        pairs = [one if isinstance(one, tuple) else (one, index_of(one)) for one in bams]
        files = [[Path(path).name, path, index] for path, index in pairs]
        fasta = reference if isinstance(reference, tuple) else files_of(reference)
        answer = ask({"bam": files, "reference": [Path(fasta[0]).name, *fasta], **given})
        return NodeRun(**{name: answer[name] for name in NodeRun.__dataclass_fields__})

    return call


def files_of(reference) -> list[str | None]:
    """A FASTA and the indexes beside it."""
    paths = [Path(f"{reference}{ending}") for ending in ("", ".fai", ".gzi")]
    return [str(path) if path.exists() else None for path in paths]


def index_of(path) -> Path | None:
    """The index beside an alignment file."""
    return next((one for ending in (".bai", ".crai", ".csi") if (one := Path(f"{path}{ending}")).exists()), None)
