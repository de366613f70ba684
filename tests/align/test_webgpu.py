"""The webgpu aligner gives the scores of the oracle: random pairs, both kinds of floats, and however work is cut."""

import logging

import numpy as np
import pytest

from pairhmm.align import webgpu, webgpu_kernels
from pairhmm.align.base import ALIGNERS, AlignerPool, SequencePairs, Sequences
from pairhmm.align.scoring import PRESETS, Scoring
from pairhmm.align.webgpu_kernels import MOST, largest_number, plane_steps, rows_of_strips
from pairhmm.backends.webgpu import pair_kernels
from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from tests.align import any_pairs

FORMS = ("edit", "linear", "affine")


@pytest.fixture(scope="module")
def aligner(require_backend):
    require_backend("webgpu")
    return ALIGNERS.load("webgpu")


@pytest.fixture(scope="module")
def oracle():
    return ALIGNERS.load("reference")


def same(aligner, oracle, pairs, scoring):
    assert aligner.scores(pairs, scoring, 2).tolist() == oracle.scores(pairs, scoring, 1).tolist(), scoring


@pytest.mark.parametrize("mode", ["global", "semi-global"])
@pytest.mark.parametrize("form", [*FORMS, "extreme"])
def test_random_pairs(aligner, oracle, form, mode):
    for pairs, scoring in any_pairs.any_batches(7, any_pairs.PAIRS // 2, 700, form=form, mode=mode):
        same(aligner, oracle, pairs, scoring)


@pytest.mark.parametrize("mode", ["global", "semi-global"])
@pytest.mark.parametrize(
    ("steps", "planes"),
    [
        ((1, -1, -1, -1), 2),
        ((0, -4, -3, -3), 2),
        ((1, -4, -3, -3), 3),
        ((5, -4, -8, -8), 3),
        ((50, -40, -60, -60), 5),
        ((3, 0, 0, 0), 1),
        ((1, -4, -6, -1), 4),
        ((10, -15, -30, -5), 4),
        ((2, -4, -6, -2), 3),
        ((1, 0, -1, 0), 2),
        ((9, -7, -14, -4), 6),
    ],
)
def test_planes(aligner, oracle, mode, steps, planes):
    """Gaps of small scores, with a common divisor, and with mismatches that count and that do not."""
    scoring = Scoring(*steps, mode)
    found = plane_steps(scoring)
    assert found is not None and (mode != "global" or found.planes == planes)
    for pairs, _ in any_pairs.any_batches(21, 100, 400):
        same(aligner, oracle, pairs, scoring)


@pytest.mark.parametrize("mode", ["global", "semi-global"])
@pytest.mark.parametrize("form", ["linear", "affine"])
@pytest.mark.parametrize("is_wide", [False, True])
def test_small_scores_without_planes(aligner, oracle, monkeypatch, form, mode, is_wide):
    monkeypatch.setattr(webgpu_kernels, "MOST_PLANES", 0)
    if is_wide:
        monkeypatch.setitem(MOST, False, 0)
    for pairs, scoring in any_pairs.any_batches(23, 150, 300, form=form, mode=mode):
        same(aligner, oracle, pairs, scoring)


@pytest.mark.parametrize(("letters", "is_wide"), [(1_038, False), (1_039, True)])
@pytest.mark.parametrize("mode", ["global", "semi-global"])
def test_scores_at_the_limit_of_floats(aligner, oracle, monkeypatch, letters, is_wide, mode):
    monkeypatch.setattr(webgpu_kernels, "MOST_PLANES", 0)
    scoring = Scoring(10_000, -9_999, -2_999, -2_999, mode)
    rng = np.random.default_rng(1)
    one = rng.integers(0, 4, letters).astype(np.uint8)
    pairs = SequencePairs.in_order(Sequences.of([one, one, one[1:]]), Sequences.of([one, one[::-1], one]))
    largest = largest_number(scoring, np.array([letters]))
    assert (largest > 1 << 24).tolist() == [is_wide]
    same(aligner, oracle, pairs, scoring)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["global", "semi-global"])
def test_work_in_small_parts(aligner, oracle, monkeypatch, form, mode):
    """Dispatches of a few pairs, of one strip each, and borders that leave room for few pairs."""
    monkeypatch.setattr(pair_kernels, "FULL", 3)
    monkeypatch.setattr(webgpu, "MOST_CELLS", dict.fromkeys(FORMS, 20_000 * aligner._shared.slower))
    monkeypatch.setattr(pair_kernels, "MOST_BORDER", 8_000)
    for pairs, scoring in any_pairs.any_batches(11, 100, 1500, form=form, mode=mode):
        same(aligner, oracle, pairs, scoring)


@pytest.mark.parametrize("letters", [0, 1, 3, 4, 63, 64, 65, 1000])
def test_packed_letters(letters):
    rng = np.random.default_rng(letters)
    for codes_of in (4, 5):
        one, other = (Sequences.of([rng.integers(0, codes_of, letters).astype(np.uint8)] * 2) for _ in range(2))
        pairs = SequencePairs(one, other, np.ones(1, np.int32), np.zeros(1, np.int32))
        packed = webgpu_kernels.letters_of(pairs)
        shifts = np.arange(16, dtype=np.uint32)
        twos = ((packed.words[:, None] >> (2 * shifts)) & 3).reshape(-1)
        unknown = np.zeros(len(twos) + 64, bool)
        if packed.unknown is not None:
            bits = np.unpackbits(packed.unknown.view(np.uint8), bitorder="little")
            unknown[: min(len(bits), len(unknown))] = bits[: len(unknown)]
        assert (packed.unknown is not None) == bool((one[1] == 4).any() or (other[0] == 4).any())
        for sequences, index, at in ((one, 1, packed.queries_at), (other, 0, packed.targets_at)):
            here = slice(at + int(sequences.offsets[index]), at + int(sequences.offsets[index + 1]))
            assert np.where(unknown[here], 4, twos[here]).tolist() == sequences[index].tolist()


def test_strips():
    rows = np.array([0, 1, 32, 33, 512, 513, 1024, 1025, 100_000])
    scorings = {"edit": PRESETS["edit"], "planes": Scoring(1, -4, -3, -3), "affine": Scoring(100, -101, -202, -3)}
    strips = {name: rows_of_strips(scoring, rows).tolist() for name, scoring in scorings.items()}
    assert strips["edit"] == [32, 32, 32, 64, 512, 288, 512, 352, 512]
    assert strips["planes"] == [32] * len(rows)
    assert strips["affine"] == [16, 16, 32, 32, 32, 32, 32, 32, 32]


def test_no_pairs(aligner):
    none = SequencePairs.in_order(Sequences.of([]), Sequences.of([]))
    for scoring in (PRESETS["edit"], Scoring()):
        assert aligner.scores(none, scoring, 1).tolist() == []


def test_what_has_no_kernel_is_announced_once(aligner, caplog):
    aligner = type(aligner)(0)
    scoring = PRESETS["gatk-read"]
    with caplog.at_level(logging.WARNING):
        for pairs, _ in any_pairs.any_batches(4, 100, 60):
            any_pairs.check(aligner, pairs, scoring)
    told = [message.split("; ")[0] for message in caplog.messages if "kernel" in message]
    assert told == [
        "webgpu:0: no kernel for GATK's rules",
        "webgpu:0: no kernel for alignments with CIGARs",
    ]


def test_scores_that_integers_do_not_hold(aligner, oracle, monkeypatch, caplog):
    monkeypatch.setattr(webgpu_kernels, "MOST_PLANES", 0)
    monkeypatch.setitem(MOST, True, 100)
    aligner = type(aligner)(0)
    (pairs, _), *_ = any_pairs.any_batches(6, 50, 60)
    same(aligner, oracle, pairs, Scoring())
    assert "no kernel for scores beyond 32 bits" in caplog.text


def test_out_of_memory(aligner, oracle, monkeypatch, caplog):
    """The pool halves the pairs, which then fit."""
    rng = np.random.default_rng(6)
    pairs = SequencePairs.in_order(*(Sequences.of(list(rng.integers(0, 4, (20, 900), np.uint8))) for _ in range(2)))
    most = webgpu_kernels.letters_of(pairs).words.nbytes * 2 // 3
    created = aligner._slot._created

    def little(name, size):
        if size > most:
            raise OutOfDeviceMemory(f"{name}: made")
        return created(name, size)

    aligner._slot.release()
    monkeypatch.setattr(aligner._slot._buffers, "_make", little)
    with pytest.raises(OutOfDeviceMemory):
        aligner.scores(pairs, PRESETS["edit"], 1)
    pool = AlignerPool([aligner], lambda: oracle)
    same(pool, oracle, pairs, PRESETS["edit"])
    assert "out of memory; 10 pairs at once now" in caplog.text
    assert caplog.text.count("at once now") == 1


def test_lost_device(oracle, aligner, caplog):
    (pairs, _), *_ = any_pairs.any_batches(6, 50, 60)
    pair_kernels.pair_device.cache_clear()
    lost = ALIGNERS.load("webgpu")
    lost._shared.handle.destroy()
    with pytest.raises(DeviceLost, match="webgpu:0"):
        lost.scores(pairs, PRESETS["edit"], 1)
    same(ALIGNERS.load("webgpu"), oracle, pairs, PRESETS["edit"])  # of a new device
    same(AlignerPool([lost], lambda: oracle), oracle, pairs, PRESETS["edit"])
    assert "webgpu:0: lost" in caplog.text
