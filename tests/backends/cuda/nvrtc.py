"""NVRTC without a GPU or a driver: CUDA text to machine code, and what ptxas tells of it.

    for result in compile_all([Job("sm_90", source)]):
        print(result.log, result.kernels["forward_fast"].registers)

The library is that of the wheel nvidia-cuda-nvrtc. Each process compiles one source after the other, so the jobs are
shared among as many as there are cores.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

DISTRIBUTION, OLDEST = "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"
"""The wheel of the library, and that of the oldest version that the package takes."""
LIBRARY = re.compile(r"libnvrtc\.so\.\d+$")
USAGE = re.compile(
    r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers",
    re.DOTALL,
)


@dataclass(frozen=True)
class Job:
    architecture: str
    source: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Usage:
    """Of one kernel; stack and spills in bytes a thread."""

    registers: int
    stack: int
    spills: int


@dataclass(frozen=True)
class Result:
    compiles: bool
    log: str
    kernels: dict[str, Usage] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        return [line for line in self.log.splitlines() if "warning" in line.lower()]


def library_path(distribution: str = DISTRIBUTION) -> Path | None:
    """The library, where the wheel is installed."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(file.locate()) for file in files if LIBRARY.search(file.name)), None)


def compile_all(jobs: Sequence[Job], distribution: str = DISTRIBUTION) -> list[Result]:
    """Compile in as many processes as there are cores; results in the order of the jobs."""
    count = max(1, min(len(jobs), os.cpu_count() or 1))
    shares = [jobs[k::count] for k in range(count)]
    results: list[Result | None] = [None] * len(jobs)
    with ThreadPoolExecutor(count) as pool:
        for k, share in enumerate(pool.map(lambda share: _in_a_process(share, distribution), shares)):
            results[k::count] = share
    return results


def _in_a_process(jobs: Sequence[Job], distribution: str) -> list[Result]:
    text = json.dumps([[job.architecture, job.source, job.options] for job in jobs])
    run = subprocess.run(
        [sys.executable, __file__, distribution], input=text, capture_output=True, text=True, check=True
    )
    return [Result(compiles, log, _usage(log)) for compiles, log in json.loads(run.stdout)]


def _usage(log: str) -> dict[str, Usage]:
    return {
        name: Usage(int(registers), int(stack), max(int(stores), int(loads)))
        for name, stack, stores, loads, registers in USAGE.findall(log)
    }


def _compile(library: ctypes.CDLL, architecture: str, source: str, options: Sequence[str]) -> tuple[bool, str]:
    """Whether it compiles, and the log."""
    program = ctypes.c_void_p()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    given = [f"--gpu-architecture={architecture}", "--ptxas-options=-v", *options]
    array = (ctypes.c_char_p * len(given))(*(option.encode() for option in given))
    failed = library.nvrtcCompileProgram(program, len(given), array)
    size = ctypes.c_size_t()
    _check(library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
    log = ctypes.create_string_buffer(size.value)
    _check(library.nvrtcGetProgramLog(program, log))
    _check(library.nvrtcDestroyProgram(ctypes.byref(program)))
    return not failed, log.value.decode()


def _check(error: int) -> None:
    if error:
        raise RuntimeError(f"NVRTC error {error}")


if __name__ == "__main__":
    loaded = ctypes.CDLL(str(library_path(sys.argv[1])))
    print(json.dumps([_compile(loaded, *job) for job in json.load(sys.stdin)]))
