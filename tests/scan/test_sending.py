"""Arrays that threads copy and pack, in pieces that are fewer than what is sent needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pairhmm.native import native
from pairhmm.scan.index import pack_letters
from pairhmm.scan.sending import Bytes, Filling, Sender
from pairhmm.sequences.letters import ANY


def packed(letters: Bytes) -> Bytes:
    whole = np.full(-(-len(letters) // 8) * 8, ANY, dtype=np.uint8)
    whole[: len(letters)] = letters
    return pack_letters(whole).view(np.uint8)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("count", [1, 7, 8, 63, 64, 65, 1000, (1 << 20) - 1, (3 << 20) + 77])
def test_copies(count, aligned):
    copier = native.Copier(3)
    letters = np.random.default_rng(count).integers(0, 16, count, dtype=np.uint8)
    for is_packed, expected in ((False, letters), (True, packed(letters))):
        memory = np.full(len(expected) + 64, 0xAB, dtype=np.uint8)
        begin = -memory.ctypes.data % 16 + (0 if aligned else 3)
        copier.wait(copier.begin(letters, memory[begin : begin + len(expected)], is_packed))
        assert np.array_equal(memory[begin : begin + len(expected)], expected)
        assert set(memory[:begin]) | set(memory[begin + len(expected) :]) == {0xAB}


def test_a_target_has_room():
    with pytest.raises(ValueError, match="too small"):
        native.Copier(1).begin(np.zeros(9, np.uint8), np.zeros(7, np.uint8), True)


class InMemory(Sender):
    """Sends to arrays. What is passed arrives when pieces run out, and is garbage before."""

    def __init__(self, pieces: int) -> None:
        super().__init__(64, pieces)
        self.made, self.sent = 0, []

    def _make(self) -> Bytes:
        self.made += 1
        return np.zeros(64, dtype=np.uint8)

    def _memory(self, piece: Bytes) -> Bytes:
        return piece

    def _pass(self, filling: Filling) -> None:
        self.sent.append(filling)

    def _reclaim(self) -> None:
        assert self.sent, "nothing to wait for"
        for filling in self.sent:
            sending = filling.sending
            begin, end = sending.size(filling.first), sending.size(filling.first + filling.count)
            sending.target[begin:end] = filling.piece[: end - begin]
            self._free.append(filling.piece)
        self.sent = []


@pytest.mark.parametrize("pieces", [1, 2, 3, 50])
def test_pieces_are_used_again(pieces):
    rng = np.random.default_rng(1)
    sender = InMemory(pieces)
    values: list[tuple[Bytes, bool]] = [
        (rng.integers(0, 16, count, dtype=np.uint8), is_packed)
        for count, is_packed in ((20, False), (1001, True), (700, False), (0, False))
    ]
    expected = [packed(array) if is_packed else array for array, is_packed in values]
    targets = [np.zeros_like(array) for array in expected]
    sendings: list[Any] = [
        sender.begin(array, target, is_packed) for (array, is_packed), target in zip(values, targets, strict=True)
    ]
    for sending in (sendings[1], sendings[3], sendings[2]):
        sender.finish(sending)
    if sender.sent:
        sender._reclaim()
    assert all(np.array_equal(target, array) for target, array in zip(targets, expected, strict=True))
    assert sender.made <= pieces


def test_what_is_given_up_frees_its_pieces():
    sender = InMemory(2)
    for array in (np.ones(1000, np.uint8), np.zeros(10, np.uint8)):
        sender.begin(array, None)
    sender.give_up()
    values, target = np.arange(100, dtype=np.uint8), np.zeros(100, np.uint8)
    sender.finish(sender.begin(values, target))
    sender._reclaim()
    assert np.array_equal(target, values) and sender.made == 2
