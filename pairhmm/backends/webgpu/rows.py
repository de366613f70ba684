"""Rows of reads for the kernels, made in float64: Phred tables, and constants and rows of profile models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.read_packing import cached_row_table
from pairhmm.backends.webgpu.templates import places
from pairhmm.backends.webgpu.work import COARSE, FINE, UNFOLDED
from pairhmm.models.batch import Profiles
from pairhmm.models.gatk import ERROR
from pairhmm.models.profile import distinct_rows

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


FOLDED_COLUMNS = {
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

FOLDED_AT = places(FOLDED_COLUMNS)


class Folded(NamedTuple):
    """Reads in the folded form (shaders/forward/lanes.wgsl)."""

    rows: NDArray[np.float32]  # float32[m, 12]
    log_kept: NDArray[np.float64]  # float64[reads]: log10 of what the scores of each read are relative to
    folds: NDArray[np.bool_]  # bool[reads]: whether this form holds the read; its rows are zeros where it does not


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
    result = np.zeros((len(rows), sum(FOLDED_COLUMNS.values())))
    column = {name: result[:, at] for name, at in FOLDED_AT.items()}
    with np.errstate(all="ignore"):  # rows that do not fold divide by zero
        result[:, : FOLDED_COLUMNS["EMISSIONS"]] = emissions / best[:, None]
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


KIND_COLUMNS = {
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

KIND_AT = places(KIND_COLUMNS)

LEAST_KEPT = 1e-15
"""Least number that a row may multiply scores by. The sum of a tile's logarithms then fits 32 bits, in the units of
`fixed_log10`."""

NEVER_OPENED = -1.0
"""EXTENSION of a row whose insertions can be extended but not opened. A read with one does not fold, unless none is
opened in the row before."""


@cached_row_table
def kind_table(profiles: Profiles) -> NDArray[np.uint32]:
    """uint32[k, columns]: the rows of `profiles.probabilities` in the columns of `KIND_COLUMNS`."""
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
