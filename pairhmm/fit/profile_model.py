"""The profile model for a fit: its rows as tables, and its parameters from expected counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pairhmm.fit.by_copies import CLASSES, class_counts, class_probabilities, likeliest_rates
from pairhmm.fit.by_copies import MOST_PRIOR as MOST_PRIOR_OF_CLASS
from pairhmm.fit.counts import QUALITIES, SYMBOLS, Counts, RowTables, places_by_copies, with_free_start
from pairhmm.fit.pairs import FitPairs
from pairhmm.models.gatk import ERROR, MOST_REPEATS
from pairhmm.models.profile import HAPLOTYPE_LETTERS, LEAVING, LETTERS, OPENING, STARTS, ProfileModel, one_hot

_CLOSING = {state: names for state, names in LEAVING.items() if state != "M"}
_AT = {"IM": 1, "DM": 2, "II": 4, "DD": 6}
"""Columns of `RowTables.transition`."""

_INNER_ROUNDS = 10

PRIOR_EVENTS = 0.3
MOST_PRIOR = 10_000.0
"""A prior counts as `PRIOR_EVENTS` events of its rarest outcome, but as at most `MOST_PRIOR` observations in all."""


@dataclass(frozen=True, slots=True)
class ProfileFit:
    """A profile model during a fit.

    The true letter a behind a base is latent and has weight p[i,a]. A called base has its error probability spread
    evenly over the other letters, e/3 each; N is uniform. Each column eps_M(., h) is a distribution over a. So is
    eps_I, and so are the transitions out of each state, which for M differ by the copies of the repeat at a base. The
    column of N is not fitted, since unknown reference bases tell nothing about errors.
    """

    model: ProfileModel
    # dict of str to float64[k]: counts of the prior, which are added to those of the data (`prior_counts`)
    prior: Mapping[str, NDArray[np.float64]]

    @classmethod
    def of(cls, initial: ProfileModel) -> ProfileFit:
        """Make the model that a fit begins with. It is the prior, too. Parameters that are zero stay zero.

        Raises
        ------
        ValueError
            Where a distribution does not sum to 1.
        """
        wrong = initial.unlike_one()
        if wrong:
            raise ValueError(f"{wrong}: a fit begins with distributions")
        if initial.by_copies is None:
            opening = [[initial.transitions[name]] * MOST_REPEATS for name in OPENING]
            initial = replace(initial, by_copies=np.array(opening))
        prior = {
            name: prior_counts(p, MOST_PRIOR_OF_CLASS if name in CLASSES else MOST_PRIOR)
            for name, p in cls(initial, {}).probabilities().items()
        }
        return cls(initial, prior)

    @property
    def rates(self) -> NDArray[np.float64]:
        """float64[2, 20]: MI and MD by copies."""
        assert self.model.by_copies is not None
        return self.model.by_copies

    def tables(self, pairs: FitPairs) -> RowTables:
        """The rows of the reads."""
        weight, model = symbol_probabilities(), self.model
        emission = np.concatenate([weight @ model.match, (weight @ model.insertion)[:, None]], axis=1)
        return RowTables(places_by_copies(pairs), emission, with_free_start(model.transitions_of_rows()), model.start)

    def distributions(self, counts: Counts) -> dict[str, NDArray[np.float64]]:
        """Expected counts float64[blocks, k] of each distribution, by its name in `probabilities`."""
        weight, model = symbol_probabilities(), self.model
        counted = {}
        for h, letter in enumerate(LETTERS):
            counted[f"match {letter}"] = counts.match[:, :, h] @ _shares(weight * model.match[:, h])
        counted["insertion"] = counts.insertion @ _shares(weight * model.insertion)
        counted |= class_counts(counts)
        within, of_first = counts.transition[:, :MOST_REPEATS], counts.transition[:, MOST_REPEATS:]
        for state, names in _CLOSING.items():
            counted[f"from {state}"] = np.stack([within[:, :, _AT[name]].sum(axis=1) for name in names], axis=1)
        # A read's first base takes no transition except those of deletions.
        counted["from D"][:, 1] += of_first[:, :, _AT["DD"]].sum(axis=1)
        return counted

    def probabilities(self) -> dict[str, NDArray[np.float64]]:
        """The parameters, by name of the distribution."""
        model = self.model
        result = {f"match {letter}": model.match[:, h] for h, letter in enumerate(LETTERS)}
        result["insertion"] = model.insertion
        result |= class_probabilities(*self.rates)
        for state, names in _CLOSING.items():
            result[f"from {state}"] = np.array([model.transitions[name] for name in names])
        return result

    def updated(self, counts: Counts) -> ProfileFit:
        """The model with the parameters that are likeliest given these counts."""
        total, fit = counts.total(), self
        # Counts by symbol do not depend on the latent letters, which are therefore iterated without forward-backward.
        for _ in range(_INNER_ROUNDS):
            counted, old = fit.distributions(total), fit.probabilities()
            shares = {
                name: normalised(each[0] + self.prior[name], old[name])
                for name, each in counted.items()
                if name not in CLASSES
            }
            fit = replace(fit, model=fit._with(shares))
        # No latent letter has a part in how often gaps open.
        rates = np.array(likeliest_rates(counted, self.prior))
        bases = np.array([counted[name].sum() for name in CLASSES])
        return replace(fit, model=_with_rates(fit.model, rates, bases))

    def with_start(self, name: str) -> ProfileFit:
        """The model with another start."""
        return replace(self, model=replace(self.model, start=STARTS[name]))

    def _with(self, new: Mapping[str, NDArray[np.float64]]) -> ProfileModel:
        """The model with these distributions."""
        match = self.model.match.copy()
        for h, letter in enumerate(LETTERS):
            match[:, h] = new[f"match {letter}"]
        closing = {
            name: float(value)
            for state, names in _CLOSING.items()
            for name, value in zip(names, new[f"from {state}"], strict=True)
        }
        transitions = {**self.model.transitions, **closing}
        return replace(self.model, match=match, insertion=new["insertion"], transitions=transitions, name="")


def _with_rates(model: ProfileModel, rates: NDArray[np.float64], bases: NDArray[np.float64]) -> ProfileModel:
    """The model with rates by copies (float64[2, 20]), and their means over the bases of each class as MM, MI, MD."""
    if bases.sum() > 0:
        insertion, deletion = (float(mean) for mean in rates @ bases / bases.sum())
        opening = {"MM": 1 - insertion - deletion, "MI": insertion, "MD": deletion}
        model = replace(model, transitions={**model.transitions, **opening})
    return replace(model, by_copies=rates)


def symbol_probabilities() -> NDArray[np.float64]:
    """float64[symbols, 4]: the profile's row of each base and quality."""
    symbols = np.arange(SYMBOLS)
    return one_hot((symbols // QUALITIES).astype(np.uint8), ERROR[symbols % QUALITIES])


def normalised(counts: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts float64[k] as a distribution; `otherwise` if all counts are zero."""
    total = counts.sum()
    return counts / total if total > 0 else otherwise


def prior_counts(probabilities: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Prior counts float64[k]. With few reads, they keep a rate near its first value, and above zero."""
    rarest = probabilities[probabilities > 0].min()
    weighted: NDArray[np.float64] = probabilities * min(PRIOR_EVENTS / rarest, most)
    return weighted


def parameter_names(distribution: str) -> tuple[str, ...]:
    """Names of a distribution's parameters in tables, such as ``eps_M(C,A)`` and ``MI, 3 copies``."""
    kind, _, which = distribution.partition(" ")
    if kind == "match":
        assert which in HAPLOTYPE_LETTERS
        return tuple(f"eps_M({a},{which})" for a in LETTERS)
    if distribution in CLASSES:
        return tuple(f"{name}, {distribution}" for name in LEAVING["M"])
    return tuple(f"eps_I({a})" for a in LETTERS) if kind == "insertion" else _CLOSING[which]


def _shares(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalise the rows of float64[symbols, 4] to sum to 1. A row stays zero if no letter emits its symbol."""
    total = weight.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return shares
