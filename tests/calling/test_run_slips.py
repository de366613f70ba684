"""Indels in tandem repeats: their priors, and reads that slip alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pairhmm.calling.genotyping import Site, to_sites
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.str_parameters import rates_of, slip_rates_of, str_model_of
from pairhmm.native import is_compiled, native
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.variant import Variant
from tests.calling.scored import AT, evidence_of, native_region

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes are made in the compiled part")

FLANK = "GCTACGTACGC"


def of_runs(loss: float) -> list[list[float]]:
    """The rates of gains and of losses, the same for all runs."""
    return [np.full(LONGEST_REPEAT_UNIT * MOST_REPEATS, rate).tolist() for rate in (loss / 2, loss)]


def called(
    copies: int, depths: tuple[int, int], loss: float = 0.0, unit: str = "A", known: float | None = None
) -> Site:
    """The site where a unit is deleted from a run of copies: reads of each allele, and how often runs lose a unit.

    `known` is what likelihoods of reads have of this rate: all, unless it is given.
    """
    variant = Variant("q", AT, "C" + unit, ("C",))
    evidence = evidence_of([(0.0, -3.0)] * depths[0] + [(-3.0, 0.0)] * depths[1], variants=(variant,))
    evidence.haplotypes = [
        Haplotype(FLANK + unit * count + FLANK[::-1], (copies - count,)) for count in (copies, copies - 1)
    ]
    slips = native.SlipRates(*of_runs(loss), 0.25, *of_runs(loss if known is None else known)) if loss else None
    genotyper = native.Genotyper(1e-3, 1.25e-4, [(2, [])], [], 4.5, False, False, False, [0.0], slips)
    (site,) = to_sites(genotyper.genotype(native_region(evidence)), ())
    return site


def test_few_reads_that_slip_alike_are_no_allele():
    assert called(8, (46, 11)).samples[0].alleles == (0, 1)
    assert called(8, (46, 11), loss=0.05).samples[0].alleles == (0, 0)
    assert called(8, (30, 27), loss=0.05).samples[0].alleles == (0, 1)


def test_slips_count_beyond_what_likelihoods_have_of_them():
    of_all, of_few = (called(18, (12, 8), loss=0.05, known=known).quality for known in (0.05, 0.001))
    assert of_few < of_all - 5


def test_slips_make_no_homozygote_heterozygous():
    assert called(8, (8, 40)).samples[0].alleles == (0, 1)
    assert called(8, (8, 40), loss=0.05).samples[0].alleles == (1, 1)


@pytest.mark.parametrize(("unit", "usual", "varied"), [("A", 6, 9), ("AC", 4, 7), ("ACG", 4, 7)])
def test_alleles_of_longer_runs_are_likelier(unit, usual, varied):
    # Of half of the reads: fewer could be of a copy elsewhere.
    short, longer, longest = (called(copies, (5, 5), unit=unit).quality for copies in (usual, varied, 19))
    assert longer - short == pytest.approx(30 * np.log10(3), abs=0.5)
    assert longest - short == pytest.approx(10 * np.log10(0.05 / 1.25e-4), abs=1.0)


def test_the_rates_of_a_library_are_those_of_its_model():
    gain, loss = rates_of(str_model_of("pcr-free"))
    more_gain, more_loss = rates_of(str_model_of("pcr"))
    # Qualities are whole numbers, so that rates of a few Phred are coarse.
    assert loss[0, 9] / gain[0, 9] == pytest.approx(7 / 3, rel=0.3)
    assert (more_gain + more_loss)[0, 9] / (gain + loss)[0, 9] == pytest.approx(5, rel=0.2)
    assert not gain[0, :3].any() and not loss[0, :3].any()


def library(*runs: tuple[int, int, int, int]) -> Callable[[int, int], tuple[float, float]]:
    """What runs of one base say of how often reads slip: their copies, reads, those that changed, and how many runs.

    Gives log10 of how many times as often as expected reads of a unit and of copies slip, and how uncertain this is.
    """
    expected = slip_rates_of(GatkOptions(str_model=str_model_of("pcr-free")))
    sites = [((1, copies, depth, changed, 0), count) for copies, depth, changed, count in runs]
    found = native.seen_slips(expected, sites)

    def of(unit: int, copies: int) -> tuple[float, float]:
        place = (unit - 1) * MOST_REPEATS + copies - 1
        variance = found.spread[place] ** 2 - expected.spread[place] ** 2
        return float(np.log10(found.loss[place] / expected.loss[place])), float(np.sqrt(variance))

    return of


def test_reads_tell_how_often_those_of_their_library_slip():
    gain, loss = (rate[0, 17] for rate in rates_of(str_model_of("pcr-free")))
    for share in (0.04, 0.3):
        mean, deviation = library((18, 25, round(25 * share), 40))(1, 18)
        assert 10**mean == pytest.approx(share / (gain + loss), rel=0.1)
        assert deviation < 0.07


def test_without_repeats_a_library_is_like_any_other():
    mean, deviation = library()(1, 18)
    assert mean == pytest.approx(-0.2, abs=0.01)
    assert 0.4 < deviation < 0.5


def test_long_runs_do_not_tell_how_often_shorter_ones_slip():
    gain, loss = (rate[0] for rate in rates_of(str_model_of("pcr-free")))
    rate = (gain + loss)[11]
    # Of runs of 12 bases three times as many reads slip as expected, and of those of 20 half as many.
    found = library((12, 50, round(50 * 3 * rate), 40), (20, 20, 2, 40))
    assert found(1, 12)[0] == pytest.approx(np.log10(3), abs=0.15)
    assert found(1, 20)[0] == pytest.approx(np.log10(0.5), abs=0.15)
    # Other units are like these, but less surely so.
    assert found(2, 12)[0] > 0.2
    assert found(2, 12)[1] > found(1, 12)[1] + 0.05


def test_heterozygous_runs_are_no_slips():
    few, with_others = library((18, 20, 1, 40)), library((18, 20, 1, 40), (18, 20, 10, 4))
    assert with_others(1, 18)[0] == pytest.approx(few(1, 18)[0], abs=0.02)
