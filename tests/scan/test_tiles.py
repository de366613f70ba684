"""Tiles of signatures: every level gives the hits and the runs of the oracle, byte for byte; tiles that are masked."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pairhmm import _cpu
from pairhmm.backends.cpu import chosen_isa
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.scan.base import Patterns, Scanned, ScanOptions, Tiling
from pairhmm.scan.reference import ReferenceScanner, is_low_complexity
from pairhmm.scan.tiles import SHORTEST_PART, TileScanner, check_tiling, load_tiles, masked_places, masked_tiles
from pairhmm.sequences.letters import ANY, encode_sets, reverse_complement
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures
from tests.scan.conftest import BASES, concrete, differ, draw, samples_of

LEVELS = [name for name, runs in _cpu.levels() if runs]
WORKLOADS = range(50)

Work = tuple[Signatures, Samples, ScanOptions, Tiling]


def random_work(seed: int) -> Work:
    """Tiles of 8 to 70 letters at steps from 1 to 50, K = 0 to 3, N and ambiguous letters on both sides, repeats."""
    rng = np.random.default_rng(seed)
    n_ratio, ambiguous = float(rng.choice([0, 0, 0.01, 0.1, 0.3])), float(rng.choice([0, 0, 0.02, 0.2]))
    alphabet = BASES if rng.random() < 0.75 else rng.choice(BASES, 2, replace=False)
    mismatches = int(rng.integers(0, 4))
    least = max(8, SHORTEST_PART * (mismatches + 1))
    tiling = Tiling(
        max(least, int(rng.choice([least + 1, 21, 24, 31, 40, 70]))),
        int(rng.choice([1, 1, 1, 2, 5, 31, 50])),
        mask=seed % 2 == 0,
    )
    sequences = [
        draw(rng, int(rng.integers(1, 300)), n_ratio * int(rng.integers(0, 2)), ambiguous, alphabet)
        for _ in range(rng.integers(1, 5))
    ]
    half = draw(rng, 40, 0, 0, BASES)
    sequences.append(np.concatenate([half, reverse_complement(half)]))
    options = ScanOptions(
        both_strands=bool(rng.random() < 0.7),
        max_mismatches=mismatches,
        min_informative=min(tiling.length, int(rng.choice([0, 1, 5, 12]))),
        min_score=float(rng.choice([0, 0, 0, tiling.length * 20])),
        every_match=bool(rng.random() < 0.5),
    )
    segments = []
    for _ in range(rng.integers(1, 5)):
        size = int(rng.choice([0, 1, 30, 100, 300, 1200]))
        letters = draw(rng, size, n_ratio, ambiguous * int(rng.integers(0, 2)), alphabet)
        for _ in range(3):
            source = sequences[rng.integers(0, len(sequences))]
            begin = int(rng.integers(0, len(source)))
            copy = concrete(rng, source[begin : begin + int(rng.integers(1, 200))])
            copy = differ(rng, copy, int(rng.integers(0, 1 + len(copy) // 12)))
            copy = reverse_complement(copy) if rng.random() < 0.5 else copy
            if len(copy) <= size:
                at = int(rng.integers(0, size - len(copy) + 1))
                letters[at : at + len(copy)] = copy
        if size and rng.random() < 0.3:
            at = int(rng.integers(0, size))
            letters[at : at + int(rng.integers(1, 60))] = ANY
        segments.append(letters)
    has_qualities = options.needs_qualities or rng.random() < 0.8
    qualities = [rng.integers(0, 42, len(one)).astype(np.uint8) for one in segments]
    samples = Samples.of(segments, qualities if has_qualities else None)
    carried = int(rng.integers(0, len(segments[0]) + 1)) if rng.random() < 0.2 else 0
    samples = Samples(samples.letters, samples.qualities, samples.offset, carried)
    return Signatures.of([f"v{index}" for index in range(len(sequences))], sequences), samples, options, tiling


def check(signatures: Signatures, samples: Samples, options: ScanOptions, tiling: Tiling) -> Scanned:
    """What the oracle finds, once every level has found the same bytes."""
    patterns = Patterns.of(signatures, options, tiling)
    expected = ReferenceScanner(patterns, options, tiling).scan(samples, 1)
    for level in LEVELS:
        found = TileScanner(level, patterns, options, tiling).scan(samples, 2)
        assert found.hits.tobytes() == expected.hits.tobytes(), level
        assert found.runs.tobytes() == expected.runs.tobytes(), level
        assert found.quality_totals.tolist() == expected.quality_totals.tolist(), level
    return expected


@pytest.mark.parametrize("seed", WORKLOADS)
def test_random_workloads(seed):
    check(*random_work(seed))


def test_the_workloads_meet_what_they_are_for():
    works = [random_work(seed) for seed in WORKLOADS]
    assert {options.max_mismatches for _, _, options, _ in works} == {0, 1, 2, 3}
    found = [check(*work) for work in works[:30]]
    assert sum(len(one.hits) > 10 for one in found) > 10
    assert any((one.runs["tiles"] > 20).any() for one in found)
    assert any((one.hits["strand"] == 1).any() for one in found)


def test_a_tile_by_hand():
    """A read with two mismatches: tiles around the first one match with one of them, and make one run."""
    rng = np.random.default_rng(2)
    virus = "".join(rng.choice(list("ACGT"), 200))
    read = list(virus[50:130])
    for at in (30, 40):
        read[at] = "A" if read[at] != "A" else "C"
    signatures = Signatures.of(["v"], [encode_sets(virus)])
    found = check(signatures, samples_of("".join(read)), ScanOptions(max_mismatches=1), Tiling(21))
    # Tiles that hold both begin at 20 to 30.
    assert found.runs[["start", "length", "place", "tiles", "mismatches"]].tolist() == [
        (0, 40, 50, 20, 1),
        (31, 49, 81, 29, 1),
    ]
    (hit,) = found.hits
    assert hit[["start", "place", "matches", "total"]].tolist() == (0, 50, 49, 21 * 30)


def test_a_place_is_forward_on_both_strands():
    virus = "".join(np.random.default_rng(3).choice(list("ACGT"), 90))
    signatures = Signatures.of(["v"], [encode_sets(virus)])
    sample = Samples.of([reverse_complement(encode_sets(virus[20:60]))])
    found = check(signatures, sample, ScanOptions(), Tiling(31))
    assert found.runs[["strand", "start", "length", "place"]].tolist() == [(1, 0, 40, 20)]
    assert found.hits[["strand", "start", "place"]].tolist() == [(1, 0, 29)]


@pytest.mark.parametrize("max_mismatches", [0, 1, 2, 3])
def test_dense_tiles_of_a_long_sample(max_mismatches):
    """Longer than the places that are searched together, so that runs are joined."""
    rng = np.random.default_rng(7)
    virus = rng.choice(BASES, 1500).astype(np.uint8)
    copy = differ(rng, virus, 60)
    found = check(
        Signatures.of(["v"], [virus]), Samples.of([copy]), ScanOptions(max_mismatches=max_mismatches), Tiling(31)
    )
    assert len(found.hits) == 1


@pytest.mark.parametrize(
    ("max_mismatches", "lengths"),
    [(1, range(10, 27)), (2, range(15, 40, 2)), (2, range(16, 41, 4)), (3, (20, 22, 24, 26, 31, 34, 36, 39, 42))],
)
def test_mismatches_may_be_anywhere(max_mismatches, lengths):
    """Every way to place the mismatches in a tile. The other tiles are so many that seeds are spaced."""
    rng = np.random.default_rng(9)
    virus = rng.choice(BASES, 100_000).astype(np.uint8)
    options = ScanOptions(max_mismatches=max_mismatches, min_informative=0)
    for length in lengths:
        tile = virus[500 : 500 + length]
        changes = np.array(list(combinations(range(length), max_mismatches)))
        copies = np.tile(tile, (len(changes), 1))
        rows = np.arange(len(changes))[:, None]
        copies[rows, changes] = np.roll(BASES, 1)[np.searchsorted(BASES, copies[rows, changes])]
        patterns = Patterns.of(Signatures.of(["v"], [virus]), options, Tiling(length))
        found = TileScanner(chosen_isa(), patterns, options, Tiling(length)).scan(Samples.of(list(copies)), 1)
        assert np.unique(found.hits["segment"]).tolist() == list(range(len(changes))), length


def test_tiles_that_can_not_be():
    with pytest.raises(InputError, match="--max-mismatches 2 needs tiles of at least 15 letters"):
        check_tiling(Tiling(14), ScanOptions(max_mismatches=2))
    with pytest.raises(InputError, match="has no 12 columns"):
        check_tiling(Tiling(11), ScanOptions())
    patterns = Patterns.of(Signatures.of(["v"], [encode_sets("ACGT" * 10)]), ScanOptions(), Tiling(31))
    with pytest.raises(BackendUnavailable, match="does not search for tiles"):
        load_tiles("cuda", patterns, ScanOptions(), Tiling(31))
    assert load_tiles("auto", patterns, ScanOptions(), Tiling(31)).label.startswith("cpu")
    assert Tiling(31, 10).tiles(np.array([30, 31, 40, 41])).tolist() == [0, 1, 1, 2]


def test_signatures_that_are_shorter_than_a_tile_are_no_patterns():
    signatures = Signatures.of(["short", "long"], [encode_sets("ACGTACGTACGTAC"), encode_sets("ACGTT" * 10)])
    assert Patterns.of(signatures, ScanOptions(), Tiling(21)).signature.tolist() == [1, 1]


def repeats(reads: int) -> tuple[Signatures, Samples]:
    """Genomes that end in poly-A, and reads of it between others."""
    rng = np.random.default_rng(7)
    poly = encode_sets("A" * 60)
    genomes = [np.concatenate([draw(rng, 200, 0, 0, BASES), poly[:40]]) for _ in range(30)]
    letters = [poly if number % 3 else genomes[number % 30][50:150] for number in range(reads)]
    qualities = [rng.integers(2, 41, len(read)).astype(np.uint8) for read in letters]
    return Signatures.of([str(number) for number in range(30)], genomes), Samples.of(letters, qualities)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("every_match", [False, True])
def test_what_is_found_at_once_is_bounded(threads, every_match):
    signatures, samples = repeats(500)
    options, tiling = ScanOptions(every_match=every_match), Tiling(31, mask=False)
    scanner = TileScanner(chosen_isa(), Patterns.of(signatures, options, tiling), options, tiling)
    first = scanner.scan_some(samples, threads)
    of_a_read = 30 * (60 - 30 + 40 - 31)  # runs: a diagonal each
    assert 0 < len(first.quality_totals) < len(samples)
    assert len(first.hits if every_match else first.runs) < (1 << 18) + of_a_read * (10 if every_match else 1)
    whole = scanner.scan(samples, threads)
    single = Scanned.joined([scanner.scan(samples.take(read, read + 1), 1) for read in range(60)])
    assert np.array_equal(whole.quality_totals[:60], single.quality_totals)
    assert np.array_equal(whole.hits[whole.hits["segment"] < 60], single.hits)
    assert np.array_equal(whole.runs[whole.runs["segment"] < 60], single.runs)
    assert len(np.unique(whole.hits["segment"])) == len(samples)


def test_masked_tiles_are_not_found():
    signatures, samples = repeats(60)
    options, tiling = ScanOptions(), Tiling(31)
    scanner = TileScanner(chosen_isa(), Patterns.of(signatures, options, tiling), options, tiling)
    found = scanner.scan_some(samples, 2)
    assert len(found.quality_totals) == len(samples)
    assert found.hits["segment"].tolist() == list(range(0, 60, 3))
    assert found.hits["matches"].tolist() == [70] * 20


@pytest.mark.parametrize(
    ("tile", "is_low"),
    [
        ("A" * 31, True),
        ("g" * 31, True),
        ("AC" * 16, True),
        ("CAG" * 11, True),
        ("ACGT" * 8, True),
        ("ACGTT" * 7, True),
        ("ACGTTGC" * 5, False),
        ("A" * 26 + "CGTGC", True),
        ("A" * 10 + "CTGACGTCATTGCAGCATTCG", False),
        ("A" * 16 + "CTGACGTCATTGCAG", True),
        ("N" * 31, False),
        ("A" * 11 + "N" * 20, False),
        ("AAAAAAAA", True),
        ("ACGTTGCA", False),
    ],
)
def test_the_rule(tile, is_low):
    letters = encode_sets(tile)
    assert is_low_complexity(letters) == is_low
    assert is_low_complexity(reverse_complement(letters)) == is_low
    places = masked_places(letters, np.array([0, len(letters)]), Tiling(len(letters)))
    assert places.tolist() == ([[0, 1]] if is_low else [])


@pytest.mark.parametrize("seed", range(20))
def test_every_place_as_the_oracle_has_it(seed):
    rng = np.random.default_rng(seed)
    length, step = int(rng.choice([8, 12, 31, 70])), int(rng.choice([1, 2, 7, 40]))
    sequences = []
    for _ in range(5):
        parts = [draw(rng, int(rng.integers(0, 60)), 0.05, 0.05, BASES) for _ in range(3)]
        unit = draw(rng, int(rng.integers(1, 7)), 0, 0, BASES)
        sequences.append(np.concatenate([parts[0], np.tile(unit, rng.integers(0, 20)), *parts[1:]]))
    known = Signatures.of([str(number) for number in range(5)], sequences)
    places = masked_places(known.letters, known.offset, Tiling(length, step))
    found = [at for begin, end in places.tolist() for at in range(begin, end)]
    expected = [
        int(known.offset[index]) + at
        for index in range(5)
        for at in range(len(sequences[index]) - length + 1)
        if is_low_complexity(sequences[index][at : at + length])
    ]
    assert found == expected
    begins = [at - int(known.offset[np.searchsorted(known.offset, at, side="right") - 1]) for at in expected]
    assert masked_tiles(known, Tiling(length, step)).sum() == sum(at % step == 0 for at in begins)
    assert masked_tiles(known, Tiling(length, step)).sum() <= Tiling(length, step).tiles(known.lengths).sum()
    assert not masked_tiles(known, Tiling(length, step, mask=False)).any()
