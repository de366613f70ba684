"""What a compiled part with sanitizers needs before Python starts: its libraries loaded first, and its options."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from runner import SANITIZED

_READY = "PAIRHMM_FUZZ_READY"
_OPTIONS = {
    # GCC's frames for use after return are aligned to less than vectors of 64 bytes are (its bug 110027): whatever has
    # one on the stack would be called a SEGV.
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_abort=1:quarantine_size_mb=16"
    f":detect_stack_use_after_return=0:max_allocation_size_mb=4000:exitcode={SANITIZED}",
    "UBSAN_OPTIONS": f"print_stacktrace=1:exitcode={SANITIZED}",
    # Threads that are started at import do not live in forks.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONSAFEPATH": "1",
    "COLUMNS": "200",
}


def compiled_part() -> Path | None:
    """The file of pairhmm._cpu, which is not imported for it."""
    folders = [*map(sysconfig.get_path, ("platlib", "purelib")), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return next((path for folder in folders if folder for path in Path(folder).glob("pairhmm/_cpu*.so")), None)


def has_sanitizers() -> bool:
    """Whether the installed compiled part was built with PAIRHMM_SANITIZE."""
    part = compiled_part()
    return part is not None and b"__asan_init" in part.read_bytes()


def make_ready() -> None:
    """Start this program again in the environment that it needs, unless it has that."""
    if os.environ.get(_READY):
        return
    environment = {**_OPTIONS, **os.environ, _READY: "1"}
    if has_sanitizers():
        environment["LD_PRELOAD"] = " ".join(_libraries())
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def _libraries() -> list[str]:
    """ASan has to be first, and finds the functions that it replaces in libstdc++ only if that is there, too."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise SystemExit("the compiled part has sanitizers: their libraries come with g++ (apt install g++)")
    asked = [[compiler, f"-print-file-name={name}"] for name in ("libasan.so", "libstdc++.so.6")]
    return [subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() for command in asked]
