"""Relatedness of samples, from sites to flags: the rows of both tables of `map relate`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.concordance import Agreement, agreement, certain_genotypes
from pairhmm.map.contamination import Contamination, estimate_contamination
from pairhmm.map.flags import FLAGS, Flags, pair_and_sample_flags
from pairhmm.map.genotype_likelihoods import (
    Floats,
    LogLikelihoods,
    add_reads,
    allele_frequencies,
    allele_shares,
    from_phred,
    has_data,
    heterozygosity,
    is_common,
)
from pairhmm.map.individuals import Individuals, Loss
from pairhmm.map.kinship import FEW_SAMPLES, SharedAlleles, UncertainFrequencies, all_pairs, kinship
from pairhmm.map.sites import SampleSites, evidence_of
from pairhmm.objects import short_repr
from pairhmm.variants.genealogy import IDENTICAL, RELATIONS, UNKNOWN, Genealogy

ENOUGH_GENOTYPES = 100
"""With fewer sites where both samples have certain genotypes, relatedness is estimated from likelihoods."""


@dataclass(frozen=True, slots=True)
class RelatedPair:
    """A row of the table of pairs.

    Attributes
    ----------
    sample_1, sample_2 : str
    sites : int
        Where both have certain genotypes. The four counts and shares behind it are of these sites.
    concordance : float
        Share of equal genotypes; NaN without sites.
    ibs0, ibs2, shared_hets : int
        Sites with opposite homozygotes, with equal genotypes, and where both are heterozygous.
    relatedness : float
        1 for one individual, 0.5 for parents, children and siblings. NaN where nothing tells.
    expected, found : str
        Names of `pairhmm.variants.genealogy.RELATIONS`, or ``.``.
    flags : tuple of str
    note : str
        Why identical samples have other genotypes, such as loss of heterozygosity; empty where nothing is to be said.
    """

    sample_1: str
    sample_2: str
    sites: int
    concordance: float
    ibs0: int
    ibs2: int
    shared_hets: int
    relatedness: float
    expected: str
    found: str
    flags: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class RelatedSample:
    """A row of the table of samples.

    Attributes
    ----------
    sample : str
    sites : int
        Where anything is known of its genotype.
    depth : float
        Mean of its reads; NaN where they were not counted.
    heterozygosity : float
        Share of heterozygous sites.
    contamination, contamination_low, contamination_high : float
        Share of foreign reads, with a 95% interval; NaN without reads.
    flags : tuple of str
    """

    sample: str
    sites: int
    depth: float
    heterozygosity: float
    contamination: float
    contamination_low: float
    contamination_high: float
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relatedness:
    """The relations of some samples.

    Attributes
    ----------
    samples : list of RelatedSample
    agreement : Agreement
    relatedness : float64 (pairs,)
    expected, found : int8 (samples, samples)
        Numbers of `pairhmm.variants.genealogy`.
    pair_flags : dict of str to bool (samples, samples)
    notes : dict of (int, int) to str
        Of pairs of samples.
    """

    samples: list[RelatedSample]
    agreement: Agreement
    relatedness: Floats
    expected: NDArray[np.int8]
    found: NDArray[np.int8]
    pair_flags: Flags
    notes: dict[tuple[int, int], str] = field(default_factory=dict)

    __repr__ = short_repr

    def pairs(self) -> Iterator[RelatedPair]:
        """Each two samples, in the order of the samples."""
        names, agreed = [sample.sample for sample in self.samples], self.agreement
        columns = (agreed.sites, agreed.concordance, agreed.ibs0, agreed.ibs2, agreed.shared_hets, self.relatedness)
        begin = 0
        for first, name in enumerate(names[:-1]):
            end = begin + len(names) - first - 1
            figures = zip(*(column[begin:end].tolist() for column in columns), strict=True)
            relations = (
                [RELATIONS[number] if number != UNKNOWN else "." for number in matrix[first, first + 1 :].tolist()]
                for matrix in (self.expected, self.found)
            )
            flags = _flag_names({flag: matrix[first, first + 1 :] for flag, matrix in self.pair_flags.items()})
            expected, inferred = relations
            rows = zip(names[first + 1 :], figures, expected, inferred, flags, strict=True)
            for second, (other, (sites, share, ibs0, ibs2, hets, related), said, seen, marks) in enumerate(
                rows, start=first + 1
            ):
                note = self.notes.get((first, second), "")
                yield RelatedPair(name, other, sites, share, ibs0, ibs2, hets, related, said, seen, marks, note)
            begin = end


def relate_samples(sites: SampleSites, genealogy: Genealogy, frequencies: Floats | None = None) -> Relatedness:
    """Find the relations of samples, and compare them with what is expected.

    Frequencies in the population are NaN where not known. Without them, they are estimated from the samples, and with
    fewer than `FEW_SAMPLES` samples, each is taken to be as probable as any other. Raises PedigreeError for an
    individual that is its own ancestor.
    """
    expected = genealogy.relations(sites.samples)
    plain = add_reads(from_phred(sites.phred), sites.evidence)
    shares = _frequencies_of(frequencies, plain)
    is_given = None if frequencies is None else ~np.isnan(frequencies)
    foreign = estimate_contamination(sites.evidence, plain, shares, is_given)
    likelihoods = _without_foreign_reads(sites, plain, shares, foreign)
    agreed = agreement(certain_genotypes(sites.evidence, sites.called))
    known, heterozygous = has_data(likelihoods).sum(axis=1), heterozygosity(likelihoods)
    shared = _shared_alleles(likelihoods, frequencies)
    # They are a third of the memory.
    del plain, likelihoods
    related = kinship(shared, agreed.sites < ENOUGH_GENOTYPES)
    inferred = _matrix(related.relation, len(sites.samples))
    losses = _apply_losses(inferred, foreign.individuals)
    notes = {pair: "; ".join(loss.note(sites.samples[loss.sample]) for loss in lost) for pair, lost in losses.items()}
    has_loss = np.zeros(inferred.shape, dtype=bool)
    has_loss[tuple(np.array(list(losses), dtype=np.intp).reshape(-1, 2).T)] = True
    related.relatedness[has_loss[all_pairs(len(inferred))]] = 1
    pair_flags, sample_flags = pair_and_sample_flags(inferred, expected, foreign.is_contaminated)
    samples = zip(
        sites.samples,
        known.tolist(),
        sites.depth.tolist(),
        heterozygous.tolist(),
        *(column.tolist() for column in (foreign.fraction, foreign.low, foreign.high)),
        _flag_names(sample_flags),
        strict=True,
    )
    return Relatedness(
        [RelatedSample(*sample) for sample in samples],
        agreed,
        np.where(agreed.sites < ENOUGH_GENOTYPES, related.relatedness, agreed.relatedness),
        expected,
        inferred,
        pair_flags,
        notes,
    )


def _apply_losses(inferred: NDArray[np.int8], individuals: Individuals) -> dict[tuple[int, int], list[Loss]]:
    """Give samples with losses the relations of their individual, in `inferred`; returns the losses of its pairs."""
    of_sample, losses = individuals.of_sample, {}
    for sample in individuals.losses:
        is_own = of_sample == of_sample[sample]
        partner = individuals.whole_partner(sample)
        if partner is not None:
            inferred[sample, ~is_own] = inferred[~is_own, sample] = inferred[partner, ~is_own]
        inferred[sample, is_own] = inferred[is_own, sample] = IDENTICAL
        for other in np.flatnonzero(is_own).tolist():
            pair = min(sample, other), max(sample, other)
            losses[pair] = [individuals.losses[member] for member in pair if member in individuals.losses]
    return losses


def _frequencies_of(frequencies: Floats | None, likelihoods: LogLikelihoods) -> Floats:
    """Frequencies at all sites: as given, else estimated from the samples."""
    estimated = allele_frequencies(likelihoods)
    return estimated if frequencies is None else np.where(np.isnan(frequencies), estimated, frequencies)


def _without_foreign_reads(
    sites: SampleSites, plain: LogLikelihoods, frequencies: Floats, foreign: Contamination
) -> LogLikelihoods:
    """Likelihoods that know which share of a sample's reads is foreign, and whose these are. `plain` may be changed."""
    tainted = np.flatnonzero(foreign.is_contaminated).tolist()
    sources = {
        sample: frequencies if foreign.source[sample] < 0 else allele_shares(plain[foreign.source[sample]], frequencies)
        for sample in tainted
    }
    for sample in tainted:
        plain[sample] = from_phred(sites.phred[sample])
        share = {0: float(foreign.fraction[sample])}
        plain[sample] = add_reads(plain[[sample]], evidence_of(sites.evidence, sample), share, {0: sources[sample]})[0]
    return plain


def _shared_alleles(likelihoods: LogLikelihoods, frequencies: Floats | None) -> SharedAlleles | UncertainFrequencies:
    """The evidence for relations. `likelihoods` is changed."""
    if frequencies is None and len(likelihoods) < FEW_SAMPLES:
        return UncertainFrequencies(likelihoods)
    shares = allele_frequencies(likelihoods) if frequencies is None else frequencies
    # A rare genotype in two samples would decide alone, were its frequency a little wrong. NaN is not kept either.
    kept = is_common(shares)
    likelihoods[:, ~kept] = 0
    return SharedAlleles.of(likelihoods, np.where(kept, shares, 0.5))


def _matrix(relation: NDArray[np.int8], samples: int) -> NDArray[np.int8]:
    """Relations of pairs as a symmetric matrix."""
    matrix = np.full((samples, samples), IDENTICAL, dtype=np.int8)
    pairs = all_pairs(samples)
    matrix[pairs] = matrix[pairs[::-1]] = relation
    return matrix


def _flag_names(flags: Flags) -> list[tuple[str, ...]]:
    """The names of the flags of each element, in the order of `FLAGS`."""
    names = [flag for flag in FLAGS if flag in flags]
    table = np.stack([flags[flag] for flag in names], axis=-1)
    return [tuple(flag for flag, is_set in zip(names, row, strict=True) if is_set) for row in table.tolist()]
