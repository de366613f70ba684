"""Tables of a profile model's distinct rows: the chunks of a batch, and most batches of a run, have the same ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.batch import Profiles

__all__ = ["made_once"]

TABLES = 4
"""How many tables are kept: a run has one model, and Python callers may have a few."""

ARRAYS = ("probabilities", "match", "insertion", "transitions")
"""The arrays that a table is made from."""

Table = NDArray[Any]


def made_once(make: Callable[[Profiles], Table]) -> Callable[[Profiles], Table]:
    """`make` for any `Profiles`; equal rows and constants get the table that was made first. It cannot be written to.

    `make` must not look at `Profiles.kinds`.
    """

    @lru_cache(maxsize=TABLES)
    def table_of(*given: tuple[bytes, tuple[int, ...]]) -> Table:
        probabilities, match, insertion, transitions = (np.frombuffer(values).reshape(shape) for values, shape in given)
        table = make(Profiles(probabilities, match, insertion, transitions))
        table.flags.writeable = False
        return table

    @wraps(make)
    def found(profiles: Profiles) -> Table:
        arrays = (getattr(profiles, name) for name in ARRAYS)
        return table_of(*((values.tobytes(), values.shape) for values in arrays))

    return found
