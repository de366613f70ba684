"""Aligns on one or several devices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.aligning.base import Aligner
from pairhmm.aligning.batch import Alignments, SequencePairs
from pairhmm.aligning.scoring import Scoring
from pairhmm.engine.pair_pool import PairPool
from pairhmm.genomics.arrays import joined


class AlignerPool(PairPool[Aligner, SequencePairs], Aligner):
    """Aligners that share the pairs of each call."""

    def scores(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> NDArray[np.int32]:
        """The score of each pair's best alignment (int32), on `threads` CPU threads."""
        return joined(self.run(pairs, lambda one, chunk: one.scores(chunk, scoring, threads)), np.int32)

    def alignments(self, pairs: SequencePairs, scoring: Scoring, threads: int) -> Alignments:
        """The best alignment of each pair, on `threads` CPU threads."""
        return Alignments.concatenate(self.run(pairs, lambda one, chunk: one.alignments(chunk, scoring, threads)))
