"""`calibrate-str`, `--str-model`, `--preset` and `--ped`, as commands on simulated reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pysam
import pytest

from pairhmm import simulate
from pairhmm.native import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="reading alignments needs the compiled part")


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three samples of one small genome, and a PED file that says that they are a trio."""
    folder = tmp_path_factory.mktemp("trio")
    for seed, name in enumerate(("father", "mother", "child"), start=1):
        simulate(folder / name, length=6_000, coverage=12, seed=seed, genome_seed=1, sample=name, snvs=6, indels=2)
    (folder / "trio.ped").write_text("F child father mother 1 0\nF father 0 0 1 0\nF mother 0 0 2 0\n")
    return folder


def inputs(folder: Path, *names: str) -> list[str]:
    return ["-f", str(folder / "child/reference.fa"), *(str(folder / name / "reads.bam") for name in names)]


def records(path: Path) -> Iterator[pysam.VariantRecord]:
    with pysam.VariantFile(str(path)) as file:
        yield from file


def test_a_calibrated_model_is_used_and_named(trio, run_cli, tmp_path):
    model = tmp_path / "str.toml"
    told = run_cli("calibrate-str", *inputs(trio, "child"), "-o", model)
    assert told.returncode == 0 and "most rates are those that are expected" in told.stderr
    assert model.read_text().startswith("# STR model of ")
    called = run_cli("call", *inputs(trio, "child"), "--str-model", model)
    assert called.returncode == 0 and f"##pairhmmModel=gatk ({model})" in called.stdout
    assert run_cli("call", *inputs(trio, "child"), "--str-model", "pcr").returncode == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--str-model", "pcr", "--pcr-indel-model", "none"), "--str-model sets what --pcr-indel-model sets"),
        (("--str-model", "pcr", "--parameters", "x.toml"), "--str-model sets what --parameters sets"),
        (("--str-model", "pcr", "--model", "profile"), "--str-model is for --model gatk"),
        (("--str-model", "nothing.toml"), "nothing.toml: No such file"),
        (("--preset", "sanger"), "'sanger' is not one of"),
        (("--ped", "nothing.ped"), "nothing.ped"),
    ],
)
def test_wrong_options_are_one_line(trio, run_cli, options, told):
    done = run_cli("call", *inputs(trio, "child"), *options)
    assert done.returncode == 2 and told in done.stderr.replace("\n", " ")


def test_a_preset_sets_defaults_that_options_override(trio, run_cli):
    def body(*options: str) -> str:
        done = run_cli("likelihoods", *inputs(trio, "child"), "-q", *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    gaps = "--insertion-quality", "30", "--deletion-quality", "30"
    by_hand = body(*gaps, "--pcr-indel-model", "none", "--no-cap-by-mapq", "--error-rate", "0")
    assert body("--preset", "hifi") == by_hand
    changed = body("--preset", "hifi", "--insertion-quality", "45", "--deletion-quality", "45")
    assert changed not in (by_hand, body())
    assert body("--preset", "illumina") == body()


def test_families_are_announced_and_used(trio, run_cli, tmp_path):
    names = "father", "mother", "child"
    paths = tmp_path / "alone.vcf", tmp_path / "family.vcf"
    assert run_cli("call", *inputs(trio, *names), "-o", paths[0]).returncode == 0
    told = run_cli("call", *inputs(trio, *names), "--ped", trio / "trio.ped", "-o", paths[1])
    assert told.returncode == 0 and "families 1, with children 1" in told.stderr
    alone, family = (
        {(one.pos, one.alts): [one.samples[name]["GQ"] for name in names] for one in records(path)} for path in paths
    )
    # The samples are no relatives: the family's priors have to fight what reads say.
    assert any(alone[site] != family[site] for site in alone.keys() & family.keys())


def test_a_pedigree_without_a_family_of_the_run_is_an_error(trio, run_cli):
    done = run_cli("call", *inputs(trio, "father", "child"), "--ped", trio / "trio.ped")
    assert done.returncode == 2 and "no child that is a sample" in done.stderr
