"""Indels in tandem repeats: their priors, and reads that slip alike."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.calling.genotyping import Site, to_sites
from pairhmm.models.str_parameters import rates_of, str_model_of
from pairhmm.native import is_compiled, native
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.variant import Variant
from tests.calling.scored import AT, evidence_of, native_region

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes are made in the compiled part")

FLANK = "GCTACGTACGC"


def called(copies: int, depths: tuple[int, int], loss: float = 0.0, unit: str = "A") -> Site:
    """The site where a unit is deleted from a run of copies: reads of each allele, and how often runs lose a unit."""
    variant = Variant("q", AT, "C" + unit, ("C",))
    evidence = evidence_of([(0.0, -3.0)] * depths[0] + [(-3.0, 0.0)] * depths[1], variants=(variant,))
    evidence.haplotypes = [
        Haplotype(FLANK + unit * count + FLANK[::-1], (copies - count,)) for count in (copies, copies - 1)
    ]
    rates = (
        [np.full(LONGEST_REPEAT_UNIT * MOST_REPEATS, rate).tolist() for rate in (loss / 2, loss)] if loss else [[], []]
    )
    genotyper = native.Genotyper(
        1e-3, 1.25e-4, [(2, [])], [], 4.5, False, False, False, [0.0], *rates, MOST_REPEATS, 0.25
    )
    (site,) = to_sites(genotyper.genotype(native_region(evidence)), ())
    return site


def test_few_reads_that_slip_alike_are_no_allele():
    assert called(8, (46, 11)).samples[0].alleles == (0, 1)
    assert called(8, (46, 11), loss=0.05).samples[0].alleles == (0, 0)
    assert called(8, (30, 27), loss=0.05).samples[0].alleles == (0, 1)


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
