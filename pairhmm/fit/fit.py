"""Runs a fit: rounds on a sample, the choice of the start, rounds on all pairs, standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from pairhmm.fit.errors import standard_errors
from pairhmm.fit.gatk_model import GatkFit, best_options
from pairhmm.fit.maximisation import Expectation, FitOptions, Model, Round, Watch, log10_likelihood, maximise
from pairhmm.fit.pairs import FitPairs
from pairhmm.fit.profile_model import ProfileFit
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import STARTS, ProfileModel

_DEFAULTS = FitOptions()


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Model]):
    """A fitted model and the uncertainty of its parameters.

    Attributes
    ----------
    model : ProfileFit or GatkFit
    rounds : list of Round
    first_log10 : float
        log10 likelihood, over all reads, of the parameters that the fit began with.
    counts : dict of str to float64[k]
        Expected counts of each distribution.
    errors : dict of str to float64[k]
        Standard errors of the probabilities of each distribution.
    observed : bool
        Whether the errors come from the observed information.
    reads, beyond : int
        All reads, and those whose range float64 does not hold. The latter are in no count.
    """

    model: Model
    rounds: list[Round]
    first_log10: float
    counts: dict[str, NDArray[np.float64]]
    errors: dict[str, NDArray[np.float64]]
    observed: bool
    reads: int
    beyond: int

    @property
    def log10(self) -> float:
        """log10 likelihood of the fitted parameters."""
        return self.rounds[-1].log10


def fit_profile(
    pairs: FitPairs,
    initial: ProfileModel,
    options: FitOptions = _DEFAULTS,
    threads: int = 1,
    watch: Watch | None = None,
) -> Fitted[ProfileFit]:
    """Fit the parameters of the profile model that make the reads likeliest.

    `initial` is the model of the first round, and the prior; its column of N is kept. `watch` is called with each
    round.
    """
    first = ProfileFit.of(initial)
    model, few, rounds = _on_sample(first, pairs, options, threads, watch)
    model = max((model.with_start(name) for name in STARTS), key=lambda fit: log10_likelihood(fit, few, threads))
    return _on_all(model, first, pairs, rounds, options, threads=threads, watch=watch)[0]


def fit_gatk(
    pairs: FitPairs,
    initial: GatkOptions,
    options: FitOptions = _DEFAULTS,
    threads: int = 1,
    watch: Watch | None = None,
) -> tuple[Fitted[GatkFit], GatkOptions, float]:
    """Fit the gap rates of GATK's model that make the reads likeliest. Arguments are as in `fit_profile`.

    Returns the fit by copies of the tandem repeat at a base; the qualities and the PCR indel model that come nearest to
    its rates; and their log10 likelihood.
    """
    first = GatkFit.of(initial)
    model, _, rounds = _on_sample(first, pairs, options, threads, watch)
    fitted, expected = _on_all(model, first, pairs, rounds, options, threads=threads, watch=watch)
    chosen = best_options(fitted.model, expected.counts, initial)
    return fitted, chosen, log10_likelihood(GatkFit.of(chosen), pairs, threads)


def _on_sample(
    first: Model, pairs: FitPairs, options: FitOptions, threads: int, watch: Watch | None
) -> tuple[Model, FitPairs, list[Round]]:
    """Rounds on a sample, evenly spread: the model behind them, and the sample. Of few pairs, these and no rounds."""
    size = options.sample
    if len(pairs) < 2 * size:
        return first, pairs, []
    sample = pairs.take(np.arange(size, dtype=np.int64) * len(pairs) // size)
    model, _, rounds = maximise(
        first, sample, "sample", options.sample_rounds, options.gain, threads=threads, watch=watch
    )
    return model, sample, rounds


def _on_all(
    model: Model,
    first: Model,
    pairs: FitPairs,
    before: list[Round],
    options: FitOptions,
    threads: int,
    watch: Watch | None,
) -> tuple[Fitted[Model], Expectation]:
    most = options.rounds if before else options.sample_rounds
    model, expected, rounds = maximise(model, pairs, "all", most, options.gain, threads=threads, watch=watch)
    counted = model.distributions(expected.counts)
    errors, observed = standard_errors(model.probabilities(), counted, model.prior)
    counts = {name: each.sum(axis=0) for name, each in counted.items()}
    first_log10 = log10_likelihood(first, pairs, threads)
    return Fitted(
        model=model,
        rounds=before + rounds,
        first_log10=first_log10,
        counts=counts,
        errors=errors,
        observed=observed,
        reads=len(pairs),
        beyond=expected.beyond,
    ), expected
