"""The SIMD embedder: `cpu/map/`, compiled for several instruction sets and chosen at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cpu import chosen_isa
from pairhmm.map.base import Embedder
from pairhmm.map.sketch.published import FACTORS, SLOTS, SUMMANDS
from pairhmm.map.tokens import Neighbours, TokenSets


class CpuEmbedder(Embedder):
    """Signatures in vectors of slots or of tokens; z-scores and sums in 64 bits, the same for any number of threads."""

    def __init__(self, level: str) -> None:
        from pairhmm.native import native

        self.label = f"cpu ({level})"
        self._native, self._level = native, level

    def signatures(self, tokens: TokenSets, threads: int) -> NDArray[np.uint32]:
        signatures = np.empty((len(tokens), SLOTS), dtype=np.uint32)
        self._native.sign_samples(
            self._level, tokens.tokens, tokens.offsets, FACTORS, SUMMANDS, threads, signatures.reshape(-1)
        )
        return signatures

    def projections(
        self, groups: Sequence[TokenSets], matrices: NDArray[np.float32], threads: int
    ) -> NDArray[np.float32]:
        projections = np.empty((len(groups), len(groups[0]) if groups else 0, 2), dtype=np.float32)
        for group, matrix, into in zip(groups, matrices, projections, strict=True):
            self._native.project_samples(
                self._level,
                group.tokens,
                group.offsets,
                FACTORS,
                SUMMANDS,
                np.ascontiguousarray(matrix).reshape(-1),
                threads,
                into.reshape(-1),
            )
        return projections

    def blended(
        self, start: NDArray[np.float32], neighbours: Neighbours, alpha: float, passes: int, threads: int
    ) -> NDArray[np.float32]:
        positions = np.empty(start.shape, dtype=np.float32)
        begin = np.ascontiguousarray(start).reshape(-1)
        self._native.blend_positions(
            begin, neighbours.indices, neighbours.offsets, alpha, passes, threads, positions.reshape(-1)
        )
        return positions


def make() -> CpuEmbedder:
    """An embedder at the level that runs here (`pairhmm.backends.cpu.chosen_isa`)."""
    return CpuEmbedder(chosen_isa())
