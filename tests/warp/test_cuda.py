"""Warping on CUDA gives the oracle's costs and places, in the emulator and on a device where there is one."""

import logging

import numpy as np
import pytest

from pairhmm.errors import DeviceLost
from pairhmm.warp import cuda
from pairhmm.warp.base import SignalPairs, Signals, WarpOptions
from pairhmm.warp.cuda_kernels import FLOATS, HALVES, LONG_SHAPES, SHORT_SHAPES, WORDS, WarpKernel
from tests.conftest import load_helper
from tests.warp import any_signals

SUBSEQUENCE = WarpOptions("subsequence")


def emulated(memory=1 << 30):
    with load_helper("backends/cuda/emulated_cupy").installed(memory):
        return cuda.CudaWarper(0)


@pytest.fixture(scope="module", params=["emulated", "cuda"])
def warper(request, require_backend):
    if request.param == "emulated":
        request.getfixturevalue("emulator")
        return emulated()
    require_backend("cuda")
    return cuda.make()


@pytest.mark.parametrize("seed", range(12))
def test_random_pairs(warper, seed):
    rng = np.random.default_rng(seed)
    any_signals.check(warper, any_signals.random_pairs(rng, 20, 150), any_signals.random_options(rng))


@pytest.mark.parametrize("options", [WarpOptions(), WarpOptions(band=60), SUBSEQUENCE], ids=str)
@pytest.mark.parametrize("scale", [20, 30_000])
def test_several_strips(warper, options, scale):
    """Pairs of more rows than a warp takes at once, in halves and in floats."""
    rng = np.random.default_rng(scale)
    targets = [rng.integers(-scale // 2, scale // 2, size).astype(np.int16) for size in (1030, 2100, 1600)]
    queries = [one[: len(one) - 50] for one in targets]
    index = np.arange(3, dtype=np.int32)
    any_signals.check(warper, SignalPairs(Signals.of(queries), Signals.of(targets), index, index), options)


@pytest.mark.parametrize("options", [WarpOptions(), SUBSEQUENCE], ids=str)
def test_costs_at_the_limit_of_halves(warper, options):
    """Levels differ by 2,047: a cost is exact in halves below 32,783, and is computed again from there on."""
    for extra in range(-2, 3):
        query = np.array([0] * 16 + [2047, 0, 0], np.int16)
        target = np.array([2047] * 16 + [0, 31 + extra, 31 + extra], np.int16)
        any_signals.check(warper, any_signals.pair_of(query, target), options)


@pytest.mark.parametrize("options", [WarpOptions(), SUBSEQUENCE], ids=str)
def test_costs_at_the_limit_of_floats(warper, options):
    """Costs near 2^24, beyond which floats are not exact."""
    size = 257
    for extra in (-300, -1, 0, 1, 300):
        query = np.full(size, -32_640)
        target = np.full(size, 32_640)
        target[0] += extra // 3
        target[1] += extra % 3
        any_signals.check(warper, any_signals.pair_of(query, target), options)


def test_a_cost_that_no_form_holds_is_the_cpus(warper, caplog):
    count = 33_000
    pair = any_signals.pair_of(np.full(count, any_signals.LEAST), np.full(20, any_signals.MOST))
    with caplog.at_level(logging.WARNING):
        found = warper.warpings(pair, WarpOptions(), 1)
    assert (found.costs[0], found.starts[0], found.ends[0]) == (count * 65_535, 0, 20)
    assert [record.message for record in caplog.records if "CPU" in record.message]


def test_a_start_far_before_its_end(warper):
    """One level of the query is warped onto 700 of the target, and so the start is not in the first window."""
    query, target = [5, 9, 100], [7] * 50 + [5] + [9] * 700 + [100] + [7] * 20
    any_signals.check(warper, any_signals.pair_of(query, target), SUBSEQUENCE)
    found = warper.warpings(any_signals.pair_of(query, target), SUBSEQUENCE, 1)
    assert (found.costs[0], found.starts[0], found.ends[0]) == (0, 50, 752)


def test_no_pairs_and_no_path(warper):
    any_signals.check_edges(warper)


def test_signals_that_no_pair_uses_are_not_sent(warper):
    """Of 3,000 signals, the pairs use the first and the last."""
    rng = np.random.default_rng(2)
    signals = Signals.of([rng.integers(0, 99, 40).astype(np.int16) for _ in range(3_000)])
    index = np.array([0, 2_999, 0], np.int32)
    any_signals.check(warper, SignalPairs(signals, signals, index, index[::-1].copy()), WarpOptions())


def test_chunks_change_nothing(emulator, monkeypatch):
    pairs = any_signals.random_pairs(np.random.default_rng(7), 40, 150)
    monkeypatch.setattr(cuda, "MOST_LEVELS", 600)
    for options in (WarpOptions(), SUBSEQUENCE):
        any_signals.check(emulated(), pairs, options)


def test_out_of_memory_halves_the_chunks(emulator, caplog, monkeypatch):
    monkeypatch.setattr(cuda, "LEAST_LEVELS", 500)
    monkeypatch.setattr(cuda, "MOST_LEVELS", 16_000)
    pairs = any_signals.random_pairs(np.random.default_rng(8), 100, 150)
    with caplog.at_level(logging.WARNING):
        any_signals.check(emulated(8_000), pairs, SUBSEQUENCE)
    assert "out of memory; chunks of 8,000 levels now" in caplog.text


def test_without_memory_the_cpu_warps(emulator, caplog):
    with caplog.at_level(logging.WARNING):
        any_signals.check(emulated(64), any_signals.random_pairs(np.random.default_rng(9), 5, 60), SUBSEQUENCE)
    assert "the CPU warps" in caplog.text


def test_kernel_seconds(warper):
    pairs = any_signals.random_pairs(np.random.default_rng(0), 20, 150)
    seconds = warper.kernel_seconds(pairs, any_signals.random_options(np.random.default_rng(0)), 3)
    assert len(seconds) == 3 and min(seconds) >= 0


def test_a_lost_device_is_raised(emulator, monkeypatch):
    module = load_helper("backends/cuda/emulated_cupy")
    broken = emulated()

    def lost(*_, **__):
        error = module.CUDARuntimeError("cudaErrorECCUncorrectable: uncorrectable ECC error encountered")
        error.status = 214
        raise error

    monkeypatch.setattr(module.Memory, "copy_to_host_async", lost)
    with pytest.raises(DeviceLost):
        broken.warpings(any_signals.pair_of([1, 2], [3]), WarpOptions(), 1)


def test_compiles(nvrtc, architecture):
    """Every form compiles without a warning; where DPX is, what is spilled lies outside of the loop over columns."""
    variants = [WarpKernel(form, SHORT_SHAPES[4]) for form in (HALVES, FLOATS, WORDS)]
    variants += [WarpKernel(HALVES, LONG_SHAPES[0], True, True), WarpKernel(FLOATS, LONG_SHAPES[1], banded=True)]
    jobs = [nvrtc.Job(architecture, variant.source(), ("--std=c++17",)) for variant in variants]
    for result in nvrtc.compile_all(jobs):
        assert result.compiles and not result.warnings, result.log
        assert architecture != "sm_90" or max(usage.spills for usage in result.kernels.values()) <= 64
