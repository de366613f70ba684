"""Pairs and batches that the tests of fitting share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from pairhmm.fit.pairs import FitPairs
from pairhmm.models.profile import STARTS, ProfileModel
from pairhmm.native import is_compiled
from pairhmm.simulate.profile_errors import ProfileErrors, draw_letters, draw_places

TRANSITIONS = {"MM": 0.985, "MI": 0.005, "MD": 0.01, "IM": 0.7, "II": 0.3, "DM": 0.6, "DD": 0.4}


@pytest.fixture(autouse=True)
def compiled(require) -> None:
    """Require the compiled part, which has forward-backward of many pairs."""
    require("cpu", is_compiled(), "pairhmm has no compiled part here")


@pytest.fixture(scope="session")
def true_model() -> ProfileModel:
    """A model with enough errors to be counted in few reads."""
    match = np.full((4, 5), 0.001)
    np.fill_diagonal(match, 0.997)
    match[1, 0], match[0, 0] = 0.021, 0.977
    match[:, 4] = 0.25
    return ProfileModel(match, np.array([0.4, 0.1, 0.1, 0.4]), TRANSITIONS, STARTS["anywhere"])


@dataclass(frozen=True)
class Draw:
    """``Draw(model)(reads, length, seed)``: reads from the model, each beside its stretch of a genome."""

    model: ProfileModel

    def __call__(self, reads: int, length: int = 100, seed: int = 1, quality: int = 60) -> FitPairs:
        rng = np.random.default_rng(seed)
        genome = rng.integers(0, 4, 20_000).astype(np.uint8)
        errors = ProfileErrors.of(self.model)
        begin = rng.integers(50, len(genome) - 2 * length, reads)
        codes: NDArray[np.uint8] = draw_letters(
            rng, errors, genome, draw_places(rng, errors, begin, length, len(genome))
        )
        windows = [genome[b - 20 : b + length + 20] for b in begin.tolist()]
        return FitPairs.of(list(codes), [np.full(length, quality, dtype=np.uint8)] * reads, windows)


@pytest.fixture(scope="session")
def draw(true_model: ProfileModel) -> Draw:
    """Pairs drawn from `true_model`."""
    return Draw(true_model)
