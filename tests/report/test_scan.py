"""Hits added up by signature and sample."""

from __future__ import annotations

from pairhmm.files.hit_table import ReportedHit
from pairhmm.report.scan import HITS_SHOWN, TRACK_BINS, Hits, track
from pairhmm.sequences.letters import encode_sets


def hit(sample="s", signature="v", total=100, mean=20.0, strand="+", record="r") -> ReportedHit:
    return ReportedHit(sample, record, 1, signature, 10, 15, strand, total, mean, 1, 5, 0)


def rows(hits: Hits):
    return hits.for_page({"s": 0, "t": 1}, {"v": 0, "w": 1})


def test_hits_are_counted_and_the_best_come_first():
    hits = Hits()
    for one in (
        hit(total=5, mean=1.0),
        hit(total=9, mean=30.0, strand="-", record="best"),
        hit(signature="w", sample="t"),
    ):
        hits.add(one)
    (first, second) = rows(hits)
    assert first[:6] == [0, 0, 2, 1, 15.5, 30.0]
    assert [one[0] for one in first[7]] == ["best", "r"]
    assert [first[6][0], first[6][6], sum(first[6])] == [1, 1, 2]
    assert second[:3] == [1, 1, 1]
    assert hits.signatures == {"v": 5, "w": 5}
    assert hits.of_sample("s") == (2, 1) and hits.of_sample("nobody") == (0, 0)


def test_of_many_hits_the_largest_sums_are_shown():
    hits = Hits()
    for total in range(3 * HITS_SHOWN):
        hits.add(hit(total=total))
    (row,) = rows(hits)
    assert row[2] == 3 * HITS_SHOWN
    assert [one[5] for one in row[7]] == list(range(3 * HITS_SHOWN - 1, 2 * HITS_SHOWN - 1, -1))


def test_hits_without_qualities():
    hits = Hits()
    for number in range(2 * HITS_SHOWN):
        hits.add(hit(total=None, mean=None, record=f"r{number}"))
    (row,) = rows(hits)
    assert row[4:6] == [None, None] and sum(row[6]) == 0
    assert [one[0] for one in row[7]] == [f"r{number}" for number in range(HITS_SHOWN)]
    assert hits.best_means() == {("v", "s"): None}


def test_tracks():
    assert track(encode_sets("ACGTN")) == "ACGTN"
    pieces = track(encode_sets("N" * TRACK_BINS + "A" * TRACK_BINS))
    assert pieces == [0] * (TRACK_BINS // 2) + [100] * (TRACK_BINS // 2)
