"""The aligner on an emulated GPU, with few kernels, since each takes seconds to build; on the first GPU with all."""

from dataclasses import replace

import numpy as np
import pytest

from pairhmm.align import cuda, cuda_kernels, cuda_packing
from pairhmm.align.base import ALIGNERS, SequencePairs, Sequences
from pairhmm.align.scoring import Scoring
from pairhmm.errors import OutOfDeviceMemory
from tests.align import any_pairs

FORMS = {"edit": Scoring(0, -1, -1, -1), "linear": Scoring(2, -3, -2, -2), "affine": Scoring(1, -4, -6, -1)}


@pytest.fixture(params=["emulated", "cuda"])
def aligner(request, monkeypatch):
    if request.param == "cuda":
        request.getfixturevalue("gpus")
        return cuda.make(0)
    request.getfixturevalue("emulator")
    monkeypatch.setattr(cuda_kernels, "_shapes", lambda *_: [(2, 16), (32, 16)])
    monkeypatch.setattr(cuda_kernels, "_blocks", lambda *_: 4)
    monkeypatch.setattr(cuda_kernels, "EDIT_WORDS", (1, 3))
    with request.getfixturevalue("installed")():
        return cuda.CudaAligner(0)


def pairs_of(rng, lengths, alphabet=4):
    """Pairs of related sequences of these lengths."""
    made = []
    for query, target in lengths:
        letters = rng.integers(0, alphabet, max(query, target), dtype=np.uint8)
        other = np.where(rng.random(len(letters)) < 0.1, rng.integers(0, alphabet, len(letters)), letters)
        made.append((letters[:query], other[:target].astype(np.uint8)))
    queries, targets = (Sequences.of([pair[side] for pair in made]) for side in (0, 1))
    return SequencePairs.in_order(queries, targets)


LENGTHS = [
    (1, 1),
    (5, 40),
    (31, 33),
    (32, 32),
    (33, 31),
    (90, 70),
    (16, 16),
    (0, 7),
    (7, 0),
    (0, 0),
    (40, 5),
    (600, 50),
]
"""One row and one column, words and strips that end with a sequence, empty sequences, two strips."""


@pytest.mark.parametrize("mode", ["global", "semi-global"])
@pytest.mark.parametrize("form", FORMS)
def test_agrees_with_the_oracle(aligner, form, mode):
    lengths = [*LENGTHS, (50, 600)]
    any_pairs.check(aligner, pairs_of(np.random.default_rng(1), lengths), replace(FORMS[form], mode=mode))


@pytest.mark.parametrize("form", ["linear", "affine"])
def test_n_and_large_scores_are_aligned_in_words(aligner, form):
    rng = np.random.default_rng(2)
    scoring = FORMS[form]
    any_pairs.check(aligner, pairs_of(rng, LENGTHS, alphabet=5), scoring)
    large = replace(scoring, match=9_000, mismatch=-9_990, gap_open=-9_995 if form == "affine" else -5)
    any_pairs.check(aligner, pairs_of(rng, LENGTHS), replace(large, gap_extend=-5))


def test_chunks_do_not_change_anything(aligner, monkeypatch):
    """Sequences that all chunks share are sent once, others for each chunk."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(cuda_packing, "CHUNK_PAIRS", 7)
    pairs = pairs_of(rng, [(int(a), int(b)) for a, b in rng.integers(1, 33, (20, 2))])
    any_pairs.check(aligner, pairs, FORMS["linear"])
    every = SequencePairs.all_of(pairs.queries, pairs.targets)
    some = SequencePairs(every.queries, every.targets, every.query_index[::9], every.target_index[::9])
    any_pairs.check(aligner, some, FORMS["linear"])


def test_gatk_goes_to_the_cpu_and_says_so(aligner, caplog):
    pairs = pairs_of(np.random.default_rng(4), [(30, 40), (20, 10)])
    any_pairs.check(aligner, pairs, Scoring(10, -15, -30, -5, "gatk"))
    assert [record.message for record in caplog.records if "mode gatk" in record.message]


def test_random_pairs_on_a_gpu(gpus):
    aligner = cuda.make(0)
    for mode in ("global", "semi-global"):
        for pairs, scoring in any_pairs.any_batches(mode=mode):
            any_pairs.check(aligner, pairs, scoring)


def test_no_pairs(aligner):
    none = pairs_of(np.random.default_rng(5), [])
    assert not len(aligner.scores(none, FORMS["edit"], 1))
    assert not len(aligner.alignments(none, FORMS["edit"], 1))


def test_a_device_without_memory_says_so_and_goes_on(emulator, installed, monkeypatch):
    """Whoever gave the pairs gives fewer, to the same aligner."""
    monkeypatch.setattr(cuda_kernels, "EDIT_WORDS", (1, 3))
    pairs = pairs_of(np.random.default_rng(6), [(20, 20)] * 3000)
    with installed(1 << 16):
        aligner = cuda.CudaAligner(0)
        with pytest.raises(OutOfDeviceMemory):
            aligner.scores(pairs, FORMS["edit"], 1)
        few = pairs.part(0, 300)
        expected = ALIGNERS.load("reference").scores(few, FORMS["edit"], 1)
        assert np.array_equal(aligner.scores(few, FORMS["edit"], 1), expected)


def test_kernel_seconds(aligner):
    pairs = pairs_of(np.random.default_rng(1), [(33, 31), (90, 70)])
    seconds = aligner.kernel_seconds(pairs, FORMS["edit"], 3)
    assert len(seconds) == 3 and min(seconds) >= 0
