"""Whole reads as profiles: in order, whatever the blocks, and joined as scoring joins them."""

from __future__ import annotations

import numpy as np
import pysam
import pytest

from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.profiles import make_profiles
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.errors import InputError
from pairhmm.models.gatk import ERROR, GatkOptions
from pairhmm.models.profile import one_hot, preset
from pairhmm.sequences.letters import encode
from pairhmm.simulate.api import simulate

PLAIN = GatkOptions(cap_by_mapping_quality=False, base_quality_threshold=None)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profiles")
    return simulate(folder, length=6_000, contigs=2, coverage=40, snvs=20, indels=20, max_indel=20, seed=7)


def made(data, regions=(), model=PLAIN, chunk_size=20_000, **molecules):
    joining = MoleculeOptions(**molecules)
    options = RunOptions(
        profile=preset("normalised") if joining.are_on else None,
        molecules=joining,
        model=model,
        chunk_size=chunk_size,
    )
    return list(make_profiles(RunInputs.of(str(data.bam), str(data.reference), regions=regions), options))


def plain(one):
    return (one.name, one.sample, one.chrom, one.position, one.reads, one.mate, one.probabilities.tolist())


def test_reads_that_are_not_joined_are_the_files(data):
    found = made(data)
    with pysam.AlignmentFile(str(data.bam)) as reads:
        for one, read in zip(found, reads, strict=True):
            expected = one_hot(encode(read.query_sequence), ERROR[np.array(read.query_qualities)])
            assert (one.name, one.chrom, one.position) == (read.query_name, read.reference_name, read.reference_start)
            assert (one.reads, one.mate, one.sample) == (1, 1 if read.is_read1 else 2, "sample")
            np.testing.assert_array_equal(one.probabilities, expected)


def test_qualities_are_prepared_as_for_scoring(data):
    low = {one.probabilities.max(axis=1).min() for one in made(data, model=GatkOptions())}
    assert min(low) == pytest.approx(1 - 10**-0.6)


@pytest.mark.parametrize("chunk_size", [1, 13, 250])
def test_blocks_change_nothing(data, chunk_size):
    joining = {"join_mates": True, "families": "position"}
    whole = [plain(one) for one in made(data, **joining)]
    assert [plain(one) for one in made(data, chunk_size=chunk_size, **joining)] == whole
    places = [(one[2], one[3]) for one in whole]
    assert places == sorted(places)


def test_each_read_is_in_one_profile(data):
    found = made(data, join_mates=True)
    reads = made(data)
    assert sum(one.reads for one in found) == len(reads) > len(found)
    joined = [one for one in found if one.reads == 2]
    assert joined and all(one.mate == 0 for one in joined)
    of_name = {}
    for one in reads:
        of_name.setdefault(one.name, []).append(one)
    for one in joined:
        first, second = of_name[one.name]
        assert max(len(first.probabilities), len(second.probabilities)) <= len(one.probabilities)
        assert one.position == min(first.position, second.position)
        np.testing.assert_allclose(one.probabilities.sum(axis=1), 1)


def test_regions(data):
    (chrom, *_) = {one.chrom for one in made(data)}
    found = made(data, regions=f"{chrom}:1,001-1,200")
    assert found
    assert all(one.position < 1200 and one.position + 200 > 1000 for one in found)


def test_families_without_tags(data):
    with pytest.raises(InputError, match="has the tag MI"):
        made(data, families="MI")
