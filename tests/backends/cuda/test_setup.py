"""What CUDA lacks here, in words, and what its errors become: with a driver and a CuPy that are made up."""

import ctypes
import gc
import subprocess
import sys
import weakref
from types import SimpleNamespace

import pytest

from pairhmm.backends import Status
from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.cuda.setup import LIBRARY
from pairhmm.errors import BackendUnavailable, DeviceLost, OutOfDeviceMemory, PairhmmError

H200 = ("NVIDIA H200", (9, 0), 150_109_880_320)
T4 = ("Tesla T4", (7, 5), 15_828_320_256)
P4 = ("Tesla P4", (6, 1), 8_000_000_000)
RTX = ("NVIDIA RTX PRO 6000", (12, 0), 101_000_000_000)

H200_TEXT = "NVIDIA H200, compute 9.0, 139 GiB"
ERROR_NAMES = {802: b"CUDA_ERROR_SYSTEM_NOT_READY", 999: b"CUDA_ERROR_UNKNOWN"}
REPLACE = "pip uninstall cupy-cuda12x cupy-cuda13x, then pip install"


class Driver:
    """libcuda.so.1, as far as it is called. `fails` has the error codes of functions that fail."""

    def __init__(self, gpus=(H200,), version=13020, fails=None):
        self.gpus, self.version, self.fails = gpus, version, fails or {}

    def cuInit(self, flags):
        assert flags == 0
        return self.fails.get("cuInit", 0)

    def cuDriverGetVersion(self, version):
        version._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, count):
        count._obj.value = len(self.gpus)
        return 0

    def cuDeviceGet(self, device, index):
        device._obj.value = index
        return 0

    def cuDeviceGetName(self, name, size, device):
        assert size == len(name)
        name.value = self.gpus[device][0].encode()
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):
        value._obj.value = self.gpus[device][1][{75: 0, 76: 1}[attribute]]
        return 0

    def cuDeviceTotalMem_v2(self, size, device):
        size._obj.value = self.gpus[device][2]
        return self.fails.get("cuDeviceTotalMem_v2", 0)

    def cuGetErrorName(self, code, name):
        name._obj.value = ERROR_NAMES.get(code)
        return 0


@pytest.fixture
def driver(monkeypatch):
    """``driver(**given)``: a driver is there."""

    def install(**given):
        there = Driver(**given)
        monkeypatch.setattr(ctypes, "CDLL", lambda name: there)

    return install


@pytest.fixture
def cupy(monkeypatch):
    """``cupy(...)``: a CuPy for that CUDA is there, with that NVRTC, or with the error that NVRTC's version raises."""

    def install(cuda=13020, nvrtc=(13, 0), known=(75, 80, 86, 90, 100, 120), error=None, headers="include"):
        def version():
            if error is not None:
                raise error
            return nvrtc

        compiler = SimpleNamespace(getVersion=version, getSupportedArchs=lambda: known)
        runtime = SimpleNamespace(runtimeGetVersion=lambda: cuda)
        there = SimpleNamespace(__version__="14.2.0", cuda=SimpleNamespace(runtime=runtime, nvrtc=compiler))
        monkeypatch.setitem(sys.modules, "cupy", there)
        finder = SimpleNamespace(find_nvidia_header_directory={"cudart": headers}.__getitem__)
        monkeypatch.setitem(sys.modules, "cuda", SimpleNamespace(pathfinder=finder))
        monkeypatch.setitem(sys.modules, "cuda.pathfinder", finder)

    return install


@pytest.fixture
def no_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)


def missing(reason, cure):
    return Status(False, reason=reason, cure=cure)


def test_all_there(driver, cupy):
    driver(gpus=(H200, T4))
    cupy()
    assert cuda_setup.status() == Status(
        True, "CuPy 14.2.0, NVRTC 13.0, driver for CUDA 13.2", (H200_TEXT, "Tesla T4, compute 7.5, 14 GiB")
    )


@pytest.fixture
def no_driver(monkeypatch):
    def load(name):
        raise OSError(f"{name}: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(ctypes, "CDLL", load)


NO_DRIVER = f"no NVIDIA driver ({LIBRARY})", "on a machine with an NVIDIA GPU, install its driver"


def test_no_driver(no_driver):
    assert cuda_setup.status() == missing(*NO_DRIVER)


@pytest.fixture(scope="module")
def machine_without_driver():
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return
    pytest.skip("this machine has an NVIDIA driver")


def test_devices_without_a_driver(machine_without_driver, run_cli):
    first = run_cli("devices").stdout.splitlines()[0]
    assert first == f"cuda       missing    {NO_DRIVER[0]}; {NO_DRIVER[1]}"


@pytest.mark.parametrize("options", [[], ["--device", "0"], ["--device-memory", "1G"]])
def test_named_without_a_driver(machine_without_driver, run_cli, tmp_path, options):
    (tmp_path / "x.in").write_text("1 1\nA I I I +\nA\n")
    done = run_cli("forward", "--backend", "cuda", *options, tmp_path / "x.in")
    assert done.returncode == 2
    assert (done.stdout, done.stderr) == ("", f"pairhmm: error: backend cuda: {NO_DRIVER[0]}; {NO_DRIVER[1]}\n")


@pytest.mark.parametrize(
    ("given", "reason", "cure"),
    [
        (
            {"fails": {"cuInit": 100}},
            "the NVIDIA driver finds no GPU",
            "see what nvidia-smi lists, and whether CUDA_VISIBLE_DEVICES hides it",
        ),
        (
            {"gpus": ()},
            "the NVIDIA driver finds no GPU",
            "see what nvidia-smi lists, and whether CUDA_VISIBLE_DEVICES hides it",
        ),
        (
            {"fails": {"cuInit": 802}},
            "the NVIDIA driver fails (cuInit: error 802, CUDA_ERROR_SYSTEM_NOT_READY)",
            "start nvidia-fabricmanager, and wait until it is ready",
        ),
        (
            {"fails": {"cuInit": 999}},
            "the NVIDIA driver fails (cuInit: error 999, CUDA_ERROR_UNKNOWN)",
            "see whether nvidia-smi works",
        ),
        (
            {"fails": {"cuDeviceTotalMem_v2": 12345}},
            "the NVIDIA driver fails (cuDeviceTotalMem_v2: error 12345, without a name)",
            "see whether nvidia-smi works",
        ),
        (
            {"gpus": (P4,)},
            "Tesla P4, compute 6.1, 7 GiB: too old",
            "compute 7.5 is the oldest that works",
        ),
        (
            {"version": 11040},
            "the NVIDIA driver is for CUDA 11.4",
            "update it: CUDA 12 is the oldest",
        ),
    ],
)
def test_driver_of_no_use(driver, no_cupy, given, reason, cure):
    driver(**given)
    assert cuda_setup.status() == missing(reason, cure)


def test_library_that_is_no_driver(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    assert cuda_setup.status() == missing(f"{LIBRARY} has no cuInit", "reinstall the NVIDIA driver")


@pytest.mark.parametrize(
    ("version", "extra"), [(12000, "cuda12"), (12090, "cuda12"), (13000, "cuda13"), (14000, "cuda13")]
)
def test_no_cupy(driver, no_cupy, version, extra):
    driver(version=version)
    assert cuda_setup.status() == missing("CuPy is not installed", f"pip install 'pairhmm[{extra}]'")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise RuntimeError('no\\n  such thing')", "no such thing"),
        ("import numpy_of_tomorrow", "No module named 'numpy_of_tomorrow'"),
        (
            "try:\n    raise OSError('libcudart.so.13: no such file')\nexcept OSError as error:\n"
            "    raise ImportError('====\\nFailed to import CuPy\\n====') from error",
            "libcudart.so.13: no such file",
        ),
        ("", "module 'cupy' has no attribute 'cuda'"),
    ],
)
def test_cupy_that_does_not_import(driver, monkeypatch, tmp_path, text, told):
    (tmp_path / "cupy.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    driver()
    assert cuda_setup.status() == missing(
        f"CuPy does not import ({told})", f"reinstall it: {REPLACE} 'pairhmm[cuda13]'"
    )
    sys.modules.pop("cupy", None)


@pytest.mark.parametrize(
    ("cuda", "version", "extra"), [(13020, 12080, "cuda12"), (11080, 12080, "cuda12"), (11080, 13000, "cuda13")]
)
def test_wrong_cupy_for_the_driver(driver, cupy, cuda, version, extra):
    driver(version=version)
    cupy(cuda=cuda)
    assert cuda_setup.status() == missing(
        f"CuPy is for CUDA {cuda // 1000}, the NVIDIA driver for CUDA {version // 1000}.{version % 1000 // 10}",
        f"replace it: {REPLACE} 'pairhmm[{extra}]'",
    )


@pytest.mark.parametrize(
    ("cuda", "extra", "package"), [(12090, "cuda12", "nvidia-cuda-nvrtc-cu12"), (13020, "cuda13", "nvidia-cuda-nvrtc")]
)
def test_no_compiler(driver, cupy, cuda, extra, package):
    driver()
    cupy(cuda=cuda, error=RuntimeError('Failure finding "libnvrtc.so.13":\nNo such file\n'))
    assert cuda_setup.status() == missing(
        'NVRTC, which compiles the kernels, does not load (Failure finding "libnvrtc.so.13": No such file)',
        f"pip install -U 'pairhmm[{extra}]' brings {package}",
    )


@pytest.mark.parametrize(
    ("cuda", "extra", "package"),
    [(12090, "cuda12", "nvidia-cuda-runtime-cu12"), (13020, "cuda13", "nvidia-cuda-runtime")],
)
def test_no_headers(driver, cupy, cuda, extra, package):
    driver()
    cupy(cuda=cuda, headers=None)
    assert cuda_setup.status() == missing(
        "CuPy does not find CUDA's headers, without which it compiles nothing",
        f"pip install -U 'pairhmm[{extra}]' brings {package}",
    )


def test_cupy_that_looks_for_headers_itself(driver, cupy, monkeypatch):
    driver()
    cupy(headers=None)
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)
    assert cuda_setup.status().available


def test_compiler_older_than_the_gpu(driver, cupy):
    driver(gpus=(P4, RTX))
    cupy(cuda=12090, nvrtc=(12, 4), known=(50, 61, 75, 80, 90))
    assert cuda_setup.status() == missing(
        "NVIDIA RTX PRO 6000, compute 12.0, 94 GiB: NVRTC 12.4 does not compile for it",
        "pip install -U 'pairhmm[cuda12]' brings a newer nvidia-cuda-nvrtc-cu12",
    )


@pytest.fixture
def mixed(driver, cupy):
    """Three GPUs of which only the second can be used."""
    driver(gpus=(P4, H200, RTX))
    cupy(cuda=12090, nvrtc=(12, 4), known=(50, 61, 75, 80, 90))


def test_unfit_gpus_keep_their_places(mixed):
    assert cuda_setup.status().devices == (
        "Tesla P4, compute 6.1, 7 GiB: too old",
        H200_TEXT,
        "NVIDIA RTX PRO 6000, compute 12.0, 94 GiB: NVRTC 12.4 does not compile for it",
    )


@pytest.mark.parametrize(("device", "reason"), [(0, "too old"), (2, "NVRTC 12.4 does not compile for it")])
def test_unfit_gpus_do_not_start(mixed, device, reason):
    with pytest.raises(BackendUnavailable, match=reason), cuda_setup.starting(device):
        pytest.fail("started")


def test_the_fit_one_starts(mixed):
    with cuda_setup.starting(1):
        pass


class CUDARuntimeError(RuntimeError):
    """cupy.cuda.runtime's."""

    def __init__(self, status, text):
        self.status = status
        super().__init__(text)


class CUDADriverError(CUDARuntimeError):
    """cupy.cuda.driver's."""


class OutOfMemoryError(MemoryError):
    """cupy.cuda.memory's."""


class CompileException(Exception):
    """cupy.cuda.compiler's."""


LOST_TEXT = "cudaErrorIllegalAddress: an illegal memory access was encountered"


def test_a_busy_device_does_not_start(mixed):
    with pytest.raises(BackendUnavailable) as caught, cuda_setup.starting(1):
        raise CUDARuntimeError(46, "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable")
    assert str(caught.value) == (
        "backend cuda: cuda:1 does not start: cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or "
        "unavailable; see nvidia-smi for what else uses it, or name another with --device"
    )


def test_a_full_device_does_not_start(mixed):
    with pytest.raises(BackendUnavailable, match="cuda:1 does not start: Out of memory;"), cuda_setup.starting(1):
        raise OutOfMemoryError("Out of memory.")


@pytest.mark.parametrize(
    "error",
    [
        OutOfMemoryError("Out of memory allocating 1,000 bytes"),
        CUDARuntimeError(2, "cudaErrorMemoryAllocation: out of memory"),
        CUDADriverError(2, "CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    ],
)
def test_out_of_memory(error):
    with pytest.raises(OutOfDeviceMemory) as caught, cuda_setup.translated("cuda:1"):
        raise error
    assert str(caught.value) == f"cuda:1: {error}"


@pytest.mark.parametrize("kind", [CUDARuntimeError, CUDADriverError])
@pytest.mark.parametrize("code", [46, 214, 700, 702, 709, 710, 714, 719, 999])
def test_lost(kind, code):
    with pytest.raises(DeviceLost) as caught, cuda_setup.translated("cuda:1"):
        raise kind(code, LOST_TEXT)
    assert (caught.value.device, caught.value.cause) == ("cuda:1", LOST_TEXT)


COMPILER_LOG = """\
cuda/forward/rows.cuh(7): warning #177-D: variable "i" was declared but never referenced

cuda/forward/fast.cu(12): error: identifier "lanes" is undefined
      lanes = 3;
      ^

1 error detected in the compilation of "x.cubin.cu".
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (COMPILER_LOG, 'cuda/forward/fast.cu, line 12: identifier "lanes" is undefined'),
        (
            "cuda/forward/rows.cuh(3): catastrophic error: cannot open x.h\n",
            "cuda/forward/rows.cuh, line 3: cannot open x.h",
        ),
        ("cuda/forward/rows.cuh(3): error #20: no such thing\n", "cuda/forward/rows.cuh, line 3: no such thing"),
        (
            "nvrtc: error: invalid value for\n --gpu-architecture\n",
            "nvrtc: error: invalid value for --gpu-architecture",
        ),
    ],
)
def test_kernel_that_does_not_compile(text, told):
    with pytest.raises(PairhmmError) as caught, cuda_setup.translated("cuda:0"):
        raise CompileException(text)
    assert str(caught.value) == f"cuda:0: NVRTC does not compile the kernels: {told}"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("of the host"),
        ValueError("of ours"),
        CUDARuntimeError(1, "cudaErrorInvalidValue"),
        CUDADriverError(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
        DeviceLost("cuda:0", "before"),
    ],
)
def test_other_errors_stay(error):
    with pytest.raises(type(error)) as caught, cuda_setup.translated("cuda:0"):
        raise error
    assert caught.value is error


def test_kernels_stay_loaded():
    class Module:
        pass

    module = weakref.ref(loaded := Module())
    cuda_setup.keep_loaded(SimpleNamespace(kernel=SimpleNamespace(module=loaded)))
    del loaded
    gc.collect()
    assert module() is not None


def test_import_is_without_cuda():
    code = "import sys, pairhmm.backends.cuda.setup, pairhmm.backends.cuda.backend; assert 'cupy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
