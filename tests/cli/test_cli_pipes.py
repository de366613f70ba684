"""Inputs that come through pipes are read once, or refused in one line: nothing waits for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pysam
import pysam.bcftools
import pytest


@pytest.fixture(scope="module")
def demo(tmp_path_factory, run_cli):
    folder = tmp_path_factory.mktemp("pipes") / "demo"
    assert run_cli("simulate", "-o", folder, "--length", 20_000).returncode == 0
    pysam.bcftools.view("-o", str(folder / "truth.vcf"), str(folder / "truth.vcf.gz"), catch_stdout=False)
    pysam.bcftools.view("-Ob", "-o", str(folder / "truth.bcf"), str(folder / "truth.vcf.gz"), catch_stdout=False)
    return folder


@pytest.fixture
def fifo(tmp_path):
    """``fifo(path)``: a named pipe that gives what is in a file, once."""
    writers = []

    def make(source):
        path = tmp_path / "pipe"
        os.mkfifo(path)

        def write():
            with suppress(BrokenPipeError):
                path.write_bytes(source.read_bytes())

        writers.append((path, threading.Thread(target=write, daemon=True)))
        writers[-1][1].start()
        return path

    yield make
    for path, thread in writers:
        # Whoever did not read leaves the writer waiting for a reader.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        thread.join(5)
        os.close(descriptor)


def call(run_cli, demo, *arguments):
    return run_cli("call", "--no-version", "-f", demo / "reference.fa", *arguments, timeout=60)


@pytest.mark.parametrize("name", ["truth.vcf", "truth.vcf.gz", "truth.bcf"])
def test_candidates(demo, run_cli, fifo, name):
    expected = call(run_cli, demo, "-v", demo / name, demo / "reads.bam")
    assert len(expected.stdout.splitlines()) > 20
    done = call(run_cli, demo, "-v", fifo(demo / name), demo / "reads.bam")
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


def test_candidates_of_a_shell(demo, run_cli):
    expected = call(run_cli, demo, "-v", demo / "truth.vcf", demo / "reads.bam")
    command = f"{sys.executable} -m pairhmm call --no-version -f {demo}/reference.fa -v <(cat truth.vcf) reads.bam"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False, cwd=demo)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


@pytest.fixture
def bed(tmp_path):
    path = tmp_path / "places.bed"
    path.write_text("chr1\t3000\t9000\nchr1\t12000\t15000\n")
    return path


def test_regions(demo, run_cli, fifo, bed):
    expected = call(run_cli, demo, "-R", bed, demo / "reads.bam")
    assert len(expected.stdout.splitlines()) > 20
    done = call(run_cli, demo, "-R", fifo(bed), demo / "reads.bam")
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr
    arguments = ["call", "--no-version", "-f", demo / "reference.fa", "-R", "-", demo / "reads.bam"]
    with open(bed) as stream:
        done = run_cli(*arguments, stdin=stream)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


def test_a_fit_over_regions_of_a_pipe(demo, run_cli, fifo, bed):
    """A fit looks for its windows before it reads."""
    arguments = ["fit", "-f", demo / "reference.fa", "--max-reads", 200, demo / "reads.bam"]
    expected = run_cli(*arguments, "-R", bed)
    assert expected.returncode == 0, expected.stderr
    done = run_cli(*arguments, "-R", fifo(bed), timeout=60)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


def test_a_pipe_that_is_no_vcf_is_named(demo, run_cli, fifo):
    pipe = fifo(demo / "reference.fa")
    done = call(run_cli, demo, "-v", pipe, demo / "reads.bam")
    assert done.returncode == 2
    assert f"{pipe}: line 1: not a VCF file" in done.stderr


@pytest.mark.parametrize("candidates", [(), ("-v", "truth.vcf.gz")])
def test_alignments(demo, run_cli, fifo, candidates):
    options = tuple(demo / one if one.startswith("truth") else one for one in candidates)
    expected = call(run_cli, demo, *options, demo / "reads.bam")
    done = call(run_cli, demo, *options, fifo(demo / "reads.bam"))
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


@pytest.mark.parametrize("name", ["reads_1.fastq.gz", "reads.bam", "reference.fa"])
def test_samples(demo, run_cli, fifo, name):
    signature = demo / "signature.fa"
    with pysam.FastaFile(str(demo / "reference.fa")) as fasta:
        signature.write_text(f">s\n{fasta.fetch('chr1', 100, 160)}\n")
    expected, done = (
        run_cli("scan", "--signatures", signature, path, timeout=60) for path in (demo / name, fifo(demo / name))
    )
    rows = [[line.split("\t")[1:] for line in one.stdout.splitlines()] for one in (expected, done)]
    assert len(rows[0]) > 1
    assert (done.returncode, rows[1]) == (0, rows[0]), done.stderr


def test_regions_of_a_pipe(demo, run_cli, fifo):
    done = call(run_cli, demo, "-r", "chr1:1-1000", fifo(demo / "reads.bam"))
    assert done.returncode == 2
    assert "pipe: is a pipe, and reads of regions are found through an index; write it to a file" in done.stderr


def test_a_reference_that_is_a_pipe(demo, run_cli, fifo):
    done = run_cli("call", "-f", fifo(demo / "reference.fa"), demo / "reads.bam", timeout=60)
    assert done.returncode == 2
    assert "pipe: is a pipe, and a reference is read wherever reads are; write it to a file" in done.stderr


def test_likelihoods_that_are_a_pipe(demo, run_cli, fifo, tmp_path):
    options = ("-f", demo / "reference.fa", "--likelihoods", fifo(demo / "truth.vcf"), "-o", tmp_path / "x.html")
    done = run_cli("report", *options, timeout=60)
    assert done.returncode == 2
    assert "pipe: is a pipe, and its companion is found by its name; write it to a file" in done.stderr


@pytest.mark.parametrize(
    ("name", "output"), [("truth.vcf", "x.vcf"), ("truth.vcf.gz", "x.bcf"), ("truth.vcf", "x.tsv")]
)
def test_pieces_are_read_more_than_once(demo, run_cli, fifo, tmp_path, name, output):
    pipe = fifo(demo / name)
    done = run_cli("gather", "-o", tmp_path / output, pipe, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"pairhmm: error: {pipe}: is a pipe, and is read more than once; write it to a file first\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe"]


def test_pieces_on_stdin(demo, run_cli, tmp_path):
    done = run_cli("gather", "-o", tmp_path / "x.vcf", "-", input=(demo / "truth.vcf").read_text(), timeout=60)
    assert done.returncode == 2
    assert done.stderr == "pairhmm: error: -: is stdin, and is read more than once; write it to a file first\n"


def test_a_pipe_that_two_options_name(demo, run_cli, fifo):
    pipe = fifo(demo / "truth.vcf")
    done = call(run_cli, demo, "-v", pipe, "--ploidy-file", pipe, demo / "reads.bam")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_signals(demo, run_cli, fifo, tmp_path):
    signature, signals = tmp_path / "signature.fa", tmp_path / "signals.tsv"
    signature.write_text(">s\n" + "ACGTTGCAACGGTACT" * 5 + "\n")
    made = ("--write-model", tmp_path / "model.tsv", "-o", signals, "--reads", "3")
    assert run_cli("simulate", "signal", "--signatures", signature, *made).returncode == 0
    expected = run_cli("warp", signals, signals)
    done = run_cli("warp", signals, fifo(signals), timeout=60)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


def test_stdin_by_its_path(demo, run_cli):
    options = ("call", "--no-version", "-f", demo / "reference.fa", demo / "reads.bam", "-v")
    expected = run_cli(*options, demo / "truth.vcf")
    done = run_cli(*options, "/dev/stdin", input=(demo / "truth.vcf").read_text(), timeout=60)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr
