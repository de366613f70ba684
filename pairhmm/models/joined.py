"""Joins batches into one, so that a device scores them in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import PairBatch, Profiles, Qualities
from pairhmm.sequences.arrays import offsets


def can_be_joined(one: PairBatch, other: PairBatch) -> bool:
    """Whether one batch can have the groups of both: their reads are those of one model with the same constants."""
    if one.start != other.start:
        return False
    if one.qualities is not None:
        return other.qualities is not None
    if one.profiles is None or other.profiles is None:
        return False
    return one.profiles.kinds is not None and _are_of_one_table(one.profiles, other.profiles)


def joined_batches(batches: Sequence[PairBatch]) -> PairBatch:
    """One batch with the groups of several, in order. A batch by itself comes back as it is.

    Parameters
    ----------
    batches : sequence of PairBatch
        At least one; the others can be joined with the first (`can_be_joined`).
    """
    first = batches[0]
    if len(batches) == 1:
        return first
    qualities, profiles = first.qualities, first.profiles
    if qualities is not None:
        reads = [one.qualities for one in batches]
        names = Qualities.__dataclass_fields__
        qualities = Qualities(*(np.concatenate([getattr(one, name) for one in reads]) for name in names))
    if profiles is not None:
        kinds = [one.profiles.kinds for one in batches if one.profiles is not None and one.profiles.kinds is not None]
        profiles = replace(profiles, kinds=np.concatenate(kinds))
    return PairBatch(
        group_read=_offsets(batches, lambda one: one.group_read),
        group_haplotype=_offsets(batches, lambda one: one.group_haplotype),
        read_offset=_offsets(batches, lambda one: one.read_offset),
        haplotype_offset=_offsets(batches, lambda one: one.haplotype_offset),
        haplotypes=np.concatenate([one.haplotypes for one in batches]),
        start=first.start,
        qualities=qualities,
        profiles=profiles,
    )


def _are_of_one_table(one: Profiles, other: Profiles) -> bool:
    arrays = ("probabilities", "match", "insertion", "transitions")
    return other.kinds is not None and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


def _offsets(batches: Sequence[PairBatch], part: Callable[[PairBatch], NDArray[np.int64]]) -> NDArray[np.int64]:
    return offsets(np.concatenate([np.diff(part(one)) for one in batches]))
