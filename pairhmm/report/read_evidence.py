"""Finds the bases that decide between a read's two likeliest haplotypes, by forward-backward, for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import ReadKey
from pairhmm.calling.scoring import model_reads, prepared_base_quality
from pairhmm.calling.stream import CutReads, cut_bases, cut_slices
from pairhmm.forward.posterior import Posterior, by_cpu
from pairhmm.likelihoods.reader import RegionLikelihoods
from pairhmm.models.batch import PairBatch
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import ProfileModel, rows_of
from pairhmm.report.panels import BaseEvidence, ReadEvidence, choose_haplotypes
from pairhmm.report.read_places import FoundRead
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import decode, encode

READS_EXPLAINED = 4
"""The most reads of a sample in a region: of those that choose a haplotype, the least certain."""
_SHOWN = 0.1
"""A base is listed if it speaks for a haplotype by more than this (log10), or is inserted or deleted behind with more
than this probability."""
_SAME_SCORE = 0.02
"""How far (log10) a score may be from the table's. Beyond that, the table was made with other options."""


@dataclass(slots=True)
class ReadExplainer:
    """Explains reads of likelihood tables from their alignments, prepared as the table says.

    Attributes
    ----------
    explained, other : int
        Reads so far, and those left out because the table has another score for them.
    """

    explained: int = 0
    other: int = 0

    def __call__(
        self,
        region: RegionLikelihoods,
        found: Mapping[ReadKey, FoundRead],
        options: GatkOptions,
        model: ProfileModel | None,
        slack: int,
    ) -> dict[int, ReadEvidence]:
        """What decides, by the index of the read in `region`.

        Parameters
        ----------
        region : RegionLikelihoods
        found : mapping of ReadKey to FoundRead
            The reads that are explained: some of `least_certain`.
        options : GatkOptions
            How reads were prepared.
        model : ProfileModel or None
            None for GATK's model.
        slack : int
            Bases by which the shortest haplotype is shorter than the reference.
        """
        if not found:
            return {}
        numbers = {key: read for read, key in enumerate(zip(region.samples, region.names, region.mates, strict=True))}
        reads = [numbers[key] for key in found]
        block = ReadBlock.from_alignments(region.chrom, list(found.values()))
        cut = _cut(block, region, slack)
        ranked = [np.argsort(-np.nan_to_num(region.log10[read], nan=-np.inf), kind="stable")[:2] for read in reads]
        letters_of_pairs = [encode(region.sequences[index]) for pair in ranked for index in pair.tolist()]
        batch = _batch(cut, letters_of_pairs, options, model)
        posteriors, emissions = by_cpu(batch, 1), rows_of(batch)[:, :5]
        results = {}
        for at, (read, (best, second)) in enumerate(zip(reads, ranked, strict=True)):
            pair = posteriors[2 * at : 2 * at + 2]
            expected = region.log10[read, [best, second]]
            if not all(abs(one.log10 - score) <= _SAME_SCORE for one, score in zip(pair, expected, strict=True)):
                self.other += 1
                continue
            own = slice(cut.offset[at], cut.offset[at + 1])
            letters = [batch.haplotypes[slice(*batch.haplotype_offset[2 * at + k : 2 * at + k + 2])] for k in (0, 1)]
            bases = _deciding(pair, letters, emissions[own], decode(cut.bases[own]), cut.quals[own])
            results[read] = ReadEvidence(int(best), int(second), float(pair[0].log10 - pair[1].log10), bases)
        self.explained += len(results)
        return results


def least_certain(region: RegionLikelihoods) -> set[ReadKey]:
    """The reads of each sample that choose a haplotype by the least."""
    choice = choose_haplotypes(region.log10)
    by_sample: dict[str, list[int]] = {}
    for read in np.argsort(choice.margin, kind="stable").tolist():
        own = by_sample.setdefault(region.samples[read], [])
        if choice.decided[read] and np.isfinite(choice.margin[read]) and len(own) < READS_EXPLAINED:
            own.append(read)
    chosen = (read for own in by_sample.values() for read in own)
    return {(region.samples[read], region.names[read], region.mates[read]) for read in chosen}


def _cut(block: ReadBlock, region: RegionLikelihoods, slack: int) -> CutReads:
    """The reads, cut to the region as they are for scoring. One base is left of a read that would be empty."""
    slices = cut_slices(block, np.arange(len(block)), region.start, region.end, slack)
    slices.last = np.maximum(slices.last, slices.first + 1)
    return cut_bases(block, slices)


def _batch(
    cut: CutReads, letters: Sequence[NDArray[np.uint8]], options: GatkOptions, model: ProfileModel | None
) -> PairBatch:
    """Each read with its two haplotypes, as a group of its own."""
    size = len(cut.offset) - 1
    return PairBatch(
        group_read=offsets([1] * size),
        group_haplotype=offsets([2] * size),
        haplotype_offset=offsets(list(map(len, letters))),
        haplotypes=np.concatenate(letters),
        **model_reads(cut, prepared_base_quality(cut, options), options, model),
    )


def _deciding(
    pair: Sequence[Posterior],
    letters: Sequence[NDArray[np.uint8]],
    emission: NDArray[np.float64],
    bases: str,
    quals: NDArray[np.uint8],
) -> list[BaseEvidence]:
    """The bases that speak for one of two haplotypes, or lie in or before a gap of one of them.

    A base's evidence is its expected log10 emission beside the first haplotype, less that beside the second.
    """
    log10 = np.log10(np.maximum(emission, np.finfo(float).tiny))
    expected = [(one.match * log10[:, own]).sum(axis=1) for one, own in zip(pair, letters, strict=True)]
    evidence = expected[0] - expected[1]
    inserted = [one.base_insertion for one in pair]
    deleted = [one.deletion.sum(axis=1) for one in pair]
    gaps = np.max([np.abs(inserted[0] - inserted[1]), np.abs(deleted[0] - deleted[1])], axis=0)
    shown = np.flatnonzero((np.abs(evidence) > _SHOWN) | (gaps > _SHOWN)).tolist()
    return [
        BaseEvidence(
            base,
            bases[base],
            int(quals[base]),
            float(evidence[base]),
            (float(inserted[0][base]), float(inserted[1][base])),
            (float(deleted[0][base]), float(deleted[1][base])),
        )
        for base in shown
    ]
