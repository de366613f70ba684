"""Batches and their scores as files that JavaScript reads (web/tests/batch_file.js)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.models import profile
from pairhmm.models.batch import PairBatch
from pairhmm.models.profile import rows_of

QUALITIES = {
    "bases": "bases",
    "baseQuality": "base_quality",
    "insertionQuality": "insertion_quality",
    "deletionQuality": "deletion_quality",
    "gapQuality": "gap_quality",
}
"""Arrays of qualities in JavaScript's `Batch`, and in `Qualities`."""


def write_batch(path: Path, batch: PairBatch, **more: NDArray[np.generic]) -> None:
    """Write a batch, and further arrays under their names: a line of JSON, then the arrays, each from a multiple of 8.

    The line is padded by spaces, and holds the name, the type and the length of each array.
    """
    arrays = {**arrays_of(batch), **more}
    numbers = {"startMatch": batch.start.match, "startDeletion": batch.start.deletion}
    line = json.dumps({"numbers": numbers, "arrays": {name: [a.dtype.name, a.size] for name, a in arrays.items()}})
    with path.open("wb") as out:
        out.write((line + " " * (-(len(line) + 1) % 8) + "\n").encode())
        for array in arrays.values():
            out.write(array.tobytes() + bytes(-array.nbytes % 8))


def arrays_of(batch: PairBatch) -> Mapping[str, NDArray[np.generic]]:
    """The arrays of JavaScript's `Batch` (web/src/batch.js)."""
    empty = np.empty(0, dtype=np.uint8)
    qualities = {name: getattr(batch.qualities, own, empty) for name, own in QUALITIES.items()}
    rows, kinds = np.empty(0), np.empty(0, dtype=np.uint16)
    if batch.profiles is not None and batch.profiles.kinds is not None:
        rows, kinds = profile.distinct_rows(batch.profiles), batch.profiles.kinds
    elif batch.qualities is None:
        rows = rows_of(batch)
    offsets = {
        "groupRead": batch.group_read,
        "groupHaplotype": batch.group_haplotype,
        "readOffset": batch.read_offset,
        "haplotypeOffset": batch.haplotype_offset,
    }
    return {
        **{name: values.astype(np.uint32) for name, values in offsets.items()},
        "haplotypes": batch.haplotypes,
        **qualities,
        "rows": rows.reshape(-1),
        "kinds": kinds,
        "flags": empty if batch.flags is None else batch.flags,
    }
