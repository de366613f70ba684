"""`pairhmm align` as a process: pipes, messages and exit codes."""

import os
import subprocess
import sys

import pysam
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
        (["q.fa", "t.fa"], ["a\tx\t0\t.\t.\t.", "b\ty\t-2\t.\t.\t."]),
        (["q.fa", "t.fa", "--preset", "edit"], ["a\tx\t1\t.\t.\t.", "b\ty\t1\t.\t.\t."]),
        (["q.fa", "t.fa", "--preset", "edit", "--match", "2"], ["a\tx\t11\t.\t.\t.", "b\ty\t7\t.\t.\t."]),
        (
            ["q.fa", "t.fa", "--all", "--preset", "edit", "--mode", "semi-global"],
            [f"{pair}\t.\t.\t." for pair in ("a\tx\t1", "a\ty\t5", "b\tx\t2", "b\ty\t1")],
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
    assert done.stdout.splitlines()[1:] == ["a\tx\t0\t.\t.\t.", "b\ty\t-2\t.\t.\t."]
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


LONG, LONGEST = "x" * 255, "x" * 254


@pytest.mark.parametrize(
    ("query", "target", "output", "told"),
    [
        (
            "@x",
            "t",
            "o.sam",
            "q.fa: record 1 (@x): a name of a query in SAM has at most 254 characters, of ASCII, and no",
        ),
        ("a@x", "t", "o.bam", "q.fa: record 1 (a@x): a name of a query in SAM"),
        (LONG, "t", "o.sam", f"q.fa: record 1 ({'x' * 60}...): a name of a query in SAM"),
        ("é", "t", "o.sam", "q.fa: record 1 (é): a name of a query in SAM"),
        ("*", "t", "o.sam", "q.fa: record 1 (*): SAM reads this name as none; rename it, or write TSV or PAF"),
        ("q", "*", "o.sam", "t.fa: record 1 (*): a name of a sequence in SAM and VCF does not begin with * or ="),
        ("q", "=", "o.bam", "t.fa: record 1 (=): a name of a sequence in SAM"),
        ("q", "*a", "o.sam", "t.fa: record 1 (*a): a name of a sequence in SAM"),
        ("q", "a,b", "o.sam", "t.fa: record 1 (a,b): a name of a sequence in SAM"),
        ("q", "a<b>", "o.bam", "t.fa: record 1 (a<b>): a name of a sequence in SAM"),
        ("q", "é", "o.sam", "t.fa: record 1 (é): a name of a sequence in SAM"),
        ("q", "*", "o.paf", "t.fa: record 1 (*): PAF reads this name as none; rename it, or write TSV"),
        ("#q", "t", "o.tsv", "q.fa: record 1 (#q): a row that begins with # is a comment in a table; rename it"),
        ("#q", "t", "-", "q.fa: record 1 (#q): a row that begins with # is a comment in a table; rename it"),
    ],
)
@pytest.mark.parametrize("every", [(), ("--all",)])
def test_names_that_a_format_can_not_hold(run_cli, folder, query, target, output, told, every):
    (folder / "q.fa").write_text(f">{query}\nACGTACGTAA\n")
    (folder / "t.fa").write_text(f">{target}\nACGTACGTAA\n")
    before = sorted(folder.iterdir())
    done = run_cli("align", *every, "-o", output, "q.fa", "t.fa", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(folder.iterdir()) == before


def test_names_that_formats_can_hold(run_cli, folder):
    names = [LONGEST, "a*=", "!#$%&'()+,-./:;<=>?[]^_`{|}~", ""]
    (folder / "q.fa").write_text("".join(f">{name}\nACGTACGTAA\n" for name in names))
    targets = ["a*=", "!#$%&+./:;?^_|~-@", "1", "é"]
    (folder / "t.fa").write_text("".join(f">{name}\nACGTACGTAA\n" for name in targets[:3]))
    for output in ("o.sam", "o.bam"):
        done = run_cli("-q", "align", "--all", "-o", output, "q.fa", "t.fa", cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        with pysam.AlignmentFile(str(folder / output)) as records:
            assert list(records.references) == targets[:3]
            read = [(record.query_name or "", record.reference_name) for record in records]
        assert read == [(name or "*", target) for name in names for target in targets[:3]]
    (folder / "t.fa").write_text("".join(f">{name}\nACGTACGTAA\n" for name in targets))
    done = run_cli("-q", "align", "-o", "-", "q.fa", "t.fa", cwd=folder, encoding="utf-8")
    assert [tuple(line.split("\t")[:2]) for line in done.stdout.splitlines()[1:]] == list(
        zip(names, targets, strict=True)
    )


def test_a_reader_that_leaves_is_no_error(folder):
    command = [sys.executable, "-m", "pairhmm", "-q", "align", "--all", "many.fa", "t.fa"]
    (folder / "many.fa").write_text("".join(f">q{n}\nACGT\n" for n in range(20_000)))
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert b"error" not in process.stderr.read()


def test_file_names_that_are_not_utf8(run_cli, folder):
    queries, targets = os.fsdecode(b"q\xff.fa"), os.fsdecode(b"t\xfe.fa")
    (folder / "q.fa").rename(folder / queries)
    (folder / "t.fa").rename(folder / targets)
    for output in (b"o\xff.tsv", b"o\xff.paf.gz", b"o\xff.sam", b"o\xff.bam"):
        done = run_cli("-q", "align", "-o", os.fsdecode(output), queries, targets, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
    assert "\tCL:pairhmm -q align -o " in (folder / os.fsdecode(b"o\xff.sam")).read_text(encoding="utf-8")
