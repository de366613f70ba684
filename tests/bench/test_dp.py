"""`pairhmm bench dp`: its workload, the published kernels in the emulator, its tables and its figure."""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from pairhmm import backends
from pairhmm.backends.cuda import setup
from pairhmm.bench import dp, dp_functions, dp_plot, dp_roofs
from pairhmm.bench.published import alignment_cuda
from pairhmm.errors import InputError
from pairhmm.warping import reference
from pairhmm.warping.batch import WarpOptions

HELPERS = Path(__file__).parents[1] / "backends" / "cuda"
ROOFS = dp_roofs.Roofs(dram=4e12, l2=8e12, shared=3e13, issue=3e13)
SASS = """
\t\tFunction : measure__vimax3_s32
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;            /* 0x00000a00ff017b82 */
        /*0010*/                   VIMNMX3 R2, R2, R3, R4, !PT ;     /* 0x0 */
        /*0020*/                   VIMNMX3 R3, R3, R4, R5, !PT ;     /* 0x0 */
        /*0030*/                   UIADD3 UR4, UR4, 0x1, URZ ;       /* 0x0 */
        /*0040*/               @P0 BRA 0x10 ;                        /* 0x0 */
        /*0050*/                   BRA 0x50;                         /* 0x0 */
\t\tFunction : measure__vimin3_s32
        /*0000*/                   EXIT ;                            /* 0x0 */
"""


def helper(name):
    full = f"pairhmm_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, HELPERS / f"{name}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


def edit_costs(query, target, mismatch, gap):
    """The cheapest global alignment, cell by cell."""
    row = [gap * (j + 1) for j in range(len(target))]
    for i, letter in enumerate(query):
        diagonal, left = gap * i, gap * (i + 1)
        for j, other in enumerate(target):
            left = min(diagonal + (letter != other) * mismatch, min(row[j], left) + gap)
            diagonal, row[j] = row[j], left
    return row[-1]


def test_work_has_the_cells_that_were_asked_for():
    for length in (100, 1_000):
        work = dp.make_work("linear", length, 2e6)
        assert work.pairs * length**2 == 2_000_000
        assert work.queries.max() < 4 and work.sequences().cells == work.signals().cells == 2_000_000
    assert dp.make_work("warping", 10_000, 1).pairs == 1


def test_pairs_that_are_not_drawn_repeat_others(monkeypatch):
    monkeypatch.setattr(dp, "MOST_DISTINCT", 3)
    work = dp.make_work("warping", 10, 700)
    assert work.queries.shape == (3, 10)
    assert work.index.tolist() == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("memory", [1 << 30, 28_000])
def test_the_published_kernels(require, monkeypatch, memory):
    """Their costs are right, also where the rows of all pairs do not fit the memory at once."""
    require("emulator", helper("emulator").compiler() is not None, "the CUDA emulator needs Linux and a g++")
    monkeypatch.setattr(alignment_cuda, "starting", lambda device: helper("emulated_cupy").installed(memory))
    monkeypatch.setattr(alignment_cuda, "THREADS", 32)
    published = alignment_cuda.PublishedPairs(0)
    work = dp.make_work("warping", 40, 100 * 1600)
    with helper("emulated_cupy").installed(memory):
        _, warped = published.run("warping", work.queries, work.targets, work.pairs, 1)
        gc.collect()  # the emulator frees memory then
        _, aligned = published.run("alignment", work.queries % 4, work.targets % 4, work.pairs, 1, 4, 3)
    for pair in range(0, work.pairs, 9):
        query, target = work.queries[pair], work.targets[pair]
        assert warped[pair] == reference.warping(query, target, WarpOptions())[0]
        assert aligned[pair] == edit_costs((query % 4).tolist(), (target % 4).tolist(), 4, 3)


def test_every_function_of_dpx_is_there_once():
    names = [function.name for function in dp_functions.FUNCTIONS]
    assert len(names) == len(set(names)) == 36
    assert {"__vimax3_s16x2_relu", "__viaddmin_u32", "__vibmin_u16x2", "__vimin_s32_relu"} <= set(names)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_the_kernels_compile(require, architecture):
    nvrtc = helper("nvrtc")
    require("nvrtc", nvrtc.library_path() is not None, "no NVRTC: pip install 'nvidia-cuda-nvrtc>=13'")
    texts = [dp_functions.source(), dp_roofs.source(), alignment_cuda.source()]
    results = nvrtc.compile_all([nvrtc.Job(architecture, text, ("--std=c++17",)) for text in texts])
    for result in results:
        assert result.compiles and not result.warnings, result.log
    assert len(results[0].kernels) == len(dp_functions.FUNCTIONS)


def test_instructions_are_counted_in_the_longest_loop():
    counted = dp_functions.instructions_of(SASS, "measure__vimax3_s32")
    assert counted == {"VIMNMX3": 2, "UIADD3": 1, "BRA": 1}
    assert not dp_functions.instructions_of(SASS, "measure__vimin3_s32")
    assert not dp_functions.instructions_of("", "measure__vimin3_s32")


def test_cells_of_a_byte():
    def speed(method, length, design):
        return dp.CellSpeed(method, length, 1, design, dp.KERNELS, [1.0], None)

    assert dp_plot.cells_of_a_byte(speed("linear", 250, dp.PUBLISHED)) == 1 / 8
    assert dp_plot.cells_of_a_byte(speed("warping", 250, dp.OURS)) == 250**2 / (250 * 4)
    assert dp_plot.cells_of_a_byte(speed("linear", 2048, dp.OURS)) == 2048**2 / (1024 + 2048 * 4)


def test_the_roofline_is_written_as_svg_and_png(require, tmp_path):
    require("plot", importlib.util.find_spec("matplotlib") is not None, "no matplotlib: pip install 'pairhmm[plot]'")
    speeds = [
        dp.CellSpeed(method, length, 10, design, dp.KERNELS, [1e-6], True)
        for method in ("linear", "warping")
        for design in (dp.PUBLISHED, dp.OURS)
        for length in (100, 10_000)
    ]
    written = dp_plot.save_roofline(speeds, ROOFS, "a device", tmp_path / "roofline")
    assert [path.name for path in written] == ["roofline.svg", "roofline.png"]
    assert "warping, ours" in written[0].read_text() or written[0].stat().st_size > 10_000
    assert written[1].read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_cure_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"--roofline.*pip install 'pairhmm\[plot\]'"):
        dp_plot.need_matplotlib()


def test_without_cuda_there_is_one_line():
    if backends.status("cuda").available:
        pytest.skip("CUDA is here")
    done = subprocess.run([sys.executable, "-m", "pairhmm", "bench", "dp"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "backend cuda" in done.stderr


def test_on_a_device(require):
    found = setup.status()
    require("cuda", found.available, f"{found.reason}; {found.cure}")
    speeds = list(dp.measure_cells(0, (100, 1_100), 1, repetitions=1))
    assert all(speed.gcups > 0 and speed.same is not False for speed in speeds)
