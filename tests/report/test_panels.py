"""What a panel holds of a region: reads in order of their choice, likelihoods in hundredths, places, differences."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.align.haplotypes import find_differences
from pairhmm.likelihoods.reader import RegionLikelihoods
from pairhmm.report.packing import pack, to_json, unpack
from pairhmm.report.panels import (
    IMPOSSIBLE,
    MOST_READS,
    PER_LOG10,
    READS_SHOWN,
    UNKNOWN_BEST,
    aligned_haplotypes,
    choose_haplotypes,
    most_reads,
    panel_bytes,
)

INF = -np.inf


def region(log10, samples=None, mates=None) -> RegionLikelihoods:
    log10 = np.array(log10, dtype=np.float64)
    count, width = log10.shape
    return RegionLikelihoods(
        "q",
        100,
        200,
        [f"q:90-210/{index}" for index in range(width)],
        ["ACGT"] * width,
        [str(index) for index in range(width)],
        "150:A>C",
        samples or ["s"] * count,
        [f"r{index}" for index in range(count)],
        mates or [0] * count,
        log10,
        np.ones(count, dtype=np.uint8),
    )


def read(data: bytes) -> tuple[dict, list[tuple[np.ndarray, ...]]]:
    """Header and arrays (best, behind, flags, qualities), as `report/page/panel_data.js` takes them."""
    (length,) = struct.unpack_from("<I", data)
    header, place = json.loads(data[4 : 4 + length]), 4 + length
    groups = []
    for group in header["groups"]:
        count, arrays = group["shown"], []
        for kind, size in (("<i4", count), ("<u2", count * len(header["haplotypes"])), ("u1", count), ("u1", count)):
            arrays.append(np.frombuffer(data, kind, size, place))
            place += arrays[-1].nbytes
        groups.append(tuple(arrays))
    assert place == len(data)
    return header, groups


def panel(reads: RegionLikelihoods, places=None):
    numbers = {name: index for index, name in enumerate(sorted(set(reads.samples)))}
    width = len(reads.haplotypes)
    return read(panel_bytes(reads, 0, numbers, (89, "ACGT", [[] for _ in range(width)]), places or {}, {}))


def test_choices():
    choice = choose_haplotypes(np.array([[-1.0, -3.0, -2.0], [-5.0, -4.9, -9.0], [INF, INF, INF], [-1.0, INF, np.nan]]))
    assert choice.haplotype.tolist()[:2] == [0, 1] and choice.haplotype[3] == 0
    assert choice.margin[:2] == pytest.approx([1.0, 0.1])
    assert choice.decided.tolist() == [True, False, False, True]


def test_one_haplotype_leaves_nothing_to_choose():
    assert choose_haplotypes(np.array([[-1.0], [-2.0]])).decided.tolist() == [False, False]


def test_reads_stand_in_order_of_their_choice():
    header, ((best, behind, _, _),) = panel(region([[-5.0, -5.1], [-4.0, -1.0], [-1.0, -2.0], [-1.0, -9.0]]))
    (group,) = header["groups"]
    assert group["names"].split("\n") == ["r3", "r2", "r1", "r0"]
    assert best.tolist() == [-100, -100, -100, -500]
    assert behind.reshape(2, 4).tolist() == [[0, 0, 300, 0], [800, 100, 0, 10]]
    assert group["chosen"] == [2, 1] and group["undecided"] == 1
    assert group["sums"] == [-11.0, -17.1]


def test_samples_have_groups_of_their_own():
    header, groups = panel(region([[-1.0, -2.0]] * 3, samples=["b", "a", "b"]))
    assert [(group["sample"], group["reads"]) for group in header["groups"]] == [(0, 1), (1, 2)]
    assert [len(best) for best, *_ in groups] == [1, 2]


def test_what_is_not_a_number():
    header, ((best, behind, _, _),) = panel(region([[-1.0, INF], [INF, INF], [-2.0, np.nan]]))
    assert header["groups"][0]["names"].split("\n") == ["r0", "r2", "r1"]
    assert best.tolist() == [-100, -200, UNKNOWN_BEST]
    assert behind.reshape(2, 3)[1].tolist() == [IMPOSSIBLE] * 3
    assert header["groups"][0]["sums"] == [None, None]


def test_of_many_reads_some_are_shown_and_all_are_counted():
    rng = np.random.default_rng(1)
    header, ((best, *_),) = panel(region(-rng.uniform(1, 9, (READS_SHOWN * 3, 2))))
    (group,) = header["groups"]
    assert len(best) == group["shown"] == READS_SHOWN
    assert group["reads"] == sum(group["chosen"]) + group["undecided"] == READS_SHOWN * 3


def test_panels_and_samples_share_the_reads_that_are_shown():
    assert most_reads(panels=40, samples=3) == READS_SHOWN
    assert most_reads(panels=5000, samples=1) == MOST_READS // 5000 == 100
    assert most_reads(panels=5000, samples=30) == 3
    assert most_reads(panels=10**6, samples=10) == 1


def test_strand_and_mapping_quality():
    places = {("s", "r0", 1): (0x10 | 0x40, 60), ("s", "r1", 1): (0x40, 3), ("other", "r2", 0): (0x10, 9)}
    _, ((_, _, flags, qualities),) = panel(region([[-1.0, -4.0], [-1.0, -3.0], [-1.0, -2.0]], mates=[1, 1, 0]), places)
    # Mate, whether it is known, the reverse strand, and float64.
    assert flags.tolist() == [1 | 4 | 8 | 16, 1 | 4 | 16, 16]
    assert qualities.tolist() == [60, 3, 0]


@given(st.lists(st.floats(-600, 0), min_size=2, max_size=8))
def test_likelihoods_are_kept_to_a_hundredth(values):
    _, ((best, behind, _, _),) = panel(region([values]))
    kept = (best[0] - behind.astype(float)) / PER_LOG10
    assert np.abs(kept - values).max() <= 1.001 / PER_LOG10


BASES = st.text("ACGT", min_size=1, max_size=30)


@given(BASES, BASES, BASES, BASES)
def test_differences_spell_the_haplotype(head, old, new, tail):
    reference, sequence = head + old + tail, head + new + tail
    (differences,) = aligned_haplotypes(100, reference, [sequence], find_differences)
    assert applied(reference, 100, differences) == sequence


def applied(reference: str, start: int, differences) -> str:
    """As `report/page/alignment.js` applies them: letters of their own, and what stands behind a letter."""
    letters, behind = list(reference), [""] * len(reference)
    for position, before, after in differences:
        place = position - start
        for index, letter in enumerate(before):
            changed = after[index] if index < len(after) else ""
            if changed != letter:
                letters[place + index] = changed
        behind[place + len(before) - 1] += after[len(before) :]
    return "".join(a + b for a, b in zip(letters, behind, strict=True))


def test_packing():
    assert unpack(pack(b"a" * 1000)) == b"a" * 1000
    assert to_json({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()
    with pytest.raises(ValueError, match="JSON"):
        to_json([float("nan")])
