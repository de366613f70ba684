"""The options of the map, and what follows from its seed and its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OptionError
from pairhmm.map.sketch.published import SLOTS
from pairhmm.options import Within, check_fields, check_number

GROUPS = ("kmers", "hits", "genotypes", "sheet")
"""The groups of properties, in the order of the table's columns."""


Quantisation = Literal["cdf", "rank"]


@dataclass(frozen=True, slots=True)
class MapOptions:
    """How samples are placed.

    Attributes
    ----------
    alpha : float
        How far the mean of its neighbours draws a sample, 0 (not at all) to 1.
    neighbours : int
        Neighbours of a sample.
    passes : int
        Passes of blending.
    seed : int
        Chooses the planes that signatures are projected to.
    quantise : str
        How coordinates become cells: by the distribution of Gauss ("cdf") or by rank.
    """

    alpha: Annotated[float, Within(0, 1)] = 0.3
    neighbours: Annotated[int, Within(1, 1000)] = 10
    passes: Annotated[int, Within(0, 1000)] = 5
    seed: Annotated[int, Within(0, 2**63 - 1)] = 1
    quantise: Quantisation = "cdf"

    def __post_init__(self) -> None:
        check_fields(self)


def weights_of(groups: Sequence[str], given: Mapping[str, float]) -> NDArray[np.float64]:
    """The weights of groups, whose sum is 1. A group without a given weight has the weight 1 before that.

    Raises
    ------
    OptionError
        For a weight of a group that is not there, a weight below 0, and weights that are all 0.
    """
    for group, weight in given.items():
        if group not in groups:
            raise OptionError("weight", group, f"is not one of this map's groups: {', '.join(groups)}")
        check_number("weight", weight, 0, 1e6)
    weights: NDArray[np.float64] = np.array([given.get(group, 1.0) for group in groups], dtype=np.float64)
    if not weights.sum() > 0:
        raise OptionError("weight", 0, "is the weight of every group")
    weights /= weights.sum()
    return weights


def matrices_of(groups: Sequence[str], seed: int) -> NDArray[np.float32]:
    """The matrix that projects each group's signatures, shape (groups, 128, 2).

    Entries have the distribution N(0, 1) / sqrt(128). They depend on the seed and the group's name only.
    """
    matrices = np.empty((len(groups), SLOTS, 2), dtype=np.float32)
    for group, matrix in zip(groups, matrices, strict=True):
        random = np.random.Generator(np.random.PCG64([seed, *group.encode()]))
        matrix[:] = random.standard_normal((SLOTS, 2)) / np.sqrt(SLOTS)
    return matrices
