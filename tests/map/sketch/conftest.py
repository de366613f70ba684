"""Random sketches that the tests of all comparers share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pairhmm.map.sketch.sketches import Scheme, Sketches, planes_of


def sketches_of(slots: np.ndarray, scheme: Scheme, kmers: np.ndarray | None = None) -> Sketches:
    """Sketches with these values of slots: unsigned integers[samples, slots]."""
    count = len(slots)
    return Sketches(
        scheme,
        [f"s{index}" for index in range(count)],
        planes_of(slots.astype(np.uint32), scheme.bits),
        np.full(count, 1e6) if kmers is None else kmers,
        np.ones(count, np.int32),
    )


def random_sketches(rng: np.random.Generator, count: int, scheme: Scheme) -> Sketches:
    """Sketches that are copies of a few, with more or fewer slots changed; some are equal, some differ in all slots."""
    most = 2**scheme.bits
    few = rng.integers(0, most, (3, scheme.slots))
    slots = few[rng.integers(0, len(few), count)]
    changed = rng.random(slots.shape) < rng.choice([0, 0.01, 0.3, 1], (count, 1))
    slots = np.where(changed, rng.integers(0, most, slots.shape), slots)
    if count > 2:
        slots[-1] = slots[0] ^ 1
    return sketches_of(slots, scheme)


@pytest.fixture(scope="session")
def make_sketches() -> Callable[..., Sketches]:
    """``make_sketches(rng, count, scheme)``: random sketches."""
    return random_sketches


@pytest.fixture(scope="session")
def pack_sketches() -> Callable[..., Sketches]:
    """``pack_sketches(slots, scheme, kmers=None)``: sketches with these slots."""
    return sketches_of
