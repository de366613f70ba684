import numpy as np
import pytest

from pairhmm.warp.scaling import fitting_scale, normalised, quantised


@pytest.mark.parametrize("way", ["z-score", "median"])
def test_normalised_levels_forget_gain_and_shift(way):
    levels = np.random.default_rng(1).normal(90, 12, 5000)
    one = normalised(levels, way)
    assert one == pytest.approx(normalised(levels * 3 - 40, way))
    assert (np.mean(one), np.std(one)) == pytest.approx((0, 1), abs=0.05)


def test_outliers_do_not_move_the_median():
    levels = np.random.default_rng(1).normal(90, 12, 5000)
    spoilt = levels.copy()
    spoilt[:50] = 5000
    assert np.abs(normalised(spoilt, "median")[50:] - normalised(levels, "median")[50:]).max() < 0.2


@pytest.mark.parametrize("way", ["z-score", "median", "none"])
def test_levels_without_spread(way):
    assert normalised(np.full(4, 7.0), way).tolist() == [7.0 if way == "none" else 0.0] * 4
    assert len(normalised(np.zeros(0), way)) == 0


def test_quantised_levels_are_the_nearest_and_are_clipped():
    whole, outside = quantised(np.array([0.26, -0.24, 1e5, -1e5]), 10)
    assert whole.tolist() == [3, -2, 32767, -32768]
    assert (whole.dtype, outside) == (np.int16, 2)


@pytest.mark.parametrize(
    ("levels", "scale"),
    [([], 1), ([0.0], 1), ([1, -32767], 1), ([90.5, 100], 64), ([0.001], 2**22), ([40000.0], 0.125)],
)
def test_a_scale_that_fits(levels, scale):
    values = np.array(levels, dtype=float)
    assert fitting_scale(values) == scale
    assert quantised(values, scale)[1] == 0
