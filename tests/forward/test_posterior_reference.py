"""The oracle of forward-backward: against paths counted one by one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from pairhmm.forward import posterior_reference as oracle
from pairhmm.models.batch import Start

Cell = tuple[str, int, int]


def by_paths(rows: NDArray[np.float64], haplotype: NDArray[np.uint8], start: Start) -> dict[Cell, float]:
    """The sum over paths through each cell, path by path: what posteriors are before they are divided."""
    size, width = len(rows), len(haplotype)
    sums: dict[Cell, float] = {}

    def follow(state: str, i: int, j: int, weight: float, path: tuple[Cell, ...]) -> None:
        if weight == 0:
            return
        if i > 0:
            path = (*path, (state, i, j))
        if i == size and state != "D" and j >= 1:
            for cell in (*path, ("all", 0, 0)):
                sums[cell] = sums.get(cell, 0.0) + weight
        to_match, to_insertion, to_deletion = {"M": (5, 8, 10), "I": (6, 9, None), "D": (7, None, 11)}[state]
        if i < size and j < width:
            follow("M", i + 1, j + 1, weight * rows[i, to_match] * rows[i, haplotype[j]], path)
        if i < size and to_insertion is not None and j >= 1:
            follow("I", i + 1, j, weight * rows[i, to_insertion], path)
        if i > 0 and j < width and to_deletion is not None:
            follow("D", i, j + 1, weight * rows[i - 1, to_deletion], path)

    follow("M", 0, 0, start.match, ())
    follow("D", 0, 0, start.deletion / width, ())
    for j in range(1, width + 1):
        follow("D", 0, j, 1 / width, ())
    return sums


@cache
def small() -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    rng = np.random.default_rng(4)
    return rng.uniform(0.1, 0.6, (3, 12)), rng.integers(0, 5, 4).astype(np.uint8)


@pytest.mark.parametrize("start", [Start(0.0, 1.0), Start(1.0, 0.0)], ids=["anywhere", "match"])
def test_posteriors_are_sums_over_paths(start: Start) -> None:
    rows, haplotype = small()
    log10, match, insertion, deletion = oracle.posteriors(rows, haplotype, start)
    sums = by_paths(rows, haplotype, start)
    assert log10 == pytest.approx(np.log10(sums["all", 0, 0]), abs=1e-12)
    for state, found in (("M", match), ("I", insertion), ("D", deletion)):
        for (i, j), probability in np.ndenumerate(found):
            assert probability == pytest.approx(sums.get((state, i + 1, j + 1), 0) / sums["all", 0, 0], abs=1e-12)
