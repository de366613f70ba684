"""Runs a case in a fork of this process, which has everything imported, and judges what came of it."""

from __future__ import annotations

import os
import pkgutil
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from bindings import run_binding
from cases import OUT, Case
from page import PAGE, run_page
from seeds import has_parquet

SECONDS = 60.0
"""Longer is a hang."""
MEGABYTES = 3000
"""More is a finding too: the files are of some kilobytes."""
_MOST_LINES = 20
_UNEXPECTED = 70
# What a process ends with that a sanitizer stopped (launch.py).
SANITIZED = 99
# Said where an allocation fails, as it may.
_TOO_MUCH = re.compile(r"==\d+==WARNING: AddressSanitizer failed to allocate")
_PAGE_MEGABYTES = os.sysconf("SC_PAGE_SIZE") / 2**20
_MISUSED = 2


@dataclass(frozen=True)
class Outcome:
    """What a case did.

    Attributes
    ----------
    code : int
        Of the exit; negative for a signal.
    stderr : str
    seconds, megabytes : float
        Memory is the most that was held.
    outputs, left : list of str
        Files in the output folder, and those that are neither inputs nor outputs.
    """

    code: int
    stderr: str
    seconds: float
    megabytes: float
    outputs: list[str]
    left: list[str]


def import_everything() -> None:
    """Import what commands import, so that no fork does; nothing of it starts a thread."""
    import pairhmm

    for module in pkgutil.walk_packages(pairhmm.__path__, "pairhmm."):
        if not re.search(r"cuda|webgpu|__main__|_cpu$", module.name):
            import_module(module.name)
    parquet = ["pyarrow.parquet"] if has_parquet() else []
    for name in (*parquet, "pysam.bcftools", "rich.progress", "csv", "tomllib"):
        import_module(name)


def run(case: Case, folder: Path) -> Outcome:
    """Run a case in an empty folder."""
    inputs, scratch = folder / "in", folder / "tmp"
    for made in (inputs / OUT, scratch):
        made.mkdir(parents=True)
    case.write(inputs)
    began = time.monotonic()
    child = os.fork()
    if not child:
        _be_the_child(case, inputs, scratch)
    code, most = _wait(child, began)
    stderr = (folder / "stderr").read_bytes().decode("utf-8", "replace")
    outputs = [str(path.relative_to(inputs)) for path in sorted((inputs / OUT).rglob("*")) if path.is_file()]
    left = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file() or path.is_symlink()]
    expected = {"stdout", "stderr", *(f"in/{name}" for name in (*case.files, *outputs))}
    return Outcome(code, stderr, time.monotonic() - began, most, outputs, sorted(set(left) - expected))


def _wait(child: int, began: float) -> tuple[int, float]:
    """The exit code of a child, which is killed when it takes too long or too much; and its most megabytes."""
    most = 0.0
    while True:
        done, status, _ = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), most
        most = max(most, _megabytes(child))
        if time.monotonic() - began > SECONDS or most > MEGABYTES:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL, most
        time.sleep(0.004)


def _megabytes(process: int) -> float:
    try:
        return int(Path(f"/proc/{process}/statm").read_bytes().split()[1]) * _PAGE_MEGABYTES
    except (OSError, IndexError):
        return 0.0


def _be_the_child(case: Case, inputs: Path, scratch: Path) -> None:
    """Run the command and end the process."""
    code = _UNEXPECTED
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ["TMPDIR"] = str(scratch)
        os.chdir(inputs)
        for descriptor, path in ((0, case.stdin or os.devnull), (1, "../stdout"), (2, "../stderr")):
            flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(path, flags), descriptor)
        code = _command(case)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _command(case: Case) -> int:
    if case.arguments[0] == "binding":
        run_binding(case.arguments[1], int(case.arguments[2]))
        return 0
    if case.arguments[0] == "read-sheet":
        return _read_sheet(case.arguments[1])
    if case.arguments[0] == PAGE:
        return run_page(case.arguments[1:])
    from pairhmm.cli.main import main

    try:
        main(list(case.arguments))
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def _read_sheet(path: str) -> int:
    """What the workflow does with a sheet, which no command reads."""
    from pairhmm.errors import InputError
    from pairhmm.files.sample_sheet import read_sheet

    try:
        read_sheet(path)
    except InputError as error:
        print(f"pairhmm: error: {error}", file=sys.stderr)
        return _MISUSED
    return 0


def judge(case: Case, outcome: Outcome, folder: Path) -> str:
    """What is wrong with an outcome, in a few words that are the same for the same cause; empty where it is right."""
    for check in (_crashed, _spoke_wrongly, _left_something, _succeeded_wrongly):
        wrong = check(case, outcome, folder)
        if wrong:
            return wrong
    return ""


def _crashed(case: Case, outcome: Outcome, folder: Path) -> str:
    if outcome.megabytes > MEGABYTES:
        return "memory"
    if outcome.seconds > SECONDS:
        return "hang"
    found = re.search(r"(AddressSanitizer: [\w-]+|runtime error: .*)", outcome.stderr)
    if found:
        return f"{_general(found[1])} in {_place(outcome.stderr)}"
    if outcome.code < 0:
        return f"signal {-outcome.code}"
    traced = re.findall(r"^(\w[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b.*)", outcome.stderr, re.MULTILINE)
    if "Traceback" in outcome.stderr:
        return "traceback: " + _general(traced[-1] if traced else "?")
    if outcome.code not in (0, 1, _MISUSED):
        return f"exit code {outcome.code}"
    return ""


def _place(stderr: str) -> str:
    """The function that a sanitizer stopped in: of this project if there is one on the stack, else the library."""
    own = re.search(r"#\d+ \S+ in (pairhmm::[\w:~]+)", stderr)
    library = re.search(r"#\d+ \S+ .*\((?:\S*/)?(lib(?!asan|ubsan|stdc)\w+|\w+\.cpython)", stderr)
    return own[1] if own else library[1] if library else "?"


def _spoke_wrongly(case: Case, outcome: Outcome, folder: Path) -> str:
    # Of a split at "\r" and the like the parts would be lines.
    lines = [line for line in outcome.stderr.split("\n") if line and not _TOO_MUCH.match(line)]
    for line in lines:
        if "(a defect" in line:
            return "defect: " + _general(line)
    if "Usage:" in outcome.stderr:
        return ""
    for line in lines:
        if not line.startswith("pairhmm: "):
            return "not a message: " + _general(line)
    if len(lines) > _MOST_LINES:
        return f"more than {_MOST_LINES} lines: " + _general(lines[-1])
    if outcome.code and not (lines and "error" in lines[-1]):
        return "an error without its line"
    if outcome.code == _MISUSED and lines[-1].count(": ") < 2:
        return "an error without a place: " + _general(lines[-1])
    return ""


def _left_something(case: Case, outcome: Outcome, folder: Path) -> str:
    indices = {f"in/{name}{end}" for name in case.files for end in (".fai", ".gzi")}
    left = [name for name in outcome.left if name not in indices]
    if left:
        return "left behind: " + _general(Path(left[0]).name)
    if outcome.code and outcome.outputs and case.arguments[0] != "validate":
        return "an output in spite of an error: " + _general(Path(outcome.outputs[0]).name)
    return ""


def _succeeded_wrongly(case: Case, outcome: Outcome, folder: Path) -> str:
    if outcome.code:
        return ""
    if case.must_fail:
        return f"success in spite of a broken {case.must_fail}"
    for name in outcome.outputs:
        path = folder / "in" / name
        wrong = _check_rows(path) if path.suffix in (".vcf", ".tsv") else ""
        # gather copies records as they are.
        if wrong and not (wrong == _NO_NUMBER and case.target == "gather"):
            return f"{path.suffix} output: {wrong}"
    if case.same_records and _records(folder / "in" / outcome.outputs[0]) != _records(
        folder / "in" / case.same_records
    ):
        return "success with other records than by the sound index"
    return ""


_NO_NUMBER = "not a number"


def _check_rows(path: Path) -> str:
    """Each row of a text table has the header's columns."""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    rows = [line for line in lines if line and not line.startswith("##")]
    widths = {line.count("\t") for line in rows}
    if lines[-1]:
        return "the last line has no end"
    if len(widths) > 1:
        return "rows of different widths"
    # The columns behind ID: a variant may be called nan.
    fields = (field for line in rows for field in line.split("\t")[3:])
    return _NO_NUMBER if path.suffix == ".vcf" and "nan" in fields else ""


def _records(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().splitlines() if not line.startswith(b"#")]


def _general(text: str) -> str:
    """A message without what differs from case to case."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|0x[0-9a-f]+|b'.*'", "_", text)
    return re.sub(r"\d[\d,.]*", "0", text)[:110]


def tried(case: Case, folder: Path) -> tuple[Outcome, str]:
    """What a case did in a folder, which is emptied first, and what is wrong with that."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcome = run(case, folder)
    return outcome, judge(case, outcome, folder)
