"""Expectation-maximisation: rounds on a sample of the pairs, then on all of them.

A round's likelihood is that of the parameters that it begins with. On the same pairs, likelihood times prior never
falls from one round to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.fit.counts import Counts, RowTables, expected_counts, log10_likelihoods, log10_start
from pairhmm.fit.pairs import FitPairs
from pairhmm.options import Within, check_fields


class FittedModel(Protocol):
    """The interface of a model that can be fitted."""

    @property
    def prior(self) -> Mapping[str, NDArray[np.float64]]: ...

    def tables(self, pairs: FitPairs) -> RowTables: ...

    def distributions(self, counts: Counts) -> dict[str, NDArray[np.float64]]: ...

    def probabilities(self) -> dict[str, NDArray[np.float64]]: ...

    def updated(self, counts: Counts) -> Self: ...


Model = TypeVar("Model", bound=FittedModel)


@dataclass(frozen=True, slots=True)
class FitOptions:
    """When a fit stops.

    Attributes
    ----------
    sample : int
        Number of pairs in the first rounds. With fewer than twice as many pairs, every round takes all pairs.
    sample_rounds, rounds : int
        The most rounds on the sample, and on all pairs.
    gain : float
        Rounds end when one raises log10 P by less than this for each read.
    """

    sample: Annotated[int, Within(1)] = 5000
    sample_rounds: Annotated[int, Within(1)] = 40
    rounds: Annotated[int, Within(1)] = 4
    gain: Annotated[float, Within(0)] = 1e-6

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class Round:
    """The state at the beginning of a round.

    Attributes
    ----------
    pairs : str
        "sample" or "all".
    number : int
        Number of the round on these pairs, from 0. The likelihood is that after so many rounds.
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
        """log10 of likelihood times prior, which no round lowers."""
        return self.log10 + self.log10_prior


Watch = Callable[[Round], None]


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected counts under a model, and its likelihood."""

    counts: Counts
    log10: float  # Sum of log10 likelihoods over the pairs whose range float64 holds
    beyond: int  # Number of pairs whose range float64 does not hold


def expectation(model: FittedModel, pairs: FitPairs, threads: int) -> Expectation:
    """Expected counts of the pairs under a model, and its likelihood, given that each read begins on its haplotype."""
    tables = model.tables(pairs)
    counts = expected_counts(pairs, tables, threads)
    beyond = int((~np.isfinite(counts.log10)).sum())
    return Expectation(counts, _given_start(counts.log10, pairs, tables), beyond)


def log10_likelihood(model: FittedModel, pairs: FitPairs, threads: int) -> float:
    """The likelihood as in `expectation`, without the counts, which take longer."""
    tables = model.tables(pairs)
    return _given_start(log10_likelihoods(pairs, tables, threads), pairs, tables)


def _given_start(log10: NDArray[np.float64], pairs: FitPairs, tables: RowTables) -> float:
    """The sum of the finite likelihoods, given that each read begins on its haplotype."""
    start = log10_start(tables.start, np.diff(pairs.haplotype_offset))
    return float((log10 - start)[np.isfinite(log10)].sum())


def log10_prior(model: FittedModel) -> float:
    """log10 of the prior (Dirichlet distributions) at a model's parameters, up to a constant."""
    total = 0.0
    for name, p in model.probabilities().items():
        counted = model.prior[name] > 0
        total += float((model.prior[name][counted] * np.log10(p[counted])).sum())
    return total


def maximise(
    model: Model, pairs: FitPairs, label: str, most: int, gain: float, threads: int, watch: Watch | None = None
) -> tuple[Model, Expectation, list[Round]]:
    """Run rounds of expectation-maximisation.

    Returns the last model, its counts and likelihood, and all rounds. The last round is that of the last model.
    """
    rounds: list[Round] = []
    while True:
        expected = expectation(model, pairs, threads)
        rounds.append(Round(label, len(rounds), len(pairs), expected.log10, log10_prior(model)))
        if watch is not None:
            watch(rounds[-1])
        gained = rounds[-1].objective - rounds[-2].objective if len(rounds) > 1 else np.inf
        if len(rounds) > most or gained < gain * len(pairs):
            return model, expected, rounds
        model = model.updated(expected.counts)
