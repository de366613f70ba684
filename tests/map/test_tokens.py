"""Tokens of samples: bounded memory without another signature, and sketches whose order is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.errors import InputError
from pairhmm.map import tokens as module
from pairhmm.map.sketch.published import PRIME, signature
from pairhmm.map.tokens import TokenCollector, compacted, slot_tokens, token_of


@given(st.integers(0, 2**32), st.sampled_from([0, 5, 11, 12, 128, 129, 500, 5000]))
def test_compacted_tokens_have_the_same_signature(seed, count):
    tokens = np.random.default_rng(seed).integers(0, PRIME, count).astype(np.uint32)
    kept = compacted(tokens)
    assert len(kept) <= 140
    assert (signature(kept) == signature(np.unique(tokens))).all()


def test_tokens_that_hit_few_slots_stay_enough_for_one_permutation():
    random = np.random.default_rng(1)
    tokens = np.arange(200, dtype=np.uint32) + random.integers(0, 2**20, dtype=np.uint32)
    assert (signature(compacted(np.concatenate([tokens, tokens]))) == signature(tokens)).all()


def test_tokens_that_come_in_parts_have_the_signature_of_all():
    tokens = np.random.default_rng(2).integers(0, PRIME, 30_000)
    collector = TokenCollector()
    collector.name("none")
    for part in np.array_split(tokens, 17):
        collector.add("all", part.tolist())
        collector.add("few", (7, 8, 9))
    sets = collector.sets(["few", "all", "unknown", "none"])
    rows = [sets.tokens[begin:end] for begin, end in zip(sets.offsets[:-1], sets.offsets[1:], strict=True)]
    assert rows[0].tolist() == [7, 8, 9] and not len(rows[2]) and not len(rows[3])
    assert (signature(rows[1]) == signature(np.unique(tokens).astype(np.uint32))).all()
    assert sets.tokens.dtype == np.uint32 and sets.offsets.dtype == np.int64


@pytest.mark.parametrize("slots", [128, 1024])
def test_a_sketch_s_tokens_keep_the_order_of_equal_slots(slots):
    random = np.random.default_rng(3)
    one = random.integers(0, 256, slots).astype(np.uint32)
    found = []
    for equal in (0.1, 0.4, 0.7, 1.0):
        similarities = []
        for _ in range(60):
            other = np.where(random.random(slots) < equal, one, 256 + one).astype(np.uint32)
            similarities.append((signature(slot_tokens(one)) == signature(slot_tokens(other))).mean())
        found.append(np.mean(similarities))
        assert found[-1] == pytest.approx(equal / (2 - equal), abs=0.05)
    assert found == sorted(found)


def test_a_text_has_one_token():
    assert token_of("chr1:100:A:T") == token_of("chr1:100:A:T") != token_of("chr1:100:A:C")
    assert 0 <= token_of("x") < PRIME


def test_too_many_samples_are_one_line(monkeypatch):
    monkeypatch.setattr(module, "MOST_SETS", 3)
    collector = TokenCollector()
    for name in "abcab":
        collector.add(name, (1,))
    with pytest.raises(InputError, match="more than 3 samples times groups of properties do not fit its memory"):
        collector.add("d", (1,))


def test_tokens_that_wait_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "_ALL_PENDING", 10)
    collector = TokenCollector()
    for token in range(100):
        collector.add(f"s{token % 4}", (token,))
    sets = collector.sets(["s1", "s3"])
    assert sets.tokens[:25].tolist() == list(range(1, 100, 4)) and len(sets.tokens) == 50
