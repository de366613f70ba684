"""The SIMD aligner: `cpu/align/`, compiled for several instruction sets and chosen at run time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import Aligner, Alignments, SequencePairs
from pairhmm.align.scoring import Scoring
from pairhmm.backends.cpu import chosen_isa
from pairhmm.native import native


class CpuAligner(Aligner):
    """Bit vectors for edit distances, and costs in lanes for all other scorings."""

    def __init__(self, level: str) -> None:
        self.label = f"cpu ({level})"
        self._level = level

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        scores = np.zeros(len(pairs), dtype=np.int32)
        native.align_scores(self._level, _native_pairs(pairs), _native_scoring(scoring), threads, scores)
        return scores

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        return Alignments(
            *native.align_pairs(self._level, _native_pairs(pairs), _native_scoring(scoring), threads),
        )


def _native_pairs(pairs: SequencePairs) -> native.AlignPairs:
    return native.AlignPairs(
        np.ascontiguousarray(pairs.queries.codes),
        np.ascontiguousarray(pairs.queries.offsets),
        np.ascontiguousarray(pairs.targets.codes),
        np.ascontiguousarray(pairs.targets.offsets),
        np.ascontiguousarray(pairs.query_index),
        np.ascontiguousarray(pairs.target_index),
    )


def _native_scoring(scoring: Scoring) -> native.AlignScoring:
    gaps = scoring.gap_open, scoring.gap_extend
    return native.AlignScoring(scoring.match, scoring.mismatch, *gaps, scoring.mode, scoring.overhang)


def make() -> Aligner:
    """An aligner at the level that runs here (`pairhmm.backends.cpu.chosen_isa`)."""
    return CpuAligner(chosen_isa())
