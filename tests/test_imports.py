"""Packages import those that the house has below them, and no other (docs/architecture.md shows the same table)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

import pairhmm

PACKAGE = Path(pairhmm.__file__).parent
DOCUMENT = Path(__file__).parents[1] / "docs" / "architecture.md"

GROUND = {"errors", "compiled", "interface", "_cpu"}
"""Every package may import these."""

BELOW = {
    "genomics": set(),
    "models": {"genomics"},
    "backends": {"genomics", "models"},
    "engine": {"models", "backends"},
    "scanning": {"genomics", "backends", "engine"},
    "aligning": {"genomics", "backends", "engine"},
    "warping": {"genomics", "backends", "engine"},
    "sketching": {"genomics", "backends", "engine"},
    "placing": {"genomics", "backends", "engine", "sketching"},
    "relating": {"genomics"},
    "simulation": {"genomics"},
    "reporting": {"genomics"},
    "io": {
        "genomics",
        "models",
        "scanning",
        "aligning",
        "warping",
        "sketching",
        "placing",
        "relating",
        "simulation",
        "reporting",
    },
    "evidence": {"genomics", "models", "backends", "engine", "aligning", "io"},
    "fitting": {"genomics", "models", "backends", "io", "evidence"},
    "commands": {
        "genomics",
        "models",
        "backends",
        "engine",
        "scanning",
        "aligning",
        "warping",
        "sketching",
        "placing",
        "relating",
        "simulation",
        "reporting",
        "io",
        "evidence",
        "fitting",
    },
    "bench": {
        "genomics",
        "models",
        "backends",
        "engine",
        "scanning",
        "aligning",
        "warping",
        "sketching",
        "placing",
        "relating",
        "simulation",
        "io",
        "commands",
    },
    "cli": {
        "genomics",
        "models",
        "backends",
        "engine",
        "scanning",
        "aligning",
        "warping",
        "sketching",
        "placing",
        "relating",
        "io",
        "evidence",
        "commands",
        "bench",
    },
}
"""What each package may import besides: those of it that have GPU code in them come with their registry and base."""

BELOW_IN_IO = {
    "files": set(),
    "sequences": {"files"},
    "alignments": {"files", "sequences"},
    "variants": {"files", "sequences"},
    "likelihoods": {"files"},
    "pairs": {"files"},
    "samples": {"files"},
    "aligned": {"files", "samples", "variants"},
    "signals": {"files"},
    "simulated": {"files", "variants"},
    "report": {"files"},
    "sketches": {"files", "samples", "sequences", "alignments"},
    "cohort": {"files", "likelihoods", "samples", "sketches", "variants"},
}

TOP = {"__init__.py", "__main__.py", "compiled.py", "errors.py"}
GPU_LIBRARIES = {"cupy", "wgpu"}
GPU_HOMES = (
    "backends/cuda/",
    "backends/webgpu/",
    "scanning/",
    "aligning/",
    "warping/",
    "sketching/",
    "placing/",
    "bench/",
)
"""Where a GPU's API, and modules for one, may be imported."""


def modules():
    return sorted(
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if not {"workflows", "_vendor"} & set(path.relative_to(PACKAGE).parts)
    )


@cache
def imported(path, everywhere=True):
    """Dotted names that a module imports: anywhere in it, or at its top."""
    tree = ast.parse((PACKAGE / path).read_text())
    names = []
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def own(path):
    return [name.split(".")[1:] for name in imported(path) if name.startswith("pairhmm.")]


def test_the_top_level_holds_packages():
    # A wheel's build writes the version (pyproject.toml).
    assert {path.name for path in PACKAGE.glob("*.py")} - {"_version.py"} == TOP
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(BELOW) | {"interface"}


@pytest.mark.parametrize("path", [path for path in modules() if len(path.parts) > 1], ids=str)
def test_packages_import_those_below_them(path):
    package = path.parts[0]
    allowed = GROUND | {package} | BELOW.get(package, set())
    above = {".".join(parts) for parts in own(path) if parts[0] not in allowed}
    assert not above


@pytest.mark.parametrize("path", [path for path in modules() if path.parts[0] == "io" and len(path.parts) > 2], ids=str)
def test_io_packages_import_those_below_them(path):
    allowed = {path.parts[1]} | BELOW_IN_IO[path.parts[1]]
    assert not {".".join(parts) for parts in own(path) if parts[0] == "io" and parts[1] not in allowed}


def test_no_package_is_below_itself():
    seen = set(GROUND)
    for name, below in BELOW.items():
        assert below <= seen, f"{name} stands before something that it imports"
        seen.add(name)


@pytest.mark.parametrize("path", [path for path in modules() if path.parts[0] == "backends"], ids=str)
def test_backends_do_not_import_each_other(path):
    name = path.parts[1].removesuffix(".py")
    names = {"cpu", "cuda", "reference", "webgpu"} - {name}
    assert not {
        ".".join(parts) for parts in own(path) if parts[0] == "backends" and len(parts) > 1 and parts[1] in names
    }


@pytest.mark.parametrize("path", modules(), ids=str)
def test_only_backends_scanners_and_bench_know_a_gpu(path):
    if path.as_posix().startswith(GPU_HOMES):
        return
    assert not {name.split(".")[0] for name in imported(path)} & GPU_LIBRARIES
    assert not {name for name in imported(path) if re.match(r"pairhmm\.\w+\.(cuda|webgpu)\b", name)}


@pytest.mark.parametrize("path", modules(), ids=str)
def test_no_gpu_library_at_import(path):
    assert not {name.split(".")[0] for name in imported(path, everywhere=False)} & GPU_LIBRARIES


def test_what_is_imported_is_required():
    """Nothing else has to be installed, and what is imported at the top of a module not even as an extra."""
    required, extras = set(), set()
    for line in metadata.requires("pairhmm"):
        name = re.match(r"[\w.-]+", line)[0].lower()
        (extras if "extra ==" in line else required).add("cupy" if name.startswith("cupy-") else name)
    distributions = metadata.packages_distributions()
    for path in modules():
        for everywhere, known in ((True, required | extras), (False, required)):
            foreign = (
                {name.split(".")[0] for name in imported(path, everywhere)} - sys.stdlib_module_names - {"pairhmm"}
            )
            names = {distributions.get(name, [name])[0].lower() for name in foreign}
            assert names <= known, f"{path} imports {names - known}"


def test_public_names():
    code = (
        "import pairhmm\n"
        "assert dir(pairhmm) == sorted(pairhmm.__all__)\n"
        "assert all(hasattr(pairhmm, name) for name in pairhmm.__all__)\n"
        "assert type(pairhmm.forward).__name__ == type(pairhmm.call).__name__ == 'function'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_the_installed_one():
    assert pairhmm.__version__ == metadata.version("pairhmm")


def test_import_is_cheap():
    code = "import sys, pairhmm; assert not {'numpy', 'pysam', 'Bio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        ("forward", {"pysam", "multiprocessing", "platformdirs", "tomllib"}),
        ("call", {"multiprocessing", "platformdirs", "tomllib", "difflib", "hashlib"}),
    ],
)
def test_a_command_imports_what_it_needs(command, unwanted):
    """What only some of its runs need is imported by these."""
    code = f"import sys, pairhmm.cli.main, pairhmm.cli.{command}; assert not {unwanted} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_run_imports_what_it_needs(shared_data, tmp_path):
    """These take a tenth of the start."""
    tiny = shared_data / "na12878-chr22-tiny"
    arguments = ["-q", "call", "-f", f"{tiny / 'q.fa'}", "-o", f"{tmp_path / 'x.vcf'}"]
    code = (
        "import sys\n"
        "from pairhmm.cli.main import main\n"
        "try:\n"
        f"    main({[*arguments, str(tiny / 'NA12878.chr22.tiny.bam')]})\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "assert not {'numpy.ma', 'importlib.metadata', 'multiprocessing'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
