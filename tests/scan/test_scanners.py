"""Every scanner gives the hits of the oracle, byte for byte; and the oracle those that are worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm import _cpu
from pairhmm.scan import reference
from pairhmm.scan.base import HIT, Patterns, Scanned, ScanOptions
from pairhmm.scan.cpu import CpuScanner
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures
from tests.scan.conftest import samples_of, signatures_of

LEVELS = [name for name, runs in _cpu.levels() if runs]
WORKLOADS = range(200)


def oracle(signatures: Signatures, samples: Samples, options: ScanOptions) -> Scanned:
    return reference.make(Patterns.of(signatures, options), options).scan(samples, 1)


def check(signatures: Signatures, samples: Samples, options: ScanOptions, threads: int = 2) -> Scanned:
    """What the oracle finds, once every level has found the same bytes."""
    expected = oracle(signatures, samples, options)
    patterns = Patterns.of(signatures, options)
    for level in LEVELS:
        found = CpuScanner(level, patterns, options).scan(samples, threads)
        assert found.hits.dtype == HIT
        assert found.hits.tobytes() == expected.hits.tobytes(), level
        assert found.quality_totals.tolist() == expected.quality_totals.tolist(), level
    return expected


@pytest.mark.parametrize("seed", WORKLOADS)
def test_random_workloads(make_workload, seed):
    work = make_workload(seed)
    found = check(work.signatures, work.samples, work.options)
    assert work.planted <= {(int(hit["segment"]), int(hit["signature"])) for hit in found.hits}


def test_the_workloads_meet_what_they_are_for(make_workload):
    works = [make_workload(seed) for seed in WORKLOADS]
    assert {work.options.max_mismatches for work in works} == {0, 1, 2, 3}
    assert sum(len(work.planted) for work in works) > 50
    longest = [int(work.signatures.lengths.max()) > int(np.diff(work.samples.offset).max()) for work in works]
    assert sum(longest) > 5
    hits = [oracle(work.signatures, work.samples, work.options).hits for work in works[:40]]
    assert sum(bool(len(found)) for found in hits) > 20
    assert any((found["strand"] == 1).any() for found in hits)
    assert any((found["mismatches"] > 0).any() for found in hits)


EVERY = ScanOptions(min_informative=1, every_match=True)
BEST = ScanOptions(min_informative=1)


@pytest.mark.parametrize(
    ("signature", "sample", "expected"),
    [
        ("ACGT", "TTACGTTT", [(2, 0)]),  # its own reverse complement: once
        ("acgu", "uuacgt", [(2, 0)]),
        ("AAC", "AACGTT", [(0, 0), (3, 1)]),
        ("AA", "AAAA", [(0, 0), (1, 0), (2, 0)]),
        ("RY", "ACGTAA", [(0, 0), (2, 0)]),
        ("GGA", "GNA", [(0, 0)]),
        ("GNA", "GCATCC", [(0, 0), (3, 1)]),
        ("CAG", "CRG", [(0, 0)]),
        ("CTG", "CRG", [(0, 1)]),
        ("CTG", "CYY", []),
        ("ACGTT", "ACGT", []),
    ],
)
def test_matches_by_hand(signature, sample, expected):
    found = check(signatures_of(signature), samples_of(sample), EVERY).hits
    assert [(int(hit["start"]), int(hit["strand"])) for hit in found] == expected


def test_the_best_match_has_the_largest_sum_and_is_the_leftmost():
    samples = samples_of("ACCTTACCTTACC")
    samples.qualities[:] = [9, 9, 9, 0, 0, 30, 1, 2, 0, 0, 11, 11, 11]
    (hit,) = check(signatures_of("ACC"), samples, BEST).hits
    assert (hit["start"], hit["total"], hit["matches"]) == (5, 33, 3)
    samples.qualities[5] = 0
    (hit,) = check(signatures_of("ACC"), samples, BEST).hits
    assert (hit["start"], hit["total"], hit["matches"]) == (10, 33, 3)


def test_thresholds_say_what_a_match_is():
    samples = samples_of("ACGATTTNNGATT")
    samples.qualities[:6] = 10
    signatures = signatures_of("ACGA")
    assert len(check(signatures, samples, ScanOptions(min_informative=1, every_match=True)).hits) == 2
    assert check(signatures, samples, ScanOptions(min_informative=3)).hits["matches"].tolist() == [1]
    assert check(signatures, samples, ScanOptions(min_informative=1, min_score=41)).hits["start"].tolist() == [7]
    assert check(signatures, samples, ScanOptions(min_informative=1, min_mean=30.01)).hits.tolist() == []


@pytest.mark.parametrize(("mean", "least"), [(0.07, 7), (0.0701, 8), (20.1, 2010), (0, 0)])
def test_a_mean_that_is_reached_is_enough(mean, least):
    patterns = Patterns.of(signatures_of("ACGT" * 25), ScanOptions(min_mean=mean))
    assert patterns.least_total.tolist() == [least]


def test_mismatches_are_counted_and_ns_are_none():
    options = ScanOptions(max_mismatches=2, min_informative=4, every_match=True, both_strands=False)
    found = check(signatures_of("ACGTAC"), samples_of("ACGTACTTTTTCCGTAGTNCNTAGGG"), options).hits
    assert [(int(h["start"]), int(h["mismatches"]), int(h["informative"])) for h in found] == [
        (0, 0, 6),
        (11, 2, 6),
        (14, 2, 5),
        (18, 1, 4),
    ]


def test_sums_are_of_the_whole_region_and_totals_of_the_sample():
    samples = samples_of("TT" + "ACGT" * 50, "", "A", quality=93)
    found = check(signatures_of("ACGT" * 40), samples, BEST)
    assert found.hits["total"].tolist() == [160 * 93]
    assert found.quality_totals.tolist() == [202 * 93, 0, 93]


@pytest.mark.parametrize("run", [9, 63, 64, 200, 9000])
@pytest.mark.parametrize("min_informative", [0, 12])
def test_long_runs_of_n(run, min_informative):
    """Anchors within the run say nothing there: what lies beside it decides."""
    rng = np.random.default_rng(run)
    signatures = ["".join(rng.choice(list("ACGT"), size)) for size in (40, 150, 700)]
    around = ["".join(rng.choice(list("ACGT"), 600)) for _ in range(2)]
    cut = signatures[2][: 700 - min(run, 600)] if run < 700 else signatures[2][:60]
    samples = samples_of(around[0] + cut + "N" * run + around[1], "N" * run)
    options = ScanOptions(min_informative=min_informative, every_match=run < 1000, max_mismatches=run % 2)
    found = check(signatures_of(*signatures), samples, options).hits
    assert 2 in found["signature"]


@pytest.mark.parametrize("max_mismatches", [0, 2])
def test_a_match_of_which_nearly_all_lies_in_ns(max_mismatches):
    """The run fills whole tiles of the sample (4,096 places), and the anchors lie in these."""
    rng = np.random.default_rng(12)
    signature, noise = ("".join(rng.choice(list("ACGT"), size)) for size in (3000, 4050))
    samples = samples_of(noise + signature[:20] + "N" * 18_000 + signature[-20:] + noise)
    options = ScanOptions(max_mismatches=max_mismatches, both_strands=False, every_match=True)
    found = check(signatures_of(signature), samples, options).hits
    assert {4050, 4050 + 20 + 18_000 + 20 - 3000} <= set(found["start"].tolist())


def test_matches_across_tiles_and_at_both_ends():
    rng = np.random.default_rng(3)
    sequence = rng.choice(list("ACGT"), 20_000)
    signatures = ["".join(sequence[begin : begin + 300]) for begin in (0, 3900, 4090, 8100, 12_288, 19_700)]
    found = check(signatures_of(*signatures), samples_of("".join(sequence)), ScanOptions(), threads=3).hits
    assert found["start"].tolist() == [0, 3900, 4090, 8100, 12_288, 19_700]


def test_many_short_samples_keep_apart():
    """A signature that two neighbouring samples spell together is in neither."""
    rng = np.random.default_rng(4)
    whole = "".join(rng.choice(list("ACGT"), 40))
    samples = samples_of(*[whole[:25], whole[25:], whole, whole[1:], "", "G" + whole] * 300)
    found = check(signatures_of(whole), samples, ScanOptions()).hits
    assert (found["segment"] % 6).tolist() == [2, 5] * 300


@pytest.mark.parametrize("max_mismatches", [0, 1])
def test_many_patterns_full_of_ns(max_mismatches):
    """So many that they take the longer anchors."""
    rng = np.random.default_rng(5)
    sequences = ["".join(rng.choice(list("ACGTN"), 60, p=[0.175] * 4 + [0.3])) for _ in range(400)]
    sample = "".join(sequences[::20]) + "".join(rng.choice(list("ACGTN"), 3000))
    options = ScanOptions(max_mismatches=max_mismatches)
    found = check(signatures_of(*sequences), samples_of(sample), options).hits
    assert set(range(0, 400, 20)) <= set(found["signature"].tolist())


@pytest.mark.parametrize("max_mismatches", [1, 2, 3])
def test_many_patterns_that_are_too_short_for_their_anchors(max_mismatches):
    """Those of one length are searched for as tiles, beside others that are longer or few."""
    rng = np.random.default_rng(max_mismatches)
    size = 8 * (max_mismatches + 1) + 1
    sequences = ["".join(rng.choice(list("ACGTNR"), size, p=[0.24] * 4 + [0.02] * 2)) for _ in range(40)]
    sequences += ["".join(rng.choice(list("ACGT"), length)) for length in (60, size - 2, size - 1, 60)]
    sequences.append("ACGTTGCAACGT" * 2)  # its own reverse complement
    pieces = []
    for sequence in sequences:
        letters = list(sequence.replace("N", "A").replace("R", "G"))
        for at in rng.choice(len(letters), max_mismatches, replace=False):
            letters[at] = "T"
        pieces.append("".join(letters) + "".join(rng.choice(list("ACGTN"), 20)))
    signatures, samples = signatures_of(*sequences), samples_of("".join(pieces[:20]), "".join(pieces[20:]), "ACGT")
    for every_match in (False, True):
        options = ScanOptions(max_mismatches=max_mismatches, min_informative=5, every_match=every_match)
        found = check(signatures, samples, options).hits
        assert len(np.unique(found["signature"])) == len(sequences)


def test_signatures_that_can_not_match_are_no_patterns():
    signatures = signatures_of("ACGTACGTACGT", "N" * 50, "ACGTANNNNNNNNNN")
    assert Patterns.of(signatures, ScanOptions()).signature.tolist() == [0]
    assert Patterns.of(signatures, ScanOptions(min_informative=5)).signature.tolist() == [0, 2, 2]
    found = check(signatures, samples_of("A" * 60), ScanOptions(min_informative=0)).hits
    assert found[["signature", "matches"]].tolist() == [(1, 11)]


def test_signatures_can_share_the_letters_of_their_patterns():
    signatures = signatures_of("ACGTACGTACGTA", "N", "TTTTTTTTTTTTTTTT")
    all_of_them = Patterns.of(signatures, ScanOptions(min_informative=0))
    held = all_of_them.holding(signatures)
    assert held.letters.base is all_of_them.letters.base
    assert all(np.array_equal(held.sequence(i), signatures.sequence(i)) for i in range(3))
    assert Patterns.of(signatures, ScanOptions()).holding(signatures) is signatures


def test_no_patterns_and_no_samples():
    assert len(check(signatures_of("N"), samples_of("ACGT"), ScanOptions()).hits) == 0
    assert len(check(signatures_of("ACGTACGTACGTA"), samples_of(), ScanOptions()).hits) == 0


@pytest.mark.parametrize("length", [12, 40])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_found_at_once_is_bounded(length, threads):
    signatures, samples = signatures_of(*["A" * length] * 40), samples_of(*["A" * 200, "C" * 50] * 120)
    options = ScanOptions(every_match=True, both_strands=False)
    scanner = CpuScanner(LEVELS[0], Patterns.of(signatures, options), options)
    first = scanner.scan_some(samples, threads)
    assert 0 < len(first.quality_totals) < len(samples)
    assert len(first.hits) == (201 - length) * 40 * ((len(first.quality_totals) + 1) // 2)
    whole = scanner.scan(samples, threads)
    assert len(whole.hits) == (201 - length) * 40 * 120
    assert len(whole.quality_totals) == len(samples)
    single = Scanned.joined([scanner.scan(samples.take(at, at + 1), 1) for at in range(len(samples))])
    assert whole.hits.tobytes() == single.hits.tobytes()
    assert whole.quality_totals.tolist() == single.quality_totals.tolist()
