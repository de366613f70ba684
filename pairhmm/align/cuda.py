"""Alignments on a CUDA device (`pairhmm.align.cuda_device`), with the CPU as fallback."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import ALIGNERS, Aligner, Alignments, SequencePairs
from pairhmm.align.cuda_device import AligningDevice
from pairhmm.align.cuda_kernels import passes_of
from pairhmm.align.cuda_packing import Index, subset_of
from pairhmm.align.scoring import Scoring
from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.engine.tools import Fallback


class CudaAligner(Aligner):
    """Aligns pairs on one CUDA device."""

    def __init__(self, device: int = 0) -> None:
        self.label = f"cuda:{device}"
        self._device = AligningDevice(device, self.label)
        self._fallback = Fallback(ALIGNERS, self.label)

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        if scoring.mode == "gatk":
            return self._fallback.of("mode gatk").scores(pairs, scoring, threads)
        first, *others = passes_of(scoring, traced=False)
        scores = np.empty(len(pairs), dtype=np.int32)
        if not len(pairs):
            return scores
        left = self._device.scores(pairs, first, scores)
        for work in others:
            if len(left):
                retried = np.empty(len(left), dtype=np.int32)
                still = self._device.scores(subset_of(pairs, left), work, retried)
                scores[left] = retried
                left = left[still]
        if len(left):
            rest = subset_of(pairs, left)
            scores[left] = self._fallback_for(rest).scores(rest, scoring, threads)
        return scores

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        if scoring.mode == "gatk":
            return self._fallback.of("mode gatk").alignments(pairs, scoring, threads)
        alignments, left = _none(len(pairs)), np.arange(len(pairs), dtype=np.int32)
        for work in passes_of(scoring, traced=True):
            if len(left):
                more, still = self._device.alignments(
                    pairs if len(left) == len(pairs) else subset_of(pairs, left), work
                )
                alignments = _with_replaced(alignments, left, more)
                left = left[still]
        if len(left):
            rest = subset_of(pairs, left)
            alignments = _with_replaced(alignments, left, self._fallback_for(rest).alignments(rest, scoring, threads))
        return alignments

    def kernel_seconds(self, pairs: SequencePairs, scoring: Scoring, repetitions: int) -> list[float]:
        """Seconds that the kernels of `scores` take on pairs that are on the device, measured by events."""
        return self._device.kernel_seconds(pairs, passes_of(scoring, traced=False)[0], repetitions)

    def _fallback_for(self, pairs: SequencePairs) -> Aligner:
        """The aligner of pairs that no kernel takes: those with an empty sequence, and others that are too long."""
        return self._fallback.of("pairs of such lengths") if pairs.cells else ALIGNERS.load("reference")


def _none(pairs: int) -> Alignments:
    """Alignments to replace."""
    scores, starts, ends = np.zeros((3, pairs), dtype=np.int32)
    return Alignments(scores, starts, ends, np.zeros(0, dtype=np.uint32), np.zeros(pairs + 1, dtype=np.int64))


def _with_replaced(before: Alignments, index: Index, by: Alignments) -> Alignments:
    """Alignments of which those of `index`, which have no CIGARs, are replaced."""
    if len(index) == len(before):
        return by
    for values, others in (
        (before.scores, by.scores),
        (before.target_starts, by.target_starts),
        (before.target_ends, by.target_ends),
    ):
        values[index] = others
    kept, put = np.diff(before.offsets), np.diff(by.offsets)
    counts = kept.copy()
    counts[index] = put
    offsets = np.concatenate([[0], np.cumsum(counts)])
    cigars = np.empty(offsets[-1], dtype=np.uint32)
    cigars[np.repeat(offsets[:-1] - before.offsets[:-1], kept) + np.arange(len(before.cigars))] = before.cigars
    cigars[np.repeat(offsets[index] - by.offsets[:-1], put) + np.arange(len(by.cigars))] = by.cigars
    return Alignments(before.scores, before.target_starts, before.target_ends, cigars, offsets)


def make(device: int = 0) -> Aligner:
    """An aligner on a CUDA device. Raises BackendUnavailable."""
    with cuda_setup.starting(device):
        return CudaAligner(device)
