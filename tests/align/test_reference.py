"""The oracle has the scores of Biopython's PairwiseAligner, and its alignments are valid, by the rule for ties."""

import numpy as np
import pytest
from Bio.Align import PairwiseAligner

from pairhmm.align.base import ALIGNERS, SequencePairs, Sequences
from pairhmm.align.scoring import PRESETS, Scoring
from pairhmm.sequences.letters import decode, encode
from tests.align import any_pairs

LONGEST = 300


@pytest.fixture(scope="module")
def reference():
    return ALIGNERS.load("reference")


def pairs_of(*letters):
    """Pairs of texts, a query and a target each."""
    queries, targets = (Sequences.of([encode(pair[side]) for pair in letters]) for side in (0, 1))
    return SequencePairs.in_order(queries, targets)


def aligned(aligner, query, target, scoring):
    """Score, start, end and CIGAR of a pair."""
    found = aligner.alignments(pairs_of((query, target)), scoring, 1)
    score, place, *cigar = any_pairs._shown(found, 0).replace(" at", "").split(" ")
    return int(score), place, "".join(cigar)


def biopython(scoring):
    aligner = PairwiseAligner(mode="global")
    aligner.match_score, aligner.mismatch_score = scoring.match, scoring.mismatch
    aligner.open_gap_score, aligner.extend_gap_score = scoring.gap_open, scoring.gap_extend
    if scoring.mode == "semi-global":
        aligner.end_deletion_score = 0
    return aligner


@pytest.mark.parametrize("mode", ["global", "semi-global"])
@pytest.mark.parametrize("form", ["edit", "linear", "affine", "extreme"])
def test_scores_are_those_of_biopython(reference, form, mode):
    for pairs, scoring in any_pairs.any_batches(seed=2, pairs=100, longest=LONGEST, form=form, mode=mode):
        oracle = biopython(scoring)
        scores = reference.scores(pairs, scoring, 1)
        for index, score in enumerate(scores.tolist()):
            query, target = pairs.queries[pairs.query_index[index]], pairs.targets[pairs.target_index[index]]
            if len(query) and len(target):
                assert score == oracle.score(decode(target), decode(query)), (scoring, decode(query), decode(target))


def test_alignments_are_valid(reference):
    for pairs, scoring in any_pairs.any_batches(seed=3, longest=LONGEST):
        any_pairs.check(reference, pairs, scoring)


GLOBAL, WITHIN = Scoring(1, -4, -6, -1), Scoring(1, -4, -6, -1, "semi-global")


@pytest.mark.parametrize(
    ("query", "target", "scoring", "expected"),
    [
        ("ACGT", "ACGT", GLOBAL, (4, "0-4", "4M")),
        ("ACGT", "ACGA", GLOBAL, (-1, "0-4", "4M")),
        # A deletion in a repeat stands leftmost: from the end backwards, letters go first.
        ("CAAAG", "CAAAAAG", GLOBAL, (-2, "0-7", "1M2D4M")),
        ("CAAAAAG", "CAAAG", GLOBAL, (-2, "0-5", "1M2I4M")),
        # Backwards, a deletion goes before an insertion.
        ("AC", "GT", Scoring(1, -9, -1, -1), (-4, "0-2", "2I2D")),
        ("", "ACG", GLOBAL, (-8, "0-3", "3D")),
        ("ACG", "", GLOBAL, (-8, "0-0", "3I")),
        ("", "", GLOBAL, (0, "0-0", "")),
        ("ACG", "TTACGTTACG", WITHIN, (3, "2-5", "3M")),
        ("", "ACG", WITHIN, (0, "0-0", "")),
        ("ACG", "", WITHIN, (-8, "0-0", "3I")),
        ("NAC", "AAC", GLOBAL, (-2, "0-3", "3M")),
        ("NAC", "RAC", GLOBAL, (3, "0-3", "3M")),
        ("GATTACA", "GCATGCT", PRESETS["edit"], (-4, "0-7", "7M")),
    ],
)
def test_alignments(reference, query, target, scoring, expected):
    assert aligned(reference, query, target, scoring) == expected


def test_no_pairs(reference):
    none = SequencePairs.in_order(Sequences.of([]), Sequences.of([]))
    for scoring in PRESETS.values():
        assert len(reference.scores(none, scoring, 1)) == 0
        assert reference.alignments(none, scoring, 1).offsets.tolist() == [0]


def test_a_flaw_is_told(reference):
    """The checker sees each kind of wrong alignment."""
    found = reference.alignments(pairs_of(("ACGT", "ACGGT")), GLOBAL, 1)
    query, target = encode("ACGT"), encode("ACGGT")

    def told(**changed):
        return any_pairs.flaw_of(
            type(found)(*(changed.get(name, getattr(found, name)) for name in found.__slots__)),
            0,
            query,
            target,
            GLOBAL,
        )

    def cigar(*words):
        return {"cigars": np.array(words, dtype=np.uint32), "offsets": np.array([0, len(words)])}

    assert told() == ""
    assert told(scores=found.scores + 1).startswith("the operations score")
    assert told(target_starts=found.target_starts + 1) == "not the part of the target"
    assert told(**cigar(4 << 4)) == "not the part of the target"
    assert told(**cigar(5 << 4)) == "not all of the query"
    assert told(**cigar(2 << 4, 2 << 4, 1 << 4 | 2)).startswith("two operations")
