"""Every comparer counts the slots that are equal, and finds the nearest targets, as the definition says."""

import logging

import numpy as np
import pytest

from pairhmm.backends.cuda import sources as cuda_sources
from pairhmm.map.sketch import base, cpu, cuda, webgpu
from pairhmm.map.sketch.base import COMPARERS, NO_TARGET
from pairhmm.map.sketch.reference import ReferenceComparer
from pairhmm.map.sketch.sketches import Scheme
from tests.conftest import load_helper

CPU_LEVELS = ("x86-64-v2", "avx2", "avx512", "avx512 vpopcntdq", "neon")

SCHEMES = [
    Scheme(slots=128, bits=1),
    Scheme(slots=128, bits=16),
    Scheme(slots=256, bits=3),
    Scheme(slots=512, bits=2),
    Scheme(slots=1024, bits=8),
    Scheme(slots=8192, bits=1),
    Scheme("published", slots=128, bits=31),
]


def emulated(memory=1 << 30):
    with load_helper("backends/cuda/emulated_cupy").installed(memory):
        return cuda.CudaComparer(0)


@pytest.fixture(scope="module", params=["reference", *CPU_LEVELS, "emulated", "cuda", "webgpu"])
def comparer(request, require_backend):
    name = request.param
    if name in CPU_LEVELS:
        require_backend("cpu")
        if name not in cpu.levels():
            pytest.skip(f"this machine does not run {name}")
        return cpu.CpuComparer(name)
    if name == "emulated":
        request.getfixturevalue("emulator")
        return emulated()
    require_backend(name)
    return COMPARERS.load(name)


def slots_of(sketches):
    """The values of the slots, int64[samples, slots]."""
    bits = np.unpackbits(sketches.planes.view(np.uint8), axis=2, bitorder="little").astype(np.int64)
    return (bits << np.arange(sketches.scheme.bits)[:, None]).sum(axis=1)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize(("queries", "targets"), [(1, 1), (3, 70), (67, 5), (9, 300)])
def test_equal_slots(comparer, make_sketches, scheme, queries, targets):
    rng = np.random.default_rng(queries)
    both = make_sketches(rng, queries + targets, scheme)
    first, second = both.part(0, queries), both.part(queries, queries + targets)
    expected = (slots_of(first)[:, None] == slots_of(second)).sum(axis=2)
    found = comparer.equal_slots(first, second, 2)
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, expected)


def test_all_slots_and_none(comparer, pack_sketches):
    """The largest number of equal slots, and the least."""
    slots = np.zeros((2, 8192), np.int64)
    slots[1] = 1
    both = pack_sketches(slots, Scheme(slots=8192, bits=1))
    np.testing.assert_array_equal(comparer.equal_slots(both, both, 1), [[8192, 0], [0, 8192]])


@pytest.mark.parametrize("scheme", [SCHEMES[0], SCHEMES[4]], ids=str)
@pytest.mark.parametrize(("targets", "count"), [(1, 1), (5, 8), (400, 1), (400, 7), (700, 40)])
def test_nearest(comparer, make_sketches, scheme, targets, count):
    """Equal sketches are among them, so that the first of equally near ones counts."""
    both = make_sketches(np.random.default_rng(targets + count), targets + 11, scheme)
    queries, others = both.part(targets, targets + 11), both.part(0, targets)
    nearest, equal = comparer.nearest(queries, others, count, 2)
    assert (nearest.shape, nearest.dtype) == ((11, count), np.int32)
    expected = ReferenceComparer().equal_slots(queries, others, 1)
    for row in range(len(queries)):
        order = sorted(range(targets), key=lambda target: (-int(expected[row, target]), target))[:count]
        lacking = count - len(order)
        assert nearest[row].tolist() == order + [NO_TARGET] * lacking
        assert equal[row].tolist() == [int(expected[row, target]) for target in order] + [0] * lacking


def test_no_sketch(comparer, make_sketches):
    some = make_sketches(np.random.default_rng(0), 3, SCHEMES[0])
    none = some.part(0, 0)
    assert comparer.equal_slots(some, none, 1).shape == (3, 0)
    assert comparer.equal_slots(none, some, 1).shape == (0, 3)
    assert (comparer.nearest(some, none, 2, 1)[0] == NO_TARGET).all()


@pytest.fixture(params=["emulated", "webgpu"])
def device_comparer(request, require_backend):
    """A comparer of its own, for tests that change what it may take."""
    if request.param == "emulated":
        request.getfixturevalue("emulator")
        return emulated()
    require_backend("webgpu")
    return COMPARERS.load("webgpu")


def test_small_blocks_on_a_device(device_comparer, make_sketches, monkeypatch):
    """Several blocks of queries, and of targets among which the nearest are looked for."""
    for module in (cuda, webgpu):
        monkeypatch.setattr(module, "MOST_PAIRS", 64 * 200)
    monkeypatch.setattr(base, "MOST_TARGETS", 60)
    some = make_sketches(np.random.default_rng(1), 330, SCHEMES[1])
    first, second = some.part(0, 150), some.part(150, 330)
    oracle = ReferenceComparer()
    np.testing.assert_array_equal(device_comparer.equal_slots(first, second, 1), oracle.equal_slots(first, second, 1))
    for found, expected in zip(
        device_comparer.nearest(first, second, 5, 1), oracle.nearest(first, second, 5, 1), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_the_cpu_finds_many_nearest(device_comparer, make_sketches, caplog):
    some = make_sketches(np.random.default_rng(2), 90, SCHEMES[0])
    with caplog.at_level(logging.WARNING, "pairhmm"):
        found = device_comparer.nearest(some, some, base.MOST_NEAREST + 1, 1)
    assert "no kernel for more than 64 nearest samples" in caplog.text
    np.testing.assert_array_equal(found[0], ReferenceComparer().nearest(some, some, base.MOST_NEAREST + 1, 1)[0])


def test_the_cpu_helps_a_device_without_memory(emulator, make_sketches, caplog):
    some = make_sketches(np.random.default_rng(3), 90, SCHEMES[5])
    with caplog.at_level(logging.WARNING, "pairhmm"):
        found = emulated(100_000).equal_slots(some, some, 1)
    assert "no kernel for so many sketches at once" in caplog.text
    np.testing.assert_array_equal(found, ReferenceComparer().equal_slots(some, some, 1))


def test_cuda_compiles(nvrtc, architecture):
    """Without a warning or a spill."""
    jobs = [nvrtc.Job(architecture, cuda.source(bits), tuple(cuda_sources.OPTIONS)) for bits in (1, 8, 31)]
    for result in nvrtc.compile_all(jobs):
        assert result.compiles and not result.warnings, result.log
        assert set(result.kernels) == {f"map_{name}" for name in cuda.KERNELS}
        assert not [usage for usage in result.kernels.values() if usage.stack or usage.spills]


@pytest.mark.parametrize("name", ["cuda", "webgpu"])
def test_kernels_are_timed_by_the_device(name, require_backend, make_sketches):
    require_backend(name)
    sketches = make_sketches(np.random.default_rng(3), 70, Scheme(slots=256, bits=1))
    seconds = COMPARERS.load(name).kernel_seconds(sketches, sketches, 2)
    assert len(seconds) in (0, 2) and all(second > 0 for second in seconds)


def test_kernels_are_timed_on_a_stream(emulator, make_sketches):
    """CUDA's kernels in the emulator, which has a clock of its own."""
    sketches = make_sketches(np.random.default_rng(3), 70, Scheme(slots=256, bits=1))
    assert len(emulated().kernel_seconds(sketches, sketches, 2)) == 2
