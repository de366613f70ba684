"""Buffers of a device with little memory, which one call after the other uses."""

import pytest

from pairhmm.backends.buffer_cache import BufferCache
from pairhmm.errors import OutOfDeviceMemory

DEVICE = 1000


class Buffers(BufferCache):
    """Bytearrays as buffers, on a device of `DEVICE` bytes, or with a budget."""

    def __init__(self, memory=None):
        self.there = []
        super().__init__("gpu:0", memory, self._bytes, self.there.remove, ["staging"])

    def _bytes(self, name, size):
        made = bytearray(size)
        if name != "staging":
            if size + sum(map(len, self.there)) > DEVICE:
                raise OutOfDeviceMemory("gpu:0: full")
            self.there.append(made)
        return made


@pytest.fixture(params=[None, DEVICE], ids=["full device", "budget"])
def buffers(request):
    return Buffers(request.param)


def test_what_is_large_enough_is_kept(buffers):
    first = buffers.with_room("in", 100)
    buffers.begin_call()
    assert buffers.with_room("in", 60) is first
    assert buffers.with_room("in", 200) is buffers["in"] is not first
    assert buffers.there == [buffers["in"]]


def test_what_no_call_asks_for_gives_way(buffers):
    buffers.with_room("trees", 500)
    buffers.with_room("in", 400)
    buffers.begin_call()
    kept = buffers.with_room("in", 300)
    buffers.with_room("out", 600)
    assert buffers["in"] is kept and len(buffers.there) == 2
    with pytest.raises(KeyError):
        buffers["trees"]


def test_a_call_that_never_fits_is_not_tried_again(buffers):
    for _ in range(2):
        buffers.begin_call()
        buffers.with_room("in", 400)
        with pytest.raises(OutOfDeviceMemory) as caught:
            buffers.with_room("out", 601)
        assert not caught.value.fits_later
    assert len(buffers["in"]) == 400


def test_what_was_made_too_large_is_in_the_way_once(buffers):
    buffers.with_room("in", 900)
    buffers.begin_call()
    buffers.with_room("in", 100)
    with pytest.raises(OutOfDeviceMemory) as caught:
        buffers.with_room("out", 500)
    assert caught.value.fits_later
    buffers.release()
    buffers.begin_call()
    buffers.with_room("in", 100)
    buffers.with_room("out", 500)


def test_the_hosts_memory_does_not_count(buffers):
    staging = buffers.with_room("staging", 5 * DEVICE)
    buffers.with_room("in", DEVICE)
    buffers.release()
    assert buffers["staging"] is staging and buffers.there == []


def test_the_message_names_the_budget():
    buffers = Buffers(300)
    buffers.with_room("in", 200)
    with pytest.raises(OutOfDeviceMemory, match="gpu:0: 400 bytes are over the budget of a call"):
        buffers.with_room("out", 200)
