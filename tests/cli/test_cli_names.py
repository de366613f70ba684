"""Names with tabs, line breaks and other control characters: one clear line, and no broken table or header."""

from __future__ import annotations

import struct
from pathlib import Path

import pysam
import pytest

from pairhmm.simulate.api import simulate

RULE = "a name with a tab, a line break or another control character"
FASTA = ("-f", "d/reference.fa")
NAMES = ["r\t1", "r\n##x=1", "r\r", "r\x01", "r\x7f"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    simulate(folder / "d", length=4000, coverage=6)
    letters = "".join((folder / "d" / "reference.fa").read_text().splitlines()[1:])[1000:1040]
    (folder / "s.fa").write_text(f">s\n{letters}\n")
    return folder


def renamed(source, destination, name):
    """A BAM whose first read has another name, whatever it is made of."""
    with pysam.BGZFile(str(source), "rb", index=None) as packed:
        data = packed.read()
    at = 8 + struct.unpack_from("<i", data, 4)[0]
    (contigs,) = struct.unpack_from("<i", data, at)
    at += 4
    for _ in range(contigs):
        at += 8 + struct.unpack_from("<i", data, at)[0]
    size, old = struct.unpack_from("<i", data, at)[0], data[at + 12]
    new = name.encode() + b"\0"
    fixed = bytearray(data[at + 4 : at + 36])
    fixed[8] = len(new)
    record = struct.pack("<i", size - old + len(new)) + fixed + new + data[at + 36 + old : at + 4 + size]
    with pysam.BGZFile(str(destination), "wb", index=None) as out:
        out.write(data[:at] + record + data[at + 4 + size :])


def refused(done, *words):
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in (*words, RULE)), done.stderr
    assert done.stdout == "" or done.stdout.count("\n") == 1, "a header at most"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [("likelihoods", *FASTA), ("call", *FASTA), ("scan", "--signatures", "s.fa")])
def test_reads(made, run_cli, tmp_path, command, name):
    renamed(made / "d" / "reads.bam", tmp_path / "x.bam", name)
    out = tmp_path / ("out.vcf" if command[0] == "call" else "out.tsv")
    done = run_cli("-q", *command, tmp_path / "x.bam", "-o", out, cwd=made)
    refused(done, "x.bam: read 'r", repr(name)[1:-1])
    assert not out.exists()


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\x1b[31mb"])
@pytest.mark.parametrize("command", [("likelihoods", *FASTA), ("call", *FASTA)])
def test_a_file_as_sample(made, run_cli, tmp_path, command, name):
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": "chr1", "LN": 4000}]}
    with pysam.AlignmentFile(tmp_path / f"{name}.bam", "wb", header=header):
        pass
    refused(run_cli("-q", *command, tmp_path / f"{name}.bam", cwd=made), f"sample {name!r}")


def test_a_read_group_as_sample(made, run_cli, tmp_path):
    with pysam.AlignmentFile(made / "d" / "reads.bam") as reads:
        header = str(reads.header).replace("SM:sample", "SM:sam\rple")
    with pysam.AlignmentFile(tmp_path / "x.bam", "wb", header=pysam.AlignmentHeader.from_text(header)):
        pass
    refused(run_cli("-q", "call", *FASTA, tmp_path / "x.bam", cwd=made), "x.bam: sample 'sam\\rple'")


def test_contigs(made, run_cli, tmp_path):
    (tmp_path / "ref.fa").write_text(">chr\x021\nACGT\n")
    pysam.faidx(str(tmp_path / "ref.fa"))
    refused(run_cli("-q", "call", "-f", tmp_path / "ref.fa", made / "d" / "reads.bam"), "ref.fa: contig 'chr\\x021'")


def test_candidates(made, run_cli, tmp_path):
    text = pysam.BGZFile(str(made / "d" / "truth.vcf.gz"), "rb", index=None).read().decode()
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if line[0] != "#")
    fields = lines[first].split("\t")
    lines[first] = "\t".join([*fields[:2], "rs\x0c1", *fields[3:]])
    (tmp_path / "v.vcf").write_text("\n".join(lines) + "\n")
    done = run_cli("-q", "call", *FASTA, "-v", tmp_path / "v.vcf", "d/reads.bam", "-o", tmp_path / "o.vcf", cwd=made)
    refused(done, f"v.vcf: chr1:{fields[1]}: ID 'rs\\x0c1'")


@pytest.mark.parametrize("command", [("forward", "FILE", "s.fa"), ("scan", "--signatures", "FILE", "d/reads.bam")])
def test_records(made, run_cli, tmp_path, command):
    (tmp_path / "x.fq").write_text("@a\x7fb\nACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIII\n")
    arguments = [tmp_path / "x.fq" if argument == "FILE" else argument for argument in command]
    refused(run_cli("-q", *arguments, cwd=made), "x.fq: record 'a\\x7fb'")


def test_files_of_a_scan(made, run_cli, tmp_path):
    name = tmp_path / "a\tb.fq"
    name.write_text("@a\nACGT\n+\nIIII\n")
    refused(run_cli("-q", "scan", "--signatures", "s.fa", name, cwd=made), "SAMPLE: file ", "a\\tb.fq")


def test_samples_of_gather(run_cli, tmp_path):
    (tmp_path / "x.tsv").write_text("#a\tb\n1\t2\n")
    refused(run_cli("gather", "--sample", "a\tb", tmp_path / "x.tsv"), "--sample: 'a\\tb'")


def test_no_header_line_is_added_by_an_argument(made, run_cli, tmp_path):
    """What the header tells of the command is one line, whatever the command has in it."""
    name = tmp_path / "ref\n##injected=1\t.fa"
    name.write_bytes((made / "d" / "reference.fa").read_bytes())
    done = run_cli("-q", "call", "-f", name, made / "d" / "reads.bam", "-o", tmp_path / "o.vcf")
    assert done.returncode == 0, done.stderr
    header = [line for line in Path(tmp_path / "o.vcf").read_text().splitlines() if line.startswith("##")]
    assert not [line for line in header if line.startswith("##injected")]
    (command,) = [line for line in header if line.startswith("##pairhmmCommand")]
    assert "ref\\n##injected=1\\t.fa" in command


def with_contig(folder, name):
    """A reference and a BAM, both with the reads' only contig under another name."""
    (folder / "ref.fa").write_text(f">{name}\n" + "".join(Path("d/reference.fa").read_text().splitlines(True)[1:]))
    with pysam.AlignmentFile("d/reads.bam") as reads:
        header = str(reads.header).replace("SN:chr1", f"SN:{name}")
        renamed_header = pysam.AlignmentHeader.from_text(header)
        with pysam.AlignmentFile(str(folder / "x.bam"), "wb", header=renamed_header) as out:
            for read in reads:
                out.write(pysam.AlignedSegment.from_dict(read.to_dict() | {"ref_name": name}, renamed_header))
    pysam.index(str(folder / "x.bam"))
    pysam.faidx(str(folder / "ref.fa"))
    return ("-f", folder / "ref.fa")


@pytest.mark.parametrize("name", ["chr1,chr3", "x<1>", "#1"])
@pytest.mark.parametrize("output", ["out.vcf", "out.vcf.gz", "out.bcf", "-"])
def test_contigs_that_vcf_can_not_hold(made, run_cli, tmp_path, monkeypatch, name, output):
    """They are refused before the run; a table takes them."""
    monkeypatch.chdir(made)
    fasta = with_contig(tmp_path, name)
    path = output if output == "-" else tmp_path / output
    done = run_cli("-q", "call", *fasta, "-o", path, tmp_path / "x.bam")
    wrong = {"chr1,chr3": "','", "x<1>": "'<'", "#1": "'#' at the beginning"}[name]
    message = f"VCF allows no {wrong} in the name of a contig; rename it in the reference and in the alignments"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pairhmm: error: {tmp_path}/ref.fa: contig {name!r}: {message}\n"
    assert not list(tmp_path.glob("*out*"))
    done = run_cli("-q", "likelihoods", *fasta, "-o", tmp_path / "t.tsv", tmp_path / "x.bam")
    assert done.returncode == 0, done.stderr
    assert f"\t{name}\t" in (tmp_path / "t.tsv").read_text()


def test_haplotypes_on_a_contig_that_vcf_can_not_hold(made, run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    fasta = with_contig(tmp_path, "a,b")
    done = run_cli("-q", "align", "--vcf", *fasta, "-r", "a,b:1001-1040", "-o", tmp_path / "o.vcf", "s.fa")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "ref.fa: contig 'a,b': VCF allows no ',' in the name of a contig" in done.stderr
    assert not (tmp_path / "o.vcf").exists()


def test_names_that_make_a_row_a_comment(made, run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    done = run_cli("-q", "scatter", *with_contig(tmp_path, "#1"), "-n", 2, "-o", tmp_path / "p", tmp_path / "x.bam")
    assert done.returncode == 2
    assert "1-of-2.bed: BED takes lines of contig '#1' for comments; rename it" in done.stderr
    assert not list((tmp_path / "p").glob("*"))
    with pysam.AlignmentFile("d/reads.bam") as reads:
        header = pysam.AlignmentHeader.from_text(str(reads.header).replace("SM:sample", "SM:#1"))
    with pysam.AlignmentFile(str(tmp_path / "y.bam"), "wb", header=header):
        pass
    done = run_cli("-q", "likelihoods", *FASTA, "-o", tmp_path / "t.tsv", tmp_path / "y.bam")
    assert done.returncode == 2
    assert "y.bam: sample '#1': a table takes a row that begins with # for a header; rename it" in done.stderr
    assert not (tmp_path / "t.tsv").exists()
