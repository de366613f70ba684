"""Prepares reads as GATK does, and scores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from pairhmm.compiled import native
from pairhmm.engine.device_pool import DevicePool
from pairhmm.evidence.stream import CutReads
from pairhmm.genomics.arrays import offsets
from pairhmm.models.batch import PairBatch, Profiles, Qualities, Scores, Start
from pairhmm.models.gatk import (
    ERROR,
    LONGEST_REPEAT_UNIT,
    LOWEST_USABLE_BASE_QUALITY,
    START,
    GatkOptions,
    pcr_quality,
    prepare_base_quality,
    set_aside,
)
from pairhmm.models.profile import ProfileModel, one_hot


class _ModelReads(TypedDict, total=False):
    """The reads of a `PairBatch`, as one of the models takes them."""

    qualities: Qualities
    profiles: Profiles


@dataclass(slots=True)
class ReadScorer:
    """Prepares cut reads as GATK does, and scores them with one of the two models.

    Attributes
    ----------
    options : GatkOptions
    pool : DevicePool
    threads : int
    profile : ProfileModel or None
        The parameters of the profile model; None for GATK's model.
    bases, lowered : int
        Number of bases scored so far, and how many of them had their quality lowered to 6.
    """

    options: GatkOptions
    pool: DevicePool
    threads: int = 1
    profile: ProfileModel | None = None
    bases: int = 0
    lowered: int = 0

    def __call__(
        self, reads: CutReads, reads_of: Sequence[int], haplotypes: Sequence[Sequence[NDArray[np.uint8]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """Scores and precisions, region after region, row-major (read, haplotype)."""
        letters = [letter for region in haplotypes for letter in region]
        qualities = prepare_reads(reads, self.options)
        self.bases += len(reads.quals)
        if self.options.base_quality_threshold is not None:
            self.lowered += int(np.count_nonzero(qualities.base_quality == LOWEST_USABLE_BASE_QUALITY))
        start, of_model = self._of_model(qualities)
        offset = reads.offset
        if reads.joined is not None:
            offset = reads.joined.offset
            of_model["profiles"] = reads.joined.joined(of_model["profiles"])
        batch = PairBatch(
            group_read=offsets(list(reads_of)),
            group_haplotype=offsets([len(region) for region in haplotypes]),
            read_offset=offset,
            haplotype_offset=offsets([len(letter) for letter in letters]),
            haplotypes=np.concatenate(letters),
            start=start,
            **of_model,
        )
        scores: Scores = self.pool.forward(batch, self.threads)
        return scores.log10, scores.precision

    def _of_model(self, qualities: Qualities) -> tuple[Start, _ModelReads]:
        """The start, and the reads as a batch of the model holds them.

        The profile model takes base qualities alone: its transitions stand in place of indel qualities.
        """
        if self.profile is None:
            return START, {"qualities": qualities}
        probabilities = one_hot(qualities.bases, ERROR[qualities.base_quality])
        return self.profile.start, {"profiles": self.profile.profiles(probabilities)}

    def set_aside(
        self, scores: NDArray[np.float64], lengths: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """bool[reads]: whether each read fits none of the haplotypes (`pairhmm.models.gatk.set_aside`)."""
        return set_aside(scores, lengths, ends, self.options)


def prepared_base_quality(reads: CutReads, options: GatkOptions) -> NDArray[np.uint8]:
    """uint8[bases]: the base qualities of many reads as both models take them."""
    return prepare_base_quality(reads.quals, np.repeat(reads.mapq, np.diff(reads.offset)), options)


def prepare_reads(reads: CutReads, options: GatkOptions) -> Qualities:
    """Prepare many reads at once for the model, as five bytes for each base.

    Parameters
    ----------
    reads : CutReads
    options : GatkOptions
    """
    size = len(reads.bases)
    insertion = np.full(size, options.insertion_quality, dtype=np.uint8)
    deletion = np.full(size, options.deletion_quality, dtype=np.uint8)
    if options.pcr_indel_model != "none":
        table = pcr_quality(options.pcr_indel_model)
        native.cap_indel_qualities(reads.offset, reads.bases, table, LONGEST_REPEAT_UNIT, insertion, deletion)
    return Qualities(
        reads.bases,
        prepared_base_quality(reads, options),
        insertion,
        deletion,
        np.full(size, options.gap_quality, dtype=np.uint8),
    )
