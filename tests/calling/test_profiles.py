"""Whole reads as profiles: `pairhmm.profiles`, what it writes, and the command."""

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.profiles import make_profiles
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.errors import InputError
from pairhmm.models.gatk import ERROR, GatkOptions
from pairhmm.models.profile import one_hot, preset
from pairhmm.models.profile_reader import read_profiles
from pairhmm.native import is_compiled
from pairhmm.sequences.letters import encode
from pairhmm.simulate.api import simulate

PLAIN = GatkOptions(cap_by_mapping_quality=False, base_quality_threshold=None)
WHERE = "chr1:2001-3000"


@pytest.fixture(scope="module")
def data(tmp_path_factory, require):
    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    folder = tmp_path_factory.mktemp("profiles")
    return simulate(folder, length=6_000, contigs=2, coverage=40, snvs=20, indels=20, max_indel=20, seed=7)


@pytest.fixture(scope="module")
def short(tmp_path_factory, require):
    """Reads of molecules so short that mates overlap."""
    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    return simulate(tmp_path_factory.mktemp("simulated"), length=6_000, coverage=8, fragment_length=220, seed=3)


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


def test_profiles_are_made_and_written(short, tmp_path):
    made = list(pairhmm.profiles(short.bam, short.reference, WHERE, join_mates=True))
    assert {one.reads for one in made} == {1, 2} and all(one.sample == "sample" for one in made)
    for name in ("x.profile", "x.tsv.gz"):
        count = pairhmm.write_profiles(short.bam, short.reference, tmp_path / name, WHERE, join_mates=True)
        read = list(read_profiles(tmp_path / name))
        assert count == len(made) and [name for name, _ in read] == [one.name for one in made]
        for (_, rows), one in zip(read, made, strict=True):
            np.testing.assert_array_equal(rows, one.probabilities)


def test_options_of_other_commands_are_taken(short):
    """The options that a call was made with also make its profiles; the parameters have no part in them."""
    options = pairhmm.RunOptions(profile=preset("published"), molecules=pairhmm.MoleculeOptions(join_mates=True))
    made = list(pairhmm.profiles(short.bam, short.reference, WHERE, options=options))
    same = list(pairhmm.profiles(short.bam, short.reference, WHERE, join_mates=True))
    assert len(made) == len(same) < len(list(pairhmm.profiles(short.bam, short.reference, WHERE)))
    for one, other in zip(made, same, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
    with pytest.raises(TypeError, match="did you mean 'join_mates'"):
        pairhmm.profiles(short.bam, short.reference, joinmates=True)


def test_an_output_that_is_an_input(short):
    with pytest.raises(InputError, match=r"reads\.bam"):
        pairhmm.write_profiles(short.bam, short.reference, short.bam)


@pytest.mark.parametrize("name", ["x.profile", "x.tsv", "x.tsv.gz"])
def test_profiles_go_into_forward(run_cli, short, tmp_path, name):
    made = run_cli(
        "profiles", "-f", short.reference, short.bam, "-r", "chr1:2001-2200", "--join-mates", "-o", name, cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout == "" and "pairs of mates joined" in made.stderr and " profiles of " in made.stderr
    (tmp_path / "h.fa").write_text(">h\nTTACGTACGTACTT\n")
    scored = run_cli("-q", "forward", "--model", "profile", name, "h.fa", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    written = int(made.stderr.split(" profiles of ")[0].split()[-1])
    assert len(scored.stdout.splitlines()) == written + 1


def test_stdout_is_records(run_cli, short):
    done = run_cli(
        "-q", "profiles", "-f", short.reference, short.bam, "-r", "chr1:2001-2200", "--base-quality-threshold", 0
    )
    assert done.returncode == 0 and done.stderr == ""
    name, first, *_ = done.stdout.splitlines()
    assert name.startswith(">chr1:") and " positions=150 place=chr1:" in name
    assert sum(map(float, first.split())) == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--families", "MI"], "reads has the tag MI; group the reads by their UMIs"),
        (["--families", "umi"], "'umi' is not one of 'none', 'MI', 'position'"),
        (["-r", "chr9"], "chr9"),
        (["-o", "x.vcf"], "x.vcf: not a name for profiles; end it in .profile, .profile.gz, .tsv or .tsv.gz"),
        (["-o", "nowhere/x.tsv"], "folder does not exist"),
    ],
)
def test_bad_input_is_one_line(run_cli, short, tmp_path, options, said):
    done = run_cli("profiles", "-f", short.reference, short.bam, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split()), done.stderr
    assert "Traceback" not in done.stderr and not list(tmp_path.iterdir())
