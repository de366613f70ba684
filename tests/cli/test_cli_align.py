"""`pairhmm align` as a process: pipes, messages and exit codes."""

from __future__ import annotations

import subprocess
import sys

import pytest

QUERIES = ">a\nGATTACA\n>b\nACGT\n"
TARGETS = ">x\nGATACA\n>y\nACGGT\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "q.fa").write_text(QUERIES)
    (tmp_path / "t.fa").write_text(TARGETS)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["q.fa", "t.fa"], ["a\tx\t0", "b\ty\t-2"]),
        (["q.fa", "t.fa", "--preset", "edit"], ["a\tx\t1", "b\ty\t1"]),
        (["q.fa", "t.fa", "--preset", "edit", "--match", "2"], ["a\tx\t11", "b\ty\t7"]),
        (
            ["q.fa", "t.fa", "--all", "--preset", "edit", "--mode", "semi-global"],
            ["a\tx\t1", "a\ty\t5", "b\tx\t2", "b\ty\t1"],
        ),
        (
            ["q.fa", "t.fa", "--preset", "gatk-read", "--overhang", "indel", "--cigar"],
            ["a\tx\t30\t2M1I4M\t0\t6", "b\ty\t10\t2M1D2M\t0\t5"],
        ),
    ],
)
def test_table(run_cli, folder, arguments, rows):
    done = run_cli("align", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == rows
    assert "pairhmm: backend " in done.stderr


def test_stdin(run_cli, folder):
    done = run_cli("-q", "align", "-", "t.fa", cwd=folder, input=QUERIES)
    assert done.stdout.splitlines() == ["#query\ttarget\tscore", "a\tx\t0", "b\ty\t-2"]
    done = run_cli("-q", "align", "--all", "q.fa", "-", cwd=folder, input=TARGETS)
    assert len(done.stdout.splitlines()) == 5


def test_the_header_of_sam_names_the_command(run_cli, folder):
    assert run_cli("align", "-o", "x.sam", "q.fa", "t.fa", cwd=folder).returncode == 0
    assert "\tCL:pairhmm align -o x.sam q.fa t.fa\n" in (folder / "x.sam").read_text()
    assert run_cli("align", "--no-version", "-o", "x.sam", "q.fa", "t.fa", cwd=folder).returncode == 0
    assert "@PG" not in (folder / "x.sam").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["q.fa", "none.fa"], "none.fa: No such file or directory; check the path"),
        (["q.fa", "none.fa", "-o", "x.sam"], "none.fa: No such file or directory; check the path"),
        (["q.fa", "bad.fa"], "bad.fa: record 2 (y): letter '*' at position 3 is not an IUPAC base"),
        (["q.fa", "one.fa"], "q.fa: record 2: has more sequences than one.fa, which has 1; give as many"),
        (["q.fa", "t.fa", "-o", "x.vcf"], "x.vcf: not a name for alignments"),
        (["q.fa", "t.fa", "--gap-open", "-1", "--gap-extend", "-2"], "gap_extend=-2 is below a gap's first base, -1"),
        (["q.fa", "t.fa", "--preset", "edit", "--mode", "gatk"], "match=0 is not above 0"),
        (["q.fa", "t.fa", "--overhang", "indel"], "--overhang needs --mode gatk"),
        (["q.fa", "t.fa", "--mismatch", "1"], "1 is not in the range -10000 to 0"),
        (["q.fa", "t.fa", "--backend", "reference", "--device", "0"], "reference computes on the CPU"),
    ],
)
def test_bad_input(run_cli, folder, arguments, told):
    (folder / "bad.fa").write_text(">x\nA\n>y\nAC*\n")
    (folder / "one.fa").write_text(">x\nA\n")
    before = sorted(folder.iterdir())
    done = run_cli("align", *arguments, cwd=folder)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert sorted(folder.iterdir()) == before


def test_a_reader_that_leaves_is_no_error(folder):
    command = [sys.executable, "-m", "pairhmm", "-q", "align", "--all", "many.fa", "t.fa"]
    (folder / "many.fa").write_text("".join(f">q{n}\nACGT\n" for n in range(20_000)))
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert b"error" not in process.stderr.read()
