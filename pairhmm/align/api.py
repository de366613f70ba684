"""`align` of sequences in memory: the best alignment of two sequences, its score alone or with its CIGAR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.base import LONGEST, SequencePairs, Sequences, choose
from pairhmm.align.scoring import PRESETS, AlignKeywords, Scoring
from pairhmm.alignments.sam import cigar_texts
from pairhmm.engine import Choice
from pairhmm.engine.choice import named_devices
from pairhmm.options import check_choice, check_whole, with_keywords
from pairhmm.sequences.letters import Letters, codes_of

_DEFAULTS = Scoring()


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """The best alignment of a query and a target.

    Attributes
    ----------
    score : int
        The sum of the columns' scores; or the number of differences, with the scoring "edit".
    cigar : str
        Such as ``5M1D3M``. M is a column of two letters, equal or not, I a letter of the query alone, D one of the
        target alone, S one of the query that is clipped. ``*`` for two empty sequences.
    start, end : int
        The part of the target that is aligned, 0-based half-open.
    """

    score: int
    cigar: str
    start: int
    end: int


def align(
    queries: Letters | Sequence[Letters],
    targets: Letters | Sequence[Letters],
    *,
    scoring: Scoring | str = _DEFAULTS,
    every: bool = False,
    backend: str | Choice = "auto",
    threads: int = 1,
    **keywords: Unpack[AlignKeywords],
) -> list[AlignedPair]:
    """Align queries with targets: the first with the first, and so on.

    Parameters
    ----------
    queries, targets : str, bytes, uint8[n], or a sequence of them
        Letters, or their codes; a string is one sequence. Sequences may be empty.
    scoring : Scoring or str
        How alignments are scored, and which ends are free; or a name of `pairhmm.align.scoring.PRESETS`: "edit",
        "gatk-haplotype" or "gatk-read".
    every : bool
        Align every query with every target, a query's pairs together.
    backend : str or Choice
        A backend's name, or "auto"; or that with its devices.
    threads : int
        CPU threads.
    **keywords
        Fields of `Scoring` by name, such as ``mode="semi-global"``. They override those of `scoring`.

    Returns
    -------
    list of AlignedPair

    Raises
    ------
    ValueError
        For letters outside IUPAC, sequences of more than 100,000 letters, and unequal numbers without `every`.
    OptionError
        For a scoring that is not known, and for a value that it can't have.
    TypeError
        For a keyword that no scoring has.
    BackendUnavailable
        Where a named backend does not run here.

    Examples
    --------
    >>> pairhmm.align("GATTACA", "GATACA")
    [AlignedPair(score=0, cigar='2M1I4M', start=0, end=6)]
    >>> pairhmm.align("GATTACA", "GATACA", scoring="edit")[0].score
    1
    """
    check_whole("threads", threads, 1)
    (options,) = with_keywords("align", keywords, scoring_of(scoring))
    pairs = _pairs(queries, targets, every)
    aligner = choose(*named_devices(backend), options, pairs.cells, threads, with_cigars=True)
    alignments = aligner.alignments(pairs, options, threads)
    scores = _shown(alignments.scores, options).tolist()
    cigars = cigar_texts(alignments.cigars, alignments.offsets)
    places = (alignments.target_starts.tolist(), alignments.target_ends.tolist())
    return [AlignedPair(*each) for each in zip(scores, cigars, *places, strict=True)]


def align_scores(
    queries: Letters | Sequence[Letters],
    targets: Letters | Sequence[Letters],
    *,
    scoring: Scoring | str = _DEFAULTS,
    every: bool = False,
    backend: str | Choice = "auto",
    threads: int = 1,
    **keywords: Unpack[AlignKeywords],
) -> NDArray[np.int32]:
    """The scores that `align` gives, without the alignments, which takes a fraction of the time.

    Parameters
    ----------
    queries, targets, scoring, every, backend, threads, **keywords
        As for `align`.

    Returns
    -------
    int32[pairs], or int32[queries, targets] with `every`

    Raises
    ------
    ValueError, OptionError, TypeError, BackendUnavailable
        As for `align`.

    Examples
    --------
    >>> pairhmm.align_scores(["GATTACA", "GATT"], ["GATACA", "CATT"], scoring="edit", every=True)
    array([[1, 4],
           [3, 1]], dtype=int32)
    """
    check_whole("threads", threads, 1)
    (chosen,) = with_keywords("align_scores", keywords, scoring_of(scoring))
    pairs = _pairs(queries, targets, every)
    aligner = choose(*named_devices(backend), chosen, pairs.cells, threads, with_cigars=False)
    scores = _shown(aligner.scores(pairs, chosen, threads), chosen)
    return scores.reshape(len(pairs.queries), len(pairs.targets)) if every else scores


def scoring_of(scoring: Scoring | str) -> Scoring:
    """A scoring, or that of a preset's name. Raises OptionError for a name that no preset has."""
    if isinstance(scoring, Scoring):
        return scoring
    check_choice("scoring", scoring, tuple(PRESETS))
    return PRESETS[scoring]


def _shown(scores: NDArray[np.int32], scoring: Scoring) -> NDArray[np.int32]:
    return -scores if scoring.is_distance else scores


def _pairs(queries: Letters | Sequence[Letters], targets: Letters | Sequence[Letters], every: bool) -> SequencePairs:
    packed = [_packed(name, sequences) for name, sequences in (("queries", queries), ("targets", targets))]
    if every:
        return SequencePairs.all_of(*packed)
    if len(packed[0]) != len(packed[1]):
        rule = f"{len(packed[0])} queries and {len(packed[1])} targets"
        raise ValueError(f"{rule}: give pairs in order, or every=True for every pair")
    return SequencePairs.in_order(*packed)


def _packed(name: str, sequences: Letters | Sequence[Letters]) -> Sequences:
    packed = Sequences.of(codes_of(sequences))
    long = np.flatnonzero(packed.lengths > LONGEST)
    if len(long):
        raise ValueError(f"{name}[{long[0]}] has more than {LONGEST:,} letters")
    return packed
