"""Sample sheets: what they hold, and what is told of those that can't be used."""

from __future__ import annotations

import pysam
import pytest

from pairhmm.cli.workflow import check_files
from pairhmm.errors import InputError
from pairhmm.files.sample_sheet import SheetRow, read_sheet


def test_rows(tmp_path):
    sheet = tmp_path / "s.tsv"
    sheet.write_text("ploidy\tsample\treads\talignments\n# a remark\n\n1\ta\tx_1.fq, x_2.fq\tx.bam\n\tb\n")
    assert read_sheet(sheet) == [
        SheetRow("line 4", "a", ("x.bam",), ("x_1.fq", "x_2.fq"), "", "1"),
        SheetRow("line 5", "b", (), (), "", ""),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.tsv: is empty; its first line names columns: sample, alignments, reads, sex, ploidy"),
        ("sample\n", "s.tsv: names no sample; add a line for each"),
        ("name\tbam\n", "s.tsv: line 1: unknown column 'name'; columns are"),
        ("reads\nx\n", "s.tsv: line 1: needs a column sample, and each column once"),
        ("sample\tsample\nx\tx\n", "s.tsv: line 1: needs a column sample, and each column once"),
        ("sample\nx\ty\n", "s.tsv: line 2: 2 cells for 1 columns; remove some"),
        ("sample\treads\n\ty\n", "s.tsv: line 2: no sample name; fill the column sample"),
        ("sample\nx\ny\nx\n", "s.tsv: line 4: sample 'x' stands in line 2 too; name each sample once"),
    ],
)
def test_refused(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.tsv").write_text(text)
    with pytest.raises(InputError) as refused:
        read_sheet("s.tsv")
    assert str(refused.value).startswith(message)


def test_a_sheet_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"none.tsv: No such file or directory; check the path"):
        read_sheet(tmp_path / "none.tsv")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A reference, another one, and alignments of a sample `a` with and without an index."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.fa").write_text(">c\nACGTACGTAC\n")
    (tmp_path / "other.fa").write_text(">c\nACGT\n")
    header = {"SQ": [{"SN": "c", "LN": 10}], "RG": [{"ID": "1", "SM": "a"}]}
    for name in ("x.bam", "bare.bam"):
        pysam.AlignmentFile(name, "wb", header=header).close()
    pysam.index("x.bam")


def row(*alignments: str, sample: str = "a", reads: tuple[str, ...] = ()) -> list[SheetRow]:
    return [SheetRow("line 2", sample, alignments, reads, "", "")]


def test_files_are_opened(files, tmp_path):
    check_files("s.tsv", row("x.bam", reads=("ref.fa",)), "ref.fa")
    check_files("s.tsv", row(reads=("ref.fa",)))
    assert (tmp_path / "ref.fa.fai").exists()


@pytest.mark.parametrize(
    ("rows", "reference", "message"),
    [
        (row("none.bam"), "ref.fa", "s.tsv: line 2 (a): no such file: none.bam; check the path"),
        (row(reads=("none.fq",)), "", "s.tsv: line 2 (a): no such file: none.fq; check the path"),
        (row("bare.bam"), "ref.fa", "bare.bam: has no index, which regions need; run samtools index bare.bam"),
        (row("x.bam"), "other.fa", "other.fa: contig c: 10 bases in x.bam and 4 in the reference"),
        (row("x.bam", sample="b"), "ref.fa", "s.tsv: line 2 (b): x.bam has 'a' in its read groups; name the sample as"),
        (row("ref.fa"), "ref.fa", "ref.fa: not a BAM or CRAM file"),
    ],
)
def test_files_that_do_not_fit(files, rows, reference, message):
    with pytest.raises(InputError) as refused:
        check_files("s.tsv", rows, reference)
    assert str(refused.value).startswith(message)
