"""Requests beyond what a machine should give are bounded, announced, and can be stopped."""

import pysam
import pytest


@pytest.fixture(scope="module")
def demo(tmp_path_factory, run_cli):
    folder = tmp_path_factory.mktemp("limits") / "demo"
    assert run_cli("simulate", "-o", folder, "--length", 20_000).returncode == 0
    return folder


def test_threads_by_the_million(demo, run_cli):
    few, many = (
        run_cli("call", "-@", threads, "--no-version", "-f", demo / "reference.fa", demo / "reads.bam")
        for threads in (1, 1_000_000)
    )
    assert many.returncode == 0
    assert few.stdout == many.stdout
    assert "1000000 threads are too many for" in many.stderr


def test_genotypes_by_the_million(demo, run_cli, tmp_path):
    """Ten alternatives at a ploidy of 20 make 30,045,015: a record keeps its alleles, and some are weighed."""
    with pysam.FastaFile(str(demo / "reference.fa")) as fasta:
        ref = fasta.fetch("chr1", 9999, 10000).upper()
    inserted = [ref + bases for bases in ("A", "C", "G", "T", "AA", "AC", "AG", "AT", "CA", "CC")]
    header = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    (tmp_path / "x.vcf").write_text(f"{header}chr1\t10000\t.\t{ref}\t{','.join(inserted)}\t.\t.\t.\n")
    options = ("-v", tmp_path / "x.vcf", "-f", demo / "reference.fa", demo / "reads.bam")
    done = run_cli("call", "--ploidy", 20, *options, timeout=60)
    assert done.returncode == 0, done.stderr
    record = done.stdout.splitlines()[-1].split("\t")
    assert record[4] == ",".join(inserted)
    genotype, depths, _, _, likelihoods, _ = record[9].split(":")
    assert (genotype, len(depths.split(",")), likelihoods) == ("/".join("0" * 20), 11, ".")
    assert "1 site has more than 4096 genotypes by their alleles and ploidy" in done.stderr
    one = run_cli("call", "--sample-ploidy", "sample=20", *options, timeout=60)
    assert one.stdout.splitlines()[-1] == done.stdout.splitlines()[-1]
