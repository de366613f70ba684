"""Single pairs of any length for forward/long.wgsl: halves, strips, the borders between strips, and scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import tiles
from pairhmm.backends.tiles import HALVES, LETTERS, LETTERS_SCALED, Shape, Staging
from pairhmm.backends.webgpu.layout import Kept, plan_of
from pairhmm.backends.webgpu.templates import places
from pairhmm.backends.webgpu.work import COARSE, FINE, STRIP_ITEM, STRIP_RESULT
from pairhmm.models.batch import PairBatch
from pairhmm.models.scaling import NO_EXPONENT

T = TypeVar("T", int, NDArray[np.int64])

LONG = Shape(32, 12)
"""Lanes and rows of a strip."""

STEPS = 256
"""Steps of a strip in one dispatch, where strips take turns. They are a multiple of RESCALE_STEPS."""

SHORTEST_SEGMENT, LONGEST_SEGMENT = 8, 32
"""Fewest and most lanes of a segment that shuffles. Its lanes are a power of two, and lie in one subgroup."""

BLOCKS = 4
"""Blocks of RESCALE_STEPS columns that there is room for between two segments."""

LEAD_BLOCKS = 2
"""Blocks of steps that a strip begins before its first column."""


def rescale_steps(rows: int) -> int:
    """RESCALE_STEPS of lanes that have `rows` rows.

    They are at most the number of rows. So what enters a lane does not leave it on a path of matches before the next
    rescaling.
    """
    return 8 if rows < 16 else 16


BLOCK = rescale_steps(LONG.rows)
"""Columns of a block, which are also the steps between two rescalings."""

BLOCK_WORDS = 2 * BLOCK + 1
"""Words of a block in a border: S and I of each column, and one exponent."""

LEAD = LEAD_BLOCKS * BLOCK
"""Steps that a strip begins before its first column."""


def skew(segment: int) -> int:
    """Steps that a column takes from the first lane of a segment to the first lane of the next segment."""
    return segment + 2 * BLOCK


def lag(segment: int) -> int:
    """Steps from a column's entry into a strip's first lane until it is in the border below."""
    return (LONG.lanes // segment - 1) * skew(segment) + segment


def distance(segment: int) -> int:
    """Steps that a strip stays behind the one above if it never has to wait for what it reads ahead."""
    return lag(segment) + LEAD + BLOCK


def halves_of(letters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Halves of haplotypes of these lengths. Short ones are not cut: all of them is the left half."""
    return np.where(letters >= tiles.LEAST_CUT, HALVES, 1)


def half_columns(letters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Columns of the left and the right half of such haplotypes (int64[haplotypes, HALVES]).

    Each half has a column before its first letter. Where there is no right half, it has none.
    """
    left = letters // halves_of(letters) + 1
    return np.stack([left, letters + 1 - left], axis=1)


def in_blocks(steps: T) -> T:
    """Steps, rounded up to a whole number of blocks."""
    return (steps + BLOCK - 1) // BLOCK * BLOCK


def all_steps(columns: NDArray[np.int64], segment: int) -> NDArray[np.int64]:
    """Steps of a strip until its last lane has had all columns, and has saved what crosses behind them."""
    return in_blocks(LEAD + columns + lag(segment))


def border_words(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of 32 bits of the border between two strips; none without columns."""
    return np.where(columns > 0, (columns + 2 * BLOCK - 2) // BLOCK * BLOCK_WORDS, 0)


def passing_entries(segment: int) -> int:
    """Most columns between segments that one lane saves from one dispatch to the next."""
    columns = (LONG.lanes // segment - 1) * BLOCKS * BLOCK
    return -(-columns // LONG.lanes)


def lane_entries(segment: int) -> dict[str, int]:
    """Number of 16-byte entries that a lane saves of each part, in their order. An entry of rows holds four rows.

    Made once: EMISSIONS [letter]; COEFFICIENTS [from_deletion, from_insertion, extend_insertion, extend_deletion];
    STRIP_LANE: the result of `sum_falls`, and the bits of the strip's first_deletion.

    Saved between two dispatches: STATES [S, D]; BELOW: what goes to the next lane, and its exponent; SUM: a value, its
    exponent, and the number of steps done; PASSING: columns between segments, each with an exponent.

    Saved for join.wgsl: CROSSING [matches, deletions], and their exponent.
    """
    quads = -(-LONG.rows // 4)
    return {
        "EMISSIONS": LETTERS * quads,
        "COEFFICIENTS": 4 * quads,
        "STRIP_LANE": 1,
        "STATES": 2 * quads,
        "BELOW": 1,
        "SUM": 1,
        "PASSING": passing_entries(segment),
        "CROSSING": 2 * quads + 1,
    }


def strip_entries(segment: int) -> int:
    """Entries that each lane of a strip saves."""
    return sum(lane_entries(segment).values())


def long_constants(segment: int) -> dict[str, int]:
    """Constants that are declared to long.wgsl, long_rows.wgsl and join.wgsl."""
    return {
        "BLOCKS": BLOCKS,
        "BLOCK_WORDS": BLOCK_WORDS,
        "LEAD": LEAD,
        "SKEW": skew(segment),
        "LAG": lag(segment),
        "PASSING_ENTRIES": passing_entries(segment),
        "STRIP_ENTRIES": strip_entries(segment),
        **places(lane_entries(segment)),
    }


def workgroup_bytes(segment: int) -> int:
    """Bytes of workgroup memory of forward/long.wgsl: emissions, columns between segments, and lanes' exponents."""
    segments = LONG.lanes // segment
    emissions = 4 * LETTERS_SCALED * LONG.rows * LONG.lanes
    passing = (segments + 1) * BLOCKS * (8 * BLOCK + 4)
    of_strip = 12
    return emissions + passing + of_strip + 4 * (2 * LONG.lanes + segments * min(BLOCK, segment))


BORDERS_AT = 1
"""Index of the word at which the first border begins. Word 0 says whether any strip has waited in vain."""


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """How to score single pairs with forward/long.wgsl."""

    work: NDArray[np.void]  # All fields but those that say how far strips go: `front`, `behind` and `polls`
    items: int  # Strips of all halves of all pairs
    words: int  # Words of all borders
    # int64[pairs]: first item of each pair. Strips of the left and the right half take turns.
    pair_item: NDArray[np.int64]
    # int64[pairs]: strips of each half of each pair, and steps of each strip of the longer half
    strips: NDArray[np.int64]
    steps: NDArray[np.int64]
    kept: Kept  # One entry a pair; NaN if its read does not fold

    def front(self, behind: int) -> int:
        """Step that the first strip must reach for all strips to be done, each `behind` steps behind the one above."""
        return int((self.steps + behind * (self.strips - 1)).max(initial=0))


def pack_pairs(
    batch: PairBatch,
    reads: NDArray[np.int64],
    haplotypes: NDArray[np.int64],
    segment: int,
    staging: Staging,
) -> PackedPairs:
    """Write `batch` and pairs of its reads and haplotypes (int64[pairs] each), cut into strips, and send them.

    `segment` is the number of lanes that hand values on to each other.
    """
    plan, work, kept, folds = plan_of(batch)
    strips, letters = strips_of(batch, reads), np.diff(batch.haplotype_offset)[haplotypes]
    halves, columns = halves_of(letters), half_columns(letters)
    items_of = halves * strips
    pair_item = np.cumsum(items_of) - items_of
    pair = np.repeat(np.arange(len(reads)), items_of)
    strip, half = np.divmod(np.arange(len(pair)) - pair_item[pair], halves[pair])
    each = border_words(columns)  # of a border of each half
    words = each.sum(axis=1) * (strips - 1)
    # The borders of a half follow each other, from the first strip down. None is below the last strip.
    first = BORDERS_AT + np.cumsum(words) - words
    of_half = np.stack([first, first + each[:, 0] * (strips - 1)], axis=1)
    border = of_half[pair, half] + strip * each[pair, half]
    fields = {"read": reads[pair], "haplotype": haplotypes[pair], "half": half, "strip": strip, "border": border}
    items = np.stack([fields[name] for name in STRIP_ITEM], axis=1)
    work["items"], work["end_item"] = plan.add(items.astype(np.uint32)) // 4, len(pair)
    work["kept"] = 0
    plan.send(staging)
    of_reads = kept.log10 if len(kept.log10) else np.zeros(batch.reads)
    of_pairs = Kept((of_reads if folds is None else np.where(folds, of_reads, np.nan))[reads], kept.unit)
    steps = all_steps(columns.max(axis=1), segment)
    return PackedPairs(work, len(pair), BORDERS_AT + int(words.sum()), pair_item, strips, steps, of_pairs)


def strips_of(batch: PairBatch, reads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of strips that forward/long.wgsl cuts each half of a read's pairs into."""
    strips: NDArray[np.int64] = -(-np.diff(batch.read_offset)[reads] // (LONG.lanes * LONG.rows))
    return strips


LEAST_POWER = -900
"""Least power of 2 that a part of a sum is multiplied by, relative to the largest part: far below what counts."""


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
