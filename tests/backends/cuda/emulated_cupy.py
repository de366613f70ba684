"""The part of CuPy that the cuda backend uses, on the CPU: kernels run in the emulator, memory ends where it ends.

    with emulated_cupy.installed(memory=1 << 30):
        backend = CudaBackend(0, None)

What CuPy does later is done at once. Memory comes full of garbage, and a kernel that reaches beyond an allocation
fails.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np

GARBAGE = 0xAB
ALIGNMENT = 16  # what kernels may expect of an allocation; CUDA gives 256


@cache
def emulator() -> ModuleType:
    """emulator.py, which lies beside this file and in no package."""
    name = "pairhmm_tests_emulator"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("emulator.py"))
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


class OutOfMemoryError(MemoryError):
    """cupy.cuda.memory.OutOfMemoryError."""


class CUDARuntimeError(RuntimeError):
    """cupy.cuda.runtime.CUDARuntimeError."""


class Memory:
    """cupy.cuda.MemoryPointer to memory of its own."""

    def __init__(self, cupy: EmulatedCupy, size: int) -> None:
        self.size = size
        self._give_back = None
        self._give_back = cupy.take(size)
        self._bytes = emulator().guarded(np.full(-(-size // ALIGNMENT) * ALIGNMENT, GARBAGE, np.uint8))
        self.ptr = self._bytes.ctypes.data

    @property
    def mem(self) -> Memory:
        """Not an attribute: what refers to itself would not be given back when it is dropped."""
        return self

    def __del__(self) -> None:
        if self._give_back is not None:
            self._give_back()

    def copy_from_host_async(self, source: int, size: int, stream: object = None) -> None:
        self._within(size)
        ctypes.memmove(self.ptr, int(source), size)

    def copy_to_host_async(self, target: int, size: int, stream: object = None) -> None:
        self._within(size)
        ctypes.memmove(int(target), self.ptr, size)

    def memset_async(self, value: int, size: int, stream: object = None) -> None:
        self._within(size)
        self._bytes[:size] = value

    def __add__(self, offset: int) -> Memory:
        """The rest of the allocation from there on."""
        self._within(offset)
        rest = copy(self)
        rest._give_back = None
        rest._bytes = self._bytes[offset:]
        rest.size, rest.ptr = self.size - offset, self.ptr + offset
        return rest

    def _within(self, size: int) -> None:
        if not 0 <= size <= self.size:
            raise CUDARuntimeError(f"{size} bytes of an allocation of {self.size}")


class Array:
    """cupy.ndarray, as far as its address."""

    def __init__(self, cupy: EmulatedCupy, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values)
        self.data = Memory(cupy, values.nbytes)
        self.data.copy_from_host_async(values.ctypes.data, values.nbytes)


class RawKernel:
    """cupy.RawKernel; ``options`` are NVRTC's and mean nothing here."""

    def __init__(self, code: str, name: str, options: Sequence[str] = (), **_: object) -> None:
        self._code, self._name = code, name
        self._emulated = None

    def compile(self, log_stream: object = None) -> None:
        if self._emulated is None:
            self._emulated = emulator().Emulated([self._code])

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        arguments: Sequence[object],
        *,
        shared_mem: int = 0,
    ) -> None:
        self.compile()
        if not all(len(size) == 1 and size[0] > 0 for size in (grid, block)):
            raise CUDARuntimeError(f"{self._name}: no launch of {grid} blocks of {block} threads")
        self._emulated.launch(self._name, grid[0], block[0], arguments, shared_mem)


class Stream:
    """cupy.cuda.Stream and Event: what is entered, recorded or waited for."""

    ptr = 0
    done = True

    def __init__(self, *_: object, **__: object) -> None:
        self.seconds = 0.0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def use(self) -> Stream:
        return self

    def synchronize(self) -> None:
        pass

    def record(self, stream: object = None) -> Stream:
        self.seconds = time.perf_counter()
        return self

    def wait_event(self, event: object) -> None:
        pass

    def begin_capture(self) -> None:
        """What follows is done at once, too; the graph does nothing more."""

    def end_capture(self) -> SimpleNamespace:
        return SimpleNamespace(launch=lambda stream: None)


class Device(Stream):
    """cupy.cuda.Device; its kernels and copies are done when they return."""

    id = 0
    compute_capability = "90"

    def __init__(self, cupy: EmulatedCupy) -> None:
        super().__init__()
        self._cupy = cupy

    @property
    def mem_info(self) -> tuple[int, int]:
        return self._cupy.mem_info


class EmulatedCupy:
    """The module. ``memory`` is the size of its one device, ``peak`` the most that was taken of it."""

    __name__ = "cupy"
    __version__ = "emulated"

    def __init__(self, memory: int) -> None:
        self.total, self.used, self.peak = memory, 0, 0
        self._lock = threading.RLock()  # memory may be given back while more is taken: by the garbage collector
        self.ndarray = Array
        self.RawKernel = RawKernel
        runtime = SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            getDeviceCount=lambda: 1,
            getDeviceProperties=lambda device: {
                "name": b"emulated",
                "totalGlobalMem": memory,
                "major": 9,
                "minor": 0,
                "multiProcessorCount": 1,
            },
            runtimeGetVersion=lambda: 13000,
            driverGetVersion=lambda: 13000,
            memGetInfo=lambda: self.mem_info,
            hostAllocDefault=0,
        )
        self.cuda = SimpleNamespace(
            Device=self._device,
            Stream=Stream,
            Event=Stream,
            MemoryPointer=Memory,
            alloc=lambda size: Memory(self, size),
            alloc_pinned_memory=lambda size: bytearray([GARBAGE]) * max(size, 1),
            get_elapsed_time=lambda begin, end: 1000 * (end.seconds - begin.seconds),
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=runtime,
        )

    @property
    def mem_info(self) -> tuple[int, int]:
        return self.total - self.used, self.total

    def asarray(self, values: np.ndarray) -> Array:
        return Array(self, values)

    def get_default_memory_pool(self) -> SimpleNamespace:
        return SimpleNamespace(free_all_blocks=lambda: None, used_bytes=lambda: self.used)

    def get_default_pinned_memory_pool(self) -> SimpleNamespace:
        return SimpleNamespace(free_all_blocks=lambda: None)

    def take(self, size: int):
        """Take device memory; returns what gives it back."""
        with self._lock:
            if self.used + size > self.total:
                raise OutOfMemoryError(f"{size} bytes of {self.total - self.used} that are free")
            self.used += size
            self.peak = max(self.peak, self.used)

        def give_back() -> None:
            with self._lock:
                self.used -= size

        return give_back

    def _device(self, index: int) -> Device:
        if index != 0:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        return Device(self)


@contextmanager
def installed(memory: int = 1 << 30) -> Iterator[EmulatedCupy]:
    """Let `import cupy` find the emulated one."""
    cupy = EmulatedCupy(memory)
    names = {"cupy": cupy, "cupy.cuda": cupy.cuda}
    before = {name: sys.modules.get(name) for name in names}
    sys.modules.update(names)
    try:
        yield cupy
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
