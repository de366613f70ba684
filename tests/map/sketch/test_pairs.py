"""Distances of pairs by the published formulas, and equal slots above chance, against sketches that share nothing."""

import math

import numpy as np
import pytest

import pairhmm
from pairhmm.backends import status
from pairhmm.map.sketch.pairs import (
    chance_text,
    containment,
    distances_of,
    identity,
    jaccard,
    least_above_chance,
    least_equal,
    least_of_slots,
    mash_distance,
)
from pairhmm.map.sketch.sketches import Scheme

WIDE, NARROW = Scheme(slots=1024, bits=8), Scheme(slots=8192, bits=1)


def test_jaccard_is_corrected_for_chance():
    assert jaccard(np.array([4096, 8192, 6144, 100]), NARROW).tolist() == [0, 1, 0.5, 0]
    assert jaccard(np.array([4]), WIDE).tolist() == [0]  # 1,024 / 256
    assert jaccard(np.array([514]), WIDE).tolist() == [0.5]


def test_mash_distance_as_mash_prints_it():
    """Mash's own tutorial: 456 of 1,000 hashes shared, k 21: 0.0222766."""
    assert mash_distance(np.array([0.456]), 21)[0] == pytest.approx(0.0222766, abs=5e-8)
    ends = mash_distance(np.array([1.0, 0.0]), 21)
    assert ends.tolist() == [0, 1]
    assert not np.signbit(ends).any()


def test_containment_and_identity():
    """Of 100 and 300 k-mers, 80 are shared: j = 80 / 320."""
    part = containment(np.array([0.25]), np.array([100.0]), np.array([300.0]))
    assert part.tolist() == [pytest.approx(0.8)]
    assert identity(part, 21)[0] == pytest.approx(0.8 ** (1 / 21))


def test_containment_is_at_most_one_and_symmetric():
    one, other = np.array([100.0]), np.array([1000.0])
    assert containment(np.array([0.5]), one, other).tolist() == [1]
    assert containment(np.array([0.05]), one, other) == containment(np.array([0.05]), other, one)
    assert containment(np.array([0.0]), np.array([0.0]), other).tolist() == [0]


def test_distances_of_pairs():
    found = distances_of(np.array([1024, 514, 4]), np.full(3, 1e6), np.full(3, 2e6), WIDE)
    assert found.jaccard.tolist() == [1, 0.5, 0]
    assert found.mash_distance.tolist() == [0, pytest.approx(-math.log(2 / 3) / 21), 1]
    assert found.containment.tolist() == [1, 1, 0]
    assert found.ani.tolist() == [1, 1, 0]


@pytest.mark.parametrize("scheme", [WIDE, NARROW], ids=str)
@pytest.mark.parametrize("most", [0.0, 0.05, 0.3, 1.0])
def test_least_equal_is_the_limit(scheme, most):
    every = mash_distance(jaccard(np.arange(scheme.slots + 1), scheme), scheme.k)
    least = least_equal(most, scheme)
    assert (every[least:] <= most).all()
    assert (every[:least] > most).all()


def test_the_least_is_the_upper_end_of_the_binomial_distribution():
    random = np.random.default_rng(1)
    # Of 100 pairs, one in 100,000 may reach it: of 1,000,000 draws, 10.
    least = least_of_slots(1024, 1 / 256, 100)
    draws = random.binomial(1024, 1 / 256, 1_000_000)
    assert (draws >= least).sum() <= 25 and (draws >= least - 1).sum() > 10
    mean, deviation = 1024 * 0.5, np.sqrt(1024 / 4)
    # With many slots it is that of a normal distribution: 1 in 1,000 is 3.09 deviations above.
    assert least_of_slots(1024, 0.5, 1) == pytest.approx(mean + 3.09 * deviation, abs=2)


def test_small_samples_need_more_equal_slots():
    small, large = least_above_chance(Scheme(), np.array([40.0, 1e6]), 10)
    assert small > 1.5 * large


@pytest.mark.parametrize("scheme", [{}, {"bits": 1, "slots": 8192}, {"bits": 16, "slots": 128}], ids=str)
@pytest.mark.parametrize("length", [60, 300, 6000])
def test_random_sequences_are_not_above_chance(require, tmp_path, caplog, scheme, length):
    require("cpu", status("cpu").available, "the compiled part is missing")
    random = np.random.default_rng(5)
    genomes = ["".join(np.array(list("ACGT"))[random.integers(0, 4, length)]) for _ in range(60)]
    path = tmp_path / "genomes.fa"
    path.write_text("".join(f">g{number}\n{genome}\n" for number, genome in enumerate(genomes)))
    sketches = pairhmm.sketch(path, each_record=True, **scheme)
    assert np.isnan(pairhmm.distances(sketches).jaccard).all() and "than chance" in caplog.text
    # Most of one is in another.
    caplog.clear()
    path.write_text(path.read_text() + f">copy\n{genomes[0][length // 8 :]}\n")
    sketches = pairhmm.sketch(path, each_record=True, **scheme)
    assert not np.isnan(pairhmm.distances(sketches).jaccard).any() and not caplog.text


def test_the_cure_is_what_there_is_still_to_raise():
    assert "4 are equal by chance: sketch with --bits 16 and --slots 8192 or a smaller --k (21 now)" in chance_text(
        Scheme()
    )
    assert "sketch with --slots 8192 or" in chance_text(Scheme(bits=16))
    assert "sketch with a smaller --k" in chance_text(Scheme("published", slots=128, bits=31))
