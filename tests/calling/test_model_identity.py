"""Reads of alignments under the profile model: with identity parameters, the scores are those of GATK's model.

A profile's N is uniform and GATK's matches everything: reads with N are in tests/backends/test_identity.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm import backends
from pairhmm.calling.likelihoods import likelihoods
from pairhmm.models.gatk import ERROR, GatkOptions, IndelQualities
from pairhmm.models.profile import STARTS, preset
from pairhmm.native import is_compiled
from pairhmm.simulate.api import simulate

TOLERANCE = 1e-5  # log10
FAST = ("cpu", "cuda")
"""Backends that score all of a data set here; the others score a part of it."""

DATA = {
    "tiny": ("na12878-chr22-tiny/NA12878.chr22.tiny.bam", "na12878-chr22-tiny/q.fa", (), ("q:5,000-6,500",)),
    "chr20": (
        "na12878-chr20-100kb/NA12878_S1.chr20.10_10p1mb.bam",
        "na12878-chr20-100kb/ucsc.hg19.chr20.unittest.fasta.gz",
        ("chr20:10,000,001-10,100,000",),
        ("chr20:10,001,001-10,003,000",),
    ),
}


@pytest.fixture(autouse=True)
def compiled(require) -> None:
    """Require the compiled part, which reads alignments."""
    require("cpu", is_compiled(), "pairhmm has no compiled part here")


@pytest.fixture(scope="module", params=["cpu", "reference", "webgpu", "cuda"])
def backend(request, require) -> str:
    status = backends.status(request.param)
    require(request.param, status.available, f"{status.reason}; {status.cure}")
    return request.param


@pytest.fixture(scope="module")
def inputs(shared_data: Path, tmp_path_factory):
    """``inputs(name, backend)``: a BAM without reads that have N, its reference, and the regions to score."""
    folder, made = tmp_path_factory.mktemp("reads"), {}

    def of(name: str, backend: str) -> tuple[Path, Path, tuple[str, ...]]:
        if name == "simulated":
            if name not in made:
                made[name] = simulate(folder / name, length=20_000, coverage=15, snvs=60, indels=20, seed=8)
            return made[name].bam, made[name].reference, () if backend in FAST else ("chr1:1-6,000",)
        alignments, reference, everything, part = DATA[name]
        if name not in made:
            made[name] = without_n(shared_data / alignments, folder / f"{name}.bam")
        return made[name], shared_data / reference, everything if backend in FAST else part

    return of


def without_n(source: Path, target: Path) -> Path:
    with pysam.AlignmentFile(str(source)) as reads, pysam.AlignmentFile(str(target), "wb", template=reads) as out:
        for read in reads:
            if read.query_sequence is not None and "N" not in read.query_sequence:
                out.write(read)
    pysam.index(str(target))
    return target


def scores_of(bam, reference, regions, backend, **options):
    found = list(likelihoods(bam, reference, regions=regions, backend=backend, **options))
    return [one.names for one in found], np.concatenate([one.log10.ravel() for one in found])


def assert_same(found, expected):
    assert found[0] == expected[0] and len(expected[1]) > 200
    assert np.isfinite(found[1]).all()
    assert np.abs(found[1] - expected[1]).max() <= TOLERANCE


@pytest.mark.parametrize("name", ["tiny", "chr20", "simulated"])
def test_identity_parameters_are_gatks_model(inputs, backend, name, identity_model):
    bam, reference, regions = inputs(name, backend)
    expected = scores_of(bam, reference, regions, backend, pcr_indel_model="none")
    assert_same(scores_of(bam, reference, regions, backend, profile=identity_model), expected)


@pytest.mark.parametrize("name", ["tiny", "chr20", "simulated"])
def test_rates_by_copies_are_gatks_qualities_by_copies(inputs, backend, name, identity_model):
    """The same repeats, and the same rates at each base of them."""
    bam, reference, regions = inputs(name, backend)
    qualities = IndelQualities((*range(45, 35, -1), *range(35, 5, -3)), (*range(43, 33, -1), *range(33, 13, -2)))
    expected = scores_of(bam, reference, regions, backend, model=GatkOptions(indel_qualities=qualities))
    by_copies = ERROR[np.array([qualities.insertion, qualities.deletion])]
    model = replace(identity_model, by_copies=by_copies)
    assert_same(scores_of(bam, reference, regions, backend, profile=model), expected)


@pytest.fixture(scope="module")
def of_oracle(inputs):
    """``of_oracle(name)``: the oracle's scores by the published parameters."""
    return cache(lambda name: scores_of(*inputs(name, "reference"), "reference", profile=preset("published")))


@pytest.mark.parametrize("name", ["tiny", "chr20", "simulated"])
def test_published_parameters_score_as_the_oracle(inputs, of_oracle, backend, name):
    bam, reference, regions = inputs(name, "reference")
    assert_same(scores_of(bam, reference, regions, backend, profile=preset("published")), of_oracle(name))


@pytest.mark.parametrize("name", ["tiny", "chr20"])
def test_the_start_changes_no_score_of_alignments(inputs, name):
    """The starts differ for reads that begin at a haplotype's first base, and haplotypes reach beyond their reads."""
    bam, reference, regions = inputs(name, "cpu")
    model = preset("normalised")
    _, match = scores_of(bam, reference, regions, "cpu", profile=model)
    _, anywhere = scores_of(bam, reference, regions, "cpu", profile=replace(model, start=STARTS["anywhere"]))
    assert np.abs(match - anywhere).max() < 1e-4
