"""What a backend is to the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairhmm.batch import PairBatch


@dataclass(frozen=True, slots=True)
class Status:
    """Whether a backend runs on this machine.

    Attributes
    ----------
    available : bool
    detail : str
        What it runs on, where it is available: the SIMD level, the device.
    reason, cure : str
        What is missing and how to get it, where it is not.
    """

    available: bool
    detail: str = ""
    reason: str = ""
    cure: str = ""


class Backend(Protocol):
    """Scores pairs of a `PairBatch`. Stateless to its caller: devices and pipelines are made on first use."""

    name: str

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> NDArray[np.float64]:
        """Scores of every pair in the backend's fast arithmetic.

        Parameters
        ----------
        batch : PairBatch
        skip_read : bool[reads]
            Reads whose pairs are left out: their scores are NaN.
        threads : int

        Returns
        -------
        float64[pairs]
            log10 likelihoods; NaN where the fast arithmetic does not hold the sum.
        """

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> NDArray[np.float64]:
        """Scores (log10, float64) of the given pairs in float64, for any length and any score."""
