"""Rows of any model in the folded form that the WebGPU kernels use, made on the host in float64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu.declarations import places
from pairhmm.backends.webgpu.tables import NEVER_ENDED

COLUMNS = {
    "EMISSIONS": 5,
    "FROM_DELETION": 1,
    "FROM_INSERTION": 1,
    "EXTEND_INSERTION": 1,
    "EXTEND_DELETION": 1,
    "OPENING": 1,
    "FIRST_DELETION": 1,
    "FROM_BELOW": 1,
}
"""Columns of a folded row: emissions of A C G T N relative to the best one; four coefficients; mi; dm / mm; and for the
backward of trees the extension of an insertion from below, or `NEVER_ENDED` where float32 does not hold it."""

COLUMN_AT = places(COLUMNS)


class Folded(NamedTuple):
    """Reads in the folded form (shaders/forward/lanes.wgsl).

    Attributes
    ----------
    rows : float32[m, 12]
    log_kept : float64[reads]
        log10 of what the scores of each read are relative to.
    folds : bool[reads]
        Whether this form holds the read; its rows are zeros where it does not.
    """

    rows: NDArray[np.float32]
    log_kept: NDArray[np.float64]
    folds: NDArray[np.bool_]


def fold(rows: NDArray[np.float64], read_offset: NDArray[np.int64]) -> Folded:
    """Fold rows float64[m, 12] of reads end to end (int64[reads + 1]).

    With kept = mm * (the row's best emission), and primes for the row after it:
    from_deletion = dm' md / mm', from_insertion = im' mi / (kept mm'), extend_insertion = ii' mi / (kept mi'),
    from_below = ii im' / (im mm' best).
    """
    emissions = rows[:, :5]
    mm, im, dm, mi, ii, md, dd = rows[:, 5:].T
    best = np.ascontiguousarray(emissions.T).max(axis=0, initial=0.0)  # columns: 25 times as fast as by row
    kept = mm * best
    is_last = np.zeros(len(rows), dtype=bool)
    is_last[read_offset[1:] - 1] = True
    # A read's last row is followed by a row that carries M + I down unchanged.
    carrying = {"mm": 1.0, "im": 0.0, "dm": 0.0, "mi": 1.0, "ii": 1.0}
    after = {
        name: np.where(is_last, carrying[name], np.roll(values, -1))
        for name, values in (("mm", mm), ("im", im), ("dm", dm), ("mi", mi), ("ii", ii))
    }
    opens = after["mi"] > 0
    result = np.zeros((len(rows), sum(COLUMNS.values())))
    column = {name: result[:, at] for name, at in COLUMN_AT.items()}
    with np.errstate(all="ignore"):  # rows that do not fold divide by zero
        result[:, : COLUMNS["EMISSIONS"]] = emissions / best[:, None]
        column["FROM_DELETION"][:] = after["dm"] * md / after["mm"]
        column["FROM_INSERTION"][:] = after["im"] * mi / (kept * after["mm"])
        column["EXTEND_INSERTION"][:] = np.where(opens, after["ii"] * mi / (kept * after["mi"]), 0.0)
        column["EXTEND_DELETION"][:], column["OPENING"][:], column["FIRST_DELETION"][:] = dd, mi, dm / mm
        ends_after = np.where(is_last, 1.0, after["im"])  # what starts behind a read's end comes up as it is
        from_below = np.where(ii > 0, ii * ends_after / (im * after["mm"] * best), 0.0)
        column["FROM_BELOW"][:] = np.where(from_below <= np.finfo(np.float32).max, from_below, NEVER_ENDED)
        log_kept = np.log10(kept)
        narrow = result.astype(np.float32)
    # Where no insertion opens, EXTEND_INSERTION matters only if an insertion was opened before.
    holds = (
        (kept > 0) & (after["mm"] > 0) & (opens | (after["ii"] * mi == 0)) & np.isfinite(narrow.T.copy()).all(axis=0)
    )
    if not len(rows):
        return Folded(narrow, np.zeros(0), np.zeros(0, dtype=bool))
    starts = read_offset[:-1]
    folds = np.logical_and.reduceat(holds, starts)
    lengths = np.diff(read_offset)
    narrow[~np.repeat(folds, lengths)] = 0.0
    return Folded(narrow, np.add.reduceat(np.where(holds, log_kept, 0.0), starts), folds)
