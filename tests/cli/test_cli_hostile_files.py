"""Files and options that no program wrote on purpose: one line and code 2, no traceback, nothing of htslib's."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pysam
import pytest

LENGTH, READ, SITE = 3000, 100, 450
END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
HEAD = b"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:3000\n"
GROUPS = HEAD + b"@RG\tID:a\tSM:x\n@RG\tID:b\tSM:y\n"
CODES = {"A": 1, "C": 2, "G": 4, "T": 8}
LETTERS = "".join(random.Random(21).choices("ACGT", k=LENGTH))
ALT = "A" if LETTERS[SITE] != "A" else "C"


def bgzipped(data):
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(data) + deflate.flush()
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
    return head + packed + struct.pack("<II", zlib.crc32(data), len(data)) + END


def record(name=b"r", start=400, quality=40, tags=b"", alt=False):
    letters = list(LETTERS[start : start + READ])
    if alt and start <= SITE < start + READ:
        letters[SITE - start] = ALT
    codes = [CODES[letter] for letter in letters]
    packed = bytes(high << 4 | low for high, low in zip(codes[::2], codes[1::2], strict=True))
    head = struct.pack("<iiBBHHHiiii", 0, start, len(name) + 1, 60, 4681, 1, 0, READ, -1, -1, 0)
    body = head + name + b"\0" + struct.pack("<I", READ << 4) + packed + bytes([quality]) * READ + tags
    return struct.pack("<i", len(body)) + body


def bam(path, text, records, contigs=((b"q", LENGTH),)):
    data = b"BAM\1" + struct.pack("<i", len(text)) + text + struct.pack("<i", len(contigs))
    for name, length in contigs:
        data += struct.pack("<i", len(name) + 1) + name + b"\0" + struct.pack("<i", length)
    Path(os.fsdecode(path)).write_bytes(bgzipped(data + b"".join(records)))


def good(tags=b"", quality=40):
    return [record(b"r%d" % number, 380 + number, quality, tags, number % 2 == 1) for number in range(40)]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """ref.fa and good.bam; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("ref.fa").write_text(f">q\n{LETTERS}\n")
    pysam.faidx("ref.fa")
    bam("good.bam", HEAD, good())


def name(path):
    bam(path, HEAD, [*good()[:3], record(b"r\xff\xfe", 390), *good()[10:]])
    return "a read at q:391: its name is not text"


def group_of_a_read(path):
    bam(path, GROUPS, good(b"RGZa\xff\xfe\0"))
    return "read r0: its read group is not text"


def group_without_id(path):
    bam(path, HEAD + b"@RG\tSM:x\n", good())
    return "a read group (@RG) of its header has no ID"


def sample_that_is_no_text(path):
    bam(path, HEAD + b"@RG\tID:a\tSM:x\xff\n", good())
    return "its header is not UTF-8"


def comment_that_is_no_text(path):
    bam(path, HEAD + b"@CO\t\xfe\xff\n", good())
    return "its header is not UTF-8"


def contig_that_is_no_text(path):
    bam(path, b"@HD\tVN:1.6\n@SQ\tSN:q\xff\tLN:3000\n", good(), ((b"q\xff", LENGTH),))
    return "its header is not UTF-8"


def contig_twice(path):
    bam(path, HEAD + b"@SQ\tSN:q\tLN:3000\n", good(), ((b"q", LENGTH),) * 2)
    return "its header has a contig (@SQ) twice"


def contig_twice_in_the_list_alone(path):
    bam(path, b"@HD\tVN:1.6\n", good(), ((b"q", LENGTH),) * 2)
    return "its header has a contig (@SQ) twice"


def quality_of_200(path):
    bam(path, HEAD, good(quality=200))
    return "read r0: a base quality of 200, the highest is 127"


def first_block(path):
    data = bytearray(Path("good.bam").read_bytes())
    data[18:40] = bytes(22)
    Path(path).write_bytes(data)
    return "not a BAM or CRAM file, or damaged at its beginning"


CASES = (
    *(name, group_of_a_read, group_without_id, sample_that_is_no_text, comment_that_is_no_text),
    *(contig_that_is_no_text, contig_twice, contig_twice_in_the_list_alone, quality_of_200, first_block),
)


def one_line(done, message):
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.startswith("pairhmm: error: ")
    assert done.stderr.count("\n") == 1
    assert not list(Path().glob("out*"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_alignments(run_cli, case):
    message = f"bad.bam: {case('bad.bam')}"
    one_line(run_cli("-q", "call", "-f", "ref.fa", "-o", "out.vcf", "--no-cap-by-mapq", "bad.bam"), message)


def test_any_byte_of_the_first_block(run_cli):
    """In one process: 100 files, of which none may end it but by an error of input."""
    code = """
import logging, random, sys
from pathlib import Path
from pairhmm import call
from pairhmm.errors import InputError
data, rng = Path("good.bam").read_bytes(), random.Random(5)
for number in range(100):
    bad = bytearray(data)
    for _ in range(rng.choice([1, 1, 4])):
        bad[rng.randrange(len(bad) // (1 + number % 2 * 8))] = rng.randrange(256)
    Path("bad.bam").write_bytes(bad)
    try:
        list(call(["bad.bam"], "ref.fa"))
    except InputError:
        pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_letter_of_the_reference(run_cli):
    Path("bad.fa").write_text(f">q\n{LETTERS[:450]}!{LETTERS[451:]}\n")
    pysam.faidx("bad.fa")
    message = "bad.fa: contig q: letter '!' at position 451 is not an IUPAC base; is it a FASTA of DNA?"
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
        ("call", "--max-depth", ["1" + "0" * 30]),
        ("call", "--min-qual", ["nan", "inf", DIGITS]),
        ("call", "--score-floor", ["inf", "nan"]),
        ("call", "--error-rate", ["nan"]),
        ("call", "--snv-prior", ["nan"]),
        ("call", "--exclude-flags", ["-1", "0x10000", DIGITS]),
        ("call", "--chunk-size", ["1" + "0" * 30]),
        ("call", "--join-distance", ["1" + "0" * 30]),
        ("call", "--flank", ["9" * 30]),
        ("call", "--device", [DIGITS]),
        ("call", "--device-memory", [DIGITS]),
        ("call", "--sample-ploidy", [f"x={DIGITS}"]),
        ("scan", "--min-mean", ["1e300"]),
        ("scan", "--min-score", ["nan"]),
        ("scan", "--max-mismatches", ["9" * 30]),
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
    Path(paths[b"m\xff.vcf"]).write_text(f"##fileformat=VCFv4.2\nq\t{SITE + 1}\t.\t{LETTERS[SITE]}\t{ALT}\t.\t.\t.\n")
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
    ("verb", "output", "message"),
    [
        ("call", "out.txt", "out.txt: not a name for calls; end it in .vcf, .vcf.gz or .bcf"),
        ("call", "out.bam", "out.bam: not a name for calls"),
        ("call", "out.gz", "out.gz: not a name for calls"),
        ("likelihoods", "out.csv", "out.csv: not a name for tables; end it in .tsv, .tsv.gz, .gz or .parquet"),
        ("likelihoods", "out.bam", "out.bam: not a name for tables"),
        ("call", "none/", "none/: is a folder; name a file"),
    ],
)
def test_outputs_of_another_name(run_cli, verb, output, message):
    one_line(run_cli("-q", verb, "-f", "ref.fa", "-o", output, "good.bam"), message)


def test_other_tables_of_another_name(run_cli):
    Path("x.fa").write_text(f">a\n{LETTERS[:100]}\n")
    done = run_cli("-q", "forward", "--default-base-quality", 30, "-o", "out.csv", "x.fa", "x.fa")
    one_line(done, "out.csv: not a name for tables of scores; end it in .tsv")
    done = run_cli("-q", "scan", "--signatures", "x.fa", "-o", "out.tsv.gz.txt", "x.fa")
    one_line(done, "out.tsv.gz.txt: not a name for tables of hits; end it in .tsv")
    Path("x.tsv").write_text("#a\tb\n1\t2\n")
    one_line(run_cli("-q", "gather", "-o", "out.csv", "x.tsv"), "out.csv: not a name for tables; end it in .tsv")


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
