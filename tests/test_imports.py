"""Imports go down the house, never up (docs/design.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pairhmm

PACKAGE = Path(pairhmm.__file__).parent

# From the ground up. A module may import what stands on a lower floor, or on its own where the floor allows it.
FLOORS = (
    {"errors", "threads"},
    {"arguments", "option_rules", "short_repr", "sequences", "iupac", "variants", "batch", "compiled", "qualities"},
    {"models"},
    {
        "backends",
        "cuda_kernels",
        "cuda_setup",
        "folded_rows",
        "packed",
        "webgpu_commands",
        "webgpu_kernels",
        "webgpu_packed",
        "webgpu_runtime",
        "webgpu_setup",
        "webgpu_slot",
        "webgpu_strips",
        "wgsl",
    },
    {"calibration", "chunks", "device_pool", "engine", "scanning"},
    {
        "reads",
        "blocks",
        "candidates",
        "regions",
        "region_sources",
        "haplotypes",
        "nuisances",
        "genotypes",
        "ploidy",
        "reporting",
        "simulation",
    },
    {"io"},
    {
        "given_haplotypes",
        "evidence",
        "extent",
        "keywords",
        "reference_check",
        "scoring",
        "set_aside",
        "tally",
        "runs",
        "report_panels",
        "report_data",
    },
    {
        "accuracy",
        "bench",
        "bench_data",
        "bench_device",
        "bench_scan",
        "calibrate",
        "call",
        "devices",
        "exports",
        "forward",
        "free_devices",
        "gather",
        "likelihoods",
        "sample_sheet",
        "report",
        "scan",
        "scan_brute_cuda",
        "scan_brute_webgpu",
        "scatter",
        "simulate",
        "simulate_scan",
        "validate",
        "wavefront",
        "webgpu_ladder",
        "webgpu_wavefront",
        "workflow",
    },
    {"cli"},
    {"__init__", "__main__"},
)
FLOOR = {name: number for number, floor in enumerate(FLOORS) for name in floor}
GPU_LIBRARIES = {"cupy", "wgpu"}


def modules():
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if "workflows" not in path.parts)


def imported(path, *, everywhere):
    """Dotted names that a module imports: at its top, or anywhere in it."""
    tree = ast.parse((PACKAGE / path).read_text())
    nodes = ast.walk(tree) if everywhere else tree.body
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(dotted):
    """The part of `pairhmm.room.module` that a floor lists."""
    parts = dotted.split(".")
    return parts[1] if parts[0] == "pairhmm" and len(parts) > 1 else None


@pytest.mark.parametrize("path", modules(), ids=str)
def test_imports_go_down(path):
    own = path.parts[0].removesuffix(".py")
    assert own in FLOOR, f"{own} has no floor"
    for name in imported(path, everywhere=own != "__init__"):
        other = room(name)
        if other is None or other == own or other == "_cpu" or other not in FLOOR:
            continue
        assert FLOOR[other] <= FLOOR[own], f"{path} imports {name}, which is above it"


@pytest.mark.parametrize("path", [p for p in modules() if p.parts[0] == "backends"], ids=str)
def test_backends_do_not_import_each_other(path):
    allowed = {"base", "Backend", "Status"}
    for name in imported(path, everywhere=True):
        if name.startswith("pairhmm.backends."):
            assert name.split(".")[2] in allowed, f"{path} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=str)
def test_no_gpu_library_at_import(path):
    assert not {name.split(".")[0] for name in imported(path, everywhere=False)} & GPU_LIBRARIES


def test_public_names_resolve_to_the_verbs():
    code = (
        "import pairhmm.forward, pairhmm.call, pairhmm\n"
        "assert all(hasattr(pairhmm, name) for name in pairhmm.__all__)\n"
        "assert callable(pairhmm.forward) and callable(pairhmm.call)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_is_cheap():
    code = "import sys, pairhmm; assert not {'numpy', 'pysam', 'Bio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
