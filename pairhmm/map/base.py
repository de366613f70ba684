"""The protocol of embedders: sketch properties, project the sketches to the plane, blend with neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.engine.tools import Tool
from pairhmm.map.tokens import Neighbours, TokenSets


class Embedder(Protocol):
    """Sketches samples by the published scheme, projects sketches to the plane, and blends positions.

    Signatures are the same bits on every backend. Projections are within 1e-4 of float64's, and blended positions
    within 1e-5.

    A module of this folder has ``make() -> Embedder``, or ``make(device: int) -> Embedder`` if its backend has devices.
    """

    label: str  # its name in messages

    def signatures(self, tokens: TokenSets, threads: int) -> NDArray[np.uint32]:
        """The published signature of each sample's tokens, shape (samples, 128) (`pairhmm.map.sketch.published`)."""
        ...

    def projections(
        self, groups: Sequence[TokenSets], matrices: NDArray[np.float32], threads: int
    ) -> NDArray[np.float32]:
        """Sketch each group of properties, make z-scores of each slot over the samples, and project them.

        Groups are of the same samples, and matrices are (groups, 128, 2). Gives (groups, samples, 2). Samples without
        tokens in a group are at 0 there, and take no part in its z-scores.
        """
        ...

    def blended(
        self, start: NDArray[np.float32], neighbours: Neighbours, alpha: float, passes: int, threads: int
    ) -> NDArray[np.float32]:
        """Jacobi passes of ``y = (1 - alpha) * start + alpha * mean of the neighbours' y``, shape (samples, 2).

        A sample without neighbours stays where it starts.
        """
        ...


EMBEDDERS = Tool[Embedder]("pairhmm.map", "embed samples")
