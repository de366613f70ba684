"""Bad input as users meet it: `pairhmm call` ends with code 2, one line that names the file, and no output."""

from pathlib import Path

import pysam
import pytest

from tests.cli.reads import ALT, LENGTH, REF, SITE, reads, write_bam, write_reference

VCF = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A reference, reads with a heterozygous SNV in BAM and CRAM, and candidates; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    write_reference("ref.fa")
    write_bam("x.bam", reads())
    pysam.view("-C", "-T", "ref.fa", "-o", "x.cram", "x.bam", catch_stdout=False)
    for name in ("x.bam", "x.cram"):
        pysam.index(name)
    Path("x.vcf").write_text(f"{VCF}q\t{SITE + 1}\t.\t{REF}\t{ALT},<DEL>,*\t.\t.\t.\n")


def other_cram_reference():
    write_reference("other.fa", q="ACGT" * (LENGTH // 4))
    return ["x.cram", "-f", "other.fa"], "x.cram: can't be read to its end; it is cut off, or written with another"


def region_outside():
    return ["x.bam", "-r", "q:4,000-5,000"], "-r: q:4,000-5,000: outside q, which has 3000 bases"


def other_vcf_reference():
    Path("bad.vcf").write_text(f"{VCF}q\t{SITE + 1}\t.\t{ALT}\t{REF}\t.\t.\t.\n")
    return ["x.bam", "-v", "bad.vcf"], f"bad.vcf: q:{SITE + 1}: REF {ALT} is {REF} in the reference"


def spaces_in_a_vcf():
    Path("bad.vcf").write_text(f"{VCF}q {SITE + 1} . {REF} {ALT} . . .\n")
    return ["x.bam", "-v", "bad.vcf"], "bad.vcf: line 3: has spaces between its columns; VCF has tabs"


def a_folder():
    return ["."], ".: is a folder; give the alignments in it"


def haplotype_letter():
    Path("haps.fa").write_text(">h1\nACGT\n>h2\nACG!\n")
    return ["x.bam", "--haplotypes", "haps.fa", "-r", "q:100-200"], "haps.fa: h2: letter '!' at position 4"


def no_qualities():
    text = pysam.view("-h", "x.bam").splitlines()
    rows = [line if line[0] == "@" else "\t".join([*line.split("\t")[:10], "*"]) for line in text]
    Path("bad.sam").write_text("\n".join(rows) + "\n")
    return ["bad.sam"], "bad.sam: read r0: it has no base qualities; give --default-base-quality"


def no_folder():
    return ["x.bam", "-o", "none/out.vcf"], "none: folder does not exist; choose another -o"


def full_disk():
    return ["x.bam", "-o", "/dev/full"], "/dev/full: No space left on device"


CASES = [
    other_cram_reference,
    region_outside,
    other_vcf_reference,
    spaces_in_a_vcf,
    a_folder,
    haplotype_letter,
    no_qualities,
    no_folder,
    full_disk,
]
"""Those of single readers are tested with these, in the folders of these."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_one_line_and_code_2(files, run_cli, case):
    arguments, message = case()
    if "-o" not in arguments:
        arguments += ["-o", "out.vcf"]
    if "-f" not in arguments:
        arguments += ["-f", "ref.fa"]
    done = run_cli("--quiet", "call", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not Path("out.vcf").exists()
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "arguments", [["x.bam"], ["x.cram"], ["x.bam", "-v", "x.vcf"], ["x.cram", "-r", "q:1400-1,600"]]
)
def test_the_same_files_undamaged(files, run_cli, arguments):
    done = run_cli("call", "-f", "ref.fa", *arguments)
    assert done.returncode == 0, done.stderr
    (row,) = [line.split("\t") for line in done.stdout.splitlines() if line[0] != "#"]
    assert (row[1], row[3], row[4], row[9][:3]) == (str(SITE + 1), REF, ALT, "0/1")
    assert ("2 symbolic, *, breakend or ambiguous alleles skipped" in done.stderr) == ("-v" in arguments)


@pytest.mark.parametrize("name", ["out.vcf", "out.vcf.gz", "out.bcf"])
def test_a_region_without_anything_gives_a_valid_file(files, run_cli, name):
    done = run_cli("call", "-f", "ref.fa", "-r", "q:1-20", "-o", name, "x.bam")
    assert done.returncode == 0, done.stderr
    with pysam.VariantFile(name) as calls:
        assert list(calls.header.samples) == ["x"]
        assert list(calls) == []


def test_a_reference_without_index_is_announced(files, run_cli):
    Path("ref.fa.fai").unlink()
    done = run_cli("call", "-f", "ref.fa", "x.bam")
    assert done.returncode == 0
    assert "ref.fa has no index: made" in done.stderr
    assert Path("ref.fa.fai").exists()


def test_default_base_quality(files, run_cli):
    arguments, _ = no_qualities()
    done = run_cli("call", "-f", "ref.fa", "--default-base-quality", "40", *arguments)
    assert done.returncode == 0, done.stderr
    assert f"q\t{SITE + 1}\t" in done.stdout
