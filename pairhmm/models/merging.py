"""Merges batches into one, which a device scores in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import PairBatch, Profiles, Qualities
from pairhmm.sequences.arrays import offsets


def can_merge(batch: PairBatch, other: PairBatch) -> bool:
    """Whether one batch can have the groups of both: their reads are those of one model with the same constants."""
    if batch.start != other.start or batch.flags is not None or other.flags is not None:
        return False
    if batch.qualities is not None:
        return other.qualities is not None
    if batch.profiles is None or other.profiles is None:
        return False
    return batch.profiles.kinds is not None and _share_a_table(batch.profiles, other.profiles)


def merge_batches(batches: Sequence[PairBatch]) -> PairBatch:
    """A batch with the groups of several, in order. A single batch is returned as it is.

    Parameters
    ----------
    batches : sequence of PairBatch
        At least one; the others can be joined with the first (`can_merge`).
    """
    first = batches[0]
    if len(batches) == 1:
        return first
    qualities, profiles = first.qualities, first.profiles
    if qualities is not None:
        reads = [batch.qualities for batch in batches]
        names = Qualities.__dataclass_fields__
        qualities = Qualities(*(np.concatenate([getattr(read, name) for read in reads]) for name in names))
    if profiles is not None:
        each = [batch.profiles for batch in batches if batch.profiles is not None]
        kinds = [reads.kinds for reads in each if reads.kinds is not None]
        profiles = replace(profiles, kinds=np.concatenate(kinds))
    return PairBatch(
        group_read=_offsets(batches, lambda batch: batch.group_read),
        group_haplotype=_offsets(batches, lambda batch: batch.group_haplotype),
        read_offset=_offsets(batches, lambda batch: batch.read_offset),
        haplotype_offset=_offsets(batches, lambda batch: batch.haplotype_offset),
        haplotypes=np.concatenate([batch.haplotypes for batch in batches]),
        start=first.start,
        qualities=qualities,
        profiles=profiles,
    )


def _share_a_table(profiles: Profiles, other: Profiles) -> bool:
    arrays = ("probabilities", "match", "insertion", "transitions")
    same = (np.array_equal(getattr(profiles, name), getattr(other, name)) for name in arrays)
    return other.kinds is not None and all(same)


def _offsets(batches: Sequence[PairBatch], part: Callable[[PairBatch], NDArray[np.int64]]) -> NDArray[np.int64]:
    return offsets(np.concatenate([np.diff(part(batch)) for batch in batches]))
