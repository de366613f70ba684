"""The oracle of forward-backward: one pair in log space, in plain NumPy. It is slow, but nothing underflows.

The forward recurrence is that of docs/model.md. A backward value is the probability of the rest of the read, given the
state of a cell:

    BM[i,j] = E mm BM[i+1,j+1] + mi BI[i+1,j] + md_i BD[i,j+1]
    BI[i,j] = E im BM[i+1,j+1] + ii BI[i+1,j]
    BD[i,j] = E dm BM[i+1,j+1]                + dd_i BD[i,j+1]
    BM[m,j] = BI[m,j] = 1, BD[m,j] = 0 for j >= 1

where E and the transitions without an index are those of row i + 1 and letter j + 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import Start

Matrices = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Values of the states M, I and D: float64[m + 1, n + 1] each."""


def log_forward(rows: NDArray[np.float64], haplotype: NDArray[np.uint8], start: Start) -> Matrices:
    """Natural logarithms of the forward values of rows float64[m, 12] and a haplotype's codes uint8[n]."""
    size, width = len(rows), len(haplotype)
    match, insertion, deletion = (np.full((size + 1, width + 1), -np.inf) for _ in range(3))
    deletion[0, 1:] = -np.log(width)
    match[0, 0] = _log(np.array(start.match))
    deletion[0, 0] = _log(np.array(start.deletion)) - np.log(width)
    emission = _log(rows[:, :5])[:, haplotype]
    mm, im, dm, mi, ii, md, dd = _log(rows[:, 5:]).T
    for i in range(1, size + 1):
        k = i - 1
        into = _log_sum(mm[k] + match[k, :-1], im[k] + insertion[k, :-1], dm[k] + deletion[k, :-1])
        match[i, 1:] = emission[k] + into
        insertion[i, 1:] = np.logaddexp(mi[k] + match[k, 1:], ii[k] + insertion[k, 1:])
        for j in range(1, width + 1):
            deletion[i, j] = np.logaddexp(md[k] + match[i, j - 1], dd[k] + deletion[i, j - 1])
    return match, insertion, deletion


def log_backward(rows: NDArray[np.float64], haplotype: NDArray[np.uint8]) -> Matrices:
    """Natural logarithms of the backward values; arguments as in `log_forward`. Row 0 and column 0 stay at zero."""
    size, width = len(rows), len(haplotype)
    match, insertion, deletion = (np.full((size + 1, width + 2), -np.inf) for _ in range(3))
    match[size, 1:-1] = insertion[size, 1:-1] = 0.0
    emission = _log(rows[:, :5])[:, haplotype]
    mm, im, dm, mi, ii, md, dd = _log(rows[:, 5:]).T
    for i in range(size, 0, -1):
        if i < size:
            beyond = np.full(width, -np.inf)
            beyond[:-1] = emission[i, 1:] + match[i + 1, 2:-1]
            match[i, 1:-1] = np.logaddexp(mm[i] + beyond, mi[i] + insertion[i + 1, 1:-1])
            insertion[i, 1:-1] = np.logaddexp(im[i] + beyond, ii[i] + insertion[i + 1, 1:-1])
            deletion[i, 1:-1] = dm[i] + beyond
        for j in range(width, 0, -1):
            deletion[i, j] = np.logaddexp(deletion[i, j], dd[i - 1] + deletion[i, j + 1])
            match[i, j] = np.logaddexp(match[i, j], md[i - 1] + deletion[i, j + 1])
    return match[:, :-1], insertion[:, :-1], deletion[:, :-1]


def log_likelihood(forward: Matrices) -> float:
    """Natural logarithm of P(read | haplotype) from forward values; -inf where no path emits the read."""
    match, insertion, _ = forward
    return float(np.logaddexp.reduce(np.concatenate([match[-1, 1:], insertion[-1, 1:]])))


def posteriors(
    rows: NDArray[np.float64], haplotype: NDArray[np.uint8], start: Start
) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """log10 P(read | haplotype), and the posteriors float64[m, n] of match, insertion and deletion.

    `rows` are float64[m, 12], `haplotype` codes uint8[n]. The posteriors are zero if the likelihood is zero.
    """
    forward = log_forward(rows, haplotype, start)
    total = log_likelihood(forward)
    if total == -np.inf:
        match, insertion, deletion = (np.zeros((len(rows), len(haplotype))) for _ in range(3))
    else:
        backward = log_backward(rows, haplotype)
        match, insertion, deletion = (
            np.exp(f[1:, 1:] + b[1:, 1:] - total) for f, b in zip(forward, backward, strict=True)
        )
    return float(total / np.log(10)), match, insertion, deletion


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float64] = np.log(values)
    return logs


def _log_sum(*terms: NDArray[np.float64]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.logaddexp.reduce(np.stack(terms), axis=0)
    return total
