"""`pairhmm scan` as users run it: formats and pipes; bad input ends with code 2, one line, and no output."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pysam
import pytest

SIGNATURE = "ACGTTGCANNACCAGTTRACG"
HEADER = "#file\trecord\tnumber\tsignature\tstart\tend\tstrand\tsum\tmean\tmatches\tinformative\tmismatches\tplace"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A signature, and two samples of which the second has it at 30, in every format; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    noise = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(3)]
    samples = [("a", noise[0] + noise[1]), ("b", noise[2] + SIGNATURE.replace("R", "G").replace("NN", "TC") + noise[0])]
    Path("sig.fa").write_text(f">v1\n{SIGNATURE.lower()}\n>v2\n{'C' * 30}\n")
    text = "".join(f"@{name}\n{letters}\n+\n{'I' * len(letters)}\n" for name, letters in samples)
    Path("x.fq").write_text(text)
    Path("x.fq.gz").write_bytes(gzip.compress(text.encode()))
    with pysam.BGZFile("x.fq.bgz", "wb") as out:
        out.write(text.encode())
    Path("x.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in samples))
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}})
    for name, mode in (("x.bam", "wb"), ("x.cram", "wc"), ("x.sam", "wh")):
        with pysam.AlignmentFile(name, mode, header=header) as out:
            for read_name, letters in samples:
                read = pysam.AlignedSegment(header)
                read.query_name, read.flag, read.query_sequence = read_name, 4, letters
                read.query_qualities = pysam.qualitystring_to_array("I" * len(letters))
                out.write(read)


def row(name: str) -> str:
    score = "\t\t" if name == "x.fa" else f"\t{40 * len(SIGNATURE)}\t40.000"
    return f"{name}\tb\t2\tv1\t30\t51\t+{score}\t1\t19\t0\t0"


@pytest.mark.parametrize("name", ["x.fq", "x.fq.gz", "x.fq.bgz", "x.fa", "x.bam", "x.cram", "x.sam"])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_format(files, run_cli, name, threads):
    done = run_cli("scan", "--signatures", "sig.fa", name, "-@", threads)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [HEADER, row(name)]
    assert "1 file, 2 reads, 141 bases, 1 hit" in done.stderr
    assert ("no base qualities" in done.stderr) == (name == "x.fa")


@pytest.mark.parametrize("name", ["x.fq", "x.fq.gz", "x.bam", "x.cram"])
def test_stdin(files, run_cli, name):
    with open(name, "rb") as stream:
        done = run_cli("scan", "--signatures", "sig.fa", "-", stdin=stream)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [HEADER, row("-")]


@pytest.mark.parametrize("name", ["x.fq.gz", "x.bam", "x.cram"])
def test_a_named_pipe(files, run_cli, name):
    """Its first bytes come once only."""
    os.mkfifo("pipe")
    with subprocess.Popen(f"cat {name} > pipe", shell=True):
        done = run_cli("-q", "scan", "--signatures", "sig.fa", "pipe")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [HEADER, row("pipe")]


@pytest.mark.parametrize("name", ["r.fa", "r.fq.gz"])
def test_stdin_is_cut_into_tiles_as_a_file_is(files, run_cli, name):
    """Reads over 1 MB. A FASTA record that is too long to be held in parts behind them is refused."""
    genome = "".join(random.Random(3).choices("ACGT", k=400))
    reads = "".join(f">{at}\n{genome[at % 300 : at % 300 + 100]}\n" for at in range(12_000))
    Path("genome.fa").write_text(f">virus\n{genome}\n")
    Path("r.fa").write_text(reads)
    lines = reads.split("\n")[:-1]
    fastq = "".join(
        f"@{name[1:]}\n{read}\n+\n{'I' * 100}\n" for name, read in zip(lines[::2], lines[1::2], strict=True)
    )
    Path("r.fq.gz").write_bytes(gzip.compress(fastq.encode()))
    expected = run_cli("scan", "--signatures", "genome.fa", name)
    with open(name, "rb") as stream:
        done = run_cli("scan", "--signatures", "genome.fa", "-", stdin=stream)
    assert "cut into tiles" in done.stderr and done.stdout.count("\n") == 12_001
    assert done.stdout == expected.stdout.replace(f"\n{name}\t", "\n-\t")
    if name == "r.fa":
        done = run_cli("scan", "--signatures", "genome.fa", "-", input=reads + f">long\n{genome * 9000}\n")
        assert done.returncode == 2
        assert "-: long: a record of over 1,048,576 letters behind shorter reads; give --tile 31" in done.stderr


def test_all_outputs_at_once(files, run_cli):
    options = [
        *("--summary", "sum", "--multiqc", "scan_mqc.json", "-o", "out.txt"),
        *("--assignment-format", "--strand", "forward"),
    ]
    done = run_cli("-q", "scan", "--signatures", "sig.fa", "x.fq", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert Path("out.txt").read_text() == f"b: v1 (40.000) [{40 * 81 % 97}]\n"
    assert "x.fq\tb\t1\t81\t1\tv1\t840\t40.000\n" in Path("sum.samples.tsv").read_text()
    row = "x.fq\tv1\t\t1\t\t\t\t1.0000\t1.0000\t\t\t\t21\t\t\t\t19\t1\n"
    assert row in Path("sum.signatures.tsv").read_text()
    assert '"x": {' in Path("scan_mqc.json").read_text()


@pytest.mark.parametrize(
    ("options", "hits"),
    [
        (["--min-mean", "41"], 0),
        (["--min-score", "840"], 1),
        (["--min-informative", "20"], 0),
        (["--max-mismatches", "1", "--all"], 1),
        (["--per-file", "--backend", "reference"], 1),
        (["--chunk-size", "1"], 1),
    ],
)
def test_options(files, run_cli, options, hits):
    done = run_cli("scan", "--signatures", "sig.fa", "x.fq", *options)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 + hits


CASES = {
    "no_file": (["none.fq"], "none.fq: No such file or directory; check the path"),
    "a_folder": (["."], ".: Is a directory"),
    "no_format": (["bad.txt"], "bad.txt: record 1: begins with 'h', not with > or @; give FASTA, FASTQ, BAM or CRAM"),
    "lengths": (["bad.fq"], "bad.fq: record 3 (c): 4 letters and 3 qualities; repair or remove the record"),
    "a_letter": (["bad.fa"], "bad.fa: record 2 (q): letter '*' at position 3 is not an IUPAC base"),
    "behind_a_good_one": (["x.fq", "bad.fq"], "bad.fq: record 3 (c): 4 letters and 3 qualities"),
    "a_file_twice": (["x.fq", "./x.fq"], "./x.fq: is given twice, as x.fq too; name each file once"),
    "stdin_twice": (["-", "-"], "-: stdin is named more than once"),
    "no_signature": (["x.fq", "--signatures", "none.fa"], "none.fa: No such file or directory"),
    "empty_signatures": (["x.fq", "--signatures", "empty.fa"], "empty.fa: no signature in it; give a FASTA file"),
    "a_signature_without_letters": (["x.fq", "--signatures", "bare.fa"], "bare.fa: record 2 (w): empty sequence"),
    "only_ns": (["x.fq", "--signatures", "ns.fa"], "ns.fa: every signature has fewer than 12 letters other than N"),
    "qualities_missing": (["x.fa", "--min-mean", "3"], "x.fa: its records have no qualities"),
    "no_folder": (["x.fq", "-o", "none/out.tsv"], "none: folder does not exist; choose another -o"),
    "full_disk": (["x.fq", "-o", "/dev/full"], "/dev/full: No space left on device"),
    "both_ways": (["x.fq", "--all", "--per-file"], "--per-file: a file has one hit a signature"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input(files, run_cli, case):
    Path("bad.txt").write_text("hello\n")
    Path("bad.fq").write_text(Path("x.fq").read_text() + "@c\nACGT\n+\nIII\n")
    Path("bad.fa").write_text(">p\nACGT\n>q more\nAC*T\n")
    Path("empty.fa").write_text("")
    Path("bare.fa").write_text(">v\nACGT\n>w\n>x\nACGT\n")
    Path("ns.fa").write_text(">v\nNNNNNNNNNNNNNNNNNNN\n")
    before = sorted(os.listdir())
    arguments, message = CASES[case]
    if "--signatures" not in arguments:
        arguments = [*arguments, "--signatures", "sig.fa"]
    if "-o" not in arguments:
        arguments = [*arguments, "-o", "out.tsv"]
    done = run_cli("-q", "scan", *arguments, "--summary", "sum", "--multiqc", "scan_mqc.json", stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(files, sent):
    """The run waits for more of its input when it is told to end."""
    before = sorted(os.listdir())
    command = [
        sys.executable,
        "-m",
        "pairhmm",
        "scan",
        *("--signatures", "sig.fa", "-", "-o", "out.tsv", "--summary", "sum"),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while sorted(os.listdir()) == before and time.monotonic() < deadline:
            process.stdin.write(Path("x.fq").read_text() * 100)
            process.stdin.flush()
            time.sleep(0.01)
        process.send_signal(sent)
        assert process.wait(timeout=60) == 128 + sent
        assert process.stderr.read().splitlines()[-1].endswith(("interrupted", "terminated"))
    assert sorted(os.listdir()) == before


def test_workloads_from_the_command_line(tmp_path, run_cli):
    signatures, samples, truth = tmp_path / "s.fa", tmp_path / "x.fq.gz", tmp_path / "truth.tsv"
    done = run_cli("simulate", "signatures", "--count", 30, "--min-length", 100, "--max-length", 200, "-o", signatures)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    sizes = ["--num-no-virus", 5, "--num-with-virus", 3, "--min-viruses", 2, "--max-viruses", 9]
    lengths = ["--min-length", 300, "--max-length", 900]
    done = run_cli("simulate", "samples", "--signatures", signatures, "-o", samples, "--truth", truth, *sizes, *lengths)
    assert done.returncode == 0, done.stderr
    found = run_cli("-q", "scan", "--signatures", signatures, samples)
    planted = [line.split("\t")[:2] for line in truth.read_text().splitlines()[1:]]
    assert sorted([line.split("\t")[1], line.split("\t")[3]] for line in found.stdout.splitlines()[1:]) == sorted(
        planted
    )
    done = run_cli("simulate", "signatures", "--count", 0, "-o", signatures)
    assert done.returncode == 2 and "--count: must be at least 1" in done.stderr


def test_files_of_a_sample_are_one_row_for_multiqc(files, run_cli):
    """Many samples' files may have one name: MultiQC joins rows of equal names."""
    os.mkdir("other")
    shutil.copy("x.fq", "other/x.fq")
    options = ["--multiqc", "scan_mqc.json", "--multiqc-sample", "patient_7"]
    assert run_cli("-q", "scan", "--signatures", "sig.fa", "x.fq", "other/x.fq", *options).returncode == 0
    data = json.loads(Path("scan_mqc.json").read_text())["data"]
    assert list(data) == ["patient_7"] and (data["patient_7"]["reads"], data["patient_7"]["hits"]) == (4, 2)
    done = run_cli("scan", "--signatures", "sig.fa", "x.fq", "--multiqc-sample", "patient_7")
    assert done.returncode == 2 and "--multiqc" in done.stderr


@pytest.mark.parametrize(
    "text", [">a\nACGT*\n", "@a\nACGT\n+\nII\n", "@a\nACGT\n+\n", "nothing\n", "@a\nACGT\n+\nI\x01II\n"]
)
@pytest.mark.parametrize("options", [(), ("--tile", "12"), ("--assignment-format",)])
def test_nothing_on_stdout_before_an_error_in_the_first_records(files, run_cli, text, options):
    Path("bad.fq").write_text(text)
    done = run_cli("scan", *options, "--signatures", "sig.fa", "bad.fq")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: bad.fq: " in done.stderr


def test_file_names_that_are_not_utf8(files, run_cli):
    name, signatures = os.fsdecode(b"x\xff.fq"), os.fsdecode(b"sig\xfe.fa")
    Path("x.fq").rename(name)
    Path("sig.fa").rename(signatures)
    given = ("--summary", os.fsdecode(b"s\xff"), "--multiqc", "x_mqc.json", "-o", "o.tsv", name)
    for options in (
        (),
        ("--per-file",),
        ("--tile", "16", "--min-informative", "8", "--candidates", os.fsdecode(b"c\xff")),
    ):
        done = run_cli("scan", *options, "--signatures", signatures, *given)
        assert done.returncode == 0, done.stderr
        for path in ("o.tsv", os.fsdecode(b"s\xff.samples.tsv")):
            rows = Path(path).read_text(encoding="utf-8").splitlines()[1:]
            assert rows and all(row.startswith("x\ufffd.fq\t") for row in rows)
        assert list(json.loads(Path("x_mqc.json").read_text())["data"]) == ["x\ufffd"]
    seen = Path(os.fsdecode(b"s\xff.signatures.tsv")).read_text(encoding="utf-8")
    assert seen.splitlines()[1].startswith("x\ufffd.fq\t")
    shutil.copy(name, os.fsdecode(b"x\xfe.fq"))
    done = run_cli("scan", "--signatures", signatures, name, os.fsdecode(b"x\xfe.fq"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not UTF-8, and reads as the name of another file does; rename the file" in done.stderr
    done = run_cli("map", "sketch", "-o", "k.sketches", name, "x.fa")
    assert done.returncode == 0, done.stderr
    done = run_cli("map", "distances", "k.sketches")
    assert done.stdout.splitlines()[1].startswith("x\ufffd\tx\t"), done.stderr
