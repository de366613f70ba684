"""The distinct rows of a profile model, made on the host in float64: what rows_kinds.wgsl folds at each position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.kinds import made_once
from pairhmm.backends.webgpu.declarations import places
from pairhmm.backends.webgpu.tables import NEVER_ENDED, fixed_log10, pairs_of
from pairhmm.backends.webgpu.work import UNFOLDED
from pairhmm.models.batch import Profiles
from pairhmm.models.profile import distinct_rows

COLUMNS = {
    "EMISSIONS": 5,
    "OPENING": 1,
    "DELETION": 1,
    "EXTEND_DELETION": 1,
    "FIRST_DELETION": 1,
    "AFTER_INSERTION": 1,
    "INSERTION": 2,
    "EXTENSION": 2,
    "KEPT": 2,
    "UNFIT": 1,
    "FROM_BELOW": 2,
    "AFTER_BELOW": 2,
    "BEHIND": 2,
}
"""Columns of a distinct row, with kept = mm * (its best emission), what the row multiplies scores by.

EMISSIONS: of A C G T N, relative to the best one. OPENING: mi. DELETION: md. EXTEND_DELETION: dd. INSERTION: mi / kept,
as a pair (pairs.wgsl). KEPT: log10 of kept, in two parts (`fixed_log10`). UNFIT: UNFOLDED where this form does not hold
the row.

The row before multiplies by three of them. FIRST_DELETION: dm / mm. AFTER_INSERTION: im / mm. EXTENSION: ii / mi, as a
pair. EXTENSION is 0 where nothing is inserted, and `NEVER_OPENED` where an insertion can be extended but not opened.

For the backward of trees, as pairs: FROM_BELOW: ii / its best emission. AFTER_BELOW, 1 / mm, by which the row before
multiplies that. BEHIND, by which a read's last row does: 1 / im, or `NEVER_ENDED`.
"""

KIND_AT = places(COLUMNS)

LEAST_KEPT = 1e-15
"""Least number that a row may multiply scores by. The sum of a tile's logarithms then fits 32 bits, in the units of
`fixed_log10`."""

NEVER_OPENED = -1.0
"""EXTENSION of a row whose insertions can be extended but not opened. A read with one does not fold, unless none is
opened in the row before."""


@made_once
def kind_table(profiles: Profiles) -> NDArray[np.uint32]:
    """uint32[k, columns]: the rows of `profiles.probabilities` in the columns of `COLUMNS`."""
    rows = distinct_rows(profiles)
    emissions = rows[:, :5]
    mm, im, dm, mi, ii, md, dd = rows[:, 5:].T
    best = np.ascontiguousarray(emissions.T).max(axis=0, initial=0.0)  # columns: far faster than by row
    kept = mm * best
    with np.errstate(all="ignore"):  # rows that this form does not hold divide by zero
        extension = np.where(mi > 0, ii / mi, np.where(ii > 0, NEVER_OPENED, 0.0))
        values = {
            "EMISSIONS": emissions / best[:, None],
            "OPENING": mi,
            "DELETION": md,
            "EXTEND_DELETION": dd,
            "FIRST_DELETION": dm / mm,
            "AFTER_INSERTION": im / mm,
        }
        pairs = {"INSERTION": pairs_of(mi / kept), "EXTENSION": pairs_of(extension)}
        behind = np.where(im > 0, 1 / im, NEVER_ENDED)
        turned = {"FROM_BELOW": pairs_of(ii / best), "AFTER_BELOW": pairs_of(1 / mm), "BEHIND": pairs_of(behind)}
        singles = np.column_stack([*values.values()]).astype(np.float32)
    numbers, of_turned = [singles.view(np.uint32), *pairs.values()], [*turned.values()]
    is_finite = np.isfinite(np.hstack([*numbers, *of_turned]).view(np.float32)).all(axis=1)
    holds = is_finite & (kept >= LEAST_KEPT)
    table = np.column_stack([*numbers, fixed_log10(kept), np.zeros(len(rows), dtype=np.uint32), *of_turned])
    table[~holds] = 0
    table[:, KIND_AT["UNFIT"]] = np.where(holds, 0, UNFOLDED)
    return table
