"""Regions as users write them: one position, names with colons, intervals without a base, and BED of all kinds."""

import gzip
import random
from pathlib import Path

import pysam
import pytest

LENGTH, READ = 600, 100
CONTIGS = ("1", "1:100-400", "2")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A BAM with an SNV every 50 bases of each contig, and its reference; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(3)
    sequences = {name: "".join(rng.choices("ACGT", k=LENGTH)) for name in CONTIGS}
    Path("ref.fa").write_text("".join(f">{name}\n{bases}\n" for name, bases in sequences.items()))
    pysam.faidx("ref.fa")
    header = pysam.AlignmentHeader.from_dict(
        {"HD": {"SO": "coordinate"}, "SQ": [{"SN": name, "LN": LENGTH} for name in sequences]}
    )
    with pysam.AlignmentFile("x.bam", "wb", header=header) as out:
        for contig, bases in enumerate(sequences.values()):
            changed = [("A" if base != "A" else "C") if at % 50 == 0 else base for at, base in enumerate(bases)]
            for start in range(0, LENGTH - READ, 4):
                read = pysam.AlignedSegment(header)
                read.query_name, read.reference_id, read.reference_start = f"r{start}", contig, start
                read.mapping_quality, read.cigartuples = 60, [(0, READ)]
                read.query_sequence = "".join(changed[start : start + READ])
                read.query_qualities = pysam.qualitystring_to_array("I" * READ)
                out.write(read)
    pysam.index("x.bam")


def places(text):
    return [tuple(line.split("\t")[:2]) for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ("2:301", [("2", "301")]),
        ("2:302", []),
        ("2:501-", [("2", "501"), ("2", "551")]),
        ("{2}:301", [("2", "301")]),
        ("{1:100-400}:301-400", [("1:100-400", "301"), ("1:100-400", "351")]),
        ("{1}:301-400", [("1", "301"), ("1", "351")]),
    ],
)
def test_what_a_region_holds(files, run_cli, region, expected):
    done = run_cli("-q", "call", "-f", "ref.fa", "-r", region, "x.bam")
    assert done.returncode == 0, done.stderr
    assert places(done.stdout) == expected


@pytest.mark.parametrize("command", [["call"], ["likelihoods"], ["scatter", "-n", "2"], ["profiles"], ["fit"]])
@pytest.mark.parametrize(
    ("region", "message"),
    [
        (
            "1:100-400",
            "-r: 1:100-400: is the name of a contig, and a part of contig '1'; write '{1:100-400}' or '{1}:100-400'",
        ),
        ("2:5-4", "-r: 2:5-4: not an interval; write chr:begin-end, 1-based, begin <= end"),
        ("ref.fa", "-r: ref.fa: is a file; give a file of regions with -R"),
    ],
)
def test_a_region_that_can_not_be_used(files, run_cli, command, region, message):
    done = run_cli("-q", *command, "-f", "ref.fa", "-r", region, "-o", "out", "x.bam")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"pairhmm: error: {message}\n")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "x.bed: No such file or directory; check the path"),
        (
            b"2\t300\t301\n2\t301\t301\n",
            "x.bed: line 2: 301-301 is an interval without a base; BED is 0-based half-open: base 301 is 300 301;"
            " take 1 from each start of a 1-based file",
        ),
        (
            gzip.compress(b"2\t300\t301\n", mtime=0)[:-9],
            "x.bed: is cut off: its gzip stream has no end; copy or make it again",
        ),
    ],
)
def test_a_bed_that_can_not_be_used(files, run_cli, content, message):
    if content is not None:
        Path("x.bed").write_bytes(content)
    done = run_cli("-q", "call", "-f", "ref.fa", "-R", "x.bed", "-o", "out.vcf", "x.bam")
    assert (done.returncode, done.stderr) == (2, f"pairhmm: error: {message}\n")
    assert not Path("out.vcf").exists()


@pytest.mark.parametrize("command", [["call"], ["likelihoods"], ["scatter", "-n", "2"], ["profiles"], ["fit"]])
def test_a_region_in_place_of_a_file_of_regions(files, run_cli, command):
    done = run_cli("-q", *command, "-f", "ref.fa", "-R", "2:1-100", "-o", "out", "x.bam")
    expected = "pairhmm: error: 2:1-100: is a region, and no file of regions; give it with -r\n"
    assert (done.returncode, done.stderr) == (2, expected)
    assert not Path("out").exists()


def test_a_bed_that_is_gzipped(files, run_cli):
    Path("x.bed.gz").write_bytes(gzip.compress(b"2\t300\t301\n"))
    done = run_cli("-q", "call", "-f", "ref.fa", "-R", "x.bed.gz", "x.bam")
    assert (done.returncode, places(done.stdout)) == (0, [("2", "301")])


def test_a_bed_of_headers_alone(files, run_cli):
    Path("x.bed").write_text("track name=x\n#chrom\tstart\tend\n")
    done = run_cli("call", "-f", "ref.fa", "-R", "x.bed", "x.bam")
    assert (done.returncode, places(done.stdout)) == (0, [])
    assert "warning: x.bed: no region in it, so that nothing is asked for" in done.stderr
