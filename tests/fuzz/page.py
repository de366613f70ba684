"""The page's readers in Node, beside the command line's: both refuse a file, or both give the same records."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from cases import Case, Seeds
from mutate import pick
from numpy.random import Generator

_PROJECT = Path(__file__).resolve().parents[2]
_SCRIPT, _WASM = _PROJECT / "tests/web/calls.mjs", _PROJECT / "build/web/pairhmm.wasm"
_OPTIONS = {"-v": "candidates", "-r": "regions", "-R": "regions_file"}
PAGE = "page"
_MISUSED = 2


def has_page() -> bool:
    """Whether Node, its packages and what is built for them are here; without them cases are drawn, and skipped."""
    needed = _WASM, _PROJECT / "web/src/models/parameters.js", _PROJECT / "web/node_modules"
    return shutil.which("node") is not None and all(path.exists() for path in needed)


def page_case(rng: Generator, seeds: Seeds) -> Case:
    """Files that the page reads, with changes, as they are made for the command line."""
    import targets

    makers = (targets.call_bam, targets.call_bam, targets.call_cram, targets.call_reference, targets.call_candidates)
    made = pick(rng, makers)(rng, seeds)
    *options, alignments = made.arguments
    kept = ["-f", "ref.fa"]
    for option, value in pairwise(options):
        if option in _OPTIONS and not value.endswith(".bcf"):
            kept += [option, value]
    is_same = all(option in kept for option in options if option in _OPTIONS)
    return Case(PAGE, [PAGE, *kept, alignments], made.files, made.must_fail if is_same else "")


def run_page(arguments: list[str]) -> int:
    """The exit code of the command line for what the page's programs make of files in the current folder.

    Raises
    ------
    AssertionError
        Where they fail but by a message, and where the command line makes something else of the files.
    """
    ours = _of_the_page(arguments)
    theirs, error = _of_the_command_line(arguments)
    assert not ours["defect"], f"the page: {ours['defect']}"
    assert ours["error"] or not error, f"the page takes what is refused: {error}"
    assert error or not ours["error"], f"the page refuses what is taken: {ours['error']}"
    assert ours["records"] == theirs, "the page has other records"
    if ours["error"]:
        print(f"pairhmm: error: {ours['error']}", file=sys.stderr)
        return _MISUSED
    return 0


def _of_the_page(arguments: list[str]) -> dict[str, object]:
    # A sanitizer that is loaded first is not for Node.
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    asked = json.dumps({"folder": ".", "arguments": arguments})
    command = ["node", str(_SCRIPT), str(_WASM)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"Node: {done.stderr}"
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def _of_the_command_line(arguments: list[str]) -> tuple[list[str], str]:
    """Records, and the message of an error."""
    import logging

    import pairhmm
    from pairhmm.errors import InputError

    given = dict(zip(arguments[:-1:2], arguments[1:-1:2], strict=True))
    keywords = {_OPTIONS[option]: value for option, value in given.items() if option in _OPTIONS}
    logging.disable(logging.WARNING)
    output = Path("out", "calls.vcf")
    try:
        pairhmm.write_calls(arguments[-1], given["-f"], output, backend="cpu", **keywords)
    except InputError as error:
        return [], str(error)
    lines = output.read_text().splitlines()
    return [line for line in lines if not line.startswith("#")], ""
