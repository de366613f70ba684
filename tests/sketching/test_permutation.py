"""The compiled sketches are those of NumPy, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.compiled import is_compiled, native
from pairhmm.genomics.arrays import joined, offsets
from pairhmm.genomics.iupac import encode_sets, reverse_complement
from pairhmm.sketching.kmers import kmer_hashes
from pairhmm.sketching.permutation import (
    FINE_SLOTS,
    NO_VALUE,
    bit_planes,
    dense_slots,
    frequent,
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
        assert np.array_equal(planes, bit_planes(dense, bits).reshape(-1))


def test_planes_hold_the_lowest_bits():
    values = np.random.default_rng(1).integers(0, 2**50, 256, dtype=np.uint64)
    planes = bit_planes(values, 9)
    assert planes.shape == (9, 4)
    for slot, bit in ((0, 0), (77, 8), (255, 3)):
        assert int(planes[bit, slot // 64]) >> slot % 64 & 1 == int(values[slot]) >> bit & 1


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
