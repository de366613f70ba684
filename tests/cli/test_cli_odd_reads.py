"""Reads that are legal and unusual: no bases, only N, and twenty thousand of them on one site."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pysam
import pytest

LENGTH, READ, SITE = 2000, 100, 1000
ODD_READS = 3


@pytest.fixture
def make_bam(tmp_path, monkeypatch):
    """``make_bam(depth)``: a reference and a BAM with a heterozygous SNV in `depth` reads, and odd reads among them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(9)
    letters = rng.choice(list("ACGT"), LENGTH)
    alt = "A" if letters[SITE] != "A" else "C"
    Path("ref.fa").write_text(f">q\n{''.join(letters)}\n")
    pysam.faidx("ref.fa")

    def make(depth):
        header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}]})
        starts = [(start, "") for start in rng.integers(SITE - READ + 1, SITE + 1, depth).tolist()]
        starts += [(SITE - 50, "N"), (SITE - 40, "*"), (SITE - 30, "n")]
        with pysam.AlignmentFile("x.bam", "wb", header=header) as out:
            for number, (start, odd) in enumerate(sorted(starts)):
                read = pysam.AlignedSegment(header)
                read.query_name, read.reference_id, read.reference_start = f"r{number}", 0, start
                read.mapping_quality, read.cigartuples = 60, [(0, READ)]
                if odd == "*":
                    read.cigartuples = None
                else:
                    bases = letters[start : start + READ].copy()
                    if number % 2:
                        bases[SITE - start] = alt
                    read.query_sequence = odd.upper() * READ if odd else "".join(bases)
                    read.query_qualities = pysam.qualitystring_to_array("I" * READ)
                out.write(read)
        Path("x.vcf").write_text(
            "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
            f"q\t{SITE + 1}\t.\t{letters[SITE]}\t{alt}\t.\t.\t.\n"
        )

    return make


def genotypes(text):
    return [line.split("\t")[9].split(":") for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("candidates", [(), ("-v", "x.vcf")])
def test_empty_and_all_n_reads(make_bam, run_cli, candidates):
    make_bam(40)
    done = run_cli("call", "-f", "ref.fa", *candidates, "x.bam")
    assert done.returncode == 0, done.stderr
    ((genotype, depths, depth, *_),) = genotypes(done.stdout)
    assert genotype == "0/1"
    assert 40 <= int(depth) <= 40 + ODD_READS - 1, "a read without bases says nothing, one of N is used"
    assert sum(map(int, depths.split(","))) == 40, "N favours no allele"


def test_depth_of_twenty_thousand(make_bam, run_cli):
    make_bam(20_000)
    done = run_cli("call", "-f", "ref.fa", "x.bam")
    assert done.returncode == 0, done.stderr
    assert "--max-depth" in done.stderr, "the cap is announced"
    ((genotype, _, depth, *_),) = genotypes(done.stdout)
    assert (genotype, int(depth)) == ("0/1", 1000)


def test_depth_without_a_cap(make_bam, run_cli):
    make_bam(5_000)
    done = run_cli("call", "-f", "ref.fa", "--max-depth", 10_000, "x.bam")
    assert "--max-depth" not in done.stderr
    ((genotype, _, depth, *_),) = genotypes(done.stdout)
    assert genotype == "0/1"
    assert int(depth) >= 5_000
