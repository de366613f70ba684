"""The buffers of a call, which the forward and the scan share."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.backends.cuda.slot import ForwardSlot, Slot
from pairhmm.errors import OutOfDeviceMemory


@pytest.fixture
def cupy(emulated):
    """The emulated CuPy, of a device of 1 GiB."""
    return emulated()._cupy


def test_a_buffer_grows_and_is_kept(cupy):
    slot = Slot(cupy, "cuda:0")
    first = slot.device("a", 100)
    assert slot.device("a", 50) is first
    assert slot.device("a", 200) is not first and slot.device("b", 50) is not first


def test_a_budget_holds_for_all_buffers_together(cupy):
    slot = Slot(cupy, "cuda:0", memory=300)
    slot.device("a", 200)
    with pytest.raises(OutOfDeviceMemory, match="cuda:0: 400 bytes are over the budget of a call"):
        slot.device("b", 200)
    slot.device("a", 300)  # what it had before counts no more


def test_what_is_sent_comes_back(cupy):
    slot = ForwardSlot(cupy, "cuda:0", None)
    host, behind = slot.begin(8, 4)
    host[:4], behind[:4] = range(4), range(4, 8)
    slot.send(0, 4)
    slot.send(4, 8)
    assert slot.download("in", np.zeros(8, np.uint8)).tolist() == list(range(8))
    assert slot.base == slot.device("in", 8).ptr


def test_scores_are_as_many_as_asked_for(cupy):
    slot = ForwardSlot(cupy, "cuda:0", None)
    slot.zeros("out", 20)
    assert slot.scores(20).tolist() == [0] * 20 and len(slot.scores(9)) == 9


def test_a_part_of_a_buffer_is_set_to_zero(cupy):
    slot = ForwardSlot(cupy, "cuda:0", None)
    slot.device("out", 8).memset_async(7, 8, slot.stream)
    slot.zero("out", 2, 3)
    assert slot.scores(8).tolist() == [7, 7, 0, 0, 0, 7, 7, 7]
