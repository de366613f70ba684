"""The oracle of the map: signatures, z-scores, projection and blending in NumPy, with sums in 64 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.base import Embedder
from pairhmm.map.sketch.published import PRIME, SLOTS, signature
from pairhmm.map.tokens import Neighbours, TokenSets


class ReferenceEmbedder(Embedder):
    """One sample after the other."""

    label = "reference"

    def signatures(self, tokens: TokenSets, threads: int) -> NDArray[np.uint32]:
        signatures = np.empty((len(tokens), SLOTS), dtype=np.uint32)
        for sample in range(len(tokens)):
            signatures[sample] = signature(tokens.tokens[tokens.offsets[sample] : tokens.offsets[sample + 1]])
        return signatures

    def projections(
        self, groups: Sequence[TokenSets], matrices: NDArray[np.float32], threads: int
    ) -> NDArray[np.float32]:
        samples = len(groups[0]) if groups else 0
        projections = np.empty((len(groups), samples, 2), dtype=np.float32)
        for group, matrix, into in zip(groups, matrices, projections, strict=True):
            into[:] = projection(self.signatures(group, threads), matrix)
        return projections

    def blended(
        self, start: NDArray[np.float32], neighbours: Neighbours, alpha: float, passes: int, threads: int
    ) -> NDArray[np.float32]:
        return blend(start, neighbours, alpha, passes).astype(np.float32)


def z_scores(signatures: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Slots as z-scores over the samples that have tokens, shape (samples, 128).

    A slot is taken as ``value / P``. Its z-score is its distance from the slot's mean in population standard
    deviations. It is 0 in a slot whose values are all equal, and in samples without tokens.
    """
    scores = np.zeros(signatures.shape)
    has_tokens = signatures[:, 0] != PRIME
    if not has_tokens.any():
        return scores
    values = signatures[has_tokens]
    differs = values.min(axis=0) < values.max(axis=0)  # exact, where a deviation of rounded numbers is not
    slots = values / PRIME
    deviations = np.where(differs, slots.std(axis=0), 1)
    scores[has_tokens] = np.where(differs, (slots - slots.mean(axis=0)) / deviations, 0)
    return scores


def projection(signatures: NDArray[np.uint32], matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    """The z-scores of signatures in the plane, shape (samples, 2)."""
    return z_scores(signatures) @ matrix.astype(np.float64)


def blend(start: NDArray[np.float32], neighbours: Neighbours, alpha: float, passes: int) -> NDArray[np.float64]:
    """Positions after the passes of `pairhmm.map.base.Embedder.blended`, shape (samples, 2)."""
    counts = np.diff(neighbours.offsets)
    has_neighbours = counts > 0
    firsts = neighbours.offsets[:-1][has_neighbours]
    where = start.astype(np.float64)
    for _ in range(passes if has_neighbours.any() else 0):
        means = np.add.reduceat(where[neighbours.indices], firsts) / counts[has_neighbours, None]
        where[has_neighbours] = (1 - alpha) * start[has_neighbours].astype(np.float64) + alpha * means
    return where


def make() -> ReferenceEmbedder:
    return ReferenceEmbedder()
