"""Every embedder gives what the oracle gives: each SIMD level, CUDA in the emulator, WebGPU on an adapter."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from pairhmm.backends.cpu import instruction_sets
from pairhmm.errors import DeviceLost
from pairhmm.map import cuda, device, webgpu
from pairhmm.map.base import EMBEDDERS
from pairhmm.map.cpu import CpuEmbedder
from pairhmm.map.sketch.published import PRIME
from pairhmm.map.tokens import Neighbours, TokenSets
from tests.conftest import load_helper
from tests.map import any_samples as samples

SIZES = (0, 1, 2, 5, 11, 12, 13, 100, 1000)
"""Tokens of sets: on both sides of what divides the two ways to sketch."""

PROJECTION_LIMIT, BLEND_LIMIT = 1e-4, 1e-5
"""How far embedders may be from the oracle, which computes in float64."""


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


def check_signatures(embedder, tokens: TokenSets, threads: int = 1) -> None:
    """The signatures are the oracle's, bit for bit."""
    found = embedder.signatures(tokens, threads)
    assert found.dtype == np.uint32 and found.shape == (len(tokens), 128)
    assert np.array_equal(found, EMBEDDERS.load("reference").signatures(tokens, 1))


def check_projections(embedder, groups: list[TokenSets], matrices: np.ndarray) -> None:
    """The projections are close to the oracle's, and 0 where there are no tokens."""
    found = embedder.projections(groups, matrices, 2)
    assert np.array_equal(found, embedder.projections(groups, matrices, 1))
    expected = EMBEDDERS.load("reference").projections(groups, matrices, 1)
    assert found.dtype == np.float32 and found.shape == (len(groups), len(groups[0]), 2)
    assert float(np.abs(found - expected).max(initial=0)) <= PROJECTION_LIMIT
    for one, group in zip(found, groups, strict=True):
        assert not one[np.diff(group.offsets) == 0].any()


def check_blended(embedder, start: np.ndarray, rows: Neighbours, alpha: float, passes: int) -> None:
    """The blended positions are close to the oracle's."""
    found = embedder.blended(start, rows, alpha, passes, 1)
    expected = EMBEDDERS.load("reference").blended(start, rows, alpha, passes, 1)
    assert found.dtype == np.float32 and found.shape == start.shape
    assert float(np.abs(found - expected).max(initial=0)) <= BLEND_LIMIT


def emulated(memory=1 << 30) -> device.DeviceEmbedder:
    with load_helper("backends/cuda/emulated_cupy").installed(memory):
        return device.DeviceEmbedder(cuda.CudaSketcher(0))


DEVICES = ("emulated", "cuda", "webgpu", "webgpu without 64 bits")


def embedder_of(request, require_backend):
    name = request.param
    if name == "emulated":
        request.getfixturevalue("emulator")
        return emulated()
    backend, *without = name.split(maxsplit=1)
    require_backend(backend)
    if backend == "cpu":
        if without[0] not in [level for level, runs in instruction_sets() if runs]:
            pytest.skip(f"this machine does not run {without[0]}")
        return CpuEmbedder(without[0])
    return device.DeviceEmbedder(webgpu.WebgpuSketcher(0, int64=False)) if without else EMBEDDERS.load(backend)


@pytest.fixture(scope="module", params=["cpu x86-64-v2", "cpu avx2", "cpu avx512", "cpu neon", *DEVICES])
def embedder(request, require_backend):
    return embedder_of(request, require_backend)


@pytest.fixture(scope="module", params=DEVICES)
def device_embedder(request, require_backend):
    return embedder_of(request, require_backend)


@pytest.mark.parametrize("size", SIZES)
def test_signatures_of_sets_of_one_size(embedder, size):
    check_signatures(embedder, sets_of_sizes(np.random.default_rng(size), 5, (size,)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("most", [0, 11, 30, 2000])
def test_signatures_of_random_sets(embedder, most, threads):
    check_signatures(embedder, samples.any_tokens(np.random.default_rng(most), 300, most), threads)


def test_signatures_of_the_least_and_the_greatest_token(embedder):
    sets = [np.array(one) for one in ([0], [PRIME - 1], [0, PRIME - 1], [1], [2**16 - 1, 2**16, 2**30])]
    check_signatures(embedder, samples.token_sets(sets))


def test_a_part_of_larger_arrays(embedder):
    """Offsets need not begin at 0."""
    tokens = sets_of_sizes(np.random.default_rng(4), 40)
    check_signatures(embedder, TokenSets(tokens.tokens, tokens.offsets[11:30]))


@pytest.mark.parametrize("count", [1, 2, 33, 300])
def test_projections(embedder, count):
    rng = np.random.default_rng(count)
    groups = [sets_of_sizes(rng, count, sizes) for sizes in ((0, 1, 3, 11), (0, 5, 12, 40), (7,))]
    check_projections(embedder, groups, samples.any_matrices(rng, 3))


def test_projections_of_slots_that_hardly_vary(embedder):
    """All samples but one have the same token; and two tokens that differ by one."""
    rng = np.random.default_rng(3)
    same = [np.array([12345])] * 400
    groups = [
        samples.token_sets([*same, np.array([777])]),
        samples.token_sets([np.array([4 + k % 2]) for k in range(401)]),
    ]
    check_projections(embedder, groups, samples.any_matrices(rng, 2))


def test_projections_where_nothing_varies_or_is_there(embedder):
    rng = np.random.default_rng(3)
    groups = [samples.token_sets([np.array([1, 2, 3])] * 5), samples.token_sets([np.array([])] * 5)]
    assert not embedder.projections(groups, samples.any_matrices(rng, 2), 1).any()


@pytest.mark.parametrize("passes", [0, 1, 2, 5])
def test_blended(embedder, passes):
    rng = np.random.default_rng(passes)
    start = rng.normal(size=(500, 2)).astype(np.float32)
    check_blended(embedder, start, samples.any_neighbours(rng, 500, 10), 0.6, passes)


def test_blended_with_very_many_neighbours(embedder):
    rng = np.random.default_rng(1)
    start = (5 + rng.normal(size=(30, 2))).astype(np.float32)
    check_blended(embedder, start, samples.any_neighbours(rng, 30, 20_000), 0.9, 5)


def test_no_samples(embedder):
    none = samples.token_sets([])
    assert embedder.signatures(none, 1).shape == (0, 128)
    assert embedder.projections([none], np.zeros((1, 128, 2), np.float32), 1).shape == (1, 0, 2)
    assert embedder.projections([], np.empty((0, 128, 2), np.float32), 1).shape == (0, 0, 2)
    no_neighbours = Neighbours(np.zeros(0, np.int32), np.zeros(1, np.int64))
    assert embedder.blended(np.zeros((0, 2), np.float32), no_neighbours, 0.5, 5, 1).shape == (0, 2)


def test_chunks_change_nothing(device_embedder, monkeypatch):
    rng = np.random.default_rng(8)
    groups = [sets_of_sizes(rng, 60, (0, 1, 5, 13)), sets_of_sizes(rng, 60, (0, 1))]
    given = samples.any_matrices(rng, 2)
    start, rows = rng.normal(size=(60, 2)).astype(np.float32), samples.any_neighbours(rng, 60, 10)
    whole = (
        device_embedder.signatures(groups[0], 1),
        device_embedder.projections(groups, given, 1),
        device_embedder.blended(start, rows, 0.5, 5, 1),
    )
    for words in (300, 40):
        monkeypatch.setattr(device_embedder, "_most", words)
        assert np.array_equal(device_embedder.signatures(groups[0], 1), whole[0])
        assert np.array_equal(device_embedder.projections(groups, given, 1), whole[1])
        assert np.array_equal(device_embedder.blended(start, rows, 0.5, 5, 1), whole[2])


def test_out_of_memory_halves_the_chunks(emulator, caplog, monkeypatch):
    monkeypatch.setattr(device, "LEAST_WORDS", 500)
    monkeypatch.setattr(cuda, "BYTES_OF_WORD", 1)
    embedder = emulated(60_000)
    with caplog.at_level(logging.WARNING):
        check_signatures(embedder, sets_of_sizes(np.random.default_rng(8), 150))
    assert "cuda:0: out of memory; chunks of " in caplog.text and "goes on" not in caplog.text


def test_without_memory_the_cpu_goes_on(emulator, caplog):
    embedder = emulated(2_000)
    with caplog.at_level(logging.WARNING):
        check_signatures(embedder, sets_of_sizes(np.random.default_rng(8), 20))
    assert "out of memory, however small the chunks" in caplog.text and "goes on" in caplog.text


def test_a_lost_device_leaves_the_rest_to_the_cpu(device_embedder, caplog, monkeypatch):
    def lost(*_):
        raise DeviceLost(device_embedder.label, "it fell off the bus")

    broken = device.DeviceEmbedder(device_embedder.sketcher)
    monkeypatch.setattr(device_embedder.sketcher, "begin", lost)
    rng = np.random.default_rng(2)
    with caplog.at_level(logging.WARNING):
        check_projections(broken, [sets_of_sizes(rng, 9)], samples.any_matrices(rng, 1))
    assert f"{device_embedder.label}: lost (it fell off the bus)" in caplog.text and "goes on" in caplog.text


def test_cut():
    tokens = sets_of_sizes(np.random.default_rng(3), 50, (0, 3, 90))
    chunks = device.cut(tokens, 100)
    assert [int(chunk.offsets[0]) for chunk in chunks[1:]] == [int(chunk.offsets[-1]) for chunk in chunks[:-1]]
    assert sum(map(len, chunks)) == 50 and all(map(len, chunks))
    assert all(len(chunk) == 1 or len(device.values_of(chunk)) + len(chunk) <= 100 for chunk in chunks)


def test_compiles(nvrtc, architecture):
    """Every kernel compiles without a warning or a spill."""
    jobs = [nvrtc.Job(architecture, text, ("--std=c++17",)) for text in cuda.sources_of_kernels().values()]
    results = nvrtc.compile_all(jobs)
    for result in results:
        assert result.compiles and not result.warnings, result.log
        assert not [usage for usage in result.kernels.values() if usage.stack or usage.spills]
    names = {name for result in results for name in result.kernels}
    assert names == {"place_signatures", "place_columns", "place_project", "place_blend"}


def test_kernels_are_timed(device_embedder):
    """A time for each kernel that is launched."""
    rng = np.random.default_rng(2)
    groups = [sets_of_sizes(rng, 40), sets_of_sizes(rng, 40)]
    with device_embedder.sketcher.timing() as seconds:
        device_embedder.projections(groups, samples.any_matrices(rng, 2), 1)
    assert len(seconds) == 4 and all(one >= 0 for one in seconds)
