"""The distinct rows of a profile model in the folded form, made on the host in float64: what rows_kinds.wgsl reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.kinds import made_once
from pairhmm.backends.webgpu.declarations import places
from pairhmm.backends.webgpu.folded_rows import COLUMN_AT, fold
from pairhmm.backends.webgpu.folded_rows import COLUMNS as FOLDED
from pairhmm.backends.webgpu.tables import fixed_log10
from pairhmm.backends.webgpu.work import UNFOLDED
from pairhmm.models.batch import Profiles
from pairhmm.models.profile import distinct_rows

COLUMNS = {
    **{name: size for name, size in FOLDED.items() if name != "UNUSED"},
    "LAST_INSERTION": 1,
    "KEPT": 2,
    "UNFIT": 1,
    "UNUSED": 1,
}
"""Columns of a distinct row: those of a folded row that is followed by another one; EXTEND_INSERTION of a read's last
row; log10 of what a row multiplies scores by, in two parts (`fixed_log10`); UNFOLDED where this form does not hold it;
0."""

KIND_AT = places(COLUMNS)

LEAST_KEPT = 1e-15
"""Least number that a row may multiply scores by. The sum of a tile's logarithms then fits 32 bits, in the units of
`fixed_log10`."""


@made_once
def kind_table(profiles: Profiles) -> NDArray[np.uint32]:
    """uint32[k, columns]: the rows of `profiles.probabilities` in the columns of `COLUMNS`."""
    rows = distinct_rows(profiles)
    # Each as a read of two equal positions. What a row leads to does not depend on which row is next: its transitions
    # are the model's, and the next insertion's emission cancels out of ii / mi.
    folded = fold(np.repeat(rows, 2, axis=0), 2 * np.arange(len(rows) + 1))
    first, last = folded.rows[0::2], folded.rows[1::2]
    kept = rows[:, 5] * np.ascontiguousarray(rows[:, :5].T).max(axis=0)
    holds = folded.folds & (kept >= LEAST_KEPT)
    table = np.zeros((len(rows), sum(COLUMNS.values())), dtype=np.uint32)
    shared = KIND_AT["LAST_INSERTION"]
    table[:, :shared] = first[:, :shared].view(np.uint32)
    table[:, shared] = last[:, COLUMN_AT["EXTEND_INSERTION"]].view(np.uint32)
    table[:, KIND_AT["KEPT"] : KIND_AT["UNFIT"]] = fixed_log10(kept)
    table[~holds] = 0
    table[:, KIND_AT["UNFIT"]] = np.where(holds, 0, UNFOLDED)
    return table
