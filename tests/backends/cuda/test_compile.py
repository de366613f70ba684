"""The CUDA sources compile for every architecture, without a warning, and keep their rows in registers.

Every architecture gets the shapes of most rows, which spill first, each with every model and one of both gaps.
PAIRHMM_TEST_ALL_SHAPES=1, as every night, compiles everything for all of them, which takes ten minutes.
"""

from __future__ import annotations

import itertools
import os
from functools import partial

import pytest

from pairhmm.backends.cuda import backend as cuda
from pairhmm.backends.cuda import kernels as cuda_kernels
from pairhmm.backends.cuda import layout
from pairhmm.backends.cuda.kernels import (
    KINDS,
    PDHMM,
    PROFILES,
    QUALITIES,
    ROWS,
    SCALED,
    TREE_ROWS,
    TREES,
    KernelVariant,
)
from pairhmm.backends.cuda.sources import OPTIONS
from pairhmm.backends.tiles import RESCUERS, Shape

ALL = bool(os.environ.get("PAIRHMM_TEST_ALL_SHAPES"))
MODELS = {QUALITIES: "qualities", ROWS: "rows", PROFILES: "profiles", KINDS: "kinds"}
EXTENSIONS = {0.1: "constant gap", None: "varying gap"}


SPILLED = {
    ("trees 16", "varying gap"): 64,
    ("trees 19", "constant gap"): 112,
    ("trees 20", "constant gap"): 176,
    ("trees 13 tall", "constant gap"): 64,
    ("trees 13 tall", "varying gap"): 80,
    ("trees 16 tall", "constant gap"): 64,
    ("trees 16 tall", "varying gap"): 192,
    ("trees 19 tall", "constant gap"): 192,
    ("trees 20 tall", "constant gap"): 232,
    ("tree_rows", "constant gap"): 232,
    ("tree_rows", "varying gap"): 308,
}
"""Most bytes that a lane spills, of any architecture and model; all other kernels spill nothing. 12 warps of trees.cu
on a multiprocessor leave a lane 168 registers, 6 blocks of tree_rows.cu 80. On an H200 that is faster than fewer warps
that spill nothing (`kernels.resident_trees`, `kernels.ROWS_BLOCKS`). Rows of GATK's model spill 32 at most."""


def shapes(in_trees=False):
    """Those that some read length takes."""
    table = layout.shapes(cuda.LONGEST_TILE, in_trees)
    return [table.known[k] for k in sorted(set(table.of_length[1:].tolist()))]


def largest(found):
    """Those of one lane, of all lanes and of tall ones."""
    kinds = {}
    for shape in found:
        kinds.setdefault((shape.lanes, shape.tall), []).append(shape)
    return [kinds[kind][-1] for kind in ((1, False), (32, False), (32, True))]


def chosen(position, found, largest):
    """Of kernels `found`: all, or those of the `largest` that the model and the gap of a `position` have.

    Where the sum of the position and the kernel's is odd, the other gap has the kernel.
    """
    return found if ALL else [k for place, k in enumerate(largest, position) if place % 2 == 0]


def jobs():
    """(name, source) of what is compiled."""
    fast = shapes()
    rows = sorted({Shape(0, shape.rows, shape.tall) for shape in shapes(in_trees=True)})
    long = ["float", "double"]
    for (m, (model, of_model)), (g, (extension, gap)) in itertools.product(
        enumerate(MODELS.items()), enumerate(EXTENSIONS.items())
    ):
        of = f"{of_model}, {gap}"
        choose = partial(chosen, m + g)
        for shape in choose(fast, largest(fast)):
            yield f"fast {describe(shape)}, {of}", cuda_kernels.forward_source(KernelVariant(shape, model, extension))
        if model == QUALITIES:
            for shape in choose(fast, largest(fast)):
                variant = KernelVariant(shape, model, extension, PDHMM)
                yield f"pdhmm {describe(shape)}, {of}", cuda_kernels.forward_source(variant)
        for k in choose(rows, rows[-1:]):
            variant = KernelVariant(k, model, extension, TREES)
            yield f"trees {k.rows}{' tall' if k.tall else ''}, {of}", cuda_kernels.forward_source(variant)
        tree_rows = KernelVariant(cuda.ROWS_KERNEL[0], model, extension, TREE_ROWS)
        yield f"tree_rows {of}", cuda_kernels.forward_source(tree_rows)
        for shape in choose(RESCUERS, [RESCUERS[0], RESCUERS[-1]]):
            variant = KernelVariant(shape, model, extension, SCALED)
            yield f"scaled {describe(shape)}, {of}", cuda_kernels.forward_source(variant)
        for real in choose(long, long):
            yield f"long {real}, {of}", cuda_kernels.long_source(model, extension, real)


def describe(shape: Shape) -> str:
    return f"{shape.lanes} x {shape.rows}{' tall' if shape.tall else ''}"


@pytest.fixture(scope="module")
def compiled(architecture, nvrtc):
    """Name of the source: result."""
    names, sources = zip(*jobs(), strict=True)
    return dict(zip(names, nvrtc.compile_all([nvrtc.Job(architecture, s, OPTIONS) for s in sources]), strict=True))


def test_compiles_without_a_warning(compiled):
    assert not [f"{name}: {result.log}" for name, result in compiled.items() if not result.compiles][:3]
    assert not [f"{name}: {result.warnings}" for name, result in compiled.items() if result.warnings][:10]


def test_every_kernel_is_there(compiled):
    for name, result in compiled.items():
        kind = name.split()[0]
        kinds = {"long": ("long", "join", "sum"), "pdhmm": ("fast",)}.get(kind, (kind,))
        assert set(result.kernels) == {f"forward_{each}" for each in kinds}, name


def spilled(name):
    """Most bytes that a kernel may spill."""
    kernel = name.split()[0] if name.startswith("tree_rows") else name.split(",")[0]
    return SPILLED.get((kernel, name.split(", ")[-1]), 0)


def test_nothing_is_spilled(compiled):
    """But for what `SPILLED` allows. No stack frame either: an array that is indexed by a variable lies in one."""
    wrong = [
        f"{name}: {kernel} takes {usage}"
        for name, result in compiled.items()
        for kernel, usage in result.kernels.items()
        if usage.stack > spilled(name) or usage.spills > spilled(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_messages_name_file_and_line(nvrtc):
    """What a user who hits a compiler's limits can report."""
    source = cuda_kernels.forward_source(KernelVariant(shapes()[0], QUALITIES, None))
    source = source.replace('extern "C"', '#error told\nextern "C"')
    result = nvrtc.compile_all([nvrtc.Job("sm_90", source, OPTIONS)])[0]
    assert not result.compiles
    assert "cuda/forward/fast.cu(" in result.log and "told" in result.log


def test_the_oldest_compiler_takes_the_texts(nvrtc, require):
    """One of each kernel, and of each model."""
    found = nvrtc.library_path(nvrtc.OLDEST) is not None
    require("nvrtc", found, f"no NVRTC of CUDA 12: pip install {nvrtc.OLDEST}")
    shape = shapes()[0]
    texts = [
        cuda_kernels.forward_source(KernelVariant(shape, QUALITIES, None)),
        cuda_kernels.forward_source(KernelVariant(RESCUERS[0], ROWS, 0.1, SCALED)),
        cuda_kernels.forward_source(KernelVariant(Shape(0, 19), KINDS, 0.1, TREES)),
        cuda_kernels.long_source(PROFILES, 0.1, "double"),
    ]
    results = nvrtc.compile_all([nvrtc.Job("sm_90", text, OPTIONS) for text in texts], nvrtc.OLDEST)
    assert [result.log for result in results if not result.compiles] == []
