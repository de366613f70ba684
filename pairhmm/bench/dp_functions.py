"""Throughput of each function of DPX, native and as the compiler emulates it."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import starting, translated

__all__ = ["FUNCTIONS", "DpxFunction", "FunctionSpeed", "instructions_of", "measure_functions", "source"]

THREADS, BLOCKS, ROUNDS = 256, 8, 1000
"""Threads of a block, blocks of a multiprocessor, and rounds of the loop."""

CALLS = 64
"""Calls of a round: kValues * kRepeats of `cuda/bench/functions.cu`."""

LOOP_INSTRUCTIONS = 3
"""Instructions of a round that are the loop's own: its sum, its comparison and its branch."""

EMULATED = "compute_80"
"""The architecture whose code emulates DPX: the newest without it."""

NATIVE, EMULATION = "native", "emulated"


@dataclass(frozen=True, slots=True)
class DpxFunction:
    """A function of DPX.

    Attributes
    ----------
    name : str
    inputs : int
        Numbers, or pairs of halves, that it takes.
    predicates : int
        Whether it also tells which of its inputs it took: of each half.
    """

    name: str
    inputs: int = 3
    predicates: int = 0

    @property
    def call(self) -> str:
        """Its call, in terms of a, b and c, and of the predicates p and q."""
        taken = ["(a)", "(b)", "(c)"][: self.inputs] + ["&(p)", "&(q)"][: self.predicates]
        return f"unsigned({self.name}({', '.join(taken)}))"


def _functions() -> Iterator[DpxFunction]:
    every, signed = ("s32", "u32", "s16x2", "u16x2"), ("s32", "s16x2")
    for which in ("max", "min"):
        yield from (DpxFunction(f"__vi{which}3_{kind}") for kind in every)
        yield from (DpxFunction(f"__vi{which}3_{kind}_relu") for kind in signed)
        yield from (DpxFunction(f"__vi{which}_{kind}_relu", 2) for kind in signed)
        yield from (DpxFunction(f"__viadd{which}_{kind}") for kind in every)
        yield from (DpxFunction(f"__viadd{which}_{kind}_relu") for kind in signed)
        yield from (DpxFunction(f"__vib{which}_{kind}", 2, 1 + kind.endswith("x2")) for kind in every)


FUNCTIONS = tuple(_functions())
"""All of them (CUDA Math API, "DPX")."""


@dataclass(frozen=True, slots=True)
class FunctionSpeed:
    """Throughput of a function.

    Attributes
    ----------
    name : str
    code : {"native", "emulated"}
    calls : float
        Calls a second, of all threads.
    clocked : float
        Calls of a clock and multiprocessor, at the device's highest clock.
    instructions : float or None
        Instructions of a call, counted in the machine code; None without cuobjdump.
    opcodes : str
        What most of them are.
    """

    name: str
    code: str
    calls: float
    clocked: float
    instructions: float | None
    opcodes: str


def source() -> str:
    """Text with a kernel for each function, which has its name without underscores in front."""
    parts = []
    for function in FUNCTIONS:
        constants: dict[str, sources.Constant] = {
            "KERNEL": _kernel(function),
            "CALL(a, b, c, p, q)": function.call,
            "PREDICATES": function.predicates,
        }
        parts.append(sources.source(constants, "bench/functions.cu"))
    return "\n".join(parts)


def _kernel(function: DpxFunction) -> str:
    return f"measure{function.name}"


def measure_functions(device: int, repetitions: int = 3) -> Iterator[FunctionSpeed]:
    """Time each function, native and emulated.

    The emulation is what NVRTC makes for `EMULATED`, as PTX, which the driver compiles for the device.

    Raises
    ------
    BackendUnavailable
        Without CUDA.
    """
    with starting(device):
        import cupy

        gpu = cupy.cuda.Device(device)
    with translated(f"cuda:{device}"), gpu, tempfile.TemporaryDirectory() as folder:
        native, emulation = Path(folder, "native.cubin"), Path(folder, "emulated.ptx")
        native.write_bytes(_built(cupy, f"sm_{gpu.compute_capability}", is_binary=True))
        emulation.write_bytes(_built(cupy, EMULATED, is_binary=False))
        counted = Path(folder, "emulated.cubin")
        counted.write_bytes(_built(cupy, EMULATED.replace("compute", "sm"), is_binary=True))
        code = {NATIVE: (native, _machine_code(native)), EMULATION: (emulation, _machine_code(counted))}
        modules = {name: cupy.RawModule(path=str(path)) for name, (path, _) in code.items()}
        for function in FUNCTIONS:
            for name, (_, text) in code.items():
                seconds = _seconds(cupy, gpu, modules[name].get_function(_kernel(function)), repetitions)
                yield _speed(gpu, function, name, seconds, text)


def _speed(gpu: Any, function: DpxFunction, code: str, seconds: float, text: str) -> FunctionSpeed:
    attributes = gpu.attributes
    calls = attributes["MultiProcessorCount"] * BLOCKS * THREADS * ROUNDS * CALLS / seconds
    clocked = calls / attributes["MultiProcessorCount"] / (1000 * attributes["ClockRate"])
    counted = instructions_of(text, _kernel(function))
    instructions = round(max(0, sum(counted.values()) - LOOP_INSTRUCTIONS) / CALLS, 2) if counted else None
    often = [name for name, count in counted.most_common(4) if count >= CALLS // 4]
    return FunctionSpeed(function.name, code, calls, clocked, instructions, " ".join(often))


def _seconds(cupy: Any, gpu: Any, kernel: Any, repetitions: int) -> float:
    """Median seconds of a launch, after one that is not counted."""
    blocks = gpu.attributes["MultiProcessorCount"] * BLOCKS
    results = cupy.cuda.alloc(4 * blocks * THREADS)
    stream = cupy.cuda.Stream(non_blocking=True)
    seconds = []
    with stream:
        for _ in range(repetitions + 1):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record(stream)
            kernel((blocks,), (THREADS,), (results.ptr, np.uint32(12345), np.int32(ROUNDS)))
            end.record(stream)
            end.synchronize()
            seconds.append(cupy.cuda.get_elapsed_time(begin, end) / 1000)
    return float(statistics.median(seconds[1:]))


def _built(cupy: Any, architecture: str, *, is_binary: bool) -> bytes:
    """NVRTC's machine code or PTX for an architecture."""
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(source(), "functions.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*sources.OPTIONS, f"--gpu-architecture={architecture}"))
        # CuPy drops the last byte, which ends a text. cuobjdump wants all bytes of machine code.
        built = nvrtc.getCUBIN(program) + b"\0" if is_binary else nvrtc.getPTX(program)
    finally:
        nvrtc.destroyProgram(program)
    return built if isinstance(built, bytes) else built.encode()


def _machine_code(path: Path) -> str:
    """What cuobjdump says of machine code; empty without it."""
    program = shutil.which("cuobjdump") or shutil.which("cuobjdump", path="/usr/local/cuda/bin")
    if program is None:
        return ""
    return subprocess.run([program, "-sass", str(path)], capture_output=True, text=True, check=False).stdout


_LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?(\S+)\s*([^;]*);", re.M)


def instructions_of(text: str, kernel: str) -> Counter[str]:
    """Opcodes of the longest loop of a kernel, counted in cuobjdump's text; none where the kernel is not there."""
    _, _, rest = text.partition(f"Function : {kernel}\n")
    lines = [(int(at, 16), opcode, given) for at, opcode, given in _LINE.findall(rest.partition("Function : ")[0])]
    loops: list[Counter[str]] = [Counter()]
    for at, opcode, given in lines:
        target = re.search(r"0x([0-9a-f]+)", given) if opcode.startswith("BRA") else None
        if target and int(target[1], 16) < at:
            loops.append(Counter(name for place, name, _ in lines if int(target[1], 16) <= place <= at))
    return max(loops, key=lambda loop: loop.total())
