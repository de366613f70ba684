"""Packs single pairs of any length for forward/long.wgsl: in halves, which are cut into strips with borders between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import Staging
from pairhmm.backends.webgpu.layout import Kept, plan_of
from pairhmm.backends.webgpu.strips import LONG, all_steps, border_words, half_columns, halves_of
from pairhmm.backends.webgpu.work import STRIP_ITEM
from pairhmm.models.batch import PairBatch

BORDERS_AT = 1
"""Index of the word at which the first border begins. Word 0 says whether any strip has waited in vain."""


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """How to score single pairs with forward/long.wgsl.

    Attributes
    ----------
    work : Work
        All fields but those that say how far strips go: `front`, `behind` and `polls`.
    items : int
        Strips of all halves of all pairs.
    words : int
        Words of all borders.
    pair_item : int64[pairs]
        First item of each pair. Strips of the left and the right half take turns.
    strips, steps : int64[pairs]
        Strips of each half of each pair, and steps of each strip of the longer half.
    kept : Kept
        One entry a pair; NaN if its read does not fold.
    """

    work: NDArray[np.void]
    items: int
    words: int
    pair_item: NDArray[np.int64]
    strips: NDArray[np.int64]
    steps: NDArray[np.int64]
    kept: Kept

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
