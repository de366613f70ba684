"""Random token sets and neighbours, and the checks that every device placer passes."""

from __future__ import annotations

import numpy as np

from pairhmm import placing
from pairhmm.placing.properties import Neighbours, TokenSets
from pairhmm.sketching.published import PRIME

SIZES = (0, 1, 2, 5, 11, 12, 13, 100, 1000)
"""Tokens of sets: on both sides of what divides the two ways to sketch."""

PROJECTION_LIMIT, BLEND_LIMIT = 1e-4, 1e-5
"""How far placers may be from the oracle, which computes in float64."""


def token_sets(rng: np.random.Generator, samples: int, sizes: tuple[int, ...] = SIZES) -> TokenSets:
    """Random token sets. Some have the least and the greatest token."""
    sets = []
    for size in rng.choice(sizes, samples):
        tokens = np.unique(rng.integers(0, PRIME, 2 * size))
        chosen = rng.choice(tokens, size, replace=False)
        if size and rng.random() < 0.5:
            chosen[: min(2, size)] = [0, PRIME - 1][: min(2, size)]
        sets.append(np.unique(chosen))
    return of(sets)


def of(sets: list[np.ndarray]) -> TokenSets:
    """The token sets of a list of arrays."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
    return TokenSets(np.concatenate([*sets, []]).astype(np.uint32), offsets)


def matrices(rng: np.random.Generator, groups: int) -> np.ndarray:
    """Matrices as those of the map."""
    return (rng.normal(size=(groups, 128, 2)) / np.sqrt(128)).astype(np.float32)


def neighbours(rng: np.random.Generator, samples: int, most: int) -> Neighbours:
    """Random neighbours, 0 to `most` of each sample."""
    counts = rng.integers(0, most + 1, samples)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Neighbours(rng.integers(0, samples, int(offsets[-1])).astype(np.int32), offsets)


def check_signatures(placer, tokens: TokenSets) -> None:
    """The signatures are the oracle's, bit for bit."""
    found = placer.signatures(tokens, 1)
    assert found.dtype == np.uint32 and found.shape == (len(tokens), 128)
    assert np.array_equal(found, placing.load("reference").signatures(tokens, 1))


def check_projections(placer, groups: list[TokenSets], matrices: np.ndarray) -> None:
    """The projections are close to the oracle's, and 0 where there are no tokens."""
    found = placer.projections(groups, matrices, 1)
    expected = placing.load("reference").projections(groups, matrices, 1)
    assert found.dtype == np.float32 and found.shape == (len(groups), len(groups[0]), 2)
    assert float(np.abs(found - expected).max(initial=0)) <= PROJECTION_LIMIT
    for one, group in zip(found, groups, strict=True):
        assert not one[np.diff(group.offsets) == 0].any()


def check_blended(placer, start: np.ndarray, rows: Neighbours, alpha: float, passes: int) -> None:
    """The blended positions are close to the oracle's."""
    found = placer.blended(start, rows, alpha, passes, 1)
    expected = placing.load("reference").blended(start, rows, alpha, passes, 1)
    assert found.dtype == np.float32 and found.shape == start.shape
    assert float(np.abs(found - expected).max(initial=0)) <= BLEND_LIMIT
