"""Placements of reads on signatures, against warpings of single pairs."""

import numpy as np
import pytest

from pairhmm.sequences.letters import encode_sets, reverse_complement
from pairhmm.warp import places, reference
from pairhmm.warp.base import NO_PATH, WARPERS, Signals, WarpOptions
from pairhmm.warp.kmers import KmerTable
from pairhmm.warp.places import SignatureLevels, place_reads

K = 4


@pytest.fixture(scope="module")
def signatures():
    rng = np.random.default_rng(4)
    table = KmerTable(K, rng.normal(90, 12, 4**K), rng.uniform(1, 2, 4**K))
    sequences = [encode_sets("".join(rng.choice(list("ACGT"), length))) for length in (300, 90, 200)]
    return sequences, SignatureLevels.of(["a", "b", "c"], sequences, table, "z-score", 64)


def read_of(signatures, index, strand, start, end):
    """The levels of the bases from `start` to `end` of a signature, each twice."""
    levels = signatures.levels[2 * index + (strand == "-")]
    length = int(signatures.lengths[index])
    first = start if strand == "+" else length - end
    return np.repeat(levels[first : first + end - start - K + 1], 2)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_reads_are_found_where_they_come_from(signatures, monkeypatch, at_once):
    monkeypatch.setattr(places, "_PAIRS_AT_ONCE", at_once)
    _, known = signatures
    wanted = [(0, "+", 20, 90), (2, "-", 0, 60), (1, "-", 30, 90), (0, "-", 230, 300), (2, "+", 140, 200)]
    reads = Signals.of([read_of(known, *one) for one in wanted])
    found = place_reads(known, reads, WARPERS.load("cpu"), 1)
    assert found.best().tolist() == [index for index, *_ in wanted]
    for number, (index, strand, start, end) in enumerate(wanted):
        assert bool(found.reverse[number, index]) == (strand == "-")
        assert (found.starts[number, index], found.ends[number, index]) == (start, end)
        assert found.costs[number, index] == 0
    assert (found.next_costs()[np.arange(5), found.best()] > 0).all()


def test_costs_are_those_of_pairs(signatures):
    _, known = signatures
    rng = np.random.default_rng(6)
    reads = Signals.of([rng.integers(-200, 200, 30).astype(np.int16) for _ in range(4)])
    found = place_reads(known, reads, WARPERS.load("cpu"), 1)
    every = np.array(
        [
            [reference.warping(reads[read], known.levels[target], WarpOptions("subsequence"))[0] for target in range(6)]
            for read in range(4)
        ]
    )
    assert np.array_equal(found.costs, every.reshape(4, 3, 2).min(axis=2))
    assert np.array_equal(found.other_costs, every.reshape(4, 3, 2).max(axis=2))
    for read, best in enumerate(found.best().tolist()):
        others = np.sort(every[read])
        assert found.next_costs()[read, best] == others[1]
        worse = [index for index in range(3) if index != best]
        assert (found.next_costs()[read, worse] == others[0]).all()


def test_one_signature_has_its_other_strand_alone(signatures):
    sequences, known = signatures
    table = KmerTable(K, np.linspace(60, 120, 4**K), np.ones(4**K))
    alone = SignatureLevels.of(["a"], sequences[:1], table, "z-score", 64)
    found = place_reads(alone, Signals.of([known.levels[0][10:60]]), WARPERS.load("cpu"), 1)
    assert found.next_costs()[0, 0] == found.other_costs[0, 0] < NO_PATH


def test_strands_are_each_others_reverse_complement(signatures):
    sequences, _ = signatures
    table = KmerTable(K, np.linspace(60, 120, 4**K), np.ones(4**K))
    turned = SignatureLevels.of(["a"], [reverse_complement(sequences[0])], table, "none", 1)
    forward = SignatureLevels.of(["a"], [sequences[0]], table, "none", 1)
    assert np.array_equal(turned.levels[0], forward.levels[1])
    assert np.array_equal(turned.levels[1], forward.levels[0])
