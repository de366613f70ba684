"""Fixtures of the whole suite: reference data, requirements, the command line, strict arithmetic."""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import settings

from pairhmm import backends
from pairhmm.backends.tiles import Shape
from pairhmm.backends.webgpu.kernels import FLAGS_PART, PART, KernelVariant, source
from pairhmm.backends.webgpu.layout import flag_shapes, shapes, tree_shapes
from pairhmm.backends.webgpu.long_pairs import LONG, LONGEST_SEGMENT, rescale_steps
from pairhmm.backends.webgpu.runtime import WIDTH
from pairhmm.backends.webgpu.work import RESCUERS
from pairhmm.models.gatk import DEFAULT_GAP_QUALITY, DEFAULT_INDEL_QUALITY, ERROR
from pairhmm.models.profile import STARTS, ProfileModel
from tests.command_line.start import INTERPRETER, command

PROJECT = Path(__file__).resolve().parents[1]
REQUIRED = frozenset(filter(None, os.environ.get("PAIRHMM_TEST_REQUIRE", "").split(",")))

# A checkout's pairhmm/ may have no compiled part: `python -m pairhmm` in a test must find the installed package.
os.environ.setdefault("PYTHONSAFEPATH", "1")

# Workers of pytest-xdist ignore Ctrl-C, and so would the processes that tests start to interrupt them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A failure is the same on every machine, and time limits are pytest-timeout's.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

BROWSERS, DRIVERS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)
BROWSER_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # which root may not have, and containers do not offer
    "--disable-dev-shm-usage",  # small in containers
)

Require = Callable[[str, bool, str], None]
RunCli = Callable[..., subprocess.CompletedProcess[str]]


def load_helper(path: str, name: str | None = None) -> ModuleType:
    """A module of this folder, such as "backends/cuda/emulator": files of tests are in no package."""
    full = f"pairhmm_tests_{name or path.rpartition('/')[2]}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, PROJECT / "tests" / f"{path}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


def pytest_configure(config: pytest.Config) -> None:
    """Give all workers one folder for emulated kernels (backends/cuda/emulator.py), since many tests build the same."""
    if not hasattr(config, "workerinput") and "PAIRHMM_EMULATOR_FOLDER" not in os.environ:
        folder = os.environ["PAIRHMM_EMULATOR_FOLDER"] = tempfile.mkdtemp(prefix="pairhmm-emulated-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


SLOWEST = (
    "backends/cuda/test_forward.py",
    "workflow/test_slurm.py",
    "backends/cuda/test_compile.py",
    "backends/webgpu/test_browser.py",
    "backends/test_any_pairs.py",
    "backends/webgpu/test_forward.py",
    "web/test_call.py",
    "workflow/test_workflow.py",
    "report/test_browser.py",
    "page/test_page.py",
)
"""Files that take longest. Workers of pytest-xdist take files in this order, so that none of these is the last one."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        places = {PROJECT / "tests" / name: place for place, name in enumerate(SLOWEST)}
        items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session")
def require() -> Require:
    """``require(name, available, reason)`` skips what is not there, or fails where PAIRHMM_TEST_REQUIRE names it."""

    def check(name: str, available: bool, reason: str) -> None:
        if available:
            return
        if name in REQUIRED:
            pytest.fail(f"{name} is required here: {reason}", pytrace=False)
        pytest.skip(reason)

    return check


@pytest.fixture(scope="session")
def require_backend(require: Require) -> Callable[[str], None]:
    """``require_backend(name)``: `require` of a backend that runs here."""

    def check(name: str) -> None:
        status = backends.status(name)
        require(name, status.available, f"{status.reason}; {status.cure}")

    return check


@pytest.fixture(scope="session")
def emulator(require: Require) -> ModuleType:
    """The module emulator.py; skips where it cannot build a kernel."""
    module = load_helper("backends/cuda/emulator")
    require("emulator", module.compiler() is not None, "the CUDA emulator needs Linux and a g++")
    return module


@pytest.fixture(scope="session")
def nvrtc(require: Require) -> ModuleType:
    """The module nvrtc.py; skips where the library is not installed."""
    module = load_helper("backends/cuda/nvrtc")
    require("nvrtc", module.library_path() is not None, "no NVRTC: pip install 'nvidia-cuda-nvrtc>=13'")
    return module


ARCHITECTURES = [
    "sm_90",
    *(pytest.param(name, marks=pytest.mark.nightly) for name in ("sm_75", "sm_80", "sm_100")),
]


@pytest.fixture(scope="session", params=ARCHITECTURES)
def architecture(request: pytest.FixtureRequest) -> str:
    """An architecture of CUDA's that the kernels are compiled for."""
    return request.param


@pytest.fixture(scope="session")
def shared_data(require: Require) -> Path:
    """The folder with the reference data: beside the project, or where PAIRHMM_SHARED_DATA says."""
    folder = Path(os.environ.get("PAIRHMM_SHARED_DATA", PROJECT.parent / "shared" / "data"))
    require("shared", folder.is_dir(), f"no reference data in {folder} (set PAIRHMM_SHARED_DATA)")
    return folder


@pytest.fixture(scope="session")
def shader_variants() -> tuple[KernelVariant, ...]:
    """All variants that the webgpu backend can ask `webgpu_kernels.source` for, with one value for each constant."""
    known = shapes(WIDTH).known
    kernels = (
        *(("forward", shape, PART) for shape in known if not shape.tall),
        *(("forward_tall", shape, PART) for shape in known if shape.tall),
        *(
            ("forward_scaled", Shape(1, rows), rescale_steps(rows))
            for rows in sorted({rows for _, rows, _ in RESCUERS})
        ),
    )
    models, extensions, ways = ("qualities", "profiles", "kinds", "folded"), (0.1, None), (True, False)
    batches = [
        KernelVariant(kernel, shape, WIDTH, shuffles, rows, extension, part=part)
        for kernel, shape, part in kernels
        for shuffles, rows, extension in product(ways, models, extensions)
    ]
    flags = [
        KernelVariant(
            "forward_tall" if shape.tall else "forward", shape, WIDTH, shuffles, "flags", extension, part=FLAGS_PART
        )
        for shape, shuffles, extension in product(flag_shapes(WIDTH).known, ways, extensions)
    ]
    walks = [
        KernelVariant("forward_trees", Shape(1, rows), WIDTH, shuffles, emissions, extension)
        for emissions in ("qualities", "folded")
        for rows in sorted(
            {shape.rows for shape in tree_shapes(WIDTH, emissions == "qualities").known if not shape.tall}
        )
        for shuffles, extension in product(ways, extensions)
    ]
    rows_of_trees = [
        KernelVariant("forward_tree_rows", Shape(1, 1), WIDTH, False, rows, extension)
        for rows, extension in product(models, (0.0, None))
    ]
    segments = {True: LONGEST_SEGMENT, False: LONG.lanes}
    rows_of_pairs = [
        KernelVariant("forward_long_rows", LONG, LONG.lanes, False, rows, None, segment=segment)
        for rows, segment in product(models, segments.values())
    ]
    pairs = [
        KernelVariant("forward_long", LONG, LONG.lanes, shuffles, "folded", extension, segment=segments[shuffles])
        for shuffles, extension in product(ways, extensions)
    ]
    joins = [
        KernelVariant("forward_join", LONG, LONG.lanes, False, "folded", None, segment=segment)
        for segment in segments.values()
    ]
    return (*batches, *flags, *walks, *rows_of_trees, *rows_of_pairs, *pairs, *joins)


@pytest.fixture(scope="session")
def shader_texts(shader_variants: tuple[KernelVariant, ...]) -> dict[KernelVariant, str]:
    """What `webgpu_kernels.source` makes of each variant."""
    return {variant: source(variant) for variant in shader_variants}


@pytest.fixture(scope="session")
def identity_model() -> ProfileModel:
    """The profile model that is GATK's: eps_M the identity, insertions of 1, GATK's transitions, start anywhere."""
    gap, going_on = float(ERROR[DEFAULT_INDEL_QUALITY]), float(ERROR[DEFAULT_GAP_QUALITY])
    opening = {"MM": 1 - 2 * gap, "MI": gap, "MD": gap}
    closing = {"IM": 1 - going_on, "II": going_on, "DM": 1 - going_on, "DD": going_on}
    match = np.concatenate([np.eye(4), np.ones((4, 1))], axis=1)
    return ProfileModel(match, np.ones(4), opening | closing, STARTS["anywhere"], "identity")


@pytest.fixture(autouse=True)
def own_process() -> Iterator[None]:
    """Undo how a command that ran in this process set up messages and signals, which the next test does not expect."""
    logger = logging.getLogger("pairhmm")
    before = logger.level, logger.propagate, logger.handlers[:]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in handlers.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)
    level, logger.propagate, logger.handlers[:] = before
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def strict_arithmetic() -> Iterator[None]:
    """Make overflow, division by zero and NaN errors. Underflow is allowed, since scaling handles it."""
    with np.errstate(all="raise", under="ignore"):
        yield


@pytest.fixture(scope="session")
def run_cli() -> RunCli:
    """``run_cli(*arguments, **options)``: the command line in a process of its own; options are subprocess.run's."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        start = INTERPRETER if "preexec_fn" in options else command()
        given = {"capture_output": True, "text": True, "timeout": 300, **options}
        return subprocess.run([*start, *map(str, arguments)], check=False, **given)

    return run


@pytest.fixture(scope="session")
def start_chromium(require: Require) -> Iterator[Callable[..., object]]:
    """``start_chromium(*flags, **capabilities)``: a driver of headless Chromium; skips where there is none."""
    require("browser", importlib.util.find_spec("selenium") is not None, "selenium is not installed")
    program, driver_program = (next(filter(None, map(shutil.which, names)), None) for names in (BROWSERS, DRIVERS))
    require("browser", program is not None, "no Chromium: apt install chromium")
    require("browser", driver_program is not None, "no chromedriver: apt install chromium-driver")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    with ExitStack() as drivers:

        def start(*flags: str, **capabilities: object) -> Chrome:
            options = ChromeOptions()
            options.binary_location = program
            for flag in (*BROWSER_FLAGS, *flags):
                options.add_argument(flag)
            for name, value in capabilities.items():
                options.set_capability(name.replace("__", ":"), value)
            driver = Chrome(options=options, service=Service(driver_program))
            drivers.callback(driver.quit)
            return driver

        yield start


@pytest.fixture(scope="session")
def axe(require: Require) -> Callable[..., list[str]]:
    """``axe(driver)``: what axe-core, which npm installs, finds wrong in the page that a browser shows."""
    path = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"
    require("node", path.is_file(), "axe-core is not installed: npm ci in web/")
    program = path.read_text(encoding="utf-8")
    find = """
    const done = arguments[0];
    axe.run(document, {resultTypes: ["violations"]}).then(
        ({violations}) =>
            done(violations.map(({id, nodes: [first]}) => `${id}: ${first.html} ${first.failureSummary}`)),
        (error) => done([String(error)]),
    );
    """

    def violations(driver) -> list[str]:
        driver.execute_script(program)
        return driver.execute_async_script(find)

    return violations
