"""CUDA kernels on a CPU: builds ``.cu`` text with g++ and emulator.hpp, and launches its kernels on NumPy arrays.

    emulated = Emulated([Path("kernels.cu")], {"ROWS": 20, "real": "float"})
    emulated.launch("sum_rows", grid, 32, [buffer, items, np.uint32(last), ...], shared_bytes=640)

Arrays are passed as pointers to their own memory, Python's integers as addresses, NumPy scalars by value; types are
checked. What goes wrong in a kernel raises EmulationError. ``guarded`` arrays end where memory does. ``sanitize=True``,
or PAIRHMM_EMULATOR_SANITIZE=1, adds g++'s undefined-behaviour sanitizer (bounds of local and shared arrays, alignment,
overflow), which tells each line of source once. Its address sanitizer does not know fibers.

Libraries are kept in PAIRHMM_EMULATOR_FOLDER, so that processes share them; without it, until the process ends.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

HEADERS = [Path(__file__).with_name(name) for name in ("emulator.hpp", "intrinsics.hpp")]
# Compiling takes longer than running.
# The loaded code may alias types, as device code does; one named operation is one rounding.
FLAGS = ["-O0", "-std=c++17", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing"]
FLAGS += ["-fno-ipa-reference", "-U_FORTIFY_SOURCE"]  # lanes change inside calls; longjmp goes from stack to stack
SANITIZE_FLAGS = ["-fsanitize=undefined", "-fno-sanitize=vptr,shift-base", "-static-libubsan", "-DEMULATOR_SANITIZE"]
KERNEL = re.compile(r"__global__(?:\s|\bvoid\b|__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\))+(\w+)\s*\(")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

Argument = np.ndarray | np.generic | int | None

_launching = threading.Lock()  # a library runs one launch at a time
_preparing = threading.Lock()
_building: dict[str, threading.Lock] = {}
_built: dict[str, ctypes.CDLL] = {}


class EmulationError(Exception):
    """A kernel that does not compile, or a launch that failed."""


def compiler() -> str | None:
    """The g++ to use; None where there is none, or the system has no ucontext to count on."""
    return shutil.which(os.environ.get("CXX", "g++")) if sys.platform == "linux" else None


class Emulated:
    """Sources, in order, as one translation unit with ``defines``; ``kernels`` names those to export (default: all)."""

    def __init__(
        self,
        sources: Sequence[Path | str],
        defines: Mapping[str, object] | None = None,
        kernels: Sequence[str] | None = None,
        sanitize: bool = bool(os.environ.get("PAIRHMM_EMULATOR_SANITIZE")),
    ):
        texts = [
            f'#line 1 "{source}"\n{source.read_text()}'
            if isinstance(source, Path)
            else f'#line 1 "kernel.cu"\n{source}'
            for source in sources
        ]
        if kernels is None:
            kernels = KERNEL.findall(COMMENT.sub(" ", "\n".join(texts)))
        # Defined after the header: names like G and real stand in the standard library too.
        lines = [f'#include "{HEADERS[0].name}"']
        lines += [f"#define {name} {_spell(value)}" for name, value in (defines or {}).items()]
        lines += [*texts, '#line 1 "exports"', *(f"EMULATED_KERNEL({name})" for name in kernels), ""]
        self.kernels = tuple(kernels)
        self.library = _build("\n".join(lines), "".join(header.read_text() for header in HEADERS), sanitize)

    def types(self, kernel: str) -> list[str]:
        """The kernel's parameters: p and P for pointers to const and other data, f4, i8, u1, b1, V24 for values."""
        function = self.library[f"emulated_types_{kernel}"]
        function.restype = ctypes.c_char_p
        return function().decode().split()

    def launch(
        self,
        kernel: str,
        grid: int,
        block: int,
        arguments: Sequence[Argument],
        shared_bytes: int = 0,
        *,
        resident: int = 4,
        seconds: int = 60,
    ) -> None:
        """Run the grid to its end; ``resident`` blocks are in flight at a time, started in order."""
        types = self.types(kernel)
        if len(types) != len(arguments):
            raise TypeError(f"{kernel} has {len(types)} parameters ({' '.join(types)}), not {len(arguments)}")
        values = [_pack(f"{kernel}, argument {i}", *pair) for i, pair in enumerate(zip(types, arguments, strict=True))]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        function = self.library[f"emulated_{kernel}"]
        function.restype = ctypes.c_char_p
        function.argtypes = [
            ctypes.c_uint,
            ctypes.c_uint,
            ctypes.c_size_t,
            ctypes.c_uint,
            ctypes.c_uint,
            ctypes.c_void_p,
        ]
        with _launching:
            message = function(grid, block, shared_bytes, resident, seconds, pointers)
        if message is not None:
            raise EmulationError(message.decode())


def guarded(array: np.ndarray) -> np.ndarray:
    """A copy that ends where memory does: a kernel that reads or writes beyond its last byte fails."""
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    memory = mmap.mmap(-1, size + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(page), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    copy = np.frombuffer(memory, array.dtype, array.size, offset=size - array.nbytes).reshape(array.shape)
    copy[...] = array
    return copy


def _spell(value: object) -> str:
    return str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)


def _pack(where: str, wanted: str, value: Argument) -> ctypes.Array[ctypes.c_char]:
    """A parameter's bytes."""
    if wanted in "pP":
        if value is None or type(value) is int:
            address = value or 0
        elif not isinstance(value, np.ndarray):
            raise TypeError(f"{where} is a pointer: give an array, not {value!r}")
        elif not value.flags.c_contiguous or (wanted == "P" and not value.flags.writeable):
            raise TypeError(f"{where}: the array must be contiguous, and writeable unless the kernel's data are const")
        else:
            address = value.ctypes.data
        data = address.to_bytes(ctypes.sizeof(ctypes.c_void_p), sys.byteorder)
    elif wanted == "i8" and type(value) is int:  # CuPy passes a Python int as 8 bytes
        data = value.to_bytes(8, sys.byteorder, signed=True)
    else:
        given = f"{value.dtype.kind}{value.dtype.itemsize}" if isinstance(value, np.generic) else type(value).__name__
        if given != wanted:
            raise TypeError(f"{where} is of type {wanted}, not {given}")
        data = value.tobytes()
    return ctypes.create_string_buffer(data, len(data))


@cache
def _folder(flags: tuple[str, ...], headers: str) -> Path:
    """Where libraries of these flags lie, beside the headers, which are compiled once: they take most of the time."""
    root = os.environ.get("PAIRHMM_EMULATOR_FOLDER")
    if root is None:
        root = tempfile.mkdtemp(prefix="pairhmm-emulated-")
        atexit.register(shutil.rmtree, root, ignore_errors=True)
    folder = Path(root) / hashlib.sha256(f"{flags}{headers}".encode()).hexdigest()[:16]
    if not folder.exists():
        made = Path(tempfile.mkdtemp(dir=root))
        for header in HEADERS:
            shutil.copy(header, made)
        _run_compiler([*flags, "-x", "c++-header", HEADERS[0].name], f"{HEADERS[0].name}.gch", made)
        with suppress(OSError):  # another process was faster
            made.rename(folder)
    return folder


def _build(text: str, headers: str, sanitize: bool) -> ctypes.CDLL:
    """Compile and load, once; the headers' text is a part of what makes a library this one."""
    flags = (*FLAGS, *(SANITIZE_FLAGS if sanitize else ()))
    name = hashlib.sha256(f"{flags}{headers}{text}".encode()).hexdigest()[:16]
    with _building.setdefault(name, threading.Lock()):
        if name not in _built:
            with _preparing:
                library = _folder(flags, headers) / f"{name}.so"
            if not library.exists():
                _compile(library, text, flags)
            _built[name] = ctypes.CDLL(str(library))
    return _built[name]


def _compile(library: Path, text: str, flags: tuple[str, ...]) -> None:
    source = Path(tempfile.mkdtemp(dir=library.parent)) / "kernel.cpp"
    source.write_text(text)
    _run_compiler([*flags, f"-I{library.parent}", str(source)], str(source.with_suffix(".so")), library.parent)
    source.with_suffix(".so").rename(library)  # at once: another process may look for it


def _run_compiler(options: Sequence[str], output: str, folder: Path) -> None:
    program = compiler()
    if program is None:
        raise EmulationError("no g++ on this Linux machine: apt install g++")
    command = [program, *options, "-o", output]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if run.returncode:
        raise EmulationError(f"{' '.join(command)}\n{run.stderr}")
