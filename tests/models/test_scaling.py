"""Numbers of the forward that kernels in other languages need, too."""

import numpy as np

from pairhmm.models import scaling


def test_what_is_left_above_the_start_is_room_for_sums():
    assert np.float32(2.0**scaling.START_EXPONENT) * np.float32(4000) < np.finfo(np.float32).max


def test_what_float32_loses_does_not_count():
    assert np.finfo(np.float32).tiny / scaling.LEAST_SUM < 2e-10


def test_the_top_of_a_lane_is_in_its_types_range():
    assert np.finfo(np.float32).maxexp > scaling.TOP_EXPONENT
    assert np.finfo(np.float64).maxexp > scaling.TOP_EXPONENT_64
