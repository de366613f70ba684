"""Compare a backend with a file of reference likelihoods."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from pairhmm import engine
from pairhmm.arguments import AnyPath, path_of
from pairhmm.engine import Choice
from pairhmm.engine.device_pool import DevicePool
from pairhmm.errors import InputError
from pairhmm.forward.pair_texts import ReferencePair, read_partially_determined, read_reference_likelihoods
from pairhmm.models.batch import PairBatch
from pairhmm.options import check_choice, check_number, check_whole
from pairhmm.sequences.letters import HIGHEST_QUALITY

GATK_MIN_BASE_QUALITY = 6
"""Phred. GATK's own test raises base qualities to this before scoring (PairHMMUnitTest and GKL's PairHmmUnitTest)."""

PAIRS_PER_BATCH = 4096
"""Pairs scored at once, so that memory does not grow with the file."""


@dataclass(frozen=True, slots=True)
class Case:
    """A compared pair.

    Attributes
    ----------
    line : int
        1-based line of the file.
    read_length, haplotype_length : int
        Bases.
    expected, score : float
        log10 likelihoods of the file and of the backend.
    precision : int
        What made the score: a code of `pairhmm.models.batch.PRECISIONS`.
    """

    line: int
    read_length: int
    haplotype_length: int
    expected: float
    score: float
    precision: int

    @property
    def difference(self) -> float:
        """abs(score - expected) in log10 units; infinite where either is not finite, so that it sorts as the worst.

        A pair that both sides call impossible (-inf) agrees.
        """
        if self.score == self.expected:
            return 0.0
        difference = abs(self.score - self.expected)
        return difference if np.isfinite(difference) else float("inf")


@dataclass(frozen=True, slots=True)
class Validation:
    """Outcome of `validate`.

    Attributes
    ----------
    pairs : int
        Compared pairs.
    failures : int
        Pairs whose difference is over the tolerance or not finite.
    tolerance : float
        log10 units.
    worst : list[Case]
        The cases that differ most, worst first.
    """

    pairs: int
    failures: int
    tolerance: float
    worst: list[Case]

    @property
    def worst_difference(self) -> float:
        """log10 units; 0 for a file without pairs."""
        return self.worst[0].difference if self.worst else 0.0

    @property
    def holds(self) -> bool:
        """Whether every pair is within the tolerance."""
        return self.failures == 0


def validate(
    path: AnyPath,
    *,
    model: Literal["gatk", "pdhmm"] = "gatk",
    backend: str | Choice = "auto",
    tolerance: float = 1e-5,
    min_base_quality: int | None = None,
    worst: int = 10,
    threads: int = 1,
) -> Validation:
    """Score every pair of a file of reference likelihoods, and compare.

    Parameters
    ----------
    path : path
        Seven columns: haplotype, read, base, insertion, deletion and gap-continuation qualities (Phred+33), log10
        likelihood. Lines that start with `#` are comments. With "pdhmm", the second of eight columns has flags.
    model : {"gatk", "pdhmm"}
        GATK's model, or that of its partially determined haplotypes.
    backend : str or Choice
        A backend's name, or `auto`; or that with its devices.
    tolerance : float
        Largest allowed difference, in log10 units.
    min_base_quality : int, optional
        Base qualities below this are raised to it (Phred); 0 leaves them alone. By default 6 for "gatk", as GATK's own
        test does, and 0 for "pdhmm".
    worst : int
        How many of the worst cases to keep, at least one.
    threads : int
        CPU threads.

    Returns
    -------
    Validation

    Raises
    ------
    InputError
        For a file that can't be read as this format, or has no pairs: nothing compared is not a success.
    OptionError
        For an option with a value that it can't have.
    BackendUnavailable
        Where a named backend does not run here.

    Examples
    --------
    >>> pairhmm.validate("reference.txt", backend="cpu").holds  # doctest: +SKIP
    True
    """
    file = path_of(path)
    check_number("tolerance", tolerance, 0, sys.float_info.max)
    check_choice("model", model, ("gatk", "pdhmm"))
    has_flags = model == "pdhmm"
    if min_base_quality is None:
        min_base_quality = 0 if has_flags else GATK_MIN_BASE_QUALITY
    check_whole("min_base_quality", min_base_quality, 0, HIGHEST_QUALITY)
    check_whole("worst", worst, 0)
    check_whole("threads", threads, 1)
    pool = engine.choose(backend)
    pairs = failures = 0
    kept: list[Case] = []
    known = read_partially_determined(file) if has_flags else read_reference_likelihoods(file)
    while chunk := list(islice(known, PAIRS_PER_BATCH)):
        for case in _score(chunk, pool, min_base_quality, threads):
            pairs += 1
            failures += not (case.difference <= tolerance)
            kept.append(case)
        kept.sort(key=lambda case: -case.difference)
        del kept[max(worst, 1) :]
    if not pairs:
        columns = "eight" if has_flags else "seven"
        raise InputError(file, "", "no pairs in this file", f"give lines of {columns} columns")
    return Validation(pairs, failures, tolerance, kept)


def _score(pairs: list[ReferencePair], pool: DevicePool, min_base_quality: int, threads: int) -> Iterator[Case]:
    for pair in pairs:
        np.maximum(pair.read.base_quality, np.uint8(min_base_quality), out=pair.read.base_quality)
    batch = PairBatch.from_groups([pair.group for pair in pairs])
    scores = pool.forward(batch, threads)
    for pair, score, precision in zip(pairs, scores.log10.tolist(), scores.precision.tolist(), strict=True):
        yield Case(pair.line, len(pair.read.bases), len(pair.haplotype), pair.expected, score, precision)
