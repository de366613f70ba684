"""The buffers of a call, which the forward and the scan share."""

import numpy as np
import pytest

from pairhmm.backends.cuda.slot import ForwardSlot, PinnedPool


@pytest.fixture
def cupy(emulated):
    """The emulated CuPy, of a device of 1 GiB."""
    return emulated()._cupy


def test_scores_may_be_kept(cupy):
    """No call writes over them, and one that finds no memory to lend makes some that is not pinned."""
    slot = ForwardSlot(cupy, "cuda:0", None)
    kept = []
    for value in (1, 255, 3, 255):
        slot.device("out", 90).memset_async(value, 90, slot.stream)
        kept.append(slot.scores_to_keep(10))
    for value, scores in zip((1, 255, 3, 255), kept, strict=True):
        assert scores.log10.view(np.uint8).tolist() == [value] * 80 and scores.precision.tolist() == [value] * 10
        assert scores.are_all_scored == (value < 255) and len(scores.unscored()) == (0 if value < 255 else 10)


def test_pinned_memory_is_lent_again_once_nothing_refers_to_it(cupy):
    memory = PinnedPool(cupy)
    first, second = memory.lend(80), memory.lend(80)
    part = first[8:16].view(np.float64)
    place = first.ctypes.data
    del first
    assert memory.lend(80) is None
    del part
    again = memory.lend(60)
    assert again.ctypes.data == place and len(again) == 60 and len(second) == 80
    del again
    assert len(memory.lend(1000)) == 1000
