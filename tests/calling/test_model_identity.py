"""Reads of alignments under the profile model: with identity parameters, the scores are those of GATK's model.

tests/backends/test_identity.py has every backend, and reads with N: uniform for a profile, a match for GATK.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.calling.likelihoods import likelihoods
from pairhmm.models.gatk import ERROR, GatkOptions, IndelQualities
from pairhmm.models.profile import STARTS, preset
from pairhmm.native import is_compiled
from pairhmm.simulate.api import simulate

TOLERANCE = 1e-5  # log10


@pytest.fixture(autouse=True)
def compiled(require) -> None:
    """Require the compiled part, which reads alignments."""
    require("cpu", is_compiled(), "pairhmm has no compiled part here")


@pytest.fixture(scope="module", params=["tiny", "simulated"])
def inputs(request, shared_data: Path, tmp_path_factory) -> tuple[Path, Path]:
    """A BAM without reads that have N, and its reference."""
    folder = tmp_path_factory.mktemp("reads")
    if request.param == "simulated":
        made = simulate(folder / "simulated", length=20_000, coverage=15, snvs=60, indels=20, seed=8)
        return made.bam, made.reference
    tiny = shared_data / "na12878-chr22-tiny"
    return without_n(tiny / "NA12878.chr22.tiny.bam", folder / "tiny.bam"), tiny / "q.fa"


def without_n(source: Path, target: Path) -> Path:
    with pysam.AlignmentFile(str(source)) as reads, pysam.AlignmentFile(str(target), "wb", template=reads) as out:
        for read in reads:
            if read.query_sequence is not None and "N" not in read.query_sequence:
                out.write(read)
    pysam.index(str(target))
    return target


def scores_of(inputs, **options):
    found = list(likelihoods(*inputs, backend="cpu", **options))
    return [one.names for one in found], np.concatenate([one.log10.ravel() for one in found])


def assert_same(found, expected):
    assert found[0] == expected[0] and len(expected[1]) > 200
    assert np.isfinite(found[1]).all()
    assert np.abs(found[1] - expected[1]).max() <= TOLERANCE


def test_identity_parameters_are_gatks_model(inputs, identity_model):
    assert_same(scores_of(inputs, profile=identity_model), scores_of(inputs, pcr_indel_model="none"))


def test_rates_by_copies_are_gatks_qualities_by_copies(inputs, identity_model):
    """The same repeats, and the same rates at each base of them."""
    qualities = IndelQualities((*range(45, 35, -1), *range(35, 5, -3)), (*range(43, 33, -1), *range(33, 13, -2)))
    expected = scores_of(inputs, model=GatkOptions(indel_qualities=qualities))
    by_copies = ERROR[np.array([qualities.insertion, qualities.deletion])]
    assert_same(scores_of(inputs, profile=replace(identity_model, by_copies=by_copies)), expected)


def test_the_start_changes_no_score_of_alignments(inputs):
    """The starts differ for reads that begin at a haplotype's first base, and haplotypes reach beyond their reads."""
    model = preset("normalised")
    _, match = scores_of(inputs, profile=model)
    _, anywhere = scores_of(inputs, profile=replace(model, start=STARTS["anywhere"]))
    assert np.abs(match - anywhere).max() < 1e-4
