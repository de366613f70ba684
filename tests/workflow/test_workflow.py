"""The workflow, whole: what it calls and finds, what it reruns, and what stops it."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import subprocess
import time
from importlib.resources import files
from pathlib import Path

import pysam
import pytest

from pairhmm.likelihoods.reader import LikelihoodTable

SAMPLES = [f"sample_{number}" for number in (1, 2, 3, 4)]
RESULTS = ("calls/cohort.vcf.gz", "calls/cohort.vcf.gz.tbi", "likelihoods/cohort.parquet")


def records(path: Path) -> list[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as lines:
        return [line for line in lines if not line.startswith("#")]


def leftovers(folder: Path) -> list[Path]:
    """What half-written outputs are called, wherever they lie."""
    found = (path for path in folder.rglob(".*") if ".snakemake" not in path.relative_to(folder).parts)
    return [path for path in found if re.match(r"\.[0-9a-f]{8}\.", path.name)]


@pytest.mark.timeout(300)
def test_a_simulated_cohort(cohort, run_cli):
    folder, said = cohort
    bams = [folder / "data" / sample / "reads.bam" for sample in SAMPLES]
    whole = run_cli("call", "-f", folder / "data" / "sample_1" / "reference.fa", *bams)
    expected = [f"{line}\n" for line in whole.stdout.splitlines() if not line.startswith("#")]
    assert records(folder / "calls" / "cohort.vcf.gz") == expected
    table = [line.split() for line in (folder / "accuracy.txt").read_text().splitlines()[2:]]
    assert [row[0] for row in table] == [sample for sample in SAMPLES for _ in range(3)]
    for _, kind, true, found, false, f1, *_ in table:
        assert int(true) > 2 and float(f1) >= (1 if kind == "signature" else 0.9), table
        assert kind != "signature" or (true, false) == (found, "0")
    with pysam.VariantFile(str(folder / "calls" / "cohort.vcf.gz")) as calls:
        assert list(calls.header.samples) == SAMPLES
        assert len(list(calls.fetch("chr1", 0, 24000))) > 40
    signatures = (folder / "scan" / "cohort.signatures.tsv").read_text().splitlines()
    assert signatures[0].startswith("#sample\tfile\tsignature\t") and len(signatures) == 1 + 4 * 40
    assert f"open {folder / 'report' / 'cohort.html'}" in said
    assert "A simulated cohort" in (folder / "report" / "cohort.html").read_text()
    assert list((folder / "report").rglob("*_mqc.json"))
    # MultiQC joins rows of equal names: each sample's files are called alike.
    tables = [json.loads((folder / "scan" / f"{sample}_mqc.json").read_text())["data"] for sample in SAMPLES]
    assert [list(table) for table in tables] == [[sample] for sample in SAMPLES]
    with gzip.open(folder / "calls" / "cohort.vcf.gz", "rt") as text:
        (command,) = (line for line in text if line.startswith("##pairhmmCommand="))
    assert "-R {shards/cohort/1-of-4.bed,...,shards/cohort/4-of-4.bed} " in command
    assert not leftovers(folder)


def test_real_reads_are_called_as_by_the_command(tiny, run_cli, shared_data, tmp_path):
    """Every record and every row, in the command's order."""
    data = shared_data / "na12878-chr22-tiny"
    reads = ["-f", data / "q.fa", data / "NA12878.chr22.tiny.bam"]
    whole = run_cli("call", *reads)
    assert records(tiny / "calls" / "cohort.vcf.gz") == [
        f"{line}\n" for line in whole.stdout.splitlines() if not line.startswith("#")
    ]
    passed = [line.split("\t") for line in records(tiny / "calls" / "cohort.vcf.gz") if "\tPASS\t" in line]
    assert len(passed) == 16 and [(row[1], row[3], row[4]) for row in passed if len(row[3]) > 1] == [
        ("5638", "CAT", "C"),
        ("9251", "GTTCT", "G"),
    ]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run_cli("likelihoods", *reads, "-o", tmp_path / "all.parquet").returncode == 0
    for name in ("", ".haplotypes"):
        rows = parquet.read_table(tiny / "likelihoods" / f"cohort{name}.parquet")
        assert rows.to_pydict() == parquet.read_table(tmp_path / f"all{name}.parquet").to_pydict()
    assert len(rows) > 40


def test_snakemakes_own_report_holds_ours(tiny, snakemake, tmp_path):
    page = tmp_path / "all.html"
    done = snakemake(tiny, "--configfile", str(tiny / "config.yaml"), "--report", str(page))
    assert done.returncode == 0, done.stderr
    held = page.read_text()
    assert "cohort.html" in held and "cohort.vcf.gz" in held and "Genotypes of cohort, merged from 4" in held


def jobs(text: str) -> set[str]:
    """The rules that a dry run lists."""
    return set(re.findall(r"^(?:local)?rule (\w+):", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("title=pairhmm report", set()),
        ("call_options=--min-qual 40", {"call", "gather_calls", "report"}),
        ("title=another", {"report"}),
        ("model=profile", {"likelihoods", "gather_likelihoods", "call", "gather_calls", "report"}),
    ],
)
def test_a_changed_config_reruns_what_it_touches(tiny, snakemake, setting, expected):
    done = snakemake(tiny, "--configfile", str(tiny / "config.yaml"), "--config", setting, "-n")
    assert done.returncode == 0, done.stderr
    assert jobs(done.stdout + done.stderr) - {"all"} == expected


@pytest.mark.timeout(300)
def test_the_profile_model_and_its_parameters(snakemake, real_reads, tmp_path):
    """Calls, tables and the report name them; parameters that change are used."""
    parameters = tmp_path / "own.toml"
    parameters.write_text((files("pairhmm.models") / "presets" / "normalised.toml").read_text())
    configured = [
        *real_reads(tmp_path),
        "--config",
        "model=profile",
        "parameters=own.toml",
        "call_options=--min-qual 20",
        "pieces=2",
    ]
    done = snakemake(tmp_path, *configured)
    assert done.returncode == 0, done.stderr
    with pysam.VariantFile(str(tmp_path / "calls" / "cohort.vcf.gz")) as calls:
        assert [one.value for one in calls.header.records if one.key == "pairhmmModel"] == ["profile (own.toml)"]
    assert LikelihoodTable(str(tmp_path / "likelihoods" / "cohort.parquet")).model() == "profile (own.toml)"
    parameters.write_text(parameters.read_text() + "\n# fitted again\n")
    again = snakemake(tmp_path, *configured, "-n")
    expected = {"likelihoods", "gather_likelihoods", "call", "gather_calls", "report"}
    assert jobs(again.stdout + again.stderr) - {"all"} == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ([], " "),
        (["model=profile"], " --model profile --parameters normalised "),
        (
            ["model=profile", "parameters=published", "join_mates=True", "families=MI"],
            " --parameters published --join-mates --families MI ",
        ),
    ],
)
def test_the_keys_of_the_model_are_options(tiny, snakemake, settings, expected):
    given = ["--configfile", str(tiny / "config.yaml"), "--forceall", "-n", "-p", "--config", "pieces=1", *settings]
    done = snakemake(tiny, *given)
    assert done.returncode == 0, done.stderr
    for verb in ("likelihoods", "call"):
        command = re.search(rf"pairhmm {verb} .*", done.stdout + done.stderr)[0]
        assert expected in command and ("--model" in command) == bool(settings)


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_killed_runs_are_taken_up(tiny, snakemake, real_reads, tmp_path):
    """kill -9 at three random points; then the same bytes, and nothing half-written."""
    configured = [*real_reads(tmp_path), "--nolock"]
    line = snakemake.command(tmp_path, "--cores", "2", *configured)
    given = {"env": snakemake.environment(tmp_path), "stderr": subprocess.DEVNULL, "start_new_session": True}
    logs = tmp_path / ".snakemake" / "log"
    draw = random.Random(6)
    for number in range(1, 4):
        with subprocess.Popen(line, **given) as run:
            deadline = time.monotonic() + 60
            # From when it has jobs to start.
            while not (logs.exists() and len(list(logs.iterdir())) == number) and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(draw.uniform(0.2, 2.5))
            os.killpg(run.pid, signal.SIGKILL)
    done = snakemake(tmp_path, *configured)
    assert done.returncode == 0, done.stderr
    for name in RESULTS:
        assert (tmp_path / name).read_bytes() == (tiny / name).read_bytes(), name
    assert not leftovers(tmp_path)


MISTAKES = {
    "missing_file": ([], "samples.tsv: line 2 (1): no such file: none.bam; check the path"),
    "no_model": (["model=gattk"], "config: model: 'gattk' is not one of ['gatk', 'profile']"),
    "parameters_alone": (["parameters=published"], "config: parameters: is for the profile model; add model: profile"),
    "no_parameters": (["model=profile", "parameters=wrong.toml"], "config: parameters: wrong.toml: match: missing"),
    "options": (["options=--min-mapqq 30"], "config: options: No such option '--min-mapqq'"),
    "scan_options": (["scan_options=--tiles 31"], "config: scan_options: No such option '--tiles'"),
    "file_of_options": (
        ["options=--str-model none.toml"],
        "config: options: none.toml: No such file or directory; check",
    ),
    "unknown_key": (["colour=red"], "config: Additional properties are not allowed ('colour' was unexpected)"),
    "wrong_reference": (["reference=wrong.fa"], "wrong.fa: contig q: 12356 bases in {bam} and 8 in the reference; use"),
}
"""Settings, and the line that they give."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_before_any_job(snakemake, real_reads, shared_data, tmp_path, mistake):
    configured = real_reads(tmp_path)
    bam = shared_data / "na12878-chr22-tiny" / "NA12878.chr22.tiny.bam"
    if mistake == "missing_file":
        (tmp_path / "samples.tsv").write_text("sample\talignments\n1\tnone.bam\n")
    (tmp_path / "wrong.fa").write_text(">q\nACGTACGT\n")
    (tmp_path / "wrong.fa.fai").write_text("q\t8\t3\t8\t9\n")
    (tmp_path / "wrong.toml").write_text("start = 1\n")
    settings, message = MISTAKES[mistake]
    done = snakemake(tmp_path, *configured, *(["--config", *settings] if settings else []))
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line and not line.startswith("Using workflow specific")]
    assert line.startswith(f"pairhmm: error: {message.format(bam=bam)}")
    assert not (tmp_path / "logs").exists()


def test_the_backend_follows_from_the_gpus_of_a_job(tiny, snakemake):
    """And `--resources gpu=0` takes them from all."""
    given = ["--configfile", str(tiny / "config.yaml"), "--forceall", "-n", "-p", "--set-resources", "call:gpu=2"]
    (tiny / "ploidy.txt").write_text("* * * F 1\n")
    given += ["--config", "ploidy_file=ploidy.txt"]
    for more, calls, likelihoods in (
        (["--resources", "gpu=4"], "--backend cuda --device free,free", "--backend cpu"),
        (["--resources", "gpu=0"], "--backend cpu", "--backend cpu"),
    ):
        done = snakemake(tiny, *given, *more)
        told = done.stdout + done.stderr
        for verb, options in (("call", f"--sample-ploidy 1=2 --sample-sex 1=F {calls}"), ("likelihoods", likelihoods)):
            assert f" {options} " in re.search(rf"pairhmm {verb} .*", told)[0]


def test_sexes_of_the_sheet_need_rules(tiny, snakemake):
    done = snakemake(tiny, "--configfile", str(tiny / "config.yaml"), "--forceall", "-n", "-p")
    assert "--sample-ploidy 1=2 " in done.stdout
    assert "--sample-sex" not in done.stdout


FOREIGN = """
module pairhmm:
    snakefile: "{workflow}/Snakefile"
    config: {{"samples": "sheet.tsv", "reference": "reference.fa", "joint": False, **config["pairhmm"]}}
    prefix: "imported"

rule all:
    input:
        "imported/calls/sample_1.vcf.gz",
        "wrapped/likelihoods.tsv.gz",
        "wrapped/calls.vcf.gz",
        "wrapped/hits.tsv",
        "wrapped/consensus.fa",

use rule * from pairhmm as pairhmm_*

use rule call from pairhmm as pairhmm_call with:
    threads: 2

for name in ("likelihoods", "call", "scan", "consensus"):
    module:
        name: name
        snakefile: f"{wrappers}/{{name}}/test/Snakefile"
        config: {{"wrappers": "{wrappers}"}}

use rule * from likelihoods as wrapped_*
use rule * from call as wrapped_*
use rule * from scan as wrapped_*
use rule * from consensus as wrapped_*
"""


def test_a_foreign_snakefile_uses_module_and_wrappers(cohort, snakemake, tmp_path):
    data = cohort[0] / "data"
    for name in ("reference.fa", "reference.fa.fai", "reads.bam", "reads.bam.bai"):
        (tmp_path / name).symlink_to(data / "sample_1" / name)
    for name, source in (("candidates.vcf.gz", "truth.vcf.gz"), ("reads.fastq.gz", "scan.fastq.gz")):
        (tmp_path / name).symlink_to(data / "sample_1" / source)
    (tmp_path / "signatures.fa").symlink_to(data / "signatures.fa")
    (tmp_path / "sheet.tsv").write_text("sample\talignments\nsample_1\treads.bam\n")
    (tmp_path / "primers.bed").write_text("chr1\t0\t20\ta_LEFT\t1\t+\n")
    wrappers = Path(__file__).parents[2] / "wrappers"
    if not wrappers.is_dir():
        pytest.skip("a wheel has no wrappers")
    foreign = tmp_path / "Snakefile"
    foreign.write_text(FOREIGN.format(workflow=snakemake.workflow, wrappers=wrappers))
    (tmp_path / "c.yaml").write_text("pairhmm: {pieces: 2, call_options: --no-version}\n")
    done = snakemake(tmp_path, "--configfile", str(tmp_path / "c.yaml"), snakefile=foreign)
    assert done.returncode == 0, done.stderr
    imported = tmp_path / "imported" / "calls" / "sample_1.vcf.gz"
    assert records(imported) == records(tmp_path / "wrapped" / "calls.vcf.gz")
    with gzip.open(imported, "rt") as text:
        assert "##pairhmm" not in text.read()
    assert len(records(tmp_path / "wrapped" / "likelihoods.tsv.gz")) > 100
    assert len(records(tmp_path / "wrapped" / "hits.tsv")) > 2
    assert (tmp_path / "wrapped" / "hits_mqc.json").exists()
    with pysam.FastaFile(str(tmp_path / "wrapped" / "consensus.fa")) as made:
        assert made.references == ["sample_1|chr1"]
        assert made.fetch("sample_1|chr1")[:20] == "N" * 20
