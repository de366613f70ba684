"""Contigs that only one of the files has, names with and without `chr`, and files given twice."""

import os
import random
import shutil
from pathlib import Path

import pysam
import pytest

from tests.cli.reads import LENGTH, SITE, record, write_bam, write_reference


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A BAM and a CRAM with reads on chr1, chr2 and chr3; part.fa has only chr2. The folder is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(8)
    sequences = {name: "".join(rng.choices("ACGT", k=LENGTH)) for name in ("chr1", "chr2", "chr3")}
    write_reference("whole.fa", **sequences)
    write_reference("part.fa", chr2=sequences["chr2"])
    text = "@HD\tVN:1.6\tSO:coordinate\n" + "".join(f"@SQ\tSN:{name}\tLN:{LENGTH}\n" for name in sequences)
    reads = [
        record(b"r%d" % number, SITE - 90 + 2 * number, alt=number % 2 == 1, contig=contig, of=letters)
        for contig, letters in enumerate(sequences.values())
        for number in range(40)
    ]
    write_bam("x.bam", reads, text.encode(), tuple((name.encode(), LENGTH) for name in sequences))
    pysam.view("-C", "-T", "whole.fa", "-o", "x.cram", "x.bam", catch_stdout=False)
    for path in ("x.bam", "x.cram"):
        pysam.index(path)
    Path("all.vcf").write_text(
        "##fileformat=VCFv4.2\n"
        + "".join(
            f"{name}\t{SITE + 1}\t.\t{bases[SITE]}\t{'A' if bases[SITE] != 'A' else 'C'}\t.\t.\t.\n"
            for name, bases in sequences.items()
        )
    )


def records(text):
    return [line.split("\t")[:2] for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("name", ["x.bam", "x.cram"])
@pytest.mark.parametrize(
    "arguments", [(), ("-r", "chr2"), ("-r", "chr2:1400-1600"), ("-r", "chr2", "-v", "all.vcf")], ids=" ".join
)
def test_a_reference_of_one_contig(files, run_cli, name, arguments):
    done = run_cli("call", "-f", "part.fa", *arguments, name)
    assert done.returncode == 0, done.stderr
    assert records(done.stdout) == [["chr2", str(SITE + 1)]]
    assert f"{name}: 2 of its 3 contigs are not in part.fa, and are left out: chr1, chr3\n" in done.stderr
    counted = "warning: reads left out: 80 on contigs that the reference lacks" in done.stderr
    # A CRAM's index does not say how many reads a contig has.
    assert counted == (arguments == () and name == "x.bam")
    whole = run_cli("call", "-f", "whole.fa", "-r", "chr2", "--no-version", name)
    same = run_cli("call", "-f", "part.fa", *arguments, "--no-version", name)
    other = ("##contig=<ID=chr", "##reference=")
    lines = [line for line in whole.stdout.splitlines() if not line.startswith(other)]
    assert [line for line in same.stdout.splitlines() if not line.startswith(other)] == lines


def test_without_an_index_reads_are_passed_over_one_by_one(files, run_cli):
    Path("x.bam.bai").unlink()
    done = run_cli("call", "-f", "part.fa", "x.bam")
    assert done.returncode == 0, done.stderr
    assert records(done.stdout) == [["chr2", str(SITE + 1)]]
    assert "warning: reads left out: 80 on contigs that the reference lacks" in done.stderr


def test_scatter_over_a_reference_of_one_contig(files, run_cli):
    done = run_cli("scatter", "-f", "part.fa", "-n", 2, "-o", "pieces", "x.bam")
    assert done.returncode == 0, done.stderr
    text = Path("pieces/1-of-2.bed").read_text() + Path("pieces/2-of-2.bed").read_text()
    assert {line.split()[0] for line in text.splitlines()} == {"chr2"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-r", "chr1"], "-r: chr1: no contig 'chr1'; contigs are chr2"),
        (["-R", "one.bed"], "one.bed: line 1: no contig 'chr1'; contigs are chr2"),
        (
            ["-v", "all.vcf"],
            f"all.vcf: chr1:{SITE + 1}: contig is not in the reference; give variants of this reference",
        ),
        (["-r", "2:1-10"], "-r: 2:1-10: no contig '2'; the reference names it 'chr2'"),
        (["-R", "two.bed"], "two.bed: line 1: no contig '2'; the reference names it 'chr2'"),
        (["-v", "two.vcf"], "two.vcf: 2:5: contig is not in the reference; the reference names it 'chr2'"),
        (["-r", "chr2,chr1"], "-r: chr2,chr1: more than one region; give each by itself: -r chr2 -r chr1"),
        (["-r", "chr2:1-9,chr2:20-30"], "more than one region; give each by itself: -r chr2:1-9 -r chr2:20-30"),
    ],
)
def test_contigs_asked_for_that_the_reference_lacks(files, run_cli, arguments, message):
    Path("one.bed").write_text("chr1\t0\t100\n")
    Path("two.bed").write_text("2\t0\t100\n")
    Path("two.vcf").write_text("##fileformat=VCFv4.2\n2\t5\t.\tA\tC\t.\t.\t.\n")
    done = run_cli("-q", "call", "-f", "part.fa", *arguments, "-o", "out.vcf", "x.bam")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("out.vcf").exists()


@pytest.mark.parametrize("name", ["x.bam", "x.cram"])
def test_no_contig_in_common(files, run_cli, name):
    text = Path("part.fa").read_text()
    Path("other.fa").write_text(text.replace(">chr2", ">2"))
    done = run_cli("-q", "call", "-f", "other.fa", name)
    assert done.returncode == 2
    assert f"other.fa: contig chr1: not in the reference, but in {name}; use the reference" in done.stderr


@pytest.mark.parametrize("indexed", [True, False])
def test_reads_on_other_contigs_only(files, run_cli, indexed):
    with pysam.AlignmentFile("x.bam") as whole, pysam.AlignmentFile("y.bam", "wb", header=whole.header) as out:
        for read in whole.fetch("chr3"):
            out.write(read)
    if indexed:
        pysam.index("y.bam")
    done = run_cli("-q", "call", "-f", "part.fa", "-o", "out.vcf", "y.bam")
    assert done.returncode == 2
    assert "y.bam: no read on a contig that the reference has, 40 on others; use the reference" in done.stderr
    assert not Path("out.vcf").exists()


def hard_link(name):
    os.link("x.bam", name)


def symbolic_link(name):
    Path(name).symlink_to("x.bam")


@pytest.mark.parametrize("make", [hard_link, symbolic_link, None])
def test_a_file_given_twice(files, run_cli, make):
    if make:
        make("y.bam")
    done = run_cli("-q", "call", "-f", "whole.fa", "-o", "out.vcf", "x.bam", "y.bam" if make else "x.bam")
    message = "y.bam: given twice, as x.bam too" if make else "x.bam: given twice"
    assert (done.returncode, done.stderr) == (2, f"pairhmm: error: {message}; give each file once\n")
    assert not Path("out.vcf").exists()


def test_stdin_that_is_a_file_given_too(files, run_cli):
    with open("x.bam", "rb") as stream:
        done = run_cli("-q", "call", "-f", "whole.fa", "x.bam", "-", stdin=stream)
    assert (done.returncode, done.stderr) == (2, "pairhmm: error: -: given twice, as x.bam too; give each file once\n")


def test_a_copy_is_another_file(files, run_cli):
    shutil.copy("x.bam", "y.bam")
    done = run_cli("-q", "call", "-f", "whole.fa", "x.bam", "y.bam")
    assert done.returncode == 0, done.stderr
