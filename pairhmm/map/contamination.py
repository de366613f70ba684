"""Contamination: the share of foreign reads of each sample, by maximum likelihood, with an interval.

Whose the foreign reads are is either unknown, so that their genotypes are of the population, or it is another
individual of the cohort, so that they have the probabilities of its genotypes (`pairhmm.map.mixtures`). A sample's
own genotype is estimated from its reads, other samples of the individual, and its closest relative. A relative
makes the own genotype more certain, and so any foreign reads easier to see. So it is a source only if it explains more
than foreign reads of the population do with its help.

Frequencies leave out the sample, its source and their relatives, since each draws those of a small cohort to itself.
What is left of the cohort is an urn of alleles (`pairhmm.map.population`), because its frequencies are not certain.

Wrong reads look like foreign ones at low depth. So the share of them that the likelihoods of reads don't know of is
estimated too, once for the whole cohort.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.drift import DriftedPairs
from pairhmm.map.genotype_likelihoods import Floats, LogLikelihoods, allele_frequencies, genotype_priors
from pairhmm.map.individuals import Individuals, find_individuals
from pairhmm.map.kinship import FEW_SAMPLES
from pairhmm.map.mixtures import (
    HALF_WIDTH,
    JointGenotypes,
    MixedReads,
    Peak,
    Profile,
    of_informed_population,
    of_population,
    of_source,
    peak_of,
)
from pairhmm.map.population import RELATED, AlleleUrn, CohortAlleles, find_axes, genotype_weights
from pairhmm.map.sites import MOST_RATIO, SiteEvidence, evidence_of
from pairhmm.objects import short_repr

POPULATION = -1
"""The source of foreign reads that are of no sample of the cohort."""
LEAST_SHARE = 0.01
"""A sample is contaminated if the lower end of its interval is above this."""
FALSE_ALARMS = 0.001
"""And if foreign reads make its reads so much likelier that chance does as much in this share of clean cohorts."""

# Individuals with a correlation of this or more are the same one, and can't be distinguished as sources.
_SAME = 0.65
# With axes of ancestry, estimates vary 1.4 times as much as likelihoods say (docs/map.md).
_WIDER = 2.0
# Relatives are thought of as sources where strangers' reads may be so many.
_LEAST_HIGH = 0.003
# Strangers, and relatives, whose likelihoods as sources are maximised.
_BEST_SOURCES = 3
_PROBES = np.array([0, 0.02, 0.06, 0.2])
_ERRORS = np.array([-0.8, -0.6, -0.4, -0.2, 0, 0.25, 0.5, 1, 2, 4, 8, 16])
"""Extra errors that are tried, as multiples of the least error that a read's likelihoods claim."""
# A sample with losses is looked at where its individual is heterozygous with a lower probability.
_MOST_HETEROZYGOUS = 0.05
# Samples that are asked for the error of a cohort, at most.
_MOST_ASKED = 20


@dataclass(frozen=True, slots=True)
class Contamination:
    """Shares of foreign reads of samples, all (samples,). NaN for a sample without reads."""

    fraction: Floats  # the likeliest share
    low: Floats  # the ends of its 95% interval
    high: Floats
    gain: Floats  # log-likelihood of that share over that of none
    # the first sample of the individual whose genotypes fit the foreign reads best, or `POPULATION`
    source: NDArray[np.int32]
    individuals: Individuals

    __repr__ = short_repr

    @property
    def is_contaminated(self) -> NDArray[np.bool_]:
        """Bool (samples,): by `LEAST_SHARE` and `least_gain`."""
        of_chance = least_gain(int(np.count_nonzero(~np.isnan(self.gain))))
        return (self.low > LEAST_SHARE) & (self.gain > of_chance)


def least_gain(samples: int) -> float:
    """The gain that one of this many clean samples exceeds in `FALSE_ALARMS` of cohorts.

    A share can't be below 0. So twice the gain is 0 for half of clean samples, and has a chi-squared distribution of
    one degree of freedom for the others (Self and Liang 1987).
    """
    return NormalDist().inv_cdf(1 - FALSE_ALARMS / max(1, samples)) ** 2 / 2


def estimate_contamination(
    evidence: SiteEvidence,
    likelihoods: LogLikelihoods,
    frequencies: Floats,
    is_given: NDArray[np.bool_] | None = None,
) -> Contamination:
    """Estimate the share of foreign reads of each sample from its reads.

    Likelihoods are of genotypes without a thought of foreign reads. `is_given` says where a frequency is not of the
    samples, but known of the population.
    """
    samples = len(evidence.samples)
    fraction, low, high, gain = np.full((4, samples), np.nan)
    sources = np.full(samples, POPULATION, np.int32)
    cohort = _Cohort(likelihoods, frequencies, is_given, evidence)
    reads = {}
    for sample in np.flatnonzero(np.diff(evidence.begin)).tolist():
        others = cohort.individuals.by_others(likelihoods, sample)
        if sample not in cohort.individuals.losses:
            reads[sample] = MixedReads(evidence, sample, others)
        elif cohort.individuals.whole_partner(sample) is not None:
            reads[sample] = MixedReads(_of_homozygotes(evidence, sample, others, frequencies), 0, others)
    least_error = 10.0 ** -float(np.abs(evidence.log10_ratio).max(initial=MOST_RATIO / 2))
    whole = [sample for sample in reads if sample not in cohort.individuals.losses]
    asked = whole[:: -(-len(whole) // _MOST_ASKED) or 1]
    error = _common_error({sample: reads[sample] for sample in asked}, least_error, cohort)
    for sample, mixed in reads.items():
        peak, sources[sample] = _of_sample(mixed, error, cohort, sample)
        fraction[sample], low[sample], high[sample], gain[sample] = peak.share, peak.low, peak.high, peak.gain
    return Contamination(fraction, low, high, gain, sources, cohort.individuals)


def _of_homozygotes(evidence: SiteEvidence, sample: int, others: LogLikelihoods, frequencies: Floats) -> SiteEvidence:
    """The reads of a sample with losses, where other samples say that its individual is homozygous."""
    reads = evidence_of(evidence, sample)
    weights = genotype_weights(others[None], genotype_priors(frequencies))[0]
    return reads.rows_of_one(weights[1, reads.site] < _MOST_HETEROZYGOUS)


class _Cohort:
    """The individuals of a cohort, their genotypes, and the alleles of all; parameters as `estimate_contamination`."""

    def __init__(
        self,
        likelihoods: LogLikelihoods,
        frequencies: Floats,
        is_given: NDArray[np.bool_] | None,
        evidence: SiteEvidence,
    ) -> None:
        self.alleles = CohortAlleles(likelihoods, frequencies, is_given)
        correlations = self.alleles.correlations
        self.individuals = find_individuals(likelihoods, frequencies, correlations, is_given is not None, evidence)
        self.genotypes = self.individuals.likelihoods(likelihoods)
        if len(self.genotypes) < len(likelihoods):
            # Several samples of an individual tell no more of a population than one.
            shares = allele_frequencies(self.genotypes)
            of_individuals = shares if is_given is None else np.where(is_given, frequencies, shares)
            self.alleles = CohortAlleles(self.genotypes, of_individuals, is_given)
        else:
            of_individuals = frequencies
        if is_given is None and len(self.genotypes) >= FEW_SAMPLES:
            drifts = DriftedPairs(self.genotypes, of_individuals)
            axes = find_axes(self.alleles.correlations, drifts.are_related)
            if axes.shape[1]:
                self.alleles = CohortAlleles(self.genotypes, of_individuals, None, axes)

    def peak_of(self, profile: Profile) -> Peak:
        """The highest point of a profile. Of several ancestries, less is known than likelihoods say."""
        return peak_of(profile, HALF_WIDTH * (_WIDER if self.alleles.has_axes else 1))

    def relatives(self, individual: int) -> NDArray[np.intp]:
        """The relatives of an individual, the closest first."""
        correlations = self.alleles.correlations[individual].copy()
        correlations[individual] = 0
        related = np.flatnonzero((correlations >= RELATED) & (correlations < _SAME))
        return related[np.argsort(-correlations[related])]

    def strangers(self, individual: int) -> NDArray[np.intp]:
        """Individuals who are not related to one."""
        correlations = self.alleles.correlations[individual].copy()
        correlations[individual] = 1
        return np.flatnonzero(correlations < RELATED)

    def with_other(
        self, individual: int, other: int, sites: NDArray[np.int32]
    ) -> tuple[AlleleUrn, NDArray[np.float32]]:
        """The alleles of the cohort without two individuals, and the probabilities of the second one's genotypes."""
        urn = self.alleles.without(individual, other).at(sites)
        of_other = self.alleles.without(individual, other, at=other).at(sites) if self.alleles.has_axes else urn
        return urn, genotype_weights(self.genotypes[other, sites][None], of_other.genotypes)[0]

    def populations(self, individual: int, sites: NDArray[np.int32]) -> list[AlleleUrn]:
        """The ancestry farthest from an individual's, if the cohort has axes of ancestry."""
        if not self.alleles.has_axes:
            return []
        return [self.alleles.without(individual, at=self.alleles.farthest(individual)).at(sites)]


def _of_sample(reads: MixedReads, error: float, cohort: _Cohort, sample: int) -> tuple[Peak, int]:
    """The share of foreign reads of a sample, and their source."""
    individual = int(cohort.individuals.of_sample[sample])
    urn, relatives = cohort.alleles.without(individual).at(reads.sites), cohort.relatives(individual)
    others = cohort.populations(individual, reads.sites)

    def profile_of(genotypes: JointGenotypes) -> Profile:
        return lambda shares: reads.log_likelihoods(shares, error, genotypes)

    of_anybody = profile_of(of_population(urn, others))
    of_strangers = population = cohort.peak_of(of_anybody)
    if len(relatives):
        known = cohort.with_other(individual, int(relatives[0]), reads.sites)
        of_anybody = profile_of(of_informed_population(*known, others))
        population = cohort.peak_of(of_anybody)
    # The lead of each source over the population, with the same information: (lead, source, profile).
    leads: list[tuple[float, int, Profile]] = []
    is_tainted = population.gain > HALF_WIDTH
    if is_tainted or population.high > _LEAST_HIGH:
        for source in _best_sources(reads, error, urn, cohort.alleles.weights, relatives, least=-np.inf):
            known = cohort.with_other(individual, source, reads.sites)
            informed = peak_of(profile_of(of_informed_population(*known, others))).height
            leads.append(_with_lead(profile_of(of_source(*known)), informed, source))
    # Reads of relatives look like fewer reads of strangers, so the interval has both.
    profiles = [_lowered(of_anybody, population.height), *(profile for _, _, profile in leads)]
    if is_tainted:
        for source in _best_sources(reads, error, urn, cohort.alleles.weights, cohort.strangers(individual)):
            known = cohort.with_other(individual, source, reads.sites)
            leads.append(_with_lead(profile_of(of_source(*known)), of_strangers.height, source))
    # A source has two parameters more than the population, and is one of many.
    demanded = 2 + float(np.log(len(cohort.genotypes)))
    lead, best, profile = max(leads, key=lambda each: each[0], default=(0.0, POPULATION, profiles[0]))
    is_known = lead > demanded and is_tainted
    if is_known:
        profiles.append(profile)
    if len(profiles) == 1:
        return population, POPULATION
    peak = cohort.peak_of(lambda shares: np.max([each(shares) for each in profiles], axis=0))
    if not is_tainted:
        # A relative may also be more alike than it should be, for reasons of its own.
        return replace(population, high=max(population.high, peak.high)), POPULATION
    return peak, int(cohort.individuals.first_sample[best]) if is_known else POPULATION


def _lowered(profile: Profile, height: float) -> Profile:
    return lambda shares: profile(shares) - height


def _with_lead(profile: Profile, height: float, source: int) -> tuple[float, int, Profile]:
    """A profile over a height, and how far its highest point is above that."""
    return peak_of(profile).height - height, source, _lowered(profile, height)


def _best_sources(
    reads: MixedReads,
    error: float,
    urn: AlleleUrn,
    weights: NDArray[np.float32],
    candidates: NDArray[np.intp],
    least: float = 0.0,
) -> list[int]:
    """The candidates whose genotypes best explain foreign reads, were they strangers of the sample.

    `urn` is at the sample's sites; `weights` are probabilities of genotypes, (individuals, 3, sites). The gain in
    log-likelihood over no foreign reads is more than `least`.
    """
    gains = {}
    for source in candidates.tolist():
        unrelated = of_source(urn, weights[source][:, reads.sites])[:1]
        fits = reads.log_likelihoods(_PROBES, error, unrelated)
        gains[source] = fits[1:].max() - fits[0]
    best = sorted(gains, key=lambda source: -gains[source])[:_BEST_SOURCES]
    return [source for source in best if gains[source] > least]


def _common_error(reads: dict[int, MixedReads], least: float, cohort: _Cohort) -> float:
    """The share of wrong reads, beyond those that likelihoods of reads know of, that fits the median sample.

    Samples whose genotypes are better known count more.
    """
    tops = []
    for sample, mixed in reads.items():
        priors = cohort.alleles.without(int(cohort.individuals.of_sample[sample])).at(mixed.sites).genotypes
        fits = np.array([mixed.fit(error, priors) for error in least * _ERRORS])
        tops.append(_top(least * _ERRORS, fits))
    if not tops:
        return 0.0
    places, weights = np.array(sorted(tops)).T
    return float(places[np.searchsorted(weights.cumsum(), weights.sum() / 2)])


def _top(places: Floats, values: Floats) -> tuple[float, float]:
    """The place of the top of the parabola through the highest value and its neighbours, and how sharp it is."""
    best = int(np.clip(values.argmax(), 1, len(values) - 2))
    a, b, _ = np.polyfit(places[best - 1 : best + 2] - places[best], values[best - 1 : best + 2], 2)
    if a >= 0:
        return float(places[values.argmax()]), 0.0
    return float(np.clip(places[best] - b / (2 * a), places[best - 1], places[best + 1])), float(-a)
