"""Standard errors of fitted probabilities, from the scores of blocks of pairs.

The gradient of the log-likelihood in softmax coordinates of a distribution p is n - N p, with n the expected counts and
N their sum (Fisher's identity). Outer products of the gradient, summed over blocks of pairs, estimate the observed
information. It takes into account that alignments and the letters behind bases are uncertain. Plain counts would take
them as known. The prior adds information of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

_BLOCKS_A_PARAMETER = 3
_SMALLEST = 1e-9  # eigenvalues of a correlation matrix below this count as zero


def standard_errors(
    probabilities: Mapping[str, NDArray[np.float64]],
    counted: Mapping[str, NDArray[np.float64]],
    prior: Mapping[str, NDArray[np.float64]],
) -> tuple[dict[str, NDArray[np.float64]], bool]:
    """Standard errors of distributions, and whether they come from the observed information.

    With too few blocks, they come from the counts alone. `counted` has the expected counts float64[blocks, k] under the
    probabilities float64[k] of each distribution, `prior` the counts of the prior.
    """
    of_counts = {
        name: _of_counts(probabilities[name], counts.sum(axis=0) + prior[name]) for name, counts in counted.items()
    }
    scores = np.concatenate(
        [counts - counts.sum(axis=1, keepdims=True) * probabilities[name] for name, counts in counted.items()], axis=1
    )
    blocks, parameters = scores.shape
    if blocks < _BLOCKS_A_PARAMETER * parameters:
        return of_counts, False
    scores = scores - scores.mean(axis=0)
    information = scores.T @ scores * (blocks / (blocks - 1))
    at = 0
    for name, counts in counted.items():
        block = slice(at, at + counts.shape[1])
        information[block, block] += prior[name].sum() * _slope(probabilities[name])
        at = block.stop
    covariance = _inverse(information)
    errors, at = {}, 0
    for name, counts in counted.items():
        p, size = probabilities[name], counts.shape[1]
        slope = _slope(p)
        variance = np.diag(slope @ covariance[at : at + size, at : at + size] @ slope)
        # An error below that of the counts is noise: known alignments would give the smallest possible error.
        errors[name] = np.maximum(np.sqrt(np.maximum(variance, 0)), of_counts[name])
        at += size
    return errors, True


def _slope(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[k, k]: derivatives of a distribution with respect to its softmax coordinates."""
    return np.diag(p) - np.outer(p, p)


def _of_counts(p: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    total = counts.sum()
    if total <= 0:
        return np.full(len(p), np.nan)
    result: NDArray[np.float64] = np.sqrt(np.maximum(p * (1 - p), 0) / total)
    return result


def _inverse(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pseudo-inverse of the information. It is singular: each distribution has a direction in which nothing changes."""
    scale = np.sqrt(np.diag(information))
    scale = np.where(scale > 0, scale, 1.0)
    inverse: NDArray[np.float64] = np.linalg.pinv(information / np.outer(scale, scale), _SMALLEST, hermitian=True)
    scaled: NDArray[np.float64] = inverse / np.outer(scale, scale)
    return scaled
