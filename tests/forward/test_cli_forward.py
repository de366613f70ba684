"""`pairhmm forward` through its command line."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pysam
import pytest

import pairhmm

READS = "@r1\nACGTACGTAC\n+\nIIIIIIIIII\n@r2\nacgtnn\n+\n555555\n"
HAPLOTYPES = ">h1\nTTACGTACGTACTT\n>h2\nACG\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "reads.fq").write_text(READS)
    (tmp_path / "haps.fa").write_text(HAPLOTYPES)
    return tmp_path


def table(text):
    return [line.split("\t") for line in text.splitlines()]


def test_scores_are_the_librarys(files, run_cli):
    done = run_cli("-q", "forward", files / "reads.fq", files / "haps.fa")
    assert (done.returncode, done.stderr) == (0, "")
    reads = [pairhmm.make_read("ACGTACGTAC", [40] * 10), pairhmm.make_read("acgtnn", [20] * 6)]
    expected = pairhmm.forward(reads, ["TTACGTACGTACTT", "ACG"], backend="reference")
    rows = table(done.stdout)
    assert rows[0] == ["#group", "read", "haplotype", "log10_likelihood", "precision"]
    assert [row[1:3] for row in rows[1:]] == [["r1", "h1"], ["r1", "h2"], ["r2", "h1"], ["r2", "h2"]]
    scores = np.array([float(row[3]) for row in rows[1:]])
    assert np.abs(scores - expected.reshape(-1)).max() <= 2e-6, "a read longer than its haplotype works too"


def test_in_file_to_a_file(shared_data, tmp_path, run_cli):
    output = tmp_path / "scores.tsv"
    done = run_cli("forward", shared_data / "10s.in", "-o", output, "-@", 2)
    assert done.returncode == 0
    assert "backend cpu" in done.stderr, "auto says what it took"
    assert len(table(output.read_text())) == 3550 + 1


@pytest.mark.parametrize("model", ["gatk", "profile"])
def test_ambiguous_letters(files, run_cli, model):
    """For GATK's model they are N; the profile model spreads them over their bases."""
    (files / "reads.fq").write_text("".join(f"@{name}\nACGT{name}CGTAC\n+\nIIII5IIIII\n" for name in "NRYACGT"))
    done = run_cli("-q", "forward", "--model", model, files / "reads.fq", files / "haps.fa")
    scores = {name: 10 ** float(score) for _, name, haplotype, score, _ in table(done.stdout)[1:] if haplotype == "h1"}
    if model == "gatk":
        assert scores["R"] == scores["Y"] == scores["N"]
    else:
        assert scores["R"] == pytest.approx((scores["A"] + scores["G"]) / 2, rel=1e-5)
        assert scores["Y"] == pytest.approx((scores["C"] + scores["T"]) / 2, rel=1e-5)


def test_profile(files, run_cli):
    (files / "x.profile").write_text(">p1\n1 0 0 0\n0 1 0 0\n.1 .1 .7 .1\n")
    done = run_cli("-q", "forward", "--model", "profile", files / "x.profile", files / "haps.fa")
    assert done.returncode == 0
    assert [row[1] for row in table(done.stdout)[1:]] == ["p1", "p1"]
    rows = ("1\t1\t0\t0\t0", "2\t0\t1\t0\t0", "3\t.1\t.1\t.7\t.1")
    (files / "x.tsv").write_text("\n".join(("name\tposition\tA\tC\tG\tT", *(f"p1\t{row}" for row in rows))))
    same = run_cli("-q", "forward", "--model", "profile", files / "x.tsv", files / "haps.fa")
    assert (same.returncode, same.stdout) == (0, done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.fq", "haps.fa"], "none.fq: No such file or directory"),
        (["reads.fq"], "there are no haplotypes to score against"),
        (["haps.fa", "haps.fa"], "haps.fa: h1: no base qualities; give FASTQ, or set --default-base-quality"),
        (["bad.fa", "haps.fa"], "bad.fa: x: letter '!' at position 2"),
        (["reads.bam", "haps.fa"], "reads.bam: is BAM or CRAM; give FASTA or FASTQ, as samtools fastq makes it"),
        (["bad.profile", "haps.fa", "--model", "profile"], "bad.profile: p: row 1 sums to 2 instead of 1"),
        (["reads.fq", "haps.fa", "--model", "profile", "--parameters", "bad.toml"], "bad.toml: colour: unknown key"),
        (["x.profile", "haps.fa"], "add --model profile"),
        (["x.tsv", "haps.fa"], "x.tsv: a profile needs the profile model; add --model profile"),
    ],
)
def test_bad_input_is_one_line_and_code_2(files, run_cli, arguments, message):
    (files / "bad.fa").write_text(">x\nA!\n")
    pysam.AlignmentFile(files / "reads.bam", "wb", reference_names=["q"], reference_lengths=[9]).close()
    (files / "bad.profile").write_text(">p\n1 1 0 0\n")
    (files / "x.profile").write_text(">p\n1 0 0 0\n")
    (files / "bad.toml").write_text('colour = "red"\n')
    done = run_cli("-q", "forward", *arguments, cwd=files)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""


def test_ctrl_c_while_the_input_is_waited_for(tmp_path):
    pipe, output = tmp_path / "x.in", tmp_path / "out" / "scores.tsv"
    output.parent.mkdir()
    os.mkfifo(pipe)
    # A shell's background jobs ignore Ctrl-C and pass that on: not this one.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-m", "pairhmm", "forward", str(pipe), "-o", str(output)]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed) as process,
        open(pipe, "w") as text,
    ):
        text.write("1 1\nAC II II II II\n")
        text.flush()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        try:
            _, told = process.communicate(timeout=10)
        finally:
            process.kill()
    assert process.returncode == 128 + signal.SIGINT
    assert told.splitlines()[-1] == "pairhmm: error: interrupted"
    assert os.listdir(output.parent) == []
