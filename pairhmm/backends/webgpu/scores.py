"""Computes scores from what the kernels return: sums with exponents, and what they are relative to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import team
from pairhmm.backends.webgpu.layout import Packed
from pairhmm.backends.webgpu.pair_layout import PackedPairs
from pairhmm.backends.webgpu.work import COARSE, FINE, STRIP_RESULT
from pairhmm.compiled import native
from pairhmm.models.batch import FLOAT32, SCALED_FLOAT32, UNSCORED, PairBatch, Scores
from pairhmm.models.scaling import START_EXPONENT


def put_scores(batch: PairBatch, packed: Packed, out: NDArray[np.uint32], scores: Scores) -> None:
    """Write the scores of tiles. All sums in plain float32 have the exponent -START_EXPONENT, which identifies them."""
    sums, kept = out[: 2 * packed.pairs], out[2 * packed.pairs :]
    native.device_scores(
        batch.group_read,
        batch.group_haplotype,
        batch.group_pair,
        sums,
        packed.kept.log10,
        kept,
        FINE - COARSE,
        packed.kept.unit * 2.0**-FINE,
        (-START_EXPONENT, FLOAT32, SCALED_FLOAT32, UNSCORED),
        team(),
        scores.log10,
        scores.precision,
    )


def pair_scores(packed: PackedPairs, pairs: int, out: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Scores of the pairs of forward/long.wgsl; NaN if the rows of a strip do not fit."""
    log10 = _log10(out[: 2 * pairs].reshape(-1, 2))
    of_strips = out[2 * pairs :].reshape(-1, len(STRIP_RESULT))
    log10[np.add.reduceat(of_strips[:, 2], packed.pair_item) != 0] = np.nan
    log10 += packed.kept.log10 + packed.kept.unit * np.add.reduceat(_joined(of_strips[:, :2]), packed.pair_item)
    return log10


def _log10(sums: NDArray[np.uint32]) -> NDArray[np.float64]:
    """float64 log10 of sums uint32[n, 2]: the bits of a float32, and an exponent of 2. NaN for zeros."""
    log10 = sums[:, 0].view(np.float32).astype(np.float64)
    log10[log10 == 0] = np.nan
    np.log10(log10, out=log10)
    log10 += sums[:, 1].view(np.int32) * np.log10(2.0)
    return log10


def _joined(fixed: NDArray[np.uint32]) -> NDArray[np.float64]:
    """float64 numbers from their coarse and fine parts, uint32[n, 2]."""
    coarse, fine = fixed.T
    numbers: NDArray[np.float64] = coarse.view(np.int32) * 2.0**-COARSE + fine * 2.0**-FINE
    return numbers
