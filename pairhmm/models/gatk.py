"""GATK's pair-HMM: row parameters, and the read preparation of its HaplotypeCaller.

Sources: LoglessPairHMM.java, PairHMMLikelihoodCalculationEngine.java and TandemRepeat.java of GATK 4; the formulas are
stated at the functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OptionError
from pairhmm.models.batch import ROW_SIZE, Qualities, Start
from pairhmm.models.str_model import StrModel
from pairhmm.native import native
from pairhmm.options import Within, check_fields, check_whole
from pairhmm.sequences.letters import HIGHEST_QUALITY
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT as LONGEST_REPEAT_UNIT
from pairhmm.sequences.tandem_repeats import MOST_REPEATS as MOST_REPEATS

_TENTHS = (
    "1",
    "0.79432823472428150207",
    "0.63095734448019324943",
    "0.50118723362727228500",
    "0.39810717055349725077",
    "0.31622776601683793320",
    "0.25118864315095801111",
    "0.19952623149688796014",
    "0.15848931924611134852",
    "0.12589254117941672104",
)
"""10^0 to 10^-0.9. numpy's power differs between processors: these texts are the same numbers everywhere."""

ERROR = np.array([float(f"{_TENTHS[quality % 10]}e-{quality // 10}") for quality in range(256)])
"""float64[256]: the error probability of each Phred quality, 10^(-Q/10) to the nearest number."""

START = Start(match=0.0, deletion=1.0)
"""Row 0 of LoglessPairHMM: D[0,j] = 1/n for every j >= 0."""

DEFAULT_INDEL_QUALITY = 45
"""Phred quality of the opening of an insertion or deletion, for reads without their own (GATK's default)."""

DEFAULT_GAP_QUALITY = 10
"""Phred quality of the continuation of an insertion or deletion (GATK's default)."""

PCR_RATES = {"none": 0.0, "hostile": 1.0, "aggressive": 2.0, "conservative": 3.0}
"""The rate factor of each PCR indel model in `pcr_quality`'s formula, as in GATK."""

PCR_INITIAL_QUALITY = 40.0
"""Phred quality of an indel from which the formula of `pcr_quality` subtracts, as in GATK."""

PCR_LOWEST_QUALITY = 10
"""Lowest Phred quality that the PCR indel model gives to an indel, as in GATK."""

LOWEST_USABLE_BASE_QUALITY = 6
"""Phred quality that bases below `GatkOptions.base_quality_threshold` get, and the lowest of a read's own indel
qualities, as in GATK."""

PcrModel = Literal["none", "hostile", "aggressive", "conservative"]
Phred = Annotated[int, Within(0, HIGHEST_QUALITY)]


@dataclass(frozen=True, slots=True)
class IndelQualities:
    """Phred qualities of insertions and deletions by the copies of the tandem repeat at a base.

    Attributes
    ----------
    insertion, deletion : tuple of int
        The quality in a repeat of 1, 2, ... 20 copies. One copy means no repeat.
    name : str
        Where they are from, such as a file, for headers of outputs.
    """

    insertion: tuple[int, ...]
    deletion: tuple[int, ...]
    name: str = "by copies"

    def __post_init__(self) -> None:
        for name in ("insertion", "deletion"):
            values = getattr(self, name)
            if len(values) != MOST_REPEATS:
                raise OptionError(name, values, f"does not have {MOST_REPEATS} values")
            for value in values:
                check_whole(name, value, 0, HIGHEST_QUALITY)


@dataclass(frozen=True, slots=True)
class GatkOptions:
    """GATK's preparation of reads, with GATK's defaults. None (or "none") switches a step off.

    Attributes
    ----------
    insertion_quality, deletion_quality, gap_quality : int
        Phred qualities of the indels of a read that has none of its own.
    indel_tags : bool
        Whether a read's own qualities are used, those of its tags BI and BD. What follows can only lower them.
    pcr_indel_model : {"none", "hostile", "aggressive", "conservative"}
        How far insertion and deletion qualities are lowered inside tandem repeats.
    indel_qualities : IndelQualities or None
        Qualities by the copies of the repeat. They stand in place of the insertion and deletion quality and the PCR
        indel model.
    str_model : StrModel or None
        Qualities by the unit and the copies of the repeat, in the same place; gap qualities, too.
    trims_ends : bool
        Whether a read's ends are cut off where they are adaptors, below quality 10, or clips of mates that do not face
        each other.
    cap_by_mapping_quality : bool
        Whether base qualities are lowered to the read's mapping quality.
    base_quality_threshold : int or None
        Base qualities below this one become 6.
    score_floor : float or None
        Scores below the read's best score minus this (log10) are raised to it.
    error_rate : float or None
        A read whose best score is below -4 min(2, ceil(error_rate m)), and below what its base qualities promise, is
        set aside.
    """

    insertion_quality: Phred = DEFAULT_INDEL_QUALITY
    deletion_quality: Phred = DEFAULT_INDEL_QUALITY
    gap_quality: Phred = DEFAULT_GAP_QUALITY
    indel_tags: bool = True
    pcr_indel_model: PcrModel = "conservative"
    indel_qualities: IndelQualities | None = None
    str_model: StrModel | None = None
    trims_ends: bool = True
    cap_by_mapping_quality: bool = True
    base_quality_threshold: Annotated[int | None, Within(0, HIGHEST_QUALITY)] = 18
    score_floor: Annotated[float | None, Within(0)] = 4.5
    error_rate: Annotated[float | None, Within(0, 1)] = 0.02

    def __post_init__(self) -> None:
        check_fields(self)
        if self.str_model is not None and self.indel_qualities is not None:
            raise OptionError("str_model", self.str_model.name, "stands in place of qualities by copies: give one")


def rows(qualities: Qualities) -> NDArray[np.float64]:
    """Row parameters float64[m, 12] of `qualities` (any number of reads end to end).

    E = 1-e on a match or where either letter is N, else e/3; mm = 1 - min(1, ins+del); im = dm = 1-gcp; mi = ins;
    ii = dd = gcp; md = del, with each error probability 10^(-Q/10) at its own position.
    """
    error, insertion, deletion, gap = (
        ERROR[quality]
        for quality in (
            qualities.base_quality,
            qualities.insertion_quality,
            qualities.deletion_quality,
            qualities.gap_quality,
        )
    )
    result = np.empty((len(error), ROW_SIZE))
    letters = np.arange(5)
    matches = (letters == qualities.bases[:, None]) | (letters == 4) | (qualities.bases == 4)[:, None]
    result[:, :5] = np.where(matches, 1 - error[:, None], error[:, None] / 3)
    result[:, 5] = 1 - np.minimum(1.0, insertion + deletion)
    result[:, 6] = result[:, 7] = 1 - gap
    result[:, 8] = insertion
    result[:, 10] = deletion
    result[:, 9] = result[:, 11] = gap
    return result


def pcr_quality(model: PcrModel) -> NDArray[np.uint8]:
    """uint8[21]: the highest indel quality of a position with 0 to 20 repeats; 255 where the model is "none".

    max(10, round(40 - exp(repeats / (rate pi)) + 1)), rounded half up.
    """
    rate = PCR_RATES[model]
    if rate == 0:
        return np.full(MOST_REPEATS + 1, 255, dtype=np.uint8)
    repeats = np.arange(MOST_REPEATS + 1)
    quality = np.floor(PCR_INITIAL_QUALITY - np.exp(repeats / (rate * np.pi)) + 1.0 + 0.5)
    return np.maximum(PCR_LOWEST_QUALITY, quality).astype(np.uint8)


def prepare_base_quality(
    base_quality: NDArray[np.uint8], mapping_quality: NDArray[np.uint8] | int, options: GatkOptions
) -> NDArray[np.uint8]:
    """Base qualities (uint8, Phred) as GATK passes them to the model.

    `mapping_quality` is one number, or one for each base.
    """
    quality = base_quality
    if options.cap_by_mapping_quality:
        quality = np.minimum(quality, np.asarray(mapping_quality, dtype=np.uint8))
    if options.base_quality_threshold is not None:
        quality = np.where(quality < options.base_quality_threshold, np.uint8(LOWEST_USABLE_BASE_QUALITY), quality)
    return quality


def least_scores(
    offset: NDArray[np.int64], own: NDArray[np.uint8], prepared: NDArray[np.uint8], haplotype: int
) -> NDArray[np.float64]:
    """float64[reads]: the least score (log10) of each read beside its own haplotype, three deviations below the mean.

    Errors are as frequent as its own base qualities promise, and cost what the prepared ones say. `offset` has the
    first base of each read. `haplotype` is the length of its region's first haplotype: a read may begin anywhere.
    """
    # A base of quality 0 is a guess among four.
    error, scored = (np.minimum(0.75, ERROR[quality]) for quality in (own, prepared))
    right, wrong = np.log10(1 - scored), np.log10(scored / 3)
    mean, variance = right + error * (wrong - right), error * (1 - error) * (wrong - right) ** 2
    read = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    sums = [np.bincount(read, values, len(offset) - 1) for values in (mean, variance)]
    least: NDArray[np.float64] = sums[0] - 3 * np.sqrt(sums[1]) - np.log10(haplotype)
    return least


def set_aside(
    scores: NDArray[np.float64],
    lengths: NDArray[np.int64],
    ends: NDArray[np.int64],
    least: NDArray[np.float64],
    options: GatkOptions,
) -> NDArray[np.bool_]:
    """bool[reads]: whether each read fits none of the haplotypes.

    Parameters
    ----------
    scores : float64[reads, haplotypes]
    lengths, ends : int64[reads]
        The bases of each read, and the ends of a molecule that it has: 1, or 2 where mates were joined. A read of
        either end may have two errors.
    least : float64[reads]
        What its qualities promise (`least_scores`).
    """
    if options.error_rate is None or scores.size == 0:
        return np.zeros(len(lengths), dtype=bool)
    expected_errors = np.minimum(2.0 * ends, np.ceil(lengths * options.error_rate))
    hopeless: NDArray[np.bool_] = scores.max(axis=1) < np.minimum(least, -4.0 * expected_errors)
    return hopeless


def copies_of(read_offset: NDArray[np.int64], bases: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """uint8[bases]: copies of the tandem repeat at each base, 1 to 20, as GATK's PCR indel model counts them.

    Parameters
    ----------
    read_offset : int64[reads + 1]
        Where each read's bases begin.
    bases : uint8[bases]
        Codes.
    """
    kind = np.empty(len(bases), dtype=np.uint8)
    native.classify_repeats(read_offset, bases, MOST_REPEATS, LONGEST_REPEAT_UNIT, kind)
    return kind % np.uint8(MOST_REPEATS) + np.uint8(1)
