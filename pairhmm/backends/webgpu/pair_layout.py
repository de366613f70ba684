"""Single pairs of any length as a buffer for forward/long.wgsl: they are cut into strips with borders between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import Staging
from pairhmm.backends.webgpu.layout import Kept, plan_of
from pairhmm.backends.webgpu.strips import LONG, all_steps, border_words
from pairhmm.backends.webgpu.work import STRIP_ITEM
from pairhmm.models.batch import PairBatch

BORDERS_AT = 1
"""Word that the borders of strips begin at, behind one for all."""


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """How to score single pairs with forward/long.wgsl.

    Attributes
    ----------
    work : Work
        But for how far strips go.
    items : int
        Strips of all pairs.
    words : int
        Of the borders.
    pair_item : int64[pairs]
        First item of each pair.
    strips, steps : int64[pairs]
        Of each pair, and of each of its strips.
    kept : Kept
        Of each pair; NaN where its read does not fold.
    """

    work: NDArray[np.void]
    items: int
    words: int
    pair_item: NDArray[np.int64]
    strips: NDArray[np.int64]
    steps: NDArray[np.int64]
    kept: Kept

    def front(self, behind: int) -> int:
        """Step that the first strip would have to be at for all to be done, each so many behind the one above."""
        return int((self.steps + behind * (self.strips - 1)).max(initial=0))


def pack_pairs(
    batch: PairBatch,
    reads: NDArray[np.int64],
    haplotypes: NDArray[np.int64],
    segment: int,
    staging: Staging,
) -> PackedPairs:
    """Write `batch` and pairs of its reads and haplotypes (int64[pairs] each), cut into strips, and send it.

    Lanes hand values on in segments of that many.
    """
    plan, work, kept, folds = plan_of(batch)
    strips = strips_of(batch, reads)
    pair_item = np.cumsum(strips) - strips
    columns = np.diff(batch.haplotype_offset)[haplotypes]
    pair = np.repeat(np.arange(len(reads)), strips)
    strip = np.arange(len(pair)) - pair_item[pair]
    border = np.where(strip + 1 < strips[pair], border_words(columns)[pair], 0)  # none is below the last strip
    border_at = BORDERS_AT + np.cumsum(border) - border
    fields = {"read": reads[pair], "haplotype": haplotypes[pair], "strip": strip, "border": border_at, "pair": pair}
    items = np.stack([fields[name] for name in STRIP_ITEM], axis=1)
    work["items"], work["end_item"] = plan.add(items.astype(np.uint32)) // 4, len(pair)
    work["kept"] = 2 * len(reads)
    plan.write(staging.begin(plan.size), staging.send)
    words = BORDERS_AT + int(border.sum())
    of_pairs = Kept(np.where(folds, kept.log10, np.nan)[reads], kept.unit)
    return PackedPairs(work, len(pair), words, pair_item, strips, all_steps(columns, segment), of_pairs)


def strips_of(batch: PairBatch, reads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Strips that reads are cut into, by forward/long.wgsl."""
    strips: NDArray[np.int64] = -(-np.diff(batch.read_offset)[reads] // (LONG.lanes * LONG.rows))
    return strips
