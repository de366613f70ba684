"""Names with tabs, line breaks and other control characters: one clear line, and no broken table or header."""

from pathlib import Path

import pysam
import pytest

from tests.cli.reads import HEAD, LENGTH, LETTERS, REF, SITE, reads, record, write_bam, write_reference

RULE = "a name with a tab, a line break or another control character"
FASTA = ("-f", "ref.fa")
NAMES = ["r\t1", "r\n##x=1", "r\r", "r\x01", "r\x7f"]


@pytest.fixture(autouse=True)
def made(tmp_path, monkeypatch):
    """A reference, reads and a signature; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    write_reference("ref.fa")
    write_bam("reads.bam", reads())
    Path("s.fa").write_text(f">s\n{LETTERS[SITE : SITE + 40]}\n")


def refused(done, *words):
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in (*words, RULE)), done.stderr
    assert done.stdout == "" or done.stdout.count("\n") == 1, "a header at most"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [("likelihoods", *FASTA), ("call", *FASTA), ("scan", "--signatures", "s.fa")])
def test_reads(run_cli, command, name):
    write_bam("x.bam", [record(name.encode(), SITE - 70), *reads()])
    out = Path("out.vcf" if command[0] == "call" else "out.tsv")
    refused(run_cli("-q", *command, "x.bam", "-o", out), "x.bam: read 'r", repr(name)[1:-1])
    assert not out.exists()


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\x1b[31mb"])
@pytest.mark.parametrize("command", [("likelihoods", *FASTA), ("call", *FASTA)])
def test_a_file_as_sample(run_cli, command, name):
    write_bam(f"{name}.bam", [])
    refused(run_cli("-q", *command, f"{name}.bam"), f"sample {name!r}")


def test_a_read_group_as_sample(run_cli):
    write_bam("x.bam", [], HEAD + b"@RG\tID:a\tSM:sam\rple\n")
    refused(run_cli("-q", "call", *FASTA, "x.bam"), "x.bam: sample 'sam\\rple'")


def test_contigs(run_cli):
    write_reference("bad.fa", **{"chr\x021": "ACGT"})
    refused(run_cli("-q", "call", "-f", "bad.fa", "reads.bam"), "bad.fa: contig 'chr\\x021'")


def test_candidates(run_cli):
    Path("v.vcf").write_text(f"##fileformat=VCFv4.2\nq\t{SITE + 1}\trs\x0c1\t{REF}\tN\t.\t.\t.\n")
    done = run_cli("-q", "call", *FASTA, "-v", "v.vcf", "reads.bam", "-o", "o.vcf")
    refused(done, f"v.vcf: q:{SITE + 1}: ID 'rs\\x0c1'")


@pytest.mark.parametrize("command", [("forward", "FILE", "s.fa"), ("scan", "--signatures", "FILE", "reads.bam")])
def test_records(run_cli, command):
    Path("x.fq").write_text("@a\x7fb\nACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIII\n")
    arguments = ["x.fq" if argument == "FILE" else argument for argument in command]
    refused(run_cli("-q", *arguments), "x.fq: record 'a\\x7fb'")


def test_files_of_a_scan(run_cli):
    Path("a\tb.fq").write_text("@a\nACGT\n+\nIIII\n")
    refused(run_cli("-q", "scan", "--signatures", "s.fa", "a\tb.fq"), "SAMPLE: file ", "a\\tb.fq")


def test_samples_of_gather(run_cli):
    Path("x.tsv").write_text("#a\tb\n1\t2\n")
    refused(run_cli("gather", "--sample", "a\tb", "x.tsv"), "--sample: 'a\\tb'")


def test_no_header_line_is_added_by_an_argument(run_cli):
    """What the header tells of the command is one line, whatever the command has in it."""
    write_reference("ref\n##injected=1\t.fa")
    done = run_cli("-q", "call", "-f", "ref\n##injected=1\t.fa", "reads.bam", "-o", "o.vcf")
    assert done.returncode == 0, done.stderr
    header = [line for line in Path("o.vcf").read_text().splitlines() if line.startswith("##")]
    assert not [line for line in header if line.startswith("##injected")]
    (command,) = [line for line in header if line.startswith("##pairhmmCommand")]
    assert "ref\\n##injected=1\\t.fa" in command


def with_contig(name):
    """Write a reference and a BAM whose contig has another name."""
    write_reference("named.fa", **{name: LETTERS})
    write_bam("x.bam", reads(), HEAD.replace(b"SN:q", b"SN:" + name.encode()), ((name.encode(), LENGTH),))
    pysam.index("x.bam")
    return ("-f", "named.fa")


@pytest.mark.parametrize(
    ("name", "wrong"), [("chr1,chr3", "','"), ("x<1>", "'<'"), ("#1", "'#' at the beginning")], ids=["comma", "<", "#"]
)
@pytest.mark.parametrize("output", ["out.vcf", "out.vcf.gz", "out.bcf", "-"])
def test_contigs_that_vcf_can_not_hold(run_cli, name, wrong, output):
    """They are refused before the run; a table takes them."""
    fasta = with_contig(name)
    done = run_cli("-q", "call", *fasta, "-o", output, "x.bam")
    message = f"VCF allows no {wrong} in the name of a contig; rename it in the reference and in the alignments"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pairhmm: error: named.fa: contig {name!r}: {message}\n"
    assert not list(Path().glob("*out*"))
    done = run_cli("-q", "likelihoods", *fasta, "-o", "t.tsv", "x.bam")
    assert done.returncode == 0, done.stderr
    assert f"\t{name}\t" in Path("t.tsv").read_text()


def test_haplotypes_on_a_contig_that_vcf_can_not_hold(run_cli):
    done = run_cli("-q", "align", "--vcf", *with_contig("a,b"), "-r", "a,b:1501-1540", "-o", "o.vcf", "s.fa")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "named.fa: contig 'a,b': VCF allows no ',' in the name of a contig" in done.stderr
    assert not Path("o.vcf").exists()


def test_names_that_make_a_row_a_comment(run_cli):
    done = run_cli("-q", "scatter", *with_contig("#1"), "-n", 2, "-o", "p", "x.bam")
    assert done.returncode == 2
    assert "1-of-2.bed: BED takes lines of contig '#1' for comments; rename it" in done.stderr
    assert not list(Path("p").glob("*"))
    write_bam("y.bam", [], HEAD + b"@RG\tID:a\tSM:#1\n")
    done = run_cli("-q", "likelihoods", *FASTA, "-o", "t.tsv", "y.bam")
    assert done.returncode == 2
    assert "y.bam: sample '#1': a table takes a row that begins with # for a header; rename it" in done.stderr
    assert not Path("t.tsv").exists()
