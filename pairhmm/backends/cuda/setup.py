"""Finds CUDA GPUs, says what is missing, and translates CuPy's errors. Importing this module imports no CuPy."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pairhmm.backends.base import Status
from pairhmm.errors import BackendUnavailable, DeviceLost, OutOfDeviceMemory, PairhmmError, raised_as, starting_as
from pairhmm.native import require_compiled

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
"""The driver's own library."""

LEAST_COMPUTE = (7, 5)
"""Compute capability of the oldest GPUs that work. CUDA 13 does not compile for older ones."""

LEAST_CUDA = 12
"""Oldest major version of CUDA that works, for the driver and for CuPy."""

NVRTC_PACKAGES = {"cuda12": "nvidia-cuda-nvrtc-cu12", "cuda13": "nvidia-cuda-nvrtc"}
"""The package that brings the compiler, by the extra of pyproject.toml."""

HEADER_PACKAGES = {"cuda12": "nvidia-cuda-runtime-cu12", "cuda13": "nvidia-cuda-runtime"}
"""The package that brings CUDA's headers, by the extra of pyproject.toml."""

NO_DEVICE = 100
"""The error that cuInit returns if there is no GPU."""

INIT_CURES = {
    NO_DEVICE: "see what nvidia-smi lists, and whether CUDA_VISIBLE_DEVICES hides it",
    34: "take the toolkit's stubs folder out of LD_LIBRARY_PATH",
    802: "start nvidia-fabricmanager, and wait until it is ready",
    803: "the driver was updated while it was in use: restart the machine, or the container",
}
"""Cures if cuInit fails, by its error."""

OUT_OF_MEMORY = 2
"""CUDA's error for memory that cannot be allocated."""

LOST = frozenset({46, 214, 220, 226, 700, 702, 709, 710, *range(714, 720), 721, 802, 810, 911, 999})
"""CUDA's errors after which this process cannot use the device any more. They are those for which the documentation of
cudaError says so; a device that is unavailable (46, 802), faulty (214, 220) or without its context (709); and the
unknown error (999)."""

COMPILER_ERROR = re.compile(
    r"^(?P<file>[^\n]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<text>.+)$", re.M
)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as the driver describes it: its name, its compute capability, as (9, 0), and its memory in bytes."""

    name: str
    compute: tuple[int, int]
    memory: int

    def __str__(self) -> str:
        return f"{self.name}, compute {_dotted(self.compute)}, {self.memory >> 30} GiB"


@dataclass(frozen=True, slots=True)
class Setup:
    """A driver, a CuPy and a compiler that work together, and the GPUs. Some of the GPUs may not work with them."""

    driver: int  # CUDA version of the driver: 13020 is 13.2
    gpus: list[Gpu]  # All GPUs, in CUDA's order
    cupy: str  # Version of CuPy
    extra: str  # The extra of pyproject.toml that this CuPy belongs to
    nvrtc: tuple[int, int]  # Version of the compiler
    known: frozenset[int]  # Architectures that the compiler knows: 90 is compute 9.0

    def lack(self, gpu: Gpu) -> BackendUnavailable | None:
        """Why the kernels do not run on a GPU; None if they do."""
        known = gpu.compute[0] * 10 + gpu.compute[1] in self.known
        return _age_lack(gpu) or (None if known else self._compiler_lack(gpu))

    def _compiler_lack(self, gpu: Gpu) -> BackendUnavailable:
        return _missing(
            f"{gpu}: NVRTC {_dotted(self.nvrtc)} does not compile for it",
            f"pip install -U 'pairhmm[{self.extra}]' brings a newer {NVRTC_PACKAGES[self.extra]}",
        )


def status() -> Status:
    """Whether a GPU here can be used, and if not the first thing that is missing and what helps."""
    try:
        setup = survey()
        require_compiled("backend cuda")
    except BackendUnavailable as error:
        return Status(False, reason=error.reason, cure=error.cure)
    detail = f"CuPy {setup.cupy}, NVRTC {_dotted(setup.nvrtc)}, driver for CUDA {_cuda(setup.driver)}"
    devices = (lack.reason if (lack := setup.lack(gpu)) else str(gpu) for gpu in setup.gpus)
    return Status(True, detail, tuple(devices), machine_numbers=machine_numbers(len(setup.gpus)))


def machine_numbers(count: int) -> tuple[str, ...]:
    """The number or name of each GPU in CUDA_VISIBLE_DEVICES; none where that is not set."""
    visible = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    if visible == [""]:
        return ()
    return tuple(visible[k] if k < len(visible) and visible[k] else str(k) for k in range(count))


@contextmanager
def starting(device: int) -> Iterator[None]:
    """A context for making the backend of a device: what keeps it from starting is raised as BackendUnavailable."""
    setup = survey()
    if lack := setup.lack(setup.gpus[device]):
        raise lack
    label = f"cuda:{device}"
    cure = "see nvidia-smi for what else uses it, or name another with --device"
    with starting_as(lambda reason: _missing(reason, cure), label), translated(label):
        yield


def translated(label: str) -> AbstractContextManager[None]:
    """A context for calls of CuPy: its errors are raised as the engine knows them, any others as they are."""
    return raised_as(translate, label)


def translate(error: Exception, label: str) -> PairhmmError | None:
    """An error of CuPy as the engine knows it; None if the engine has no error for it.

    Parameters
    ----------
    error : Exception
        CuPy's errors are recognised by their class names, so that CuPy need not be imported here.
    label : str
        The device's label, for the message.
    """
    kind, text = type(error).__name__, _one_line(error)
    code = getattr(error, "status", None) if kind in ("CUDARuntimeError", "CUDADriverError") else None
    if kind == "OutOfMemoryError" or code == OUT_OF_MEMORY:
        return OutOfDeviceMemory(f"{label}: {text}")
    if code in LOST:
        return DeviceLost(label, text)
    if kind == "CompileException":
        match = COMPILER_ERROR.search(str(error))
        reason = f"{match['file']}, line {match['line']}: {match['text']}" if match else text
        return PairhmmError(f"{label}: NVRTC does not compile the kernels: {reason}")
    return None


def keep_loaded(kernel: Any) -> None:
    """Never unload a kernel of CuPy. When a process that lost its device exits, each unload would print a traceback."""
    module = getattr(getattr(kernel, "kernel", None), "module", None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(module))


def survey() -> Setup:
    """Check CUDA on this machine from the ground up: driver, GPUs, CuPy, compiler.

    Raises
    ------
    BackendUnavailable
        Names the first thing that is missing.
    """
    driver, gpus = _ask_driver()
    old = [lack for lack in map(_age_lack, gpus) if lack]
    if len(old) == len(gpus):
        raise old[0]
    if driver < LEAST_CUDA * 1000:
        raise _missing(f"the NVIDIA driver is for CUDA {_cuda(driver)}", f"update it: CUDA {LEAST_CUDA} is the oldest")
    setup = _ask_cupy(driver, gpus)
    unknown = [lack for gpu in gpus if (lack := setup.lack(gpu)) and not _age_lack(gpu)]
    if len(old) + len(unknown) == len(gpus):
        raise unknown[0]
    return setup


def require_installed() -> ctypes.CDLL:
    """The driver's library. Raises BackendUnavailable without one."""
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError:
        raise _missing(f"no NVIDIA driver ({LIBRARY})", "on a machine with an NVIDIA GPU, install its driver") from None


def _ask_driver() -> tuple[int, list[Gpu]]:
    """The driver's CUDA version, and its GPUs. CuPy is not used, so this takes no time if there is no driver."""
    library = require_installed()

    def call(name: str, *arguments: object) -> None:
        try:
            function: Callable[..., int] = getattr(library, name)
        except AttributeError:
            raise _missing(f"{LIBRARY} has no {name}", "reinstall the NVIDIA driver") from None
        code = function(*arguments)
        if code == NO_DEVICE:
            raise _missing("the NVIDIA driver finds no GPU", INIT_CURES[code])
        if code:
            text = ctypes.c_char_p()
            library.cuGetErrorName(code, ctypes.byref(text))
            reason = f"error {code}, {(text.value or b'without a name').decode()}"
            raise _missing(
                f"the NVIDIA driver fails ({name}: {reason})", INIT_CURES.get(code, "see whether nvidia-smi works")
            )

    def number(name: str, *arguments: object) -> int:
        value = ctypes.c_int()
        call(name, ctypes.byref(value), *arguments)
        return value.value

    call("cuInit", 0)
    gpus = []
    for index in range(number("cuDeviceGetCount")):
        device = number("cuDeviceGet", index)
        name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
        call("cuDeviceGetName", name, len(name), device)
        call("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
        # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
        compute = number("cuDeviceGetAttribute", 75, device), number("cuDeviceGetAttribute", 76, device)
        gpus.append(Gpu(name.value.decode(errors="replace"), compute, memory.value))
    if not gpus:
        raise _missing("the NVIDIA driver finds no GPU", INIT_CURES[NO_DEVICE])
    return number("cuDriverGetVersion"), gpus


def _ask_cupy(driver: int, gpus: list[Gpu]) -> Setup:
    fitting = "cuda13" if driver >= 13000 else "cuda12"
    try:
        cupy: Any = import_module("cupy")
        version = cupy.cuda.runtime.runtimeGetVersion()
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "cupy":
            raise _missing("CuPy is not installed", f"pip install 'pairhmm[{fitting}]'") from None
        # CuPy wraps the error in a page of advice.
        text = _one_line(error.__cause__ or error)
        raise _missing(f"CuPy does not import ({text})", f"reinstall it: {_replacement(fitting)}") from error
    major = version // 1000
    if major < LEAST_CUDA or major > driver // 1000:
        raise _missing(
            f"CuPy is for CUDA {major}, the NVIDIA driver for CUDA {_cuda(driver)}",
            f"replace it: {_replacement(fitting)}",
        )
    extra = "cuda12" if major == 12 else "cuda13"
    try:
        nvrtc, known = cupy.cuda.nvrtc.getVersion(), frozenset(cupy.cuda.nvrtc.getSupportedArchs())
    except Exception as error:
        raise _missing(
            f"NVRTC, which compiles the kernels, does not load ({_one_line(error)})",
            f"pip install -U 'pairhmm[{extra}]' brings {NVRTC_PACKAGES[extra]}",
        ) from error
    if not _has_headers():
        raise _missing(
            "CuPy does not find CUDA's headers, without which it compiles nothing",
            f"pip install -U 'pairhmm[{extra}]' brings {HEADER_PACKAGES[extra]}",
        )
    return Setup(driver, gpus, cupy.__version__, extra, nvrtc, known)


def _has_headers() -> bool:
    try:
        pathfinder: Any = import_module("cuda.pathfinder")
    except ImportError:
        return True  # CuPy before version 14, which looks elsewhere
    return pathfinder.find_nvidia_header_directory("cudart") is not None


def _replacement(extra: str) -> str:
    """Commands that replace CuPy. Its packages share files, so one must be uninstalled before another is installed."""
    return f"pip uninstall cupy-cuda12x cupy-cuda13x, then pip install 'pairhmm[{extra}]'"


def _age_lack(gpu: Gpu) -> BackendUnavailable | None:
    if gpu.compute >= LEAST_COMPUTE:
        return None
    return _missing(f"{gpu}: too old", f"compute {_dotted(LEAST_COMPUTE)} is the oldest that works")


def _missing(reason: str, cure: str) -> BackendUnavailable:
    return BackendUnavailable("cuda", reason, cure)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _cuda(version: int) -> str:
    return _dotted((version // 1000, version % 1000 // 10))


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
