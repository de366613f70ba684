"""Reads as the models take them, and their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pairhmm import backends
from pairhmm.calling.cut_reads import CutReads
from pairhmm.calling.mates import JoinedReads
from pairhmm.calling.scoring import ReadScorer, prepared_base_quality
from pairhmm.calling.stream import HaplotypeLetters
from pairhmm.engine import Choice, choose
from pairhmm.models.batch import PairBatch, Scores
from pairhmm.models.gatk import GatkOptions, prepare_base_quality
from pairhmm.models.profile import preset
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import as_n, encode, encode_read

HAPLOTYPES = HaplotypeLetters(encode("ACGTTGCAACGTACGGTCAT" + "ACGTTGCAAGTACGGTCAT"), offsets([20, 19]), offsets([2]))
READS = ("GTTGCAACGTACGG", "GTTGCARCGTNCGG", "WTTGCAACVTACGG")


class Recorder:
    """A pool of the CPU alone that keeps the batches it is given."""

    def __init__(self) -> None:
        self.pool, self.batches = choose(Choice("cpu")), []

    def begin(self, batch: PairBatch, threads: int) -> Callable[[], Scores]:
        self.batches.append(batch)
        return self.pool.begin(batch, threads)


@pytest.fixture
def scorer(require) -> ReadScorer:
    require("cpu", backends.status("cpu").available, "the compiled part prepares reads")
    return ReadScorer(GatkOptions(), Recorder())


def cut(texts: tuple[str, ...]) -> CutReads:
    bases = np.concatenate([encode_read(text) for text in texts])
    quality = np.random.default_rng(3).integers(5, 42, len(bases), dtype=np.uint8)
    offset = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return CutReads(offset, bases, quality, np.full(len(texts), 37, dtype=np.uint8))


def test_ambiguous_letters_are_n_for_gatks_model(scorer) -> None:
    reads = cut(READS)
    scores, _ = scorer.begin(reads, [len(READS)], HAPLOTYPES)()
    expected, _ = scorer.begin(replace(reads, bases=as_n(reads.bases)), [len(READS)], HAPLOTYPES)()
    assert np.array_equal(scores, expected)


def test_the_profile_model_takes_rows_by_number(scorer) -> None:
    scorer = replace(scorer, profile=replace(preset("normalised"), start=preset("published").start))
    scores, _ = scorer.begin(cut(READS), [len(READS)], HAPLOTYPES)()
    (batch,) = scorer.pool.batches
    assert batch.profiles.kinds is not None
    assert batch.start == scorer.profile.start
    oracle = choose(Choice("reference")).forward(batch, 1)
    np.testing.assert_allclose(scores, oracle.log10, rtol=0, atol=1e-5)


def test_reads_have_the_gaps_of_their_repeats(scorer) -> None:
    """One read at a time, so that no repeat reaches into the next read."""
    rates = np.array([np.arange(1, 21) / 500, np.arange(1, 21) / 1000])
    scorer = replace(scorer, profile=replace(preset("normalised"), by_copies=rates))
    reads = cut(("ACGTTTTT", "TTTTTACG"))
    scorer.begin(reads, [2], HAPLOTYPES)()
    (batch,) = scorer.pool.batches
    openings = batch.profiles.transitions[batch.profiles.kinds, 5] * 1000
    assert openings.round(9).tolist() == [1, 1, 5, 5, 5, 5, 5, 1, 5, 5, 5, 5, 1, 1, 1, 1]


def test_joined_reads_have_the_repeats_of_their_profile(scorer) -> None:
    """Two mates that overlap by four bases: neither has the whole repeat."""
    scorer = replace(scorer, profile=replace(preset("normalised"), by_copies=np.array([np.arange(1, 21) / 500] * 2)))
    reads = cut(("ACGTTTT", "TTTTTACG"))
    columns = [[0], [1], [2], [3, 7], [4, 8], [5, 9], [6, 10], [11], [12], [13], [14]]
    zero, none = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64)
    reads.joined = JoinedReads(
        np.array([0, 2]),
        np.array([0, 1]),
        np.array([0, len(columns)]),
        np.cumsum([0, *map(len, columns)]),
        np.concatenate(columns),
        np.array([True]),
        zero,
        none,
        (0, 0, 0, 0),
    )
    scorer.begin(reads, [1], HAPLOTYPES)()
    (batch,) = scorer.pool.batches
    openings = batch.profiles.transitions[batch.profiles.kinds, 5] * 500
    assert openings.round(9).tolist() == [1, 1, 5, 5, 5, 5, 5, 1, 1, 1, 1]


def test_both_models_take_the_same_base_qualities(scorer) -> None:
    reads = cut(READS[:1])
    scorer.begin(reads, [1], HAPLOTYPES)()
    scorer = replace(scorer, profile=preset("published"))
    scorer.begin(reads, [1], HAPLOTYPES)()
    gatk, profile = scorer.pool.batches
    assert profile.profiles.kinds.tolist() == (gatk.qualities.bases * 128.0 + gatk.qualities.base_quality).tolist()
    assert scorer.bases == 2 * len(reads.quals)
    assert scorer.lowered == 2 * np.count_nonzero(reads.quals < 18)


@pytest.mark.parametrize(
    "options",
    [GatkOptions(), GatkOptions(cap_by_mapping_quality=False), GatkOptions(base_quality_threshold=None)],
    ids=["default", "uncapped", "no threshold"],
)
def test_compiled_base_qualities_are_those_of_the_model(scorer, options) -> None:
    reads = replace(cut(READS), mapq=np.array([60, 17, 30], dtype=np.uint8))
    expected = prepare_base_quality(reads.quals, np.repeat(reads.mapq, np.diff(reads.offset)), options)
    assert np.array_equal(prepared_base_quality(reads, options), expected)
