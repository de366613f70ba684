"""Equal slots that are above chance: against simulated sketches of sequences that share nothing."""

from __future__ import annotations

import numpy as np
import pytest

import pairhmm
from pairhmm.backends import status
from pairhmm.map.sketch.pairs import chance_text, least_above_chance, least_of_slots
from pairhmm.map.sketch.sketches import Scheme


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
