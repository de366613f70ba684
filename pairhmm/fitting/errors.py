"""Standard errors of fitted probabilities, from the scores of blocks of pairs.

The gradient of the log-likelihood at softmax coordinates of a distribution p is n - N p, with n the expected counts and
N their sum (Fisher's identity). Its products, summed over blocks of pairs, estimate the observed information: what is
not known of the alignments and of the letters behind bases is in it, which plain counts would take as known. The prior
adds its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

_BLOCKS_A_PARAMETER = 3
_SMALLEST = 1e-9  # eigenvalue of a correlation matrix that counts as zero


def standard_errors(
    probabilities: Mapping[str, NDArray[np.float64]],
    counted: Mapping[str, NDArray[np.float64]],
    prior: Mapping[str, NDArray[np.float64]],
) -> tuple[dict[str, NDArray[np.float64]], bool]:
    """Standard errors of distributions.

    Parameters
    ----------
    probabilities : mapping of str to float64[k]
    counted : mapping of str to float64[blocks, k]
        Expected counts under them.
    prior : mapping of str to float64[k]
        Counts of the prior.

    Returns
    -------
    errors : dict of str to float64[k]
    observed : bool
        Whether they are of the observed information; of the counts alone where there are too few blocks.
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
        own = slice(at, at + counts.shape[1])
        information[own, own] += prior[name].sum() * _slope(probabilities[name])
        at = own.stop
    covariance = _inverse(information)
    errors, at = {}, 0
    for name, counts in counted.items():
        p, size = probabilities[name], counts.shape[1]
        slope = _slope(p)
        variance = np.diag(slope @ covariance[at : at + size, at : at + size] @ slope)
        # Less than the counts' own would be noise: nobody knows more than with all alignments known.
        errors[name] = np.maximum(np.sqrt(np.maximum(variance, 0)), of_counts[name])
        at += size
    return errors, True


def _slope(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[k, k]: derivatives of a distribution by its softmax coordinates."""
    return np.diag(p) - np.outer(p, p)


def _of_counts(p: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    total = counts.sum()
    if total <= 0:
        return np.full(len(p), np.nan)
    result: NDArray[np.float64] = np.sqrt(np.maximum(p * (1 - p), 0) / total)
    return result


def _inverse(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pseudo-inverse: each distribution has a direction in which nothing changes."""
    scale = np.sqrt(np.diag(information))
    scale = np.where(scale > 0, scale, 1.0)
    inverse: NDArray[np.float64] = np.linalg.pinv(information / np.outer(scale, scale), _SMALLEST, hermitian=True)
    scaled: NDArray[np.float64] = inverse / np.outer(scale, scale)
    return scaled
