"""GATK's rows and read preparation."""

from decimal import Decimal

import numpy as np
import pytest

from pairhmm.models import gatk
from pairhmm.models.batch import Qualities
from pairhmm.sequences.letters import encode
from tests.models.repeats_oracle import tandem_repeats


def qualities(bases, base=30, insertion=45, deletion=45, gap=10):
    codes = encode(bases)
    return Qualities(codes, *(np.full(len(codes), q, dtype=np.uint8) for q in (base, insertion, deletion, gap)))


def test_error_probabilities_are_the_nearest_numbers():
    assert gatk.ERROR.tolist() == [float(Decimal(10) ** (Decimal(-quality) / 10)) for quality in range(256)]


def test_rows():
    row = gatk.rows(qualities("C", base=20, insertion=30, deletion=40, gap=10))[0]
    error = 0.01
    assert row[:5] == pytest.approx([error / 3, 1 - error, error / 3, error / 3, 1 - error])
    assert row[5:] == pytest.approx([1 - 1e-3 - 1e-4, 0.9, 0.9, 1e-3, 0.1, 1e-4, 0.1])


def test_rows_of_n_match_everything():
    assert gatk.rows(qualities("N", base=20))[0, :5] == pytest.approx([0.99] * 5)


def test_indel_errors_never_exceed_one():
    assert gatk.rows(qualities("A", insertion=0, deletion=0))[0, 5] == 0


@pytest.mark.parametrize(
    ("model", "expected"),
    # round(40 - exp(r / (rate pi)) + 1), at least 10
    [("conservative", {0: 40, 5: 39, 10: 38, 20: 33}), ("hostile", {0: 40, 5: 36, 10: 17, 20: 10})],
)
def test_pcr_quality(model, expected):
    table = gatk.pcr_quality(model)
    assert {repeats: int(table[repeats]) for repeats in expected} == expected


def test_pcr_model_off():
    assert (gatk.pcr_quality("none") == 255).all()


@pytest.mark.parametrize(
    ("bases", "position", "repeats"),
    [
        ("ACGT", 0, 1),  # nothing repeats
        ("AAAAAAAA", 3, 8),  # a homopolymer counts on both sides
        ("GACACACACT", 4, 4),  # AC x 4 around the gap
        ("TTCTTCCCC", 5, 4),  # before the gap TTC x 2, after it C x 3, and one more C before the gap
        ("A" * 50, 25, 20),  # no more than 20
    ],
)
def test_tandem_repeats(bases, position, repeats):
    assert tandem_repeats(encode(bases), position) == repeats


def test_base_quality_preparation():
    raw = np.array([2, 17, 18, 40], dtype=np.uint8)
    options = gatk.GatkOptions()
    assert gatk.prepare_base_quality(raw, 30, options).tolist() == [6, 6, 18, 30]
    off = gatk.GatkOptions(cap_by_mapping_quality=False, base_quality_threshold=None)
    assert gatk.prepare_base_quality(raw, 30, off).tolist() == raw.tolist()


def test_set_aside():
    """100 bases allow ceil(2) = 2 errors: -8; 20 bases allow 1: -4; poor qualities allow more."""
    scores = np.array([[-7.9], [-8.1], [-4.1], [-29.0]])
    lengths, least = np.array([100, 100, 20, 100]), np.array([-1.0, -1.0, -1.0, -30.0])
    one, both = np.ones_like(lengths), np.full_like(lengths, 2)

    def aside(lengths, ends, options=None):
        return gatk.set_aside(scores, lengths, ends, least, options or gatk.GatkOptions()).tolist()

    assert aside(lengths, one) == [False, True, True, False]
    assert aside(2 * lengths, one) == [False, True, True, False], "2 at most"
    assert aside(2 * lengths, both) == [False, False, True, False], "2 each"
    assert not any(aside(lengths, one, gatk.GatkOptions(error_rate=None)))


def test_least_scores():
    """Errors that are promised once in 10 bases cost what quality 6 says; a base of quality 0 is a guess."""
    own, prepared = np.array([10, 10, 0], dtype=np.uint8), np.array([6, 6, 6], dtype=np.uint8)
    right, wrong = np.log10(1 - 10**-0.6), np.log10(10**-0.6 / 3)
    mean = 2 * (0.9 * right + 0.1 * wrong), 0.25 * right + 0.75 * wrong
    deviation = np.sqrt([2 * 0.1 * 0.9, 0.25 * 0.75]) * (right - wrong)
    least = gatk.least_scores(np.array([0, 2, 3]), own, prepared, haplotype=100)
    assert least == pytest.approx(mean - 3 * deviation - 2)
