"""The published scheme: its constants, its two ways of hashing, and what its signatures estimate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.map.sketch.published import FACTORS, PRIME, SLOTS, SUMMANDS, donor, signature, tokens_of

token_sets = st.sets(st.integers(0, PRIME - 1), max_size=300)


def by_hand(tokens):
    """The scheme in whole numbers of Python."""
    if not tokens:
        return [PRIME] * SLOTS
    if len(tokens) < 12:
        return [min((int(a) * x + int(b)) % PRIME for x in tokens) for a, b in zip(FACTORS, SUMMANDS, strict=True)]
    least = {}
    for x in tokens:
        value = (int(FACTORS[0]) * x + int(SUMMANDS[0])) % PRIME
        least[value >> 24] = min(value, least.get(value >> 24, PRIME))
    return [least[slot] if slot in least else least[first_donor(slot, least)] for slot in range(SLOTS)]


def first_donor(slot, known):
    attempt = 1
    while (asked := mixed(slot, attempt) % SLOTS) not in known:
        attempt += 1
    return asked


def mixed(slot, attempt):
    value = (slot * 0x9E3779B9 + attempt * 0x85EBCA6B) % 2**32
    value = (value ^ value >> 16) * 0x7FEB352D % 2**32
    value = (value ^ value >> 15) * 0x846CA68B % 2**32
    return value ^ value >> 16


@given(token_sets)
def test_signatures_are_those_of_whole_numbers(tokens):
    assert signature(np.array(sorted(tokens), dtype=np.uint32)).tolist() == by_hand(tokens)


def test_the_constants_never_change():
    assert FACTORS[:3].tolist() == [1393578014, 301040322, 1757624658]
    assert SUMMANDS[:3].tolist() == [2057229332, 1494581207, 420652333]
    assert donor(np.arange(4, dtype=np.uint32), 1).tolist() == [114, 42, 55, 98]


def test_the_order_of_tokens_does_not_matter():
    tokens = np.random.default_rng(1).choice(PRIME, 50, replace=False).astype(np.uint32)
    assert (signature(tokens) == signature(tokens[::-1])).all()


@pytest.mark.parametrize("size", [8, 40, 4000])
@pytest.mark.parametrize("jaccard", [0.2, 0.5, 0.9])
def test_equal_slots_estimate_jaccard(size, jaccard):
    random = np.random.default_rng(5)
    shared = round(2 * size * jaccard / (1 + jaccard))
    true = shared / (2 * size - shared)
    found = []
    for _ in range(200):
        tokens = random.choice(PRIME, 2 * size - shared, replace=False).astype(np.uint32)
        found.append((signature(tokens[:size]) == signature(tokens[size - shared :])).mean())
    assert np.mean(found) == pytest.approx(true, abs=0.02)


def test_tokens_of_words_are_remainders():
    words = np.array([0, PRIME, 2**64 - 1, 5, 5 + PRIME, 2**31], dtype=np.uint64)
    assert tokens_of(words).tolist() == sorted({int(word) % PRIME for word in words})
    assert tokens_of(words).dtype == np.uint32
