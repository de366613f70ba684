"""Odd reads: no bases, only N, twenty thousand on a site, no place, beyond their contig, or with empty operations."""

from pathlib import Path

import numpy as np
import pysam
import pytest

LENGTH, READ, SITE = 2000, 100, 1000
ODD = ((SITE - 50, "N"), (SITE - 40, "*"), (SITE - 30, "n"))
NOWHERE, BEFORE, BEYOND = (-1, SITE), (0, -50), (0, LENGTH - 10)


@pytest.fixture
def make_bam(tmp_path, monkeypatch):
    """``make_bam()``: x.bam, forty reads with a heterozygous SNV, and x.vcf, which has it.

    More reads are given as (contig, start), and odd ones as (start, the letter that they are made of).
    """
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(14)
    letters = rng.choice(list("ACGT"), LENGTH)
    alt = "A" if letters[SITE] != "A" else "C"
    # A read without a place must not land on the last contig.
    Path("ref.fa").write_text(f">q\n{''.join(letters)}\n>last\n{''.join(letters)}\n")
    pysam.faidx("ref.fa")
    contigs = [{"SN": name, "LN": LENGTH} for name in ("q", "last")]
    header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": contigs})
    Path("x.vcf").write_text(f"##fileformat=VCFv4.2\nq\t{SITE + 1}\t.\t{letters[SITE]}\t{alt}\t.\t.\t.\n")

    def make(places=(), odd=(), depth=40, cigar=f"{READ}M", names=None):
        reads = [(0, start, "") for start in np.sort(rng.integers(SITE - READ + 1, SITE + 1, depth)).tolist()]
        reads += [(*place, "") for place in places] + [(0, *one) for one in odd]
        with pysam.AlignmentFile("x.bam", "wb", header=header) as out:
            for number, (contig, start, letter) in enumerate(sorted(reads, key=lambda read: (read[0] < 0, read))):
                read = pysam.AlignedSegment(header)
                bases = letters[:READ].copy()
                if 0 <= start <= LENGTH - READ:
                    bases = letters[start : start + READ].copy()
                    if number % 2 and contig == 0:
                        bases[SITE - start] = alt
                name = f"r{number % (names or len(reads))}"
                read.query_name, read.reference_id, read.reference_start = name, contig, start
                read.mapping_quality = 60
                if letter != "*":
                    read.query_sequence, read.cigarstring = letter.upper() * READ or "".join(bases), cigar
                    read.query_qualities = pysam.qualitystring_to_array("I" * READ)
                # Last: pysam marks reads without a place as unmapped.
                read.flag = 0
                out.write(read)

    return make


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ([BEFORE], "1 mapped to no place"),
        ([(0, -1), BEFORE], "2 mapped to no place"),
        ([NOWHERE], "1 mapped to no place"),
        ([BEYOND, (0, 2**29)], "2 beyond their contig's end"),
        ([(0, 2**29)] * 2 + [(1, LENGTH - 1), NOWHERE], "3 beyond their contig's end, 1 mapped to no place"),
    ],
)
@pytest.mark.parametrize("chunk_size", [1, 20_000])
def test_reads_without_a_place_are_left_out_and_counted(make_bam, run_cli, odd, said, chunk_size):
    make_bam(odd)
    done = run_cli("call", "-f", "ref.fa", "--chunk-size", chunk_size, "x.bam")
    assert done.returncode == 0, done.stderr
    assert f"warning: reads left out: {said}\n" in done.stderr
    (record,) = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    assert record.startswith(f"q\t{SITE + 1}\t")
    assert "\t0/1:20,20:40:" in record


@pytest.mark.parametrize("operation", ["I", "D", "N", "P", "S", "X"])
def test_an_operation_of_no_bases_is_none(make_bam, run_cli, operation):
    make_bam(cigar=f"40M0{operation}{READ - 40}M")
    done = run_cli("call", "-f", "ref.fa", "x.bam")
    assert done.returncode == 0, done.stderr
    (record,) = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    assert "\t0/1:20,20:40:" in record
    Path("x.vcf").write_text(f"##fileformat=VCFv4.2\n{record}\n")
    again = run_cli("call", "-f", "ref.fa", "-v", "x.vcf", "x.bam")
    assert "\t0/1:20,20:40:" in again.stdout, again.stderr


def genotypes(text):
    return [line.split("\t")[9].split(":") for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("candidates", [(), ("-v", "x.vcf")])
def test_empty_and_all_n_reads(make_bam, run_cli, candidates):
    make_bam(odd=ODD)
    done = run_cli("call", "-f", "ref.fa", *candidates, "x.bam")
    assert done.returncode == 0, done.stderr
    ((genotype, depths, depth, *_),) = genotypes(done.stdout)
    assert genotype == "0/1"
    assert 40 <= int(depth) <= 40 + len(ODD) - 1, "a read without bases says nothing, one of N is used"
    assert sum(map(int, depths.split(","))) == 40, "N favours no allele"


def test_depth_of_twenty_thousand(make_bam, run_cli):
    make_bam(odd=ODD, depth=20_000)
    done = run_cli("call", "-f", "ref.fa", "x.bam")
    assert done.returncode == 0, done.stderr
    assert "--max-depth" in done.stderr, "the cap is announced"
    ((genotype, _, depth, *_),) = genotypes(done.stdout)
    assert (genotype, int(depth)) == ("0/1", 1000)


def test_depth_without_a_cap(make_bam, run_cli):
    make_bam(odd=ODD, depth=5_000)
    done = run_cli("call", "-f", "ref.fa", "--max-depth", 10_000, "x.bam")
    assert "--max-depth" not in done.stderr
    ((genotype, _, depth, *_),) = genotypes(done.stdout)
    assert genotype == "0/1"
    assert int(depth) >= 5_000


@pytest.mark.parametrize("names", [1, 20, 39, None])
def test_reads_of_one_name_at_one_place_are_announced(make_bam, run_cli, names):
    """Twenty names of forty reads: so reads of two strains are named by programs that simulate each of them."""
    make_bam(names=names)
    done = run_cli("call", "-f", "ref.fa", "-v", "x.vcf", "x.bam")
    assert done.returncode == 0
    many = {1: "39 of 40", 20: "20 of 40"}.get(names)
    told = [line for line in done.stderr.splitlines() if "the name of another read" in line]
    assert [line.split(" reads have")[0] for line in told] == ([f"pairhmm: warning: {many}"] if many else [])
