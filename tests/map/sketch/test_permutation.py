"""The compiled sketches are those of NumPy, bit for bit."""

import numpy as np
import pytest

from pairhmm.map.sketch.published import FACTORS, SUMMANDS, signature, tokens_of
from pairhmm.map.sketch.sketches import planes_of
from pairhmm.native import is_compiled, native
from pairhmm.sequences.arrays import joined, offsets
from pairhmm.sequences.letters import encode_sets, reverse_complement
from tests.map.sketch.permutation import (
    FINE_SLOTS,
    NO_VALUE,
    dense_slots,
    frequent,
    kmer_hashes,
    kmers_of_minima,
    minima,
)

needs_compiled = pytest.mark.skipif(not is_compiled(), reason="the compiled part is missing")

SLOTS = [128, 256, 512, 1024, 2048, 4096, 8192]


def random_sets(rng, length, odd=0.01):
    sets = np.array([1, 2, 4, 8], dtype=np.uint8)[rng.integers(0, 4, length)]
    sets[rng.random(length) < odd] = 15
    sets[rng.random(length) < odd / 2] = 5
    return sets


def filled(kmers, sequences):
    kmers.add(joined(sequences), offsets([len(one) for one in sequences]), 0, len(sequences))
    return kmers


def all_hashes(sequences, k):
    return np.concatenate([kmer_hashes(one, k) for one in sequences])


def low_words(values):
    return (values & np.uint64(2**32 - 1)).astype(np.uint32)[np.newaxis]


def naive_canonical(text, k):
    complement = str.maketrans("ACGT", "TGCA")
    found = []
    for at in range(len(text) - k + 1):
        kmer = text[at : at + k]
        if set(kmer) <= set("ACGT"):
            found.append(min(kmer, kmer.translate(complement)[::-1]))
    return found


@pytest.mark.parametrize("k", [1, 2, 5, 21, 31])
def test_kmers_are_canonical_and_break_at_other_letters(k):
    rng = np.random.default_rng(k)
    text = "".join(rng.choice(list("ACGTNacgtRU"), 400, p=[0.2] * 4 + [0.02] + [0.04] * 4 + [0.01] * 2))
    plain = text.upper().replace("U", "T")
    kmers = naive_canonical(plain, k)
    hashes = kmer_hashes(encode_sets(text), k)
    assert len(hashes) == len(kmers)
    assert len(set(hashes.tolist())) == len(set(kmers))
    of_kmer = dict(zip(kmers, hashes.tolist(), strict=True))
    assert [of_kmer[kmer] for kmer in kmers] == hashes.tolist()
    other = kmer_hashes(reverse_complement(encode_sets(text)), k)
    assert other[::-1].tolist() == hashes.tolist()


@needs_compiled
@pytest.mark.parametrize("k", range(1, 32))
def test_minima_are_those_of_numpy(k):
    rng = np.random.default_rng(k)
    sequences = [random_sets(rng, length) for length in (0, 1, k - 1, k, k + 1, 300, 70_000)]
    hashes = all_hashes(sequences, k)
    kmers = filled(native.AllKmers(k), sequences)
    assert kmers.seen == len(hashes)
    assert np.array_equal(kmers.minima(), minima(hashes))
    assert kmers.sketch(128, 1)[1] == pytest.approx(kmers_of_minima(minima(hashes)), rel=1e-12)
    kmers.clear()
    assert kmers.seen == 0
    assert np.array_equal(filled(kmers, sequences).minima(), minima(hashes))


@needs_compiled
def test_many_kmers_in_any_pieces_have_one_result():
    rng = np.random.default_rng(7)
    sets = random_sets(rng, 1_500_000, odd=1e-5)
    expected = minima(kmer_hashes(sets, 21))
    whole = filled(native.AllKmers(21), [sets])
    assert np.array_equal(whole.minima(), expected)
    pieces = [sets[max(0, at - 20) : at + 999] for at in range(0, len(sets), 999)]
    assert np.array_equal(filled(native.AllKmers(21), pieces[::-1]).minima(), expected)


@needs_compiled
@pytest.mark.parametrize("slots", SLOTS)
@pytest.mark.parametrize("length", [150, 3000, 200_000])
def test_planes_are_those_of_numpy(slots, length):
    sequences = [random_sets(np.random.default_rng(slots), length)]
    kmers = filled(native.AllKmers(21), sequences)
    dense = dense_slots(minima(all_hashes(sequences, 21)), slots)
    assert not np.any(dense == NO_VALUE)
    for bits in range(1, 17):
        planes, _ = kmers.sketch(slots, bits)
        assert np.array_equal(planes, planes_of(low_words(dense), bits).reshape(-1))


@needs_compiled
@pytest.mark.parametrize(("least", "most"), [(1, 100), (2, 100), (2, 3000), (3, 50_000), (2, 10**6)])
def test_frequent_kmers_are_those_of_numpy_in_any_order(least, most):
    rng = np.random.default_rng(least)
    genome = random_sets(rng, 4000)
    reads = [genome[at : at + 100] for at in rng.integers(0, 3900, 300)] + [random_sets(rng, 5000)]
    found, limit = frequent(all_hashes(reads, 15), least, most)
    kmers = filled(native.FrequentKmers(15, least, most), reads)
    assert np.array_equal(kmers.minima(), minima(found))
    assert kmers.sketch(128, 1)[1] == pytest.approx(len(found) * 2**50 / limit)
    for _ in range(3):
        other = [reads[index] for index in rng.permutation(len(reads))]
        assert np.array_equal(filled(native.FrequentKmers(15, least, most), other).minima(), minima(found))


@needs_compiled
def test_a_cut_of_one_that_fits_is_no_cut():
    sequences = [random_sets(np.random.default_rng(5), 60_000)]
    everything = filled(native.AllKmers(21), sequences)
    assert np.array_equal(filled(native.FrequentKmers(21, 1, 10**6), sequences).minima(), everything.minima())


@pytest.mark.parametrize("count", [1, 10, 300, 5000, 16_384, 100_000, 3_000_000])
def test_the_number_of_kmers_is_estimated_to_a_few_percent(count):
    hashes = np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)
    assert kmers_of_minima(minima(hashes)) == pytest.approx(count, rel=0.03)


@needs_compiled
def test_no_kmers_have_no_sketch():
    for kmers in (native.AllKmers(21), native.FrequentKmers(21, 2, 100)):
        planes, count = filled(kmers, [np.full(100, 15, dtype=np.uint8)]).sketch(1024, 8)
        assert len(planes) == 0 and count == 0 and kmers.seen == 0
        assert np.array_equal(kmers.minima(), np.full(FINE_SLOTS, NO_VALUE))


def published(sequences, k, least, most):
    kmers = native.FrequentTokens(k, least, most, int(FACTORS[0]), int(SUMMANDS[0]))
    return filled(kmers, sequences)


@needs_compiled
@pytest.mark.parametrize("length", [21, 25, 31, 32, 33, 60, 400, 50_000])
def test_the_published_signature_is_that_of_all_tokens(length):
    sequences = [random_sets(np.random.default_rng(length), length, odd=0)]
    hashes = all_hashes(sequences, 21)
    kmers = published(sequences, 21, 1, 10**6)
    assert np.array_equal(signature(kmers.tokens()), signature(tokens_of(hashes)))
    assert kmers.kmers == pytest.approx(len(set(hashes.tolist())), rel=1e-3)


@needs_compiled
def test_the_published_signature_of_frequent_kmers_has_no_rare_ones():
    rng = np.random.default_rng(9)
    genome, noise = random_sets(rng, 5000), random_sets(rng, 5000)
    once = published([genome], 21, 1, 10**6)
    twice = published([genome, noise, genome], 21, 2, 10**6)
    assert np.array_equal(signature(twice.tokens()), signature(once.tokens()))
    # Half of the tokens are counted, and every slot still has some of them.
    half = published([genome, noise, genome], 21, 2, 6000)
    assert np.array_equal(signature(half.tokens()), signature(once.tokens()))
    assert half.kmers == pytest.approx(once.kmers, rel=0.1)
