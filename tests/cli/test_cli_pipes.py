"""Inputs that come through pipes are read once, or refused in one line: nothing waits for ever."""

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pysam
import pysam.bcftools
import pytest

CALL = ("call", "--no-version", "-f", "reference.fa")
FIT = ("fit", "-f", "reference.fa", "--max-reads", 200, "reads.bam")
SCAN = ("scan", "--signatures", "signature.fa")


@pytest.fixture(scope="module")
def demo(tmp_path_factory, run_cli):
    folder = tmp_path_factory.mktemp("pipes") / "demo"
    assert run_cli("simulate", "-o", folder, "--length", 20_000).returncode == 0
    pysam.bcftools.view("-o", str(folder / "truth.vcf"), str(folder / "truth.vcf.gz"), catch_stdout=False)
    pysam.bcftools.view("-Ob", "-o", str(folder / "truth.bcf"), str(folder / "truth.vcf.gz"), catch_stdout=False)
    (folder / "places.bed").write_text("chr1\t3000\t9000\nchr1\t12000\t15000\n")
    with pysam.FastaFile(str(folder / "reference.fa")) as fasta:
        (folder / "signature.fa").write_text(f">s\n{fasta.fetch('chr1', 100, 180)}\n")
    made = ("--write-model", "model.tsv", "-o", "signals.tsv", "--reads", "3")
    assert run_cli("simulate", "signal", "--signatures", "signature.fa", *made, cwd=folder).returncode == 0
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
        # Whoever did not read leaves the writer waiting for a reader, whose end lets go of it.
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        thread.join(5)
        assert not thread.is_alive()


# What comes through the pipe, and the command; FILE is the pipe. A fit looks for its windows before it reads.
READ_ONCE = [
    *((name, (*CALL, "-v", "FILE", "reads.bam")) for name in ("truth.vcf", "truth.vcf.gz", "truth.bcf")),
    ("places.bed", (*CALL, "-R", "FILE", "reads.bam")),
    ("places.bed", (*FIT, "-R", "FILE")),
    ("reads.bam", (*CALL, "FILE")),
    ("reads.bam", (*CALL, "-v", "truth.vcf.gz", "FILE")),
    *((name, (*SCAN, "FILE")) for name in ("reads_1.fastq.gz", "reads.bam", "reference.fa")),
    ("signals.tsv", ("warp", "signals.tsv", "FILE")),
]
TO_A_FILE = "write it to a file"
REFUSED = [
    ("reference.fa", (*CALL, "-v", "FILE", "reads.bam"), "pipe: line 1: not a VCF file"),
    (
        *("reads.bam", (*CALL, "-r", "chr1:1-1000", "FILE")),
        f"pipe: is a pipe, and reads of regions are found through an index; {TO_A_FILE}",
    ),
    (
        *("reference.fa", ("call", "-f", "FILE", "reads.bam")),
        f"pipe: is a pipe, and a reference is read wherever reads are; {TO_A_FILE}",
    ),
    (
        *("truth.vcf", ("report", "-f", "reference.fa", "--likelihoods", "FILE", "-o", "x.html")),
        f"pipe: is a pipe, and its companion is found by its name; {TO_A_FILE}",
    ),
    *(
        (name, ("gather", "-o", output, "FILE"), f"pipe: is a pipe, and is read more than once; {TO_A_FILE} first")
        for name, output in (("truth.vcf", "x.vcf"), ("truth.vcf.gz", "x.bcf"), ("truth.vcf", "x.tsv"))
    ),
    ("truth.vcf", (*CALL, "-v", "FILE", "--ploidy-file", "FILE", "reads.bam"), "pipe"),
]


def given(arguments, path):
    return [path if argument == "FILE" else argument for argument in arguments]


@pytest.mark.parametrize(
    ("name", "arguments"), READ_ONCE, ids=lambda value: value if isinstance(value, str) else value[0]
)
def test_a_pipe_is_read_as_its_file(demo, run_cli, fifo, name, arguments):
    # Reads of a pipe do not show the errors of their library first.
    alone = ("--no-stutter",) if arguments[0] == "call" and name == "reads.bam" else ()
    expected = run_cli(*given(arguments, name), *alone, cwd=demo)
    assert expected.returncode == 0 and len(expected.stdout.splitlines()) > 1, expected.stderr
    pipe = fifo(demo / name)
    done = run_cli(*given(arguments, pipe), cwd=demo, timeout=60)
    assert (done.returncode, done.stdout.replace(str(pipe), name)) == (0, expected.stdout), done.stderr
    told = f"{pipe} is read once, so that no reads are looked at first for the errors of the library; give a file\n"
    assert (told in done.stderr) == bool(alone)


@pytest.mark.parametrize(
    ("name", "arguments", "message"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_read_more_than_once_is_refused(demo, run_cli, fifo, name, arguments, message):
    before = sorted(os.listdir(demo))
    done = run_cli("-q", *given(arguments, fifo(demo / name)), cwd=demo, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
    assert sorted(os.listdir(demo)) == before


def test_candidates_of_a_shell(demo, run_cli):
    expected = run_cli(*CALL, "-v", "truth.vcf", "reads.bam", cwd=demo)
    command = f"{sys.executable} -m pairhmm call --no-version -f reference.fa -v <(cat truth.vcf) reads.bam"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False, cwd=demo)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


@pytest.mark.parametrize(("option", "name", "stdin"), [("-R", "places.bed", "-"), ("-v", "truth.vcf", "/dev/stdin")])
def test_stdin(demo, run_cli, option, name, stdin):
    expected = run_cli(*CALL, option, name, "reads.bam", cwd=demo)
    text = (demo / name).read_text()
    done = run_cli(*CALL, option, stdin, "reads.bam", cwd=demo, input=text, timeout=60)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


def test_shards_on_stdin(demo, run_cli, tmp_path):
    done = run_cli("gather", "-o", tmp_path / "x.vcf", "-", input=(demo / "truth.vcf").read_text(), timeout=60)
    assert done.returncode == 2
    assert done.stderr == "pairhmm: error: -: is stdin, and is read more than once; write it to a file first\n"
