"""`pairhmm.profiles`: what it makes is what the model scores, and what it writes is read again."""

from __future__ import annotations

import numpy as np
import pytest

import pairhmm
from pairhmm.errors import InputError
from pairhmm.models.profile import preset
from pairhmm.models.profile_reader import read_profiles
from pairhmm.native import is_compiled
from pairhmm.simulate.api import simulate

WHERE = "chr1:2001-3000"


@pytest.fixture(scope="module")
def data(tmp_path_factory, require):
    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    return simulate(tmp_path_factory.mktemp("simulated"), length=6_000, coverage=8, fragment_length=220, seed=3)


def test_profiles_are_made_and_written(data, tmp_path):
    made = list(pairhmm.profiles(data.bam, data.reference, WHERE, join_mates=True))
    assert {one.reads for one in made} == {1, 2} and all(one.sample == "sample" for one in made)
    for name in ("x.profile", "x.tsv.gz"):
        count = pairhmm.write_profiles(data.bam, data.reference, tmp_path / name, WHERE, join_mates=True)
        read = list(read_profiles(tmp_path / name))
        assert count == len(made) and [name for name, _ in read] == [one.name for one in made]
        for (_, rows), one in zip(read, made, strict=True):
            np.testing.assert_array_equal(rows, one.probabilities)


def test_what_is_read_again_has_the_same_scores(data, tmp_path):
    made = list(pairhmm.profiles(data.bam, data.reference, WHERE))
    pairhmm.write_profiles(data.bam, data.reference, tmp_path / "x.tsv", WHERE)
    read = [rows for _, rows in read_profiles(tmp_path / "x.tsv")]
    haplotypes = ["ACGTTGCATGCAAT" * 20, "TTGACCA" * 40]
    expected, found = (
        pairhmm.forward(rows, haplotypes, model=preset("normalised"), backend="reference")
        for rows in ([one.probabilities for one in made[:5]], read[:5])
    )
    np.testing.assert_array_equal(found, expected)


def test_options_of_other_commands_are_taken(data):
    """The options that a call was made with also make its profiles; the parameters have no part in them."""
    options = pairhmm.RunOptions(profile=preset("published"), molecules=pairhmm.MoleculeOptions(join_mates=True))
    made = list(pairhmm.profiles(data.bam, data.reference, WHERE, options=options))
    same = list(pairhmm.profiles(data.bam, data.reference, WHERE, join_mates=True))
    assert len(made) == len(same) < len(list(pairhmm.profiles(data.bam, data.reference, WHERE)))
    for one, other in zip(made, same, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
    with pytest.raises(TypeError, match="did you mean 'join_mates'"):
        pairhmm.profiles(data.bam, data.reference, joinmates=True)


def test_an_output_that_is_an_input(data):
    with pytest.raises(InputError, match=r"reads\.bam"):
        pairhmm.write_profiles(data.bam, data.reference, data.bam)


def test_nothing_is_left_of_a_failed_run(data, tmp_path):
    with pytest.raises(InputError, match=r"none of .* reads has the tag MI"):
        pairhmm.write_profiles(data.bam, data.reference, tmp_path / "x.tsv", families="MI")
    assert not list(tmp_path.iterdir())


def test_an_unknown_option_names_the_function(data, tmp_path) -> None:
    with pytest.raises(TypeError, match=r"^write_profiles\(\) has no option 'join_mate'"):
        pairhmm.write_profiles(data.bam, data.reference, tmp_path / "x.tsv", join_mate=True)
