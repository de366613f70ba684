"""Alleles of mixtures are found by their own evidence, and told from errors that repeat."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.native import native

LENGTH, READ, DEPTH, QUALITY = 1_500, 100, 800, 30
MIXTURE = CandidateOptions(errors=native.ErrorRates(), assembly=False)
STRAND, LATE, ENDS = 1, 2, 3
Change = Callable[[np.random.Generator, int, bool, np.ndarray], None]


def tail(seen: int, errors: float, variance: float) -> float:
    """-10 log10 P(X >= seen): X is a Poisson whose mean has a gamma distribution of this variance."""
    shape = errors**2 / variance
    logs = [
        math.lgamma(n + shape)
        - math.lgamma(shape)
        - math.lgamma(n + 1)
        + shape * math.log(shape / (shape + errors))
        + n * math.log(errors / (shape + errors))
        for n in range(seen, seen + 2000)
    ]
    return -10 * math.log10(sum(map(math.exp, logs)))


@pytest.mark.parametrize("seen", [1, 3, 12, 60])
@pytest.mark.parametrize(("errors", "of_context"), [(0.5, 0.0), (4.0, 3.0), (50.0, 45.0)])
def test_evidence_is_the_tail_of_a_negative_binomial(seen: int, errors: float, of_context: float) -> None:
    """What errors promise varies by 2% of its square, and that of a context by the spread."""
    expected = tail(seen, errors, 0.3 * of_context**2 + 0.02 * errors**2)
    assert native.strand_evidence(seen, errors, of_context, 0.3) == pytest.approx(expected, abs=1e-6)


def genome(seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, LENGTH).astype(np.uint8)


def reads(codes: np.ndarray, *changes: Change, seed: int = 2, tile: int = 1) -> ReadBlock:
    """Reads of both strands, with errors at the rate of their qualities, and some changes. They begin at `tile`s."""
    rng = np.random.default_rng(seed)
    alignments = list[Any]()
    for start in np.sort(rng.integers(0, (LENGTH - READ) // tile, DEPTH * LENGTH // READ) * tile).tolist():
        is_reverse, bases = bool(rng.random() < 0.5), codes[start : start + READ].copy()
        wrong = rng.random(READ) < 10 ** (-QUALITY / 10)
        bases[wrong] = (bases[wrong] + rng.integers(1, 4, int(wrong.sum()))) % 4
        for change in changes:
            change(rng, start, is_reverse, bases)
        fields = {"name": f"r{len(alignments)}", "sample": 0, "flag": 16 * is_reverse, "mapq": 60, "start": start}
        quals = np.full(READ, QUALITY, dtype=np.uint8)
        fields |= {"end": start + READ, "bases": bases, "quals": quals, "cigar": [(0, READ)]}
        alignments.append(SimpleNamespace(**fields))
    return ReadBlock.from_alignments("c", alignments)


def allele(position: int, letter: int, rate: Callable[[int, bool], float]) -> Change:
    """A letter that reads have by a rate, which is one of the base's cycle and strand."""

    def change(rng: np.random.Generator, start: int, is_reverse: bool, bases: np.ndarray) -> None:
        at = position - start
        if 0 <= at < READ and rng.random() < rate(READ - 1 - at if is_reverse else at, is_reverse):
            bases[at] = letter

    return change


def found(codes: np.ndarray, *blocks: ReadBlock, options: CandidateOptions = MIXTURE) -> dict[tuple[int, str], int]:
    """The artefact of each candidate, by position and letter."""
    letters = "".join("ACGT"[code] for code in codes)
    finder = native.CandidateFinder(native.ReferenceBases(lambda _, start, end: letters[start:end]), 1, options)
    variants = [one for block in blocks for one in finder.scan("c", block.native)] + finder.finish()
    return {(one.pos, alt): one.artefact for one in variants for alt in one.alts}


def test_alleles_of_a_small_fraction_are_found_and_no_error_is() -> None:
    """Ten SNVs at 2.5%, of about 800 reads each."""
    codes = genome()
    places = range(200, 1_300, 110)
    planted = [allele(at, (int(codes[at]) + 1) % 4, lambda cycle, is_reverse: 0.025) for at in places]
    expected = {(at, "ACGT"[(codes[at] + 1) % 4]): 0 for at in places}
    assert found(codes, reads(codes, *planted)) == expected


@pytest.mark.parametrize(
    ("rate", "artefact"),
    [
        (lambda cycle, is_reverse: 0.06 * (not is_reverse), STRAND),
        (lambda cycle, is_reverse: 0.15 * is_reverse * (cycle / READ) ** 2, STRAND),
        (lambda cycle, is_reverse: 0.2 * (cycle / READ) ** 3, LATE),
        (lambda cycle, is_reverse: 0.5 * (cycle < 6 or cycle >= READ - 6), ENDS),
        (lambda cycle, is_reverse: 0.04 + 0.3 * is_reverse * (cycle / READ) ** 2, 0),
    ],
    ids=["strand", "strand, late", "late", "ends", "an allele beside errors"],
)
def test_errors_that_repeat_are_told_from_alleles(rate: Callable[[int, bool], float], artefact: int) -> None:
    """By the strands and cycles of their reads."""
    codes = genome()
    planted = allele(700, (int(codes[700]) + 2) % 4, rate)
    assert found(codes, reads(codes, planted)) == {(700, "ACGT"[(codes[700] + 2) % 4]): artefact}


def test_errors_of_a_context_are_learned() -> None:
    """Behind GC, a T is read as G in 3% of the reads of both strands: an allele is what exceeds that."""
    codes = genome(3)
    is_behind = np.zeros(LENGTH, dtype=bool)
    is_behind[2:] = (codes[:-2] == 2) & (codes[1:-1] == 1) & (codes[2:] == 3)
    reverse = np.zeros(LENGTH, dtype=bool)
    reverse[:-2] = (codes[2:] == 1) & (codes[1:-1] == 2) & (codes[:-2] == 0)

    def misread(rng: np.random.Generator, start: int, is_strand_reverse: bool, bases: np.ndarray) -> None:
        places = (reverse if is_strand_reverse else is_behind)[start : start + READ]
        bases[places & (rng.random(READ) < 0.03)] = 1 if is_strand_reverse else 2

    block = reads(codes, misread, allele(702, (int(codes[702]) + 1) % 4, lambda cycle, is_reverse: 0.025))
    assert len(found(codes, block)) > 5
    assert found(codes, block, options=learned(codes, block)) == {(702, "ACGT"[(codes[702] + 1) % 4]): 0}


def learned(codes: np.ndarray, block: ReadBlock) -> CandidateOptions:
    """The options of a mixture with the rates of errors that reads show."""
    letters = "".join("ACGT"[code] for code in codes)
    reference = native.ReferenceBases(lambda _, start, end: letters[start:end])
    finder = native.ErrorRateFinder(10)
    finder.add("c", block.aligned, reference)
    return replace(MIXTURE, errors=finder.rates(reference, [], []))


@pytest.mark.parametrize("seed", [4, 6])
def test_alleles_of_amplicons_are_no_errors_of_their_cycle(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place has one cycle a strand there, and a cycle few places of a context."""
    monkeypatch.setattr(f"{__name__}.READ", 250)
    codes, places = genome(seed), range(60, 1_200, 55)
    planted = [allele(at, (int(codes[at]) + 1) % 4, lambda cycle, is_reverse: 0.08) for at in places]
    block = reads(codes, *planted, tile=250)
    expected = {(at, "ACGT"[(codes[at] + 1) % 4]): 0 for at in places}
    assert found(codes, block, options=learned(codes, block)) == expected


COPIES = 4
RARE, DELETED, LETTERS_OF_COPIES = (150, 200, 250), 300, 400


def copied(codes: np.ndarray, is_shared: bool) -> ReadBlock:
    """Copies of 3,000 molecules, a thousand over each base: some of these have alleles, or single reads err alike."""
    rng = np.random.default_rng(7)
    alignments, molecules = list[Any](), list[str]()
    for molecule, start in enumerate(np.sort(rng.integers(0, LETTERS_OF_COPIES - READ, 3_000)).tolist()):
        is_reverse, has = bool(rng.random() < 0.5), rng.random(len(RARE)) < 0.012
        for copy in range(COPIES):
            bases = codes[start : start + READ].copy()
            wrong = rng.random(READ) < 0.01
            bases[wrong] = (bases[wrong] + rng.integers(1, 4, int(wrong.sum()))) % 4
            for at, carries in zip(RARE, has, strict=True):
                if start <= at < start + READ and (carries if is_shared else rng.random() < 0.012):
                    bases[at - start] = (codes[at] + 1) % 4
            fields = {"name": f"r{molecule}.{copy}", "sample": 0, "flag": 16 * is_reverse, "mapq": 60, "start": start}
            quals = np.full(READ, 20, dtype=np.uint8)
            cigar, deleted = [(0, READ)], DELETED - start
            if is_shared and molecule % 80 == 0 and 10 < deleted < READ - 10:
                bases[deleted:-2] = codes[DELETED + 2 : start + READ]
                bases, quals, cigar = bases[:-2], quals[:-2], [(0, deleted), (2, 2), (0, READ - deleted - 2)]
            fields |= {"end": start + READ, "bases": bases, "quals": quals, "cigar": cigar}
            alignments.append(SimpleNamespace(**fields))
            molecules.append(f"m{molecule}")
    block = ReadBlock.from_alignments("c", alignments)
    block.molecules = molecules
    return block


def test_copies_of_a_molecule_are_one_observation() -> None:
    """What all copies of some molecules show is an allele; what as many reads of any molecules show is none."""
    codes = genome()[:LETTERS_OF_COPIES]
    rare = {(at, "ACGT"[(codes[at] + 1) % 4]): 0 for at in RARE}
    found_there = found(codes, copied(codes, is_shared=True))
    deleted = [one for one in found_there if one not in rare]
    assert found_there == rare | dict.fromkeys(deleted, 0)
    assert [len(alt) for _, alt in deleted] == [1]
    assert found(codes, copied(codes, is_shared=False)) == {}


def test_blocks_do_not_change_what_molecules_show() -> None:
    """Copies of a molecule may be in any blocks."""
    codes = genome()[:LETTERS_OF_COPIES]
    block = copied(codes, is_shared=True)
    parts = [block.take(np.arange(first, min(first + 997, len(block)))) for first in range(0, len(block), 997)]
    assert found(codes, *parts) == found(codes, block)
