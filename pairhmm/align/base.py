"""The protocol of aligners, the choice of them, and the pool of those that share pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.batch import Alignments, SequencePairs
from pairhmm.align.scoring import Scoring
from pairhmm.engine.pair_pool import PairPool
from pairhmm.engine.tools import Tool
from pairhmm.sequences.arrays import joined


class Aligner(Protocol):
    """Aligns pairs of sequences. All aligners give the same scores and the same alignments.

    A module of this folder has ``make() -> Aligner``, or ``make(device: int) -> Aligner`` if its backend has devices.

    Attributes
    ----------
    label : str
        Name of the aligner in messages.
    """

    label: str

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32), on `threads` CPU threads."""
        ...

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, on `threads` CPU threads."""
        ...


ALIGNERS = Tool[Aligner]("pairhmm.align", "align")

WORTH_A_DEVICE = {"edit": 200_000_000_000, "linear": 50_000_000_000, "affine": 30_000_000_000}
"""Cells for each CPU thread, by the form of the scoring, from which "auto" starts a GPU. A thread with AVX-512 computes
about as many in the second that the start takes: 141, 46 and 28 GCUPS were measured for pairs of 250 bases, and 682, 56
and 32 for 1,000."""

CIGAR_FACTOR = 2
"""Cells take the CPU this much longer with a traceback (2.3 to 3.2 were measured)."""


class AlignerPool(PairPool[Aligner, SequencePairs], Aligner):
    """Aligners that share the pairs of each call."""

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32), on `threads` CPU threads."""
        return joined(self.run(pairs, lambda one, chunk: one.scores(chunk, scoring, threads)), np.int32)

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, on `threads` CPU threads."""
        return Alignments.concatenate(self.run(pairs, lambda one, chunk: one.alignments(chunk, scoring, threads)))


def choose(
    backend: str,
    devices: Sequence[int] | None,
    scoring: Scoring,
    cells: int,
    threads: int,
    with_cigars: bool,
) -> AlignerPool:
    """The aligners of that name; for "auto", of the backend that is expected to finish first, which a message names.

    Parameters
    ----------
    backend, devices
        As for `Tool.choose`.
    scoring : Scoring
    cells : int
        Approximate number of cells of the whole work.
    threads : int
    with_cigars : bool
        Whether alignments are wanted, or scores alone.
    """
    worth = WORTH_A_DEVICE[scoring.form] * threads // (CIGAR_FACTOR if with_cigars else 1)
    return AlignerPool(ALIGNERS.choose(backend, devices, cells >= worth), ALIGNERS.on_the_cpu)
