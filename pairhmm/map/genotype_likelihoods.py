"""Genotype likelihoods from reads, with a share of foreign reads, and the statistics that follow from them.

Genotypes are numbered by their alternative alleles: 0, 1, 2. Likelihoods are natural logarithms, 0 at best, of the
genotypes of samples at sites: (samples, sites, 3), or (sites, 3) of one sample. Frequencies are of the alternative
allele of each site.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sites import SiteEvidence

Floats = NDArray[np.float64]
LogLikelihoods = NDArray[np.float32]

GENOTYPES = 3
LEAST = np.float32(-35.0)
"""The lowest likelihood: products of two such numbers are within float32."""
PSEUDO_COUNT = 1.0
"""Copies that are added of each allele, so that no frequency is 0 or 1."""
RAREST = 0.02
"""Alleles that are rarer tell too much of a relation where their frequency is a little wrong."""
_ROUNDS = 30
_SETTLED = 1e-4
_LOGS = (np.arange(256) * np.log(10.0) / -10.0).astype(np.float32)


def genotype_priors(frequencies: Floats) -> Floats:
    """Genotypes of a population in Hardy-Weinberg equilibrium: float64 (3, sites)."""
    p = np.asarray(frequencies, dtype=np.float64)
    return np.stack([(1 - p) ** 2, 2 * p * (1 - p), p**2])


def is_common(frequencies: Floats) -> NDArray[np.bool_]:
    """Sites whose rarer allele is not too rare."""
    return (frequencies >= RAREST) & (frequencies <= 1 - RAREST)


def add_reads(
    likelihoods: LogLikelihoods,
    evidence: SiteEvidence,
    fractions: Mapping[int, float] | None = None,
    foreign: Mapping[int, Floats] | None = None,
) -> LogLikelihoods:
    """Likelihoods of genotypes with those of the reads added, the best 0, the others down to `LEAST`.

    A read is of the alternative allele with probability ``q = (1 - c) g / 2 + c f``, where g is the genotype, c the
    share of foreign reads, and f the frequency of the allele among these.

    `likelihoods` have what else is known, 0 where nothing is; they are changed, and returned. Contaminated samples have
    a share of foreign reads in `fractions`, and the frequencies f of these in `foreign`.
    """
    fractions, foreign = fractions or {}, foreign or {}
    for sample, (begin, end) in enumerate(pairwise(evidence.begin.tolist())):
        if begin < end:
            site, share = evidence.site[begin:end], fractions.get(sample, 0.0)
            odds = 10.0 ** evidence.log10_ratio[begin:end].astype(np.float64)
            from_elsewhere = share * foreign[sample][site] if share else 0.0
            for genotype in range(GENOTYPES):
                q = (1.0 - share) * genotype / 2 + from_elsewhere
                logs = evidence.count[begin:end] * np.log((1.0 - q) + q * odds)
                likelihoods[sample, :, genotype] += np.bincount(site, weights=logs, minlength=evidence.sites)
        likelihoods[sample] -= likelihoods[sample].max(axis=1, keepdims=True)
    return np.maximum(likelihoods, LEAST, out=likelihoods)


def of_shares(evidence: SiteEvidence, shares: Sequence[float]) -> Floats:
    """Log-likelihoods of shares of the alternative allele, over that of the best genotype: (shares, sites)."""
    odds = 10.0 ** evidence.log10_ratio.astype(np.float64)

    def of_reads(share: float) -> Floats:
        logs = evidence.count * np.log((1.0 - share) + share * odds)
        return np.bincount(evidence.site, weights=logs, minlength=evidence.sites).astype(np.float64)

    best = np.max([of_reads(number / 2) for number in range(GENOTYPES)], axis=0)
    result: Floats = np.array([of_reads(share) for share in shares]) - best
    return result


def from_phred(phred: NDArray[np.uint8]) -> LogLikelihoods:
    """Likelihoods from those of a VCF (PL)."""
    logs: LogLikelihoods = _LOGS[phred]
    return logs


def has_data(likelihoods: LogLikelihoods) -> NDArray[np.bool_]:
    """Where anything is known of a genotype: bool (samples, sites)."""
    known: NDArray[np.bool_] = likelihoods.min(axis=2) < 0
    return known


def allele_frequencies(likelihoods: LogLikelihoods) -> Floats:
    """Frequency of the alternative allele at each site, by expectation maximisation over the samples.

    One copy of each allele is added, so that a few samples don't make a frequency of 0 or 1.
    """
    known = has_data(likelihoods)
    alleles = 2.0 * known.sum(axis=0) + 2 * PSEUDO_COUNT
    frequencies = np.full(likelihoods.shape[1], 0.5)
    for _ in range(_ROUNDS):
        priors = genotype_priors(frequencies)
        copies = np.zeros_like(frequencies)
        for sample, is_known in zip(likelihoods, known, strict=True):
            weights = np.exp(sample) * priors.T
            copies += is_known * ((weights[:, 1] + 2 * weights[:, 2]) / weights.sum(axis=1))
        before, frequencies = frequencies, (copies + PSEUDO_COUNT) / alleles
        if np.abs(frequencies - before).max(initial=0.0) < _SETTLED:
            break
    return frequencies


def heterozygosity(likelihoods: LogLikelihoods) -> Floats:
    """Share of heterozygous sites of each sample, by maximum likelihood over genotype shares; NaN without data."""
    result = np.full(len(likelihoods), np.nan)
    for index, (sample, is_known) in enumerate(zip(likelihoods, has_data(likelihoods), strict=True)):
        if not is_known.any():
            continue
        likelihood = np.exp(sample[is_known].astype(np.float64))
        shares = np.full(GENOTYPES, 1 / GENOTYPES)
        for _ in range(_ROUNDS):
            weights = likelihood * shares
            before, shares = shares, (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
            if np.abs(shares - before).max() < _SETTLED:
                break
        result[index] = shares[1]
    return result


def allele_shares(likelihoods: LogLikelihoods, frequencies: Floats) -> Floats:
    """Probability that a read of a sample has the alternative allele, by its most probable genotypes: (sites,)."""
    weights = np.exp(likelihoods.astype(np.float64)) * genotype_priors(frequencies).T
    shares: Floats = (weights[:, 1] / 2 + weights[:, 2]) / weights.sum(axis=1)
    return shares
