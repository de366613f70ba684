"""Row parameters of a batch, whichever model its reads are for."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pairhmm.models import gatk, profile
from pairhmm.models.batch import ROW_SIZE, PairBatch

log = logging.getLogger(__name__)


def rows_of(batch: PairBatch) -> NDArray[np.float64]:
    """Row parameters float64[bases, 12] of a batch's reads, from its qualities, profiles or rows."""
    if batch.qualities is not None:
        return gatk.rows(batch.qualities)
    if batch.profiles is not None:
        return profile.rows(batch.profiles)
    assert batch.rows is not None
    return batch.rows


def with_one_gap_model(batch: PairBatch) -> PairBatch:
    """The batch with rows in place of profiles that have probabilities and transitions for each base.

    Other batches stay as they are. The kernels of GPUs that take probabilities for each base take the transitions as
    constants. Distinct rows may have transitions of their own.
    """
    if batch.profiles is None or batch.profiles.kinds is not None or not batch.profiles.have_repeats:
        return batch
    _tell()
    return replace(batch, profiles=None, rows=profile.rows(batch.profiles))


@cache
def _tell() -> None:
    """Say it once a process."""
    log.info(
        "MI and MD by copies, and too many distinct rows: a GPU is sent %d bytes a base in place of 32",
        ROW_SIZE * np.dtype(float).itemsize,
    )
