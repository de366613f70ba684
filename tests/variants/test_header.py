"""Names of contigs are those that bcftools reads back; the header of gathered calls tells of the run."""

from __future__ import annotations

import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.variants.gathered import gather_vcf
from pairhmm.variants.header import check_contigs, contig_lines, run_header

COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


@pytest.mark.parametrize("name", ["chr1", "HLA-A*01:01:01", "gi|5|x", "1:100-400", "a=b", "a#b", "~", "chr1;2", "9/x"])
def test_allowed(tmp_path, name):
    (line,) = contig_lines({name: 100}, "ref.fa")
    path = tmp_path / "x.vcf"
    path.write_text(f"##fileformat=VCFv4.3\n{line}\n{COLUMNS}{name}\t5\t.\tA\tC\t.\t.\t.\n")
    with pysam.VariantFile(str(path)) as records:
        assert [(one.chrom, one.pos) for one in records] == [(name, 5)]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("chr1,chr3", "','"), ("x<1>", "'<'"), ("x>", "'>'"), ('a"b', "'\"'"), ("a{b", "'{'"), ("Ä", "'Ä'")),
        *(("a\\b", r"'\\'"), ("a b", "' '")),
        *(("*", "'*' at the beginning"), ("=a", "'=' at the beginning"), ("#1", "'#' at the beginning")),
    ],
)
def test_refused(name, wrong):
    with pytest.raises(InputError) as error:
        check_contigs("ref.fa", ["chr1", name])
    assert f": VCF allows no {wrong} in the name of a contig; rename it" in str(error.value)


def test_gathered_files_with_such_a_name(tmp_path):
    """Their header can't be read, and the message says why."""
    path = tmp_path / "x.vcf"
    path.write_text(
        f"##fileformat=VCFv4.3\n##contig=<ID=chr1,chr3,length=100>\n{COLUMNS}chr1,chr3\t5\t.\tA\tC\t.\t.\t.\n"
    )
    with pytest.raises(InputError, match=r"x.vcf: contig 'chr1,chr3': VCF allows no ',' in the name of a contig"):
        gather_vcf([str(path)], str(tmp_path / "all.vcf"))
    assert not (tmp_path / "all.vcf").exists()


COMMON = ["##fileformat=VCFv4.3", "##reference=r.fa", '##FILTER=<ID=PASS,Description="x">']


def gathered(*pieces: list[str]) -> list[str]:
    return run_header([[*COMMON, *piece, "#CHROM\tPOS"] for piece in pieces])[len(COMMON) : -1]


@pytest.mark.parametrize(
    ("commands", "joined"),
    [
        (["call -R 1.bed a.bam"] * 3, ["call -R 1.bed a.bam"]),
        (["call -R 1.bed a.bam", "call -R 2.bed a.bam"], ["call -R {1.bed,2.bed} a.bam"]),
        (
            [f"call -R {n}.bed -o {n}.vcf a.bam" for n in (1, 2, 3)],
            ["call -R {1.bed,...,3.bed} -o {1.vcf,...,3.vcf} a.bam"],
        ),
        (["call 'a b.bam' -R x", "call 'a b.bam' -R y"], ["call 'a b.bam' -R {x,y}"]),
        (["call it's -R x", "call it's -R y"], ["""call 'it'"'"'s' -R {x,y}"""]),
        (["call a.bam", "call -q a.bam"], ["call a.bam", "call -q a.bam"]),
    ],
)
def test_commands(commands, joined):
    found = gathered(*([f"##pairhmmCommand={command}"] for command in commands))
    assert found == [f"##pairhmmCommand={command}" for command in joined]


def test_what_else_differs():
    first = ["##fileDate=20261231", "##pairhmmBackend=cpu (avx2)"]
    second = ["##fileDate=20270101", "##pairhmmBackend=cuda (H200)"]
    backends = ["##pairhmmBackend=cpu (avx2)", "##pairhmmBackend=cuda (H200)"]
    assert gathered(first, second, first) == ["##fileDate=20270101", *backends]


def test_without_provenance_there_is_none():
    assert gathered([], [], []) == []


def test_a_header_has_one_format():
    assert run_header([["##fileformat=VCFv4.2", "#CHROM"], ["##fileformat=VCFv4.3", "#CHROM"]]) == [
        *("##fileformat=VCFv4.2", "#CHROM")
    ]
