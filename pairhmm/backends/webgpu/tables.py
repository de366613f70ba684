"""The tables that kernels make rows from: Phred tables, and the constants of a profile model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu.declarations import places
from pairhmm.backends.webgpu.work import COARSE, FINE
from pairhmm.models.batch import Profiles
from pairhmm.models.gatk import ERROR

QUALITIES = 128
"""Phred qualities in each table: 0 to 127."""

TABLES = {
    "UNOPENED": QUALITIES * QUALITIES,
    "BEST": 2 * QUALITIES,
    "PHRED": QUALITIES,
    "RATIO": 2 * QUALITIES,
}
"""Entries of each of the tables that rows_qualities.wgsl reads, in their order.

UNOPENED [insertion quality][deletion quality]: log10 mm in two parts, and 1 / mm as a pair. BEST [letter is N][base
quality]: log10 of the best emission in two parts, and 1 / it as a pair. PHRED [quality]: error = 10^(-quality / 10) and
1 / error, as pairs. RATIO [letter is N][base quality]: the smaller emission over the best one, and whether letters that
do not match are more likely than the one that does (below Phred 1.25).
"""

TABLE_AT = places(TABLES)

PROFILE = {
    "MATCH": 20,
    "INSERTION": 4,
    "FROM_DELETION": 1,
    "FROM_INSERTION": 1,
    "EXTEND_INSERTION": 1,
    "LAST_INSERTION": 1,
    "GAP_EXTENSION": 1,
    "OPENING": 1,
    "FIRST_DELETION": 1,
    "LAST_FROM_BELOW": 1,
}
"""Number of constants of each kind in a profile model, in the order in which rows_profiles.wgsl reads them, as pairs.

MATCH: emission of a read's letter (A C G T) beside a haplotype's (A C G T N). INSERTION: that of an inserted letter.
The others are made from transitions: dm md / mm; im mi / mm mm; ii / mm; mi / mm; dd; mi; dm / mm;
ii / im, or `NEVER_ENDED` where no insertion ends.
"""

PROFILE_AT = places(PROFILE)

NEVER_ENDED = -1.0
"""Extension of an insertion from below, in a row whose insertions can be extended but do not end. A read with one has
no backward form."""


def tables() -> NDArray[np.uint32]:
    """uint32[entries, 4]: the tables of `TABLES`; the formulas are those of `pairhmm.models.gatk.rows`."""
    error = ERROR[:QUALITIES]
    right, wrong = 1 - error, error / 3
    best = np.array([np.maximum(right, wrong), right])
    ratio = np.array([np.minimum(right, wrong) / best[0], np.ones(QUALITIES)])
    unopened = 1 - np.minimum(1, error[:, None] + error)
    likelier = np.array([wrong > right, wrong > right]).reshape(-1).astype(np.uint32)
    return np.concatenate(
        [
            np.hstack([fixed_log10(unopened), _pairs_of_inverse(unopened)]),
            np.hstack([fixed_log10(best), _pairs_of_inverse(best)]),
            np.hstack([pairs_of(error), pairs_of(1 / error)]),
            np.stack([_bits(ratio), likelier, *np.zeros((2, 2 * QUALITIES), np.uint32)], axis=1),
        ]
    )


def profile_constants(profiles: Profiles) -> NDArray[np.uint32]:
    """uint32[constants, 2]: the constants of `PROFILE`. They do not matter if mm = 0: such a model is not scored."""
    mm, im, dm, mi, ii, md, dd = profiles.transitions.tolist()
    kept = mm or 1.0
    transitions = [dm * md / kept, im * mi / kept / kept, ii / kept, mi / kept, dd, mi, dm / kept]
    transitions.append(ii / im if im else NEVER_ENDED)
    return pairs_of(np.concatenate([profiles.match.reshape(-1), profiles.insertion, transitions]))


def fixed_log10(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """uint32[n, 2]: log10 in units of 2^-COARSE, and the rest in units of 2^-FINE; 0 for values of zero."""
    fixed = np.rint(np.log10(np.where(values > 0, values, 1.0)) * 2.0**FINE).astype(np.int64).reshape(-1)
    bits = FINE - COARSE
    coarse, fine = fixed >> bits, fixed & ((1 << bits) - 1)
    return np.stack([coarse.astype(np.int32).view(np.uint32), fine.astype(np.uint32)], axis=1)


def pairs_of(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """uint32[n, 2]: the float32 next to each value, and the rest (shaders/forward/pairs.wgsl)."""
    near = values.astype(np.float32)
    return np.stack([_bits(near), _bits(values - near)], axis=1)


def _pairs_of_inverse(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """uint32[n, 2]: 1 / value as a pair; zeros for values of zero."""
    positive = values > 0
    return pairs_of(np.where(positive, 1 / np.where(positive, values, 1.0), 0.0))


def _bits(values: NDArray[np.floating]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(values, dtype=np.float32).reshape(-1).view(np.uint32)
