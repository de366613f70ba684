"""Prepares reads as GATK does, and scores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import NO_INDEL_QUALITY
from pairhmm.calling.stream import CutReads, FlatScores
from pairhmm.engine.device_pool import Devices
from pairhmm.models.batch import PairBatch, Profiles, Qualities, Scores, Start
from pairhmm.models.gatk import (
    LONGEST_REPEAT_UNIT,
    LOWEST_USABLE_BASE_QUALITY,
    START,
    GatkOptions,
    copies_of,
    pcr_quality,
    prepare_indel_quality,
    set_aside,
)
from pairhmm.models.profile import ProfileModel
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import as_n


class ModelReads(TypedDict):
    """Reads as one of the models takes them, under the names that they have in a `PairBatch`."""

    read_offset: NDArray[np.int64]
    start: Start
    qualities: NotRequired[Qualities]
    profiles: NotRequired[Profiles]


@dataclass(slots=True)
class ReadScorer:
    """Prepares cut reads as GATK does, and scores them with one of the two models.

    Attributes
    ----------
    options : GatkOptions
    pool : Devices
    threads : int
    profile : ProfileModel or None
        The parameters of the profile model; None for GATK's model.
    bases, lowered : int
        Number of bases scored so far, and how many of them had their quality lowered to 6.
    tagged : int
        Number of reads scored so far with indel qualities of their own, once for each region.
    """

    options: GatkOptions
    pool: Devices
    threads: int = 1
    profile: ProfileModel | None = None
    bases: int = 0
    lowered: int = 0
    tagged: int = 0

    @property
    def ahead(self) -> int:
        """That of the devices."""
        return self.pool.ahead

    def __call__(
        self, reads: CutReads, reads_of: Sequence[int], haplotypes: Sequence[Sequence[NDArray[np.uint8]]]
    ) -> FlatScores:
        """Scores and precisions, region after region, row-major (read, haplotype)."""
        return self.begin(reads, reads_of, haplotypes)()

    def begin(
        self, reads: CutReads, reads_of: Sequence[int], haplotypes: Sequence[Sequence[NDArray[np.uint8]]]
    ) -> Callable[[], FlatScores]:
        """Begin to score. The function that comes back waits for the scores."""
        letters = [letter for region in haplotypes for letter in region]
        base_quality = prepared_base_quality(reads, self.options)
        self.bases += len(reads.quals)
        if self.options.base_quality_threshold is not None:
            self.lowered += int(np.count_nonzero(base_quality == LOWEST_USABLE_BASE_QUALITY))
        if reads.indel_quals is not None and self.profile is None:
            first = reads.indel_quals[:, reads.offset[:-1]]
            self.tagged += int(np.count_nonzero((first != NO_INDEL_QUALITY).any(axis=0)))
        batch = PairBatch(
            group_read=offsets(list(reads_of)),
            group_haplotype=offsets([len(region) for region in haplotypes]),
            haplotype_offset=offsets([len(letter) for letter in letters]),
            haplotypes=np.concatenate(letters),
            **model_reads(reads, base_quality, self.options, self.profile),
        )
        scored = self.pool.begin(batch, self.threads)
        return lambda: _flat(scored())

    def set_aside(
        self, scores: NDArray[np.float64], lengths: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """bool[reads]: whether each read fits none of the haplotypes (`pairhmm.models.gatk.set_aside`)."""
        return set_aside(scores, lengths, ends, self.options)


def _flat(scores: Scores) -> FlatScores:
    return scores.log10, scores.precision


def prepared_base_quality(reads: CutReads, options: GatkOptions) -> NDArray[np.uint8]:
    """uint8[bases]: the base qualities of many reads as both models take them (`pairhmm.models.gatk`)."""
    prepared = np.empty_like(reads.quals)
    most = reads.mapq if options.cap_by_mapping_quality else np.full_like(reads.mapq, 255)
    threshold = options.base_quality_threshold or 0
    native.prepare_base_qualities(reads.offset, most, reads.quals, threshold, LOWEST_USABLE_BASE_QUALITY, prepared)
    return prepared


def model_reads(
    reads: CutReads, base_quality: NDArray[np.uint8], options: GatkOptions, profile: ProfileModel | None
) -> ModelReads:
    """Many reads as a batch of the model takes them. For the profile model, those of a molecule are joined.

    The profile model takes base qualities alone: its transitions stand in place of indel qualities.

    Parameters
    ----------
    reads : CutReads
    base_quality : uint8[bases]
        Those of `prepared_base_quality`.
    options : GatkOptions
        How GATK's model has its indel qualities.
    profile : ProfileModel or None
        None for GATK's model.
    """
    if profile is None:
        return {"read_offset": reads.offset, "start": START, "qualities": _qualities(reads, base_quality, options)}
    offset, profiles = reads.offset, profile.base_calls(reads.bases, base_quality)
    if reads.joined is not None:
        offset, profiles = reads.joined.offset, reads.joined.joined(profiles)
    return {"read_offset": offset, "start": profile.start, "profiles": profile.with_repeats(profiles, offset)}


def _qualities(reads: CutReads, base_quality: NDArray[np.uint8], options: GatkOptions) -> Qualities:
    """The reads of GATK's model, as five bytes for each base. Every ambiguous letter is N."""
    bases = as_n(reads.bases)
    own = None if reads.indel_quals is None else prepare_indel_quality(reads.indel_quals)
    if options.str_model is not None:
        insertion, deletion, gap = options.str_model.qualities(reads.offset, bases)
        return Qualities(bases, base_quality, *_at_most(own, insertion, deletion), gap)
    insertion, deletion = _indel_qualities(reads.offset, bases, own, options)
    gap = np.full(len(bases), options.gap_quality, dtype=np.uint8)
    return Qualities(bases, base_quality, insertion, deletion, gap)


def _indel_qualities(
    offset: NDArray[np.int64], bases: NDArray[np.uint8], own: NDArray[np.uint8] | None, options: GatkOptions
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Insertion and deletion qualities (uint8[bases] each, Phred) of reads with these codes 0..4.

    `own` has those that reads have of their own (uint8[2, bases]).
    """
    if options.indel_qualities is not None:
        copies = copies_of(offset, bases) - 1
        by_copies = options.indel_qualities.insertion, options.indel_qualities.deletion
        insertion, deletion = (np.array(table, dtype=np.uint8)[copies] for table in by_copies)
        return _at_most(own, insertion, deletion)
    size = len(bases)
    insertion = np.full(size, options.insertion_quality, dtype=np.uint8)
    deletion = np.full(size, options.deletion_quality, dtype=np.uint8)
    if own is not None:
        insertion, deletion = np.where(own == NO_INDEL_QUALITY, [insertion, deletion], own)
    if options.pcr_indel_model != "none":
        table = pcr_quality(options.pcr_indel_model)
        native.cap_indel_qualities(offset, bases, table, LONGEST_REPEAT_UNIT, insertion, deletion)
    return insertion, deletion


def _at_most(
    own: NDArray[np.uint8] | None, insertion: NDArray[np.uint8], deletion: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Qualities of tables, lowered to the reads' own ones: `NO_INDEL_QUALITY` is above all of them."""
    return (insertion, deletion) if own is None else (np.minimum(insertion, own[0]), np.minimum(deletion, own[1]))
