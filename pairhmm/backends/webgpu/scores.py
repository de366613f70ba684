"""Computes scores from what the kernels return: sums with exponents, and what they are relative to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import team
from pairhmm.backends.webgpu.layout import Packed
from pairhmm.backends.webgpu.pair_layout import PackedPairs
from pairhmm.backends.webgpu.work import COARSE, FINE, STRIP_RESULT
from pairhmm.models.batch import FLOAT32, SCALED_FLOAT32, UNSCORED, PairBatch, Scores
from pairhmm.models.scaling import NO_EXPONENT, START_EXPONENT
from pairhmm.native import native

LEAST_POWER = -900
"""Least power of 2 that a part of a sum is multiplied by, relative to the largest part: far below what counts."""


def put_scores(batch: PairBatch, packed: Packed, out: NDArray[np.uint32], scores: Scores) -> Scores:
    """Write the scores of tiles to the arrays of `scores`, and return them.

    All sums in plain float32 have the exponent -START_EXPONENT, which identifies them.
    """
    sums, kept = out[: 2 * packed.pairs], out[2 * packed.pairs : packed.unordered_at]
    are_all_scored = native.device_scores(
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
    return replace(scores, are_all_scored=are_all_scored)


def pair_scores(packed: PackedPairs, out: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Scores of single pairs, from the `STRIP_RESULT` of each strip; NaN if the rows of a strip do not fit."""
    results = out.reshape(-1, len(STRIP_RESULT))
    coarse, fine, unfit = np.ascontiguousarray(results[:, :3].T)
    values, exponents = np.ascontiguousarray(results[:, 3::2]), np.ascontiguousarray(results[:, 4::2])
    log10 = _log10_of_sums(values.view(np.float32), exponents.view(np.int32), packed.pair_item)
    log10[np.add.reduceat(unfit, packed.pair_item) != 0] = np.nan
    log10 += packed.kept.log10 + packed.kept.unit * np.add.reduceat(_joined(coarse, fine), packed.pair_item)
    return log10


def _log10_of_sums(
    values: NDArray[np.float32], exponents: NDArray[np.int32], firsts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """log10 of each pair's sum of value * 2^exponent; NaN for zeros.

    Each strip has a row of values and exponents; `firsts` has the first strip of each pair.
    """
    parts = values.astype(np.float64)
    powers = np.where(parts > 0, exponents, NO_EXPONENT)
    highest = np.maximum.reduceat(powers.max(axis=1), firsts)
    below = powers - np.repeat(highest, np.diff(np.append(firsts, len(parts))))[:, None]
    sums = np.add.reduceat(np.ldexp(parts, np.maximum(below, LEAST_POWER)).sum(axis=1), firsts)
    sums[sums == 0] = np.nan
    log10: NDArray[np.float64] = np.log10(sums) + highest * np.log10(2.0)
    return log10


def _joined(coarse: NDArray[np.uint32], fine: NDArray[np.uint32]) -> NDArray[np.float64]:
    """float64 numbers from their coarse and fine parts."""
    numbers: NDArray[np.float64] = coarse.view(np.int32) * 2.0**-COARSE + fine * 2.0**-FINE
    return numbers
