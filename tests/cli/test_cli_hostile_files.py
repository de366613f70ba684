"""Files and options that no program wrote on purpose: one line and code 2, no traceback, nothing of htslib's."""

import os
import sys
from pathlib import Path

import pysam
import pytest

from tests.cli.reads import ALT, HEAD, LENGTH, LETTERS, REF, SITE, reads, record, write_bam, write_reference


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """ref.fa and good.bam; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    write_reference("ref.fa")
    write_bam("good.bam", reads())


def first_block():
    data = bytearray(Path("good.bam").read_bytes())
    data[18:40] = bytes(22)
    Path("bad.bam").write_bytes(data)


GROUPS = HEAD + b"@RG\tID:a\tSM:x\n@RG\tID:b\tSM:y\n"
TWICE = ((b"q", LENGTH),) * 2
CASES = {
    f"a read at q:{SITE - 59}: its name is not text": (
        [*reads()[:3], record(b"r\xff\xfe", SITE - 60), *reads()[10:]],
        HEAD,
    ),
    "read r0: its read group is not text": (reads(tags=b"RGZa\xff\xfe\0"), GROUPS),
    "a read group (@RG) of its header has no ID": (reads(), HEAD + b"@RG\tSM:x\n"),
    "its header is not UTF-8": (reads(), HEAD + b"@RG\tID:a\tSM:x\xff\n"),
    "header is not UTF-8": (reads(), HEAD + b"@CO\t\xfe\xff\n"),
    "is not UTF-8": (reads(), b"@HD\tVN:1.6\n@SQ\tSN:q\xff\tLN:3000\n", ((b"q\xff", LENGTH),)),
    "its header has a contig (@SQ) twice": (reads(), HEAD + b"@SQ\tSN:q\tLN:3000\n", TWICE),
    "header has a contig (@SQ) twice": (reads(), b"@HD\tVN:1.6\n", TWICE),
    "read r0: a base quality of 200, the highest is 127": (reads(quality=200), HEAD),
    "not a BAM or CRAM file, or damaged at its beginning": None,
}


def one_line(done, message):
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.startswith("pairhmm: error: ")
    assert done.stderr.count("\n") == 1
    assert not list(Path().glob("out*"))


@pytest.mark.parametrize("message", CASES)
def test_alignments(run_cli, message):
    write_bam("bad.bam", *CASES[message]) if CASES[message] else first_block()
    done = run_cli("-q", "call", "-f", "ref.fa", "-o", "out.vcf", "--no-cap-by-mapq", "bad.bam")
    one_line(done, message)
    assert done.stderr.startswith("pairhmm: error: bad.bam: ")


def test_a_letter_of_the_reference(run_cli):
    write_reference("bad.fa", q=f"{LETTERS[:SITE]}!{LETTERS[SITE + 1 :]}")
    message = f"bad.fa: contig q: letter '!' at position {SITE + 1} is not an IUPAC base; is it a FASTA of DNA?"
    one_line(run_cli("-q", "call", "-f", "bad.fa", "-o", "out.vcf", "good.bam"), message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-f", "good.bam", "ref.fa"], "good.bam: is a BAM file, no FASTA; give the reference FASTA with -f"),
        (["-f", "x.sam", "good.bam"], "x.sam: is a SAM file, no FASTA"),
        (["-f", "x.vcf", "good.bam"], "x.vcf: is a VCF, no FASTA"),
    ],
)
def test_another_file_in_the_references_place(run_cli, arguments, message):
    Path("x.sam").write_bytes(HEAD)
    Path("x.vcf").write_text("##fileformat=VCFv4.2\n")
    before = sorted(os.listdir())
    one_line(run_cli("-q", "call", *arguments, "-o", "out.vcf"), message)
    assert sorted(os.listdir()) == before


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-r", f"q:{DIGITS}"], "-r: q:9999"),
        (["-r", f"q:1-{DIGITS}"], "not an interval; write chr:begin-end"),
        (["-R", "bad.bed"], "bad.bed: line 1: not `chrom start end`"),
        (["-v", "bad.vcf"], "bad.vcf: line 2: not a VCF record"),
    ],
)
def test_positions_of_thousands_of_digits(run_cli, arguments, message):
    Path("bad.bed").write_text(f"q\t1\t{DIGITS}\n")
    Path("bad.vcf").write_text(f"##fileformat=VCFv4.2\nq\t{DIGITS}\t.\tA\tC\t.\t.\t.\n")
    pysam.index("good.bam")
    done = run_cli("-q", "call", "-f", "ref.fa", "-o", "out.vcf", *arguments, "good.bam")
    one_line(done, message)
    assert len(done.stderr) < 300


TAKES = {"call": ("-f", "ref.fa", "good.bam"), "scan": ("--signatures", "ref.fa", "ref.fa"), "validate": ("ref.fa",)}


@pytest.mark.parametrize(
    ("verb", "option", "values"),
    [
        ("call", "-@", ["4294967296", DIGITS, "0"]),
        ("call", "--min-qual", ["nan", "inf", DIGITS]),
        ("call", "--exclude-flags", ["-1", "0x10000", DIGITS]),
        ("call", "--flank", ["9" * 30]),
        ("call", "--device", [DIGITS]),
        ("call", "--device-memory", [DIGITS]),
        ("call", "--sample-ploidy", [f"x={DIGITS}"]),
        ("scan", "--min-mean", ["1e300"]),
        ("validate", "--tolerance", ["nan"]),
    ],
)
def test_numbers_of_options(run_cli, verb, option, values):
    """A line at the end names the option; what the parser of options refuses comes with the usage before it."""
    for value in values:
        done = run_cli("-q", verb, option, value, *TAKES[verb], timeout=60)
        assert (done.returncode, done.stdout) == (2, "")
        assert option in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr and "defect" not in done.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system has names of UTF-8 only")
@pytest.mark.parametrize("output", [b"out\xff.vcf", b"out\xff.vcf.gz", b"out\xff.bcf"])
def test_names_that_are_not_utf_8(run_cli, output):
    output = os.fsdecode(output)
    paths = {name: os.fsdecode(name) for name in (b"m\xff.bam", b"m\xff.fa", b"m\xff.vcf")}
    Path(paths[b"m\xff.bam"]).write_bytes(Path("good.bam").read_bytes())
    Path(paths[b"m\xff.fa"]).write_bytes(Path("ref.fa").read_bytes())
    Path(paths[b"m\xff.vcf"]).write_text(f"##fileformat=VCFv4.2\nq\t{SITE + 1}\t.\t{REF}\t{ALT}\t.\t.\t.\n")
    given = ["-f", paths[b"m\xff.fa"], "-v", paths[b"m\xff.vcf"], "-o", output, paths[b"m\xff.bam"]]
    done = run_cli("-q", "call", *given, errors="replace")
    assert done.returncode == 0, done.stderr
    with pysam.VariantFile(output) as calls:
        assert list(calls.header.samples) == ["m\N{REPLACEMENT CHARACTER}"]
        assert len(list(calls)) == 1
    missing = run_cli("-q", "call", "-f", "ref.fa", os.fsdecode(b"none\xff.bam"))
    one_line_start = "pairhmm: error: none\N{REPLACEMENT CHARACTER}.bam: no such file"
    assert (missing.returncode, missing.stderr.startswith(one_line_start)) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "output", "message"),
    [
        (("call", "-f", "ref.fa", "good.bam"), "out.txt", "not a name for calls; end it in .vcf, .vcf.gz or .bcf"),
        (("call", "-f", "ref.fa", "good.bam"), "out.gz", "not a name for calls"),
        (("call", "-f", "ref.fa", "good.bam"), "none/", "is a folder; name a file"),
        (
            ("likelihoods", "-f", "ref.fa", "good.bam"),
            "out.csv",
            "not a name for tables; end it in .tsv, .tsv.gz, .gz or",
        ),
        (("forward", "--default-base-quality", 30, "ref.fa", "ref.fa"), "out.csv", "not a name for tables of scores"),
        (
            ("scan", "--signatures", "ref.fa", "ref.fa"),
            "out.tsv.gz.txt",
            "not a name for tables of hits; end it in .tsv",
        ),
        (("fit", "-f", "ref.fa", "good.bam"), "out.bam", "not a name for parameters; end it in .toml"),
        (("calibrate-str", "-f", "ref.fa", "good.bam"), "out.bam", "not a name for STR models; end it in .toml"),
        (
            ("consensus", "-f", "ref.fa", "-b", "good.bam", "x.vcf"),
            "out.fa.gz",
            "not a name for consensus sequences; end it in .fa, .fasta, .fna or .fas",
        ),
        (("gather", "x.tsv"), "out.csv", "not a name for tables; end it in .tsv"),
    ],
)
def test_outputs_of_another_name(run_cli, arguments, output, message):
    Path("x.tsv").write_text("#a\tb\n1\t2\n")
    one_line(run_cli("-q", *arguments, "-o", output), f"{output}: {message}")


@pytest.mark.parametrize("output", ["calls", "/dev/null", "out.vcf"])
def test_outputs_that_are_taken(run_cli, output):
    done = run_cli("-q", "call", "-f", "ref.fa", "-o", output, "good.bam")
    assert done.returncode == 0, done.stderr


def test_regions_of_stdin(run_cli):
    with open("good.bam", "rb") as stream:
        done = run_cli("-q", "call", "-f", "ref.fa", "-o", "out.vcf", "-r", "q", "-", stdin=stream)
    one_line(done, "-: stdin has no index, which regions need; give a file, or leave regions out")


@pytest.mark.parametrize(
    ("given", "meant"), [("liklihoods", "likelihoods"), ("calls", "call"), ("scater", "scatter"), ("xyz", None)]
)
def test_a_command_that_is_nearly_one(run_cli, given, meant):
    done = run_cli(given)
    assert done.returncode == 2
    assert f"No such command '{given}'." in done.stderr
    assert ("Did you mean" in done.stderr) == (meant is not None)
    assert meant is None or f"Did you mean '{meant}'?" in done.stderr
