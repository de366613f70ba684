"""Joins batches into one, so that a device scores them in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.arrays import offsets
from pairhmm.models.batch import PairBatch, Profiles, Qualities


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
        names = Qualities.__dataclass_fields__
        qualities = Qualities(*(_end_to_end(batches, lambda one: getattr(one.qualities, name)) for name in names))  # noqa: B023
    if profiles is not None:
        profiles = replace(profiles, kinds=_end_to_end(batches, lambda one: one.profiles.kinds))
    return PairBatch(
        group_read=_offsets(batches, lambda one: one.group_read),
        group_haplotype=_offsets(batches, lambda one: one.group_haplotype),
        read_offset=_offsets(batches, lambda one: one.read_offset),
        haplotype_offset=_offsets(batches, lambda one: one.haplotype_offset),
        haplotypes=_end_to_end(batches, lambda one: one.haplotypes),
        start=first.start,
        qualities=qualities,
        profiles=profiles,
    )


def _are_of_one_table(one: Profiles, other: Profiles) -> bool:
    arrays = ("probabilities", "match", "insertion", "transitions")
    return other.kinds is not None and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


_Part = Callable[[PairBatch], NDArray]


def _end_to_end(batches: Sequence[PairBatch], part: _Part) -> NDArray:
    return np.concatenate([part(one) for one in batches])


def _offsets(batches: Sequence[PairBatch], part: _Part) -> NDArray[np.int64]:
    return offsets(np.concatenate([np.diff(part(one)) for one in batches]))
