"""`pairhmm profiles` as a command: what it writes goes into `forward`, and what it says of input that it can't use."""

from __future__ import annotations

import pytest

from pairhmm.native import is_compiled
from pairhmm.simulate.api import simulate


@pytest.fixture(scope="module")
def data(tmp_path_factory, require):
    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    return simulate(tmp_path_factory.mktemp("simulated"), length=6_000, coverage=8, fragment_length=220, seed=3)


@pytest.mark.parametrize("name", ["x.profile", "x.tsv", "x.tsv.gz"])
def test_profiles_go_into_forward(run_cli, data, tmp_path, name):
    made = run_cli(
        "profiles", "-f", data.reference, data.bam, "-r", "chr1:2001-2200", "--join-mates", "-o", name, cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout == "" and "pairs of mates joined" in made.stderr and " profiles of " in made.stderr
    (tmp_path / "h.fa").write_text(">h\nTTACGTACGTACTT\n")
    scored = run_cli("-q", "forward", "--model", "profile", name, "h.fa", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    written = int(made.stderr.split(" profiles of ")[0].split()[-1])
    assert len(scored.stdout.splitlines()) == written + 1


def test_stdout_is_records(run_cli, data):
    done = run_cli(
        "-q", "profiles", "-f", data.reference, data.bam, "-r", "chr1:2001-2200", "--base-quality-threshold", 0
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
def test_bad_input_is_one_line(run_cli, data, tmp_path, options, said):
    done = run_cli("profiles", "-f", data.reference, data.bam, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split()), done.stderr
    assert "Traceback" not in done.stderr and not list(tmp_path.iterdir())
