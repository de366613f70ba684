"""The protocol of aligners."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.aligning.batch import Alignments, SequencePairs
from pairhmm.aligning.scoring import Scoring
from pairhmm.engine.tools import Tool


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


ALIGNERS = Tool[Aligner]("pairhmm.aligning", "align")
