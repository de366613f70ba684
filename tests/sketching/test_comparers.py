"""Every comparer counts the slots that are equal, and finds the nearest targets, as the definition says."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm import backends, sketching
from pairhmm.sketching import cpu
from pairhmm.sketching.nearest import NO_TARGET
from pairhmm.sketching.reference import ReferenceComparer
from pairhmm.sketching.sketches import Scheme

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


@pytest.fixture(scope="module", params=["reference", *CPU_LEVELS, "webgpu"])
def comparer(request, require):
    name = request.param
    if name in CPU_LEVELS:
        require("cpu", backends.status("cpu").available, "the compiled part is missing")
        if name not in cpu.levels():
            pytest.skip(f"this machine does not run {name}")
        return cpu.CpuComparer(name)
    found = backends.status(name)
    require(name, found.available, f"{found.reason}; {found.cure}")
    return sketching.load(name)


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
