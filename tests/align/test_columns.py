"""The columns of alignments are counted as a loop over them counts."""

import numpy as np
import pytest

from pairhmm.align import tables
from pairhmm.align.base import ALIGNERS, SequencePairs, Sequences
from pairhmm.align.scoring import Scoring
from tests.align import any_pairs


def counted(pairs, found, index):
    """Matches, mismatches, inserted and deleted letters of one alignment."""
    query, target = pairs.queries[pairs.query_index[index]], pairs.targets[pairs.target_index[index]]
    at, place, counts = 0, int(found.target_starts[index]), [0, 0, 0, 0]
    for kind, length in any_pairs.operations_of(found, index):
        for _ in range(length):
            if kind == 0:
                counts[int(query[at] != target[place])] += 1
            elif kind in (1, 2):
                counts[kind + 1] += 1
            at, place = at + (kind != 2), place + (kind in (0, 2))
    return counts


@pytest.mark.parametrize("at_once", [7, 100, 1 << 20])
@pytest.mark.parametrize("mode", ["global", "semi-global", "softclip", "indel"])
def test_any_pairs(monkeypatch, at_once, mode):
    monkeypatch.setattr(tables, "_AT_ONCE", at_once)
    for pairs, scoring in any_pairs.any_batches(seed=8, pairs=100, longest=60, mode=mode):
        found = ALIGNERS.load("reference").alignments(pairs, scoring, 1)
        counts = tables.count_columns(pairs, found)
        told = np.stack([counts.matches, counts.mismatches, counts.inserted, counts.deleted], axis=1).tolist()
        assert told == [counted(pairs, found, index) for index in range(len(pairs))]


def test_no_pairs():
    none = SequencePairs.in_order(Sequences.of([]), Sequences.of([]))
    assert len(tables.count_columns(none, ALIGNERS.load("reference").alignments(none, Scoring(), 1)).matches) == 0
