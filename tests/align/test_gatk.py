"""Mode "gatk" against GATK's rules written cell by cell, and against the expectations of GATK's own tests."""

import pytest

from pairhmm.align import gatk
from pairhmm.align.scoring import PRESETS, Scoring
from pairhmm.alignments.sam import packed_cigar
from pairhmm.errors import OptionError
from pairhmm.sequences.letters import encode
from tests.align import any_pairs

OVERHANGS = ("softclip", "indel", "leading-indel", "ignore")
ORIGINAL_DEFAULT, STANDARD_NGS = (3, -1, -4, -3), (25, -50, -110, -6)
"""SWParameters of SmithWatermanAligner.java."""

LONG_REFERENCE = (
    "ATAGAAAATAGTTTTTGGAAATATGGGTGAAGAGACATCTCCTCTTATGGAAAAAGGGATTCTAGAATTTAACAATAAATATTCCCAACTTTCCCCAAGGCTTTAAAATCTACC"
    "TTGAAGGAGCAGCTGATGTATTTCTAGAACAGACTTAGGTGTCTTGGTGTGGCCTGTAAAGAGATACTGTCTTTCTCTTTTGAGTGTAAGAGAGAAAGGACAGTCTACTCAATA"
    "AAGAGTGCTGGGAAAACTGAATATCCACACACAGAATAATAAAACTAGATCCTATCTCTCACCATATACAAAGATCAACTCAAAACAAATTAAAGACCTAAATGTAAGACAAGA"
    "AATTATAAAACTACTAGAAAAAAACACAAGGGAAATGCTTCAGGACATTGGC"
)


def shown(operations):
    return "".join(f"{word >> 4}{'MIDNS'[word & 15]}" for word in packed_cigar(operations).tolist())


def start_and_cigar(query, target, scoring):
    _, start, _, operations = gatk.align(encode(query), encode(target), scoring)
    return start, shown(operations)


@pytest.mark.parametrize(
    ("target", "query", "scores", "overhang", "expected"),
    [
        ("AAAGGACTGACTG", "ACTGACTGACTG", ORIGINAL_DEFAULT, "softclip", (1, "12M")),
        ("AAAGACTACTG", "AACGGACACTG", (50, -100, -220, -12), "softclip", (1, "2M2I3M1D4M")),
        ("AAAGACTACTG", "AACGGACACTG", (200, -50, -300, -22), "softclip", (0, "11M")),
        ("AAACCCCC", "CCCCCGGG", ORIGINAL_DEFAULT, "softclip", (3, "5M3S")),
        (
            "TGTGTGTGTGTGTGACAGAGAGAGAGAGAGAGAGAGAGAGAGAGA",
            "ACAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGAGA",
            STANDARD_NGS,
            "softclip",
            (14, "31M20S"),
        ),
        ("AAACCCCC", "CCCCC", ORIGINAL_DEFAULT, "softclip", (3, "5M")),
        ("AAACCCCC", "CCCCC", ORIGINAL_DEFAULT, "indel", (0, "3D5M")),
        ("AAACCCCC", "CCCCC", ORIGINAL_DEFAULT, "leading-indel", (0, "3D5M")),
        ("AAACCCCC", "CCCCC", ORIGINAL_DEFAULT, "ignore", (3, "5M")),
        (LONG_REFERENCE, "AAAAAAA", ORIGINAL_DEFAULT, "softclip", (359, "7M")),
        (LONG_REFERENCE, "AAAAAAA", ORIGINAL_DEFAULT, "indel", (0, "1M358D6M29D")),
        (LONG_REFERENCE, "AAAAAAA", ORIGINAL_DEFAULT, "leading-indel", (0, "1M1D6M")),
        (LONG_REFERENCE, "AAAAAAA", ORIGINAL_DEFAULT, "ignore", (359, "7M")),
    ],
)
def test_expectations_of_gatk(target, query, scores, overhang, expected):
    """Source: SmithWatermanAlignerAbstractUnitTest.java."""
    assert start_and_cigar(query, target, Scoring(*scores, "gatk", overhang)) == expected


def cell_by_cell(query, target, scoring):
    """GATK's rules as its loops have them: the best of all gaps into a cell; letters, then insertion, then deletion."""
    opened, extended, overhang = scoring.gap_open, scoring.gap_extend, scoring.overhang
    n, m = len(target), len(query)
    sw, steps = [[0] * (m + 1) for _ in range(n + 1)], [[0] * (m + 1) for _ in range(n + 1)]
    if overhang.endswith("indel"):
        for j in range(1, m + 1):
            sw[0][j] = opened + (j - 1) * extended
        for i in range(1, n + 1):
            sw[i][0] = opened + (i - 1) * extended
    gap_v, size_v = [-(2**30)] * (m + 1), [0] * (m + 1)
    for i in range(1, n + 1):
        gap_h, size_h = -(2**30), 0
        for j in range(1, m + 1):
            letters = sw[i - 1][j - 1] + (scoring.match if target[i - 1] == query[j - 1] else scoring.mismatch)
            gap_v[j], size_v[j] = gap_v[j] + extended, size_v[j] + 1
            if sw[i - 1][j] + opened > gap_v[j]:
                gap_v[j], size_v[j] = sw[i - 1][j] + opened, 1
            gap_h, size_h = gap_h + extended, size_h + 1
            if sw[i][j - 1] + opened > gap_h:
                gap_h, size_h = sw[i][j - 1] + opened, 1
            if letters >= gap_v[j] and letters >= gap_h:
                best, step = letters, 0
            elif gap_h >= gap_v[j]:
                best, step = gap_h, -size_h
            else:
                best, step = gap_v[j], size_v[j]
            sw[i][j], steps[i][j] = max(gatk.LEAST_SCORE, best), step
    i, j = n, m
    if overhang != "indel":
        best = -(2**31)
        for row in range(1, n + 1):
            if sw[row][m] >= best:
                best, i = sw[row][m], row
        if overhang != "leading-indel":
            for column in range(1, m + 1):
                nearer = abs(n - column) < abs(i - j)
                if sw[n][column] > best or (sw[n][column] == best and nearer):
                    best, i, j = sw[n][column], n, column
    score, operations = sw[i][j], [(4 if overhang == "softclip" else 0, m - j)]
    while i > 0 and j > 0:
        step = steps[i][j]
        if step == 0:
            i, j = i - 1, j - 1
        else:
            i, j = i - max(0, step), j - max(0, -step)
        operations.append((0, 1) if step == 0 else (2, step) if step > 0 else (1, -step))
    operations += {"softclip": [(4, j)], "ignore": [(0, j)]}.get(overhang, [(2, i), (1, j)])
    return score, {"softclip": i, "ignore": i - j}.get(overhang, 0), shown(operations[::-1])


@pytest.mark.parametrize("overhang", OVERHANGS)
def test_any_pairs(overhang):
    for pairs, scoring in any_pairs.any_batches(seed=4, pairs=200, longest=80, mode=overhang):
        for query, target in zip(pairs.query_index, pairs.target_index, strict=True):
            pair = pairs.queries[query], pairs.targets[target]
            if min(map(len, pair)):
                score, start, end, operations = gatk.align(*pair, scoring)
                assert (score, start, shown(operations)) == cell_by_cell(*pair, scoring), (pair, scoring)
                assert end - start == sum(length for kind, length in operations if kind in (0, 2))


@pytest.mark.parametrize("overhang", OVERHANGS)
def test_no_cell_is_below_the_least_score(overhang, monkeypatch):
    monkeypatch.setattr(gatk, "LEAST_SCORE", -60)
    for pairs, scoring in any_pairs.any_batches(seed=5, pairs=200, longest=40, mode=overhang):
        for query, target in zip(pairs.query_index, pairs.target_index, strict=True):
            pair = pairs.queries[query], pairs.targets[target]
            if min(map(len, pair)):
                score, start, _, operations = gatk.align(*pair, scoring)
                assert (score, start, shown(operations)) == cell_by_cell(*pair, scoring), (pair, scoring)


@pytest.mark.parametrize(
    ("query", "target", "overhang", "expected"),
    [
        ("", "ACG", "softclip", (0, 0, 0, "")),
        ("", "ACG", "ignore", (0, 0, 0, "")),
        ("", "ACG", "leading-indel", (0, 0, 0, "")),
        ("", "ACG", "indel", (-40, 0, 3, "3D")),
        ("ACG", "", "softclip", (0, 0, 0, "3S")),
        ("ACG", "", "ignore", (0, 0, 3, "3M")),
        ("ACG", "", "leading-indel", (-40, 0, 0, "3I")),
        ("ACG", "", "indel", (-40, 0, 0, "3I")),
    ],
)
def test_empty_sequences(query, target, overhang, expected):
    scoring = Scoring(10, -15, -30, -5, "gatk", overhang)
    *found, operations = gatk.align(encode(query), encode(target), scoring)
    assert (*found, shown(operations)) == expected


def test_an_end_before_the_target_is_no_gap():
    """GATK's CIGAR of this pair is 3D4M, which leaves out two letters of the query."""
    scoring = Scoring(1, -100, -1, -1, "gatk", "ignore")
    assert start_and_cigar("GGACGT", "TACGT", scoring) == (-2, "2M1D4M")


def test_a_match_must_score():
    with pytest.raises(OptionError, match="match=0"):
        Scoring(0, -1, -1, -1, "gatk")
    assert PRESETS["gatk-read"].match == 10
