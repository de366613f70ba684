"""Scores from what the WebGPU kernels leave: the compiled part computes what NumPy does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.models.batch import FLOAT32, SCALED_FLOAT32, UNSCORED, Scores
from pairhmm.sequences.arrays import offsets

STARTED_AT = -116
COARSE_BITS, FINE_UNIT = 16, 2.0**-32


@pytest.fixture(scope="module", autouse=True)
def native(require):
    try:
        from pairhmm import _cpu
    except ImportError:
        _cpu = None
    require("cpu", _cpu is not None, "the compiled part is not installed")
    return _cpu


def words_of(rng, pairs, reads):
    """Sums of all sizes, denormal ones and zeros among them, and what they are relative to."""
    sums = np.zeros((pairs, 2), dtype=np.uint32)
    sums[:, 0] = rng.integers(1, 0x7F800000, pairs)
    sums[:, 1] = rng.choice([STARTED_AT, -240, 0, 700], pairs).astype(np.int32).view(np.uint32)
    sums[rng.random(pairs) < 0.1, 0] = 0
    kept = rng.integers(0, 1 << 32, (reads, 2), dtype=np.uint32)
    kept[:, 0] = rng.integers(-(1 << 24), 1 << 8, reads).astype(np.int32).view(np.uint32)
    return sums, kept


def expected_of(shapes, sums, kept, log10_kept, unit):
    value, exponent = sums[:, 0].view(np.float32).astype(np.float64), sums[:, 1].view(np.int32)
    value[value == 0] = np.nan
    of_read = log10_kept + unit * (kept[:, 0].view(np.int32) * 2.0**-16 + kept[:, 1] * 2.0**-32)
    widths = np.repeat([shape[1] for shape in shapes], [shape[0] for shape in shapes])
    log10 = np.log10(value) + exponent * np.log10(2.0) + np.repeat(of_read, widths)
    precision = np.where(exponent == STARTED_AT, FLOAT32, SCALED_FLOAT32)
    return Scores(log10, np.where(np.isnan(log10), UNSCORED, precision))


@given(
    shapes=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), max_size=5),
    many=st.sampled_from([0, 1, 70_000]),
    unit=st.sampled_from([0.0, 1.0, 0.30103]),
    threads=st.integers(1, 4),
    host_knows=st.booleans(),
    seed=st.integers(0, 99),
)
def test_scores(shapes, many, unit, threads, host_knows, seed, native):
    """Groups without reads or haplotypes among them, and one that threads share."""
    shapes = [*shapes, (many, 3)]
    rng = np.random.default_rng(seed)
    of_reads, of_haplotypes = np.array(shapes).T
    pairs, reads = int((of_reads * of_haplotypes).sum()), int(of_reads.sum())
    sums, kept = words_of(rng, pairs, reads)
    log10_kept = rng.normal(-3, 2, reads) * host_knows
    scores = Scores(np.zeros(pairs), np.zeros(pairs, dtype=np.uint8))
    have_all = native.device_scores(
        offsets(of_reads),
        offsets(of_haplotypes),
        offsets(of_reads * of_haplotypes),
        sums.reshape(-1),
        log10_kept if host_knows else np.empty(0),
        kept.reshape(-1),
        COARSE_BITS,
        unit * FINE_UNIT,
        (STARTED_AT, FLOAT32, SCALED_FLOAT32, UNSCORED),
        native.ThreadPool(threads - 1),
        scores.log10,
        scores.precision,
    )
    expected = expected_of(shapes, sums, kept, log10_kept, unit)
    np.testing.assert_allclose(scores.log10, expected.log10, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(scores.precision, expected.precision)
    assert have_all == (UNSCORED not in expected.precision)
