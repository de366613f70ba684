"""Placers on devices give what the oracle gives: CUDA in the emulator, WebGPU on an adapter."""

from __future__ import annotations

import importlib.util
import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from pairhmm import backends
from pairhmm.errors import DeviceLost
from pairhmm.map import cuda, device, webgpu
from pairhmm.map.base import PLACERS
from pairhmm.map.sketch.published import PRIME
from pairhmm.map.tokens import Neighbours, TokenSets

HERE = Path(__file__).parent
EMULATION = HERE.parent / "backends" / "cuda"


def helper(name: str, folder: Path = EMULATION):
    """A module beside tests, which are no package."""
    full = f"pairhmm_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


samples = helper("any_samples", HERE)

SIZES = (0, 1, 2, 5, 11, 12, 13, 100, 1000)
"""Tokens of sets: on both sides of what divides the two ways to sketch."""

PROJECTION_LIMIT, BLEND_LIMIT = 1e-4, 1e-5
"""How far placers may be from the oracle, which computes in float64."""


def sets_of_sizes(rng: np.random.Generator, count: int, sizes: tuple[int, ...] = SIZES) -> TokenSets:
    """Random token sets. Some have the least and the greatest token."""
    sets = []
    for size in rng.choice(sizes, count):
        tokens = np.unique(rng.integers(0, PRIME, 2 * size))
        chosen = rng.choice(tokens, size, replace=False)
        if size and rng.random() < 0.5:
            chosen[: min(2, size)] = [0, PRIME - 1][: min(2, size)]
        sets.append(np.unique(chosen))
    return samples.token_sets(sets)


def check_signatures(placer, tokens: TokenSets) -> None:
    """The signatures are the oracle's, bit for bit."""
    found = placer.signatures(tokens, 1)
    assert found.dtype == np.uint32 and found.shape == (len(tokens), 128)
    assert np.array_equal(found, PLACERS.load("reference").signatures(tokens, 1))


def check_projections(placer, groups: list[TokenSets], matrices: np.ndarray) -> None:
    """The projections are close to the oracle's, and 0 where there are no tokens."""
    found = placer.projections(groups, matrices, 1)
    expected = PLACERS.load("reference").projections(groups, matrices, 1)
    assert found.dtype == np.float32 and found.shape == (len(groups), len(groups[0]), 2)
    assert float(np.abs(found - expected).max(initial=0)) <= PROJECTION_LIMIT
    for one, group in zip(found, groups, strict=True):
        assert not one[np.diff(group.offsets) == 0].any()


def check_blended(placer, start: np.ndarray, rows: Neighbours, alpha: float, passes: int) -> None:
    """The blended positions are close to the oracle's."""
    found = placer.blended(start, rows, alpha, passes, 1)
    expected = PLACERS.load("reference").blended(start, rows, alpha, passes, 1)
    assert found.dtype == np.float32 and found.shape == start.shape
    assert float(np.abs(found - expected).max(initial=0)) <= BLEND_LIMIT


def emulated(require, memory=1 << 30) -> device.DevicePlacer:
    require("emulator", helper("emulator").compiler() is not None, "the CUDA emulator needs Linux and a g++")
    with helper("emulated_cupy").installed(memory):
        return device.DevicePlacer(cuda.CudaSketcher(0))


@pytest.fixture(scope="module", params=["emulated", "cuda", "webgpu", "webgpu without 64 bits"])
def placer(request, require):
    if request.param == "emulated":
        return emulated(require)
    name, *without = request.param.split(maxsplit=1)
    found = backends.status(name)
    require(name, found.available, f"{found.reason}; {found.cure}")
    return device.DevicePlacer(webgpu.WebgpuSketcher(0, int64=False)) if without else PLACERS.load(name)


@pytest.mark.parametrize("size", SIZES)
def test_signatures_of_sets_of_one_size(placer, size):
    check_signatures(placer, sets_of_sizes(np.random.default_rng(size), 5, (size,)))


@pytest.mark.parametrize("seed", range(3))
def test_signatures_of_random_sets(placer, seed):
    check_signatures(placer, sets_of_sizes(np.random.default_rng(seed), 70))


def test_signatures_of_the_least_and_the_greatest_token(placer):
    sets = [np.array(one) for one in ([0], [PRIME - 1], [0, PRIME - 1], [1], [2**16 - 1, 2**16, 2**30])]
    check_signatures(placer, samples.token_sets(sets))


def test_a_part_of_larger_arrays(placer):
    """Offsets need not begin at 0."""
    tokens = sets_of_sizes(np.random.default_rng(4), 40)
    check_signatures(placer, TokenSets(tokens.tokens, tokens.offsets[11:30]))


@pytest.mark.parametrize("count", [1, 2, 33, 300])
def test_projections(placer, count):
    rng = np.random.default_rng(count)
    groups = [sets_of_sizes(rng, count, sizes) for sizes in ((0, 1, 3, 11), (0, 5, 12, 40), (7,))]
    check_projections(placer, groups, samples.any_matrices(rng, 3))


def test_projections_of_slots_that_hardly_vary(placer):
    """All samples but one have the same token; and two tokens that differ by one."""
    rng = np.random.default_rng(3)
    same = [np.array([12345])] * 400
    groups = [
        samples.token_sets([*same, np.array([777])]),
        samples.token_sets([np.array([4 + k % 2]) for k in range(401)]),
    ]
    check_projections(placer, groups, samples.any_matrices(rng, 2))


def test_projections_where_nothing_varies_or_is_there(placer):
    rng = np.random.default_rng(3)
    groups = [samples.token_sets([np.array([1, 2, 3])] * 5), samples.token_sets([np.array([])] * 5)]
    assert not placer.projections(groups, samples.any_matrices(rng, 2), 1).any()


@pytest.mark.parametrize("passes", [0, 1, 2, 5])
def test_blended(placer, passes):
    rng = np.random.default_rng(passes)
    start = rng.normal(size=(500, 2)).astype(np.float32)
    check_blended(placer, start, samples.any_neighbours(rng, 500, 10), 0.6, passes)


def test_blended_with_very_many_neighbours(placer):
    rng = np.random.default_rng(1)
    start = (5 + rng.normal(size=(30, 2))).astype(np.float32)
    check_blended(placer, start, samples.any_neighbours(rng, 30, 20_000), 0.9, 5)


def test_no_samples(placer):
    none = samples.token_sets([])
    assert placer.signatures(none, 1).shape == (0, 128)
    assert placer.projections([none], np.zeros((1, 128, 2), np.float32), 1).shape == (1, 0, 2)
    no_neighbours = Neighbours(np.zeros(0, np.int32), np.zeros(1, np.int64))
    assert placer.blended(np.zeros((0, 2), np.float32), no_neighbours, 0.5, 5, 1).shape == (0, 2)


def test_chunks_change_nothing(placer, monkeypatch):
    rng = np.random.default_rng(8)
    groups = [sets_of_sizes(rng, 150, (0, 1, 5, 13)), sets_of_sizes(rng, 150, (0, 1))]
    given = samples.any_matrices(rng, 2)
    start, rows = rng.normal(size=(150, 2)).astype(np.float32), samples.any_neighbours(rng, 150, 10)
    whole = (
        placer.signatures(groups[0], 1),
        placer.projections(groups, given, 1),
        placer.blended(start, rows, 0.5, 5, 1),
    )
    for words in (300, 40):
        monkeypatch.setattr(placer, "_most", words)
        assert np.array_equal(placer.signatures(groups[0], 1), whole[0])
        assert np.array_equal(placer.projections(groups, given, 1), whole[1])
        assert np.array_equal(placer.blended(start, rows, 0.5, 5, 1), whole[2])


def test_out_of_memory_halves_the_chunks(require, caplog, monkeypatch):
    monkeypatch.setattr(device, "LEAST_WORDS", 500)
    monkeypatch.setattr(cuda, "BYTES_OF_WORD", 1)
    placer = emulated(require, 60_000)
    with caplog.at_level(logging.WARNING):
        check_signatures(placer, sets_of_sizes(np.random.default_rng(8), 150))
    assert "cuda:0: out of memory; chunks of " in caplog.text and "goes on" not in caplog.text


def test_without_memory_the_cpu_goes_on(require, caplog):
    placer = emulated(require, 2_000)
    with caplog.at_level(logging.WARNING):
        check_signatures(placer, sets_of_sizes(np.random.default_rng(8), 20))
    assert "out of memory, however small the chunks" in caplog.text and "goes on" in caplog.text


def test_a_lost_device_leaves_the_rest_to_the_cpu(placer, caplog, monkeypatch):
    def lost(*_):
        raise DeviceLost(placer.label, "it fell off the bus")

    broken = device.DevicePlacer(placer.sketcher)
    monkeypatch.setattr(placer.sketcher, "begin", lost)
    rng = np.random.default_rng(2)
    with caplog.at_level(logging.WARNING):
        check_projections(broken, [sets_of_sizes(rng, 9)], samples.any_matrices(rng, 1))
    assert f"{placer.label}: lost (it fell off the bus)" in caplog.text and "goes on" in caplog.text


def test_cut():
    tokens = sets_of_sizes(np.random.default_rng(3), 50, (0, 3, 90))
    chunks = device.cut(tokens, 100)
    assert [int(chunk.offsets[0]) for chunk in chunks[1:]] == [int(chunk.offsets[-1]) for chunk in chunks[:-1]]
    assert sum(map(len, chunks)) == 50 and all(map(len, chunks))
    assert all(len(chunk) == 1 or len(device.values_of(chunk)) + len(chunk) <= 100 for chunk in chunks)


def test_compiles(require, architecture):
    """Every kernel compiles without a warning or a spill."""
    nvrtc = helper("nvrtc")
    require("nvrtc", nvrtc.library_path() is not None, "no NVRTC: pip install 'nvidia-cuda-nvrtc>=13'")
    jobs = [nvrtc.Job(architecture, text, ("--std=c++17",)) for text in cuda.sources_of_kernels().values()]
    results = nvrtc.compile_all(jobs)
    for result in results:
        assert result.compiles and not result.warnings, result.log
        assert not [usage for usage in result.kernels.values() if usage.stack or usage.spills]
    names = {name for result in results for name in result.kernels}
    assert names == {"place_signatures", "place_columns", "place_project", "place_blend"}


def test_kernels_are_timed(placer):
    """A time for each kernel that is launched."""
    rng = np.random.default_rng(2)
    groups = [sets_of_sizes(rng, 40), sets_of_sizes(rng, 40)]
    with placer.sketcher.timing() as seconds:
        placer.projections(groups, samples.any_matrices(rng, 2), 1)
    assert len(seconds) == 4 and all(one >= 0 for one in seconds)
