"""Names of contigs that VCF can hold: those that bcftools reads back."""

from __future__ import annotations

import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.variants.gathered import gather_vcf
from pairhmm.variants.header import check_contigs, contig_lines

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
