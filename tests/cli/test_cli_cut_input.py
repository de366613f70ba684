"""Input that is cut off: never taken as whole, wherever the cut is and from wherever it is read."""

import gzip
import random
import re
import shutil
import subprocess

import pysam
import pytest

from pairhmm.files.bgzf import check_end, end_marker
from pairhmm.report.page_writer import unpack
from pairhmm.simulate.api import simulate
from tests.cli.reads import END

REFERENCE = ("-f", "d/reference.fa")
CALL, SCAN = ("-q", "call", *REFERENCE), ("-q", "scan", "--signatures", "s.fa", *REFERENCE)
HAPLOTYPES = ("--haplotypes", "FILE", "-r", "chr1:1001-1200")
# What is cut, and the commands that read it; FILE is the file, - that it comes through a pipe.
READERS = [
    ("v.vcf.gz", (*CALL, "-v", "FILE", "d/reads.bam")),
    ("ref.fa.gz", ("-q", "call", "-f", "FILE", "d/reads.bam")),
    ("haps.fa.gz", (*CALL, *HAPLOTYPES, "d/reads.bam")),
    ("haps.fa.gz", ("-q", "forward", "r.fq.gz", "FILE")),
    ("r.fq.gz", ("-q", "forward", "FILE", "haps.fa.gz")),
    ("r.fq.gz", (*SCAN, "FILE")),
    ("r.fq.gz", (*SCAN, "-")),
    ("haps.fa.gz", ("-q", "scan", "--signatures", "FILE", "r.fq.gz")),
    ("r.sam.gz", (*SCAN, "FILE")),
    ("r.sam.gz", (*SCAN, "-")),
    ("r.sam.gz", (*CALL, "FILE")),
    ("r.bam", (*SCAN, "FILE")),
    ("r.bam", (*SCAN, "-")),
    ("r.bam", (*CALL, "FILE")),
    ("r.bam", (*CALL, "-")),
    ("r.cram", (*SCAN, "FILE")),
    ("r.cram", (*SCAN, "-")),
    ("r.cram", (*CALL, "FILE")),
    ("r.cram", (*CALL, "-")),
    ("c.vcf.gz", ("-q", "report", "--calls", "FILE", "-o", "-")),
    ("c.bcf", ("-q", "report", "--calls", "FILE", "-o", "-")),
    ("c.vcf.gz", ("-q", "gather", "FILE", "-o", "gathered.vcf")),
    ("t.tsv.gz", ("-q", "gather", "FILE")),
    ("t.tsv.gz", ("-q", "report", "--likelihoods", "FILE", "-o", "-")),
]


def unpacked(path):
    return gzip.decompress(path.read_bytes())


def in_blocks(path, data, lines):
    """Bgzipped, so many lines a block."""
    text = data.splitlines(keepends=True)
    with pysam.BGZFile(path, "wb", index=None) as out:
        for first in range(0, len(text), lines):
            out.write(b"".join(text[first : first + lines]))
            out.flush()


@pytest.fixture(scope="module")
def made(tmp_path_factory, run_cli):
    """A small run's inputs and outputs."""
    folder = tmp_path_factory.mktemp("whole")
    simulate(folder / "d", length=6_000, coverage=10)
    fasta = (folder / "d" / "reference.fa").read_bytes()
    letters = fasta.split(b"\n", 1)[1].replace(b"\n", b"")[1000:1200]
    (folder / "s.fa").write_bytes(b">s\n" + letters[:40] + b"\n")
    haplotypes = b"".join(b">h%d\n%s\n" % (number, letters) for number in range(12))
    reads = b"".join(unpacked(folder / "d" / "reads_1.fastq.gz").splitlines(keepends=True)[:400])
    truth = unpacked(folder / "d" / "truth.vcf.gz")
    sam = pysam.view("-h", str(folder / "d" / "reads.bam")).encode()
    texts = (("ref.fa", fasta), ("haps.fa", haplotypes), ("r.fq", reads), ("v.vcf", truth), ("r.sam", sam))
    for name, data in texts:
        in_blocks(folder / f"{name}.gz", data, 4)
    shutil.copy(folder / "d" / "reads.bam", folder / "r.bam")
    options = ("-C", "-T", str(folder / "d/reference.fa"), "-o", str(folder / "r.cram"))
    pysam.view(*options, str(folder / "r.bam"), catch_stdout=False)
    for arguments in (
        (*CALL, "-o", "c.vcf.gz"),
        (*CALL, "-o", "c.bcf"),
        ("-q", "likelihoods", *REFERENCE, "-o", "t.tsv.gz"),
    ):
        assert run_cli(*arguments, "d/reads.bam", cwd=folder).returncode == 0
    return folder


def run(run_cli, folder, arguments, path):
    given = [str(path) if argument == "FILE" else argument for argument in arguments]
    if "-" not in given or "-o" in given:
        return run_cli(*given, cwd=folder)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as stream:
        return run_cli(*given, cwd=folder, stdin=stream.stdout)


@pytest.mark.parametrize(
    ("name", "arguments"), READERS, ids=lambda value: value if isinstance(value, str) else value[1]
)
def test_cut_files_are_errors(made, run_cli, tmp_path, name, arguments):
    """Between two blocks, which leaves no trace but the missing end marker, and within one; the whole file is none."""
    bad, data = tmp_path / name, (made / name).read_bytes()
    if name == "t.tsv.gz":
        shutil.copy(made / "t.haplotypes.tsv.gz", tmp_path)
    size = len(end_marker(data))
    assert size and data.endswith(end_marker(data))
    bad.write_bytes(data)
    done = run(run_cli, made, arguments, bad)
    assert done.returncode == 0, done.stderr
    for end in (len(data) - size, len(data) * 2 // 3):
        bad.write_bytes(data[:end])
        done = run(run_cli, made, arguments, bad)
        assert done.returncode == 2, end
        assert "cut off" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("name", ["v.vcf", "haps.fa", "r.fq"])
def test_plain_gzip_that_is_cut(made, run_cli, tmp_path, name):
    packed = gzip.compress(unpacked(made / f"{name}.gz"))
    (tmp_path / f"{name}.gz").write_bytes(packed[: len(packed) * 2 // 3])
    arguments = next(arguments for known, arguments in READERS if known == f"{name}.gz")
    done = run(run_cli, made, arguments, tmp_path / f"{name}.gz")
    assert done.returncode == 2
    assert "cut off" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def without_checksums(path):
    """What a file says, but for the SHA-256 of the table, which a report names."""
    if path.suffix != ".html":
        return path.read_bytes()
    packed = re.findall(r"^[A-Za-z0-9+/=]{40,}$|(?<=>)[A-Za-z0-9+/=]{40,}(?=<)", path.read_text(), re.MULTILINE)
    return [re.sub(rb'"[0-9a-f]{64}"', b"", unpack(text)) for text in packed]


@pytest.mark.parametrize("command", ["report", "gather"])
def test_no_damaged_parquet_gives_other_values(made, run_cli, tmp_path, command):
    """Damage is an error of one line, or changes nothing."""
    pytest.importorskip("pyarrow")
    table, out = tmp_path / "t.parquet", tmp_path / f"out.{'html' if command == 'report' else 'parquet'}"
    assert run_cli("-q", "likelihoods", *REFERENCE, "-o", table, "d/reads.bam", cwd=made).returncode == 0
    arguments = ("-q", command, *(("--likelihoods",) if command == "report" else ()), table, "-o", out)
    assert run_cli(*arguments).returncode == 0
    sound, data, chance, errors = without_checksums(out), table.read_bytes(), random.Random(4), 0
    pages = len(data) - int.from_bytes(data[-8:-4], "little") - 8
    for _ in range(6):
        changed = bytearray(data)
        changed[chance.randrange(pages * 3 // 10, pages * 9 // 10)] ^= 1 << chance.randrange(8)
        table.write_bytes(changed)
        done = run_cli(*arguments)
        if done.returncode == 0:
            assert without_checksums(out) == sound
            continue
        errors += 1
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert "t.parquet: can't be read as Parquet" in done.stderr
    assert errors >= 3


def test_a_packed_file_is_never_empty(made, run_cli, tmp_path):
    (tmp_path / "none.fastq.gz").write_bytes(b"")
    done = run_cli("scan", "--signatures", made / "haps.fa.gz", "-o", tmp_path / "hits.tsv", tmp_path / "none.fastq.gz")
    assert done.returncode == 2
    assert "none.fastq.gz: is cut off: nothing is in it" in done.stderr
    assert not (tmp_path / "hits.tsv").exists()


@pytest.mark.parametrize("content", [b"", END])
def test_a_marker_alone_is_no_error(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    check_end(str(tmp_path / "x"))
