"""Expectation-maximisation: rounds on a sample of the pairs, then on all of them.

Every round's likelihood is that of the parameters that it begins with. On the same pairs, the likelihood times the
prior never falls: a round that moves the parameters can only raise it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.fitting.counts import Counts, RowTables, expected_counts, log10_likelihoods
from pairhmm.fitting.pairs import FitPairs
from pairhmm.interface.options import Within, check_fields


class FittedModel(Protocol):
    """What a model is to a fit."""

    @property
    def name(self) -> str: ...

    @property
    def prior(self) -> Mapping[str, NDArray[np.float64]]: ...

    def tables(self, pairs: FitPairs) -> RowTables: ...

    def log10_start(self, pairs: FitPairs) -> NDArray[np.float64]: ...

    def distributions(self, counts: Counts) -> dict[str, NDArray[np.float64]]: ...

    def probabilities(self) -> dict[str, NDArray[np.float64]]: ...

    def updated(self, counts: Counts) -> Self: ...


Model = TypeVar("Model", bound=FittedModel)


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How long a fit goes on.

    Attributes
    ----------
    sample : int
        Pairs of the first rounds; where there are not twice as many, all rounds take all.
    sample_rounds, rounds : int
        The most rounds on the sample, and on all pairs.
    gain : float
        Rounds end when one raises log10 P by less than this a read.
    """

    sample: Annotated[int, Within(1)] = 5000
    sample_rounds: Annotated[int, Within(1)] = 40
    rounds: Annotated[int, Within(1)] = 4
    gain: Annotated[float, Within(0)] = 1e-6

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class Round:
    """What a round began with.

    Attributes
    ----------
    pairs : str
        "sample" or "all".
    number : int
        From 0 on: the likelihood of the parameters after so many rounds on these pairs.
    reads : int
    log10 : float
        Sum of log10 P(read | haplotype, the read begins on it).
    log10_prior : float
        log10 of the prior, up to a constant.
    """

    pairs: str
    number: int
    reads: int
    log10: float
    log10_prior: float

    @property
    def objective(self) -> float:
        """What no round lowers: log10 of likelihood times prior."""
        return self.log10 + self.log10_prior


Watch = Callable[[Round], None]


@dataclass(frozen=True, slots=True)
class Expectation:
    """Counts under a model, and its likelihood.

    Attributes
    ----------
    counts : Counts
    log10 : float
        Sum over the pairs that float64 holds.
    beyond : int
        Pairs that it does not hold.
    """

    counts: Counts
    log10: float
    beyond: int


def expectation(model: FittedModel, pairs: FitPairs, threads: int) -> Expectation:
    """Expected counts of the pairs under a model, and its likelihood, given that each read begins on its haplotype."""
    counts = expected_counts(pairs, model.tables(pairs), threads)
    held = np.isfinite(counts.log10)
    log10 = float((counts.log10 - model.log10_start(pairs))[held].sum())
    return Expectation(counts, log10, int(len(held) - held.sum()))


def log10_likelihood(model: FittedModel, pairs: FitPairs, threads: int) -> float:
    """The likelihood of `expectation` without its counts, which take longer."""
    found = log10_likelihoods(pairs, model.tables(pairs), threads)
    return float((found - model.log10_start(pairs))[np.isfinite(found)].sum())


def log10_prior(model: FittedModel) -> float:
    """log10 of the prior's Dirichlet distributions at a model's parameters, up to a constant."""
    total = 0.0
    for name, p in model.probabilities().items():
        counted = model.prior[name] > 0
        total += float((model.prior[name][counted] * np.log10(p[counted])).sum())
    return total


def sample_of(pairs: FitPairs, size: int) -> FitPairs:
    """So many of the pairs, evenly spread."""
    return pairs.take(np.arange(size, dtype=np.int64) * len(pairs) // size)


def maximise(
    model: Model, pairs: FitPairs, label: str, most: int, gain: float, threads: int, watch: Watch | None = None
) -> tuple[Model, Expectation, list[Round]]:
    """Rounds of expectation-maximisation.

    Returns
    -------
    model, expectation, rounds
        The last model, its counts and likelihood, and the rounds, whose last one is the last model's.
    """
    rounds: list[Round] = []
    while True:
        found = expectation(model, pairs, threads)
        rounds.append(Round(label, len(rounds), len(pairs), found.log10, log10_prior(model)))
        if watch is not None:
            watch(rounds[-1])
        gained = rounds[-1].objective - rounds[-2].objective if len(rounds) > 1 else np.inf
        if len(rounds) > most or gained < gain * len(pairs):
            return model, found, rounds
        model = model.updated(found.counts)
