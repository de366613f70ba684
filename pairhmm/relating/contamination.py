"""The share of foreign reads of each sample, by maximum likelihood over its reads, with an interval.

A read of a sample with the genotype g1 and the share alpha of reads of somebody with the genotype g2 has the
alternative allele with probability ``q = (1 - alpha) g1 / 2 + alpha g2 / 2``, and the likelihood
``(1 - q) P(read | ref) + q P(read | alt)``. At each site this is summed over g1 and g2: Jun et al. (2012), "Detecting
and estimating contamination of human DNA samples in sequencing and array-based genotype data", American Journal of
Human Genetics 91:839.

Who the foreign reads are of is either unknown, so that g2 is of the population, or another sample of the cohort, so
that g2 has the probabilities of that sample's genotypes. The two may be relatives or the same individual: the shares of
sites where they have 0, 1 and 2 alleles from a common ancestor are estimated along with alpha, or else a relative's
alleles would pass for foreign reads. Frequencies leave out the sample and its source, since each draws those of a small
cohort to itself. What is left of the cohort is an urn of alleles (`pairhmm.relating.alleles`), because its frequencies
are not certain.

Wrong reads look like foreign ones at low depth. So the share of them that the likelihoods of reads don't know of is
estimated too, once for the whole cohort.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.interface.display import short_repr
from pairhmm.relating.alleles import AlleleUrn, CohortAlleles, genotype_weights
from pairhmm.relating.evidence import MOST_RATIO, SiteEvidence
from pairhmm.relating.likelihoods import GENOTYPES, Floats, LogLikelihoods
from pairhmm.relating.relations import IBD

Profile = Callable[[Floats], Floats]
"""Log-likelihoods of shares of foreign reads."""

POPULATION = -1
"""The source of foreign reads that are of no sample of the cohort."""
LEAST_SHARE = 0.01
"""A sample is contaminated if the lower end of its interval is above this."""
LEAST_GAIN = 8.0
"""And if its log-likelihood is so much better than without foreign reads. By chance, one clean sample in 30,000 is."""
HALF_WIDTH = 1.92
"""The log-likelihood falls by so much from its maximum to the ends of a 95% interval."""

_COARSE = np.array(
    [0, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.045, 0.065, 0.09, 0.12, 0.16, 0.22, 0.3, 0.4, 0.5]
)
_FINE = 6
_REFINEMENTS = 2
_PROBES = np.array([0, 0.02, 0.06, 0.2])
# The relations of others, and some between them.
_PROBE_STATES = np.concatenate([IBD, [[0.9, 0.1, 0], [0.75, 0.25, 0], [0, 0.5, 0.5]]]).astype(np.float32)
# Nearly the logarithm of the greatest float32.
_HIGHEST_LOG = 80.0
_SMALLEST = np.float32(np.finfo(np.float32).tiny)
# Samples with a likeness of this or more are of one individual. They can't be told apart as sources.
_SAME = 0.65
# Sources of a sample whose likelihoods are maximised.
_BEST_SOURCES = 3
_ROUNDS = 40
_ERRORS = np.array([-0.8, -0.6, -0.4, -0.2, 0, 0.25, 0.5, 1, 2, 4, 8, 16])
"""Extra errors that are tried, as multiples of the least error that a read's likelihoods claim."""
# Samples that are asked for the error of a cohort, at most.
_MOST_ASKED = 20


@dataclass(frozen=True, slots=True)
class Contamination:
    """Shares of foreign reads of samples, all (samples,). NaN for a sample without reads.

    Attributes
    ----------
    fraction, low, high : float64
        The likeliest share, and the ends of its 95% interval.
    gain : float64
        Log-likelihood of that share over that of none.
    source : int32
        The sample whose genotypes fit the foreign reads best, or `POPULATION`.
    """

    fraction: Floats
    low: Floats
    high: Floats
    gain: Floats
    source: NDArray[np.int32]

    __repr__ = short_repr

    @property
    def is_contaminated(self) -> NDArray[np.bool_]:
        """Bool (samples,): by `LEAST_SHARE` and `LEAST_GAIN`."""
        result: NDArray[np.bool_] = (self.low > LEAST_SHARE) & (self.gain > LEAST_GAIN)
        return result


class _Reads:
    """The reads of a sample: how many of each log10 ratio there are at each of its sites."""

    def __init__(self, evidence: SiteEvidence, sample: int) -> None:
        begin, end = evidence.begin[sample : sample + 2]
        self.sites, place = np.unique(evidence.site[begin:end], return_inverse=True)
        ratios, kind = np.unique(evidence.log10_ratio[begin:end], return_inverse=True)
        self._odds = 10.0 ** ratios.astype(np.float64)
        counts = np.zeros((len(ratios), len(self.sites)), dtype=np.float32)
        np.add.at(counts, (kind, place), evidence.count[begin:end])
        self._counts = counts

    def likelihoods(self, shares: Floats, error: float) -> NDArray[np.float32]:
        """Of the reads of a site, up to a factor: float32 (3 own genotypes, 3 foreign ones, shares, sites)."""
        own, foreign = np.arange(GENOTYPES)[:, None, None] / 2, np.arange(GENOTYPES)[:, None] / 2
        logs = self._logs(own * (1 - shares) + foreign * shares, error)
        joint: NDArray[np.float32] = np.exp(np.minimum(logs - self._best(error), _HIGHEST_LOG))
        return joint

    def fit(self, error: float, priors: Floats) -> float:
        """Log-likelihood of an extra error without foreign reads; `priors` are of genotypes at the sample's sites."""
        logs = self._logs(np.arange(GENOTYPES) / 2, error)
        best = logs.max(axis=0)
        weights = np.einsum("gs,gs->s", np.exp(logs - best), priors.astype(np.float32))
        return float(_total_log(weights) + best.sum(dtype=np.float64))

    def _best(self, error: float) -> NDArray[np.float32]:
        """The log-likelihood of the best genotype without foreign reads, (sites,)."""
        best: NDArray[np.float32] = self._logs(np.arange(GENOTYPES) / 2, error).max(axis=0)
        return best

    def _logs(self, q: Floats, error: float) -> NDArray[np.float32]:
        q = q * (1 - 2 * error) + error
        of_read = np.log1p(q[..., None] * (self._odds - 1)).astype(np.float32)
        logs = of_read.reshape(-1, len(self._odds)) @ self._counts
        return logs.reshape(*q.shape, -1)


def _by_ancestry(joint: NDArray[np.float32], urn: AlleleUrn) -> NDArray[np.float32]:
    """Likelihoods of reads given the foreign genotype, float32 (3 IBD states, 3 foreign genotypes, shares, sites).

    Parameters
    ----------
    joint : float32 (3 own genotypes, 3 foreign genotypes, shares, sites)
    urn : AlleleUrn
    """
    result = np.empty((3, *joint.shape[1:]), dtype=np.float32)
    for foreign in range(GENOTYPES):
        left = urn.after(foreign)
        p = left.frequencies
        zero = np.zeros_like(p)
        # P(own | foreign, one allele of a common ancestor).
        of_relative = np.array([1 - p, p, zero]) * (2 - foreign) / 2 + np.array([zero, 1 - p, p]) * foreign / 2
        for state, priors in enumerate((left.genotypes, of_relative)):
            result[state, foreign] = np.einsum("gas,gs->as", joint[:, foreign], priors.astype(np.float32))
        result[2, foreign] = joint[foreign, foreign]
    return result


def estimate_contamination(
    evidence: SiteEvidence,
    likelihoods: LogLikelihoods,
    frequencies: Floats,
    is_given: NDArray[np.bool_] | None = None,
) -> Contamination:
    """Estimate the share of foreign reads of each sample.

    Parameters
    ----------
    evidence : SiteEvidence
    likelihoods : float32 (samples, sites, 3)
        Of the genotypes of each sample, from its reads without a thought of foreign ones.
    frequencies : float64 (sites,)
        Of the alternative allele.
    is_given : bool (sites,), optional
        Where the frequency is not of the samples, but known of the population.
    """
    samples = len(evidence.samples)
    fraction, low, high, gain = np.full((4, samples), np.nan)
    sources = np.full(samples, POPULATION, np.int32)
    cohort = CohortAlleles(likelihoods, frequencies, is_given)
    reads = {sample: _Reads(evidence, sample) for sample in np.flatnonzero(np.diff(evidence.begin)).tolist()}
    error = _common_error(evidence, reads, cohort)
    for sample, own in reads.items():
        others = cohort.without(sample)
        found = [(*_estimate(_population_profile(own, error, others)), POPULATION)]
        # Without foreign reads there is nobody to look for.
        is_clean = found[0][3] <= HALF_WIDTH
        candidates = [] if is_clean else np.flatnonzero(cohort.likeness(sample) < _SAME).tolist()
        for source in _best_sources(own, error, others, cohort.weights, candidates):
            without = cohort.without(sample, source)
            of_source = genotype_weights(likelihoods[[source]], without.genotypes)[0]
            found.append((*_estimate(_source_profile(own, error, without, of_source)), source))
        # The population comes first. Each sample has two parameters more, and is one of many.
        demanded = 2 + np.log(samples)
        best = max(found, key=lambda one: one[3] - demanded * (one[4] != POPULATION))
        (fraction[sample], low[sample], high[sample], gain[sample]), sources[sample] = best[:4], best[4]
    return Contamination(fraction, low, high, gain, sources)


def _common_error(evidence: SiteEvidence, reads: Mapping[int, _Reads], cohort: CohortAlleles) -> float:
    """The share of wrong reads, beyond those that likelihoods of reads know of, that fits the median sample."""
    least = 10.0 ** -float(np.abs(evidence.log10_ratio).max(initial=MOST_RATIO / 2))
    errors = []
    for sample in list(reads)[:: -(-len(reads) // _MOST_ASKED) or 1]:
        priors = cohort.without(sample).at(reads[sample].sites).genotypes
        fits = np.array([reads[sample].fit(error, priors) for error in least * _ERRORS])
        errors.append(_highest(least * _ERRORS, fits))
    return float(np.median(errors)) if errors else 0.0


def _population_profile(reads: _Reads, error: float, urn: AlleleUrn) -> Profile:
    here = urn.at(reads.sites)
    # P(own) P(foreign | own), [own][foreign].
    of_own = zip(here.genotypes, map(here.after, range(GENOTYPES)), strict=True)
    priors = np.stack([share * left.genotypes for share, left in of_own]).astype(np.float32)

    def profile(shares: Floats) -> Floats:
        return _total_log(np.einsum("gfas,gfs->as", reads.likelihoods(shares, error), priors))

    return profile


def _source_profile(reads: _Reads, error: float, urn: AlleleUrn, of_source: NDArray[np.float32]) -> Profile:
    here, weights = urn.at(reads.sites), of_source[:, reads.sites]

    def profile(shares: Floats) -> Floats:
        tables = _by_ancestry(reads.likelihoods(shares, error), here)
        return _with_relation(np.einsum("jfas,fs->jas", tables, weights))

    return profile


def _with_relation(tables: NDArray[np.float32]) -> Floats:
    """Log-likelihoods, maximised over the shares of sites of the three IBD states by expectation maximisation.

    Parameters
    ----------
    tables : float32 (3, shares, sites)
    """
    k = np.full((3, tables.shape[1], 1), 1 / 3, dtype=np.float32)
    for _ in range(_ROUNDS):
        parts = k * tables
        k = (parts / parts.sum(axis=0)).mean(axis=2, keepdims=True)
    return _total_log((k * tables).sum(axis=0))


def _total_log(tables: NDArray[np.float32]) -> Floats:
    """The sum of logarithms over sites, the last axis; none is of 0."""
    total: Floats = np.log(np.maximum(tables, _SMALLEST)).sum(axis=-1, dtype=np.float64)
    return total


def _best_sources(
    reads: _Reads,
    error: float,
    urn: AlleleUrn,
    weights: NDArray[np.float32],
    candidates: Sequence[int],
) -> list[int]:
    """The samples whose genotypes best explain foreign reads, whatever their relation: at most `_BEST_SOURCES`."""
    if not len(candidates):
        return []
    tables = _by_ancestry(reads.likelihoods(_PROBES, error), urn.at(reads.sites))
    of_relations = np.einsum("rj,jfas->fras", _PROBE_STATES, tables).reshape(GENOTYPES, -1, len(reads.sites))
    gains = {}
    for source in candidates:
        fits = _total_log(np.einsum("fcs,fs->cs", of_relations, weights[source][:, reads.sites]))
        by_share = fits.reshape(len(_PROBE_STATES), -1).max(axis=0)
        gains[source] = by_share[1:].max() - by_share[0]
    best = sorted(gains, key=lambda source: -gains[source])[:_BEST_SOURCES]
    return [source for source in best if gains[source] > 0]


def _estimate(profile: Profile) -> tuple[float, float, float, float]:
    """The likeliest share, the ends of its interval, and the gain over no foreign reads."""
    shares, values = _COARSE, profile(_COARSE)
    for _ in range(_REFINEMENTS):
        best = int(values.argmax())
        low, high = _last_outside(values, best)
        cells = {max(best - 1, 0), min(best, len(shares) - 2), max(low, 0), min(high - 1, len(shares) - 2)}
        finer = np.concatenate([np.linspace(shares[cell], shares[cell + 1], _FINE)[1:-1] for cell in sorted(cells)])
        shares, values = np.concatenate([shares, finer]), np.concatenate([values, profile(finer)])
        order = np.argsort(shares)
        shares, values = shares[order], values[order]
    best = int(values.argmax())
    low, high = _last_outside(values, best)
    above = values - values[best] + HALF_WIDTH
    first = _crossing(shares, above, low) if low >= 0 else 0.0
    last = _crossing(shares, above, high - 1) if high < len(shares) else float(shares[-1])
    return float(shares[best]), first, last, float(values[best] - values[0])


def _last_outside(values: Floats, best: int) -> tuple[int, int]:
    """The points next to the interval, outside: -1 and the number of points where there is none."""
    is_outside = values < values[best] - HALF_WIDTH
    left, right = np.flatnonzero(is_outside[:best]), np.flatnonzero(is_outside[best:])
    return (int(left[-1]) if len(left) else -1), (int(right[0]) + best if len(right) else len(values))


def _crossing(shares: Floats, above: Floats, index: int) -> float:
    """Where a line through a point and the next is 0."""
    (x, following), (y, next_y) = shares[index : index + 2], above[index : index + 2]
    return float(x - y * (following - x) / (next_y - y))


def _highest(places: Floats, values: Floats) -> float:
    """The place of the top of the parabola through the highest value and its neighbours."""
    best = int(np.clip(values.argmax(), 1, len(values) - 2))
    a, b, _ = np.polyfit(places[best - 1 : best + 2] - places[best], values[best - 1 : best + 2], 2)
    if a >= 0:
        return float(places[values.argmax()])
    return float(np.clip(places[best] - b / (2 * a), places[best - 1], places[best + 1]))
