"""`pairhmm fit` as a command: its outputs, what takes them, and what it says of input that it can't use."""

from __future__ import annotations

from pathlib import Path

import pytest

from pairhmm.native import is_compiled
from pairhmm.simulate.api import SimulatedData, simulate


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, require) -> SimulatedData:
    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    return simulate(tmp_path_factory.mktemp("simulated") / "data", length=20_000, coverage=10, seed=4)


@pytest.mark.parametrize("model", ["profile", "gatk"])
def test_a_fit_writes_parameters_and_rounds(run_cli, data: SimulatedData, tmp_path: Path, model: str) -> None:
    output, rounds = tmp_path / "p.toml", tmp_path / "rounds.tsv"
    done = run_cli("fit", "--model", model, "-f", data.reference, data.bam, "-o", output, "--rounds", rounds)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" and "fitting to" in done.stderr and "log10 likelihood" in done.stderr
    assert output.read_text().startswith(f"# pairhmm fit --model {model}")
    assert rounds.read_text().startswith("#pairs\tround\treads\t")


def test_fitted_parameters_go_into_forward_and_simulate(run_cli, data: SimulatedData, tmp_path: Path) -> None:
    done = run_cli("fit", "-q", "-f", data.reference, data.bam, "--max-reads", 200)
    assert done.returncode == 0, done.stderr
    parameters = tmp_path / "p.toml"
    parameters.write_text(done.stdout)
    (tmp_path / "r.fq").write_text("@r\nACGTACGTAC\n+\nIIIIIIIIII\n")
    (tmp_path / "h.fa").write_text(">h\nTTACGTACGTACTT\n")
    scored = run_cli("forward", tmp_path / "r.fq", tmp_path / "h.fa", "--model", "profile", "--parameters", parameters)
    assert scored.returncode == 0, scored.stderr
    again = run_cli("simulate", "-o", tmp_path / "again", "--length", 5000, "--profile-errors", parameters)
    assert again.returncode == 0, again.stderr
    assert "gaps are drawn with the MI and MD of [transitions]" in again.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--min-mapq", "200"], "no read to fit to; check -r, --min-mapq and --exclude-flags"),
        (["--parameters", "broken.toml"], "not a TOML file"),
        (["--parameters", "nowhere.toml"], "No such file"),
        (["--parameters", "negative.toml"], "-0.1 is not a probability"),
        (["--parameters", "published"], "eps_M(., A) sums to 3.9"),
        (["--model", "gatk", "--parameters", "published"], "--parameters is for --model profile"),
        (["--max-reads", "0"], "0 is not in the range"),
        (["-o", "reads.bam"], "reads.bam"),
        (["--rounds", "x.toml"], "x.toml: not a name for tables of rounds; end it in .tsv"),
    ],
)
def test_bad_input_is_one_line(run_cli, data: SimulatedData, tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "broken.toml").write_text("[match\n")
    normalised = run_cli("fit", "-q", "-f", data.reference, data.bam, "--max-reads", 50).stdout
    (tmp_path / "negative.toml").write_text(normalised.replace("MM = ", "MM = -0.1  # "))
    (tmp_path / "reads.bam").symlink_to(data.bam)
    (tmp_path / "reads.bam.bai").symlink_to(f"{data.bam}.bai")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run_cli("fit", "-o", "p.toml", "-f", data.reference, "reads.bam", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_parameters_that_reads_cannot_be_drawn_from_are_one_line(run_cli, tmp_path: Path) -> None:
    done = run_cli("simulate", "-o", tmp_path / "x", "--profile-errors", "published")
    assert done.returncode == 2
    assert "published: eps_M(., A) sums to 3.9: no reads can be drawn" in done.stderr
    assert not (tmp_path / "x").exists()
