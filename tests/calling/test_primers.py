"""Primers: their bases are no evidence, so that the other tile calls a variant under a primer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.native import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

LENGTH, READ = 900, 150
GENOME = "".join(np.random.default_rng(5).choice(list("ACGT"), LENGTH))
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}
# Two tiles overlap: the right primer of the first one lies inside the second.
TILES = {"one": (100, 400), "two": (300, 600)}
PRIMER = 24
UNDER_RIGHT, UNDER_LEFT = 390, 310
BED = "".join(
    f"q\t{start}\t{start + PRIMER}\tx_{number}_LEFT\t1\t+\nq\t{end - PRIMER}\t{end}\tx_{number}_RIGHT\t2\t-\n"
    for number, (start, end) in enumerate(TILES.values(), start=1)
)


def fragments(depth, snvs, paired=True):
    """SAM lines of fragments of both tiles. Primers have the reference's bases."""
    sample = "".join(OTHER[base] if at in snvs else base for at, base in enumerate(GENOME))
    for start, end in TILES.values():
        bases = GENOME[start : start + PRIMER] + sample[start + PRIMER : end - PRIMER] + GENOME[end - PRIMER : end]
        for number in range(depth):
            if not paired:
                yield start, f"r{start}.{number}\t{16 * (number % 2)}", f"{end - start}M\t*\t0\t0\t{bases}"
                continue
            left, right, size = start, end - READ, end - start
            name = f"r{start}.{number}"
            yield left, f"{name}\t99", f"{READ}M\t=\t{right + 1}\t{size}\t{bases[:READ]}"
            yield right, f"{name}\t147", f"{READ}M\t=\t{left + 1}\t{-size}\t{bases[-READ:]}"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """``write(snvs, more, paired)``: x.fa, x.bam and x.bed."""
    monkeypatch.chdir(tmp_path)
    Path("x.fa").write_text(f">q\n{GENOME}\n")
    Path("x.bed").write_text(BED)

    def make(snvs=(), more=(), paired=True):
        lines = sorted([*fragments(20, snvs, paired), *more])
        head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
        texts = [
            f"{name}\tq\t{start + 1}\t60\t{rest}\t{'I' * len(rest.split(chr(9))[-1])}\tRG:Z:s\n"
            for start, name, rest in lines
        ]
        Path("x.sam").write_text(head + "".join(texts))
        pysam.view("-b", "-o", "x.bam", "x.sam", catch_stdout=False)
        pysam.index("x.bam")

    return make


@pytest.fixture
def called(run_cli):
    """``called(*options)``: position and depths of each record, and the messages."""

    def call(*options):
        done = run_cli("call", "-f", "x.fa", "--backend", "cpu", "--ploidy", 1, *options, "x.bam")
        assert done.returncode == 0, done.stderr
        records = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]
        return {int(record[1]) - 1: record[9].split(":")[:2] for record in records}, done.stderr

    return call


@pytest.mark.parametrize("paired", [True, False])
def test_the_other_tile_calls_a_variant_under_a_primer(write, called, paired):
    write((UNDER_RIGHT, UNDER_LEFT), paired=paired)
    without, _ = called("-v", _listed(UNDER_LEFT, UNDER_RIGHT))
    assert all(depths.split(",")[0] != "0" for _, depths in without.values()), "primers have the reference's base"
    records, messages = called("--primers", "x.bed")
    assert sorted(records) == [UNDER_LEFT, UNDER_RIGHT]
    assert {genotype for genotype, _ in records.values()} == {"1"}
    # A tile has 20 fragments, whose mates do not both reach a site.
    assert [depths for _, depths in records.values()] == ["0,20", "0,20"]
    reads = 80 if paired else 40
    assert f"{reads} of {reads} reads (100.0%) begin in a primer" in messages


def _listed(*places):
    records = "".join(f"q\t{at + 1}\t.\t{GENOME[at]}\t{OTHER[GENOME[at]]}\t.\t.\t.\n" for at in places)
    Path("x.vcf").write_text(f"##fileformat=VCFv4.2\n{records}")
    return "x.vcf"


def test_reads_that_begin_in_no_primer_are_kept(write, called):
    """Reads of sheared fragments over the primer's place show the sample's base there."""
    alt = GENOME[:UNDER_RIGHT] + OTHER[GENOME[UNDER_RIGHT]] + GENOME[UNDER_RIGHT + 1 :]
    more = [(340 + at, f"m{at}\t{16 * (at % 2)}", f"100M\t*\t0\t0\t{alt[340 + at : 440 + at]}") for at in range(10)]
    write((UNDER_RIGHT,), more)
    records, messages = called("--primers", "x.bed")
    assert records == {UNDER_RIGHT: ["1", "0,30"]}
    assert "80 of 90 reads (88.9%) begin in a primer; the others are kept" in messages
    once = called("--primers", "x.bed", "-r", "q:1-900")
    assert once[0] == records and messages.count("begin in a primer") == 1


def test_strands_may_be_told_by_names(write, called):
    write((UNDER_RIGHT,))
    Path("named.bed").write_text("".join(f"{line.rsplit(chr(9), 1)[0]}\n" for line in BED.splitlines()))
    assert called("--primers", "named.bed")[0] == called("--primers", "x.bed")[0]


def test_a_scheme_of_other_places_is_a_warning(write, called):
    write((UNDER_RIGHT,))
    Path("other.bed").write_text("q\t700\t720\tx_1_LEFT\t1\t+\nq\t850\t870\tx_1_RIGHT\t1\t-\n")
    assert "warning: none of 80 reads begins in a primer" in called("--primers", "other.bed")[1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("MN908947.3\t30\t54\tn_1_LEFT\t1\t+", "x.bed: line 5: no contig 'MN908947.3'; contigs are q"),
        ("q\t890\t910\tn_1_RIGHT\t1\t-", "x.bed: line 5: 890-910 is not inside q, which has 900 bases"),
        ("q\t30\t54\tprimer1", "x.bed: line 5: a primer without a strand"),
        ("q\tstart\tend", "x.bed: line 5: not `chrom start end`"),
    ],
)
def test_a_primer_that_can_not_be_used_is_one_line(write, run_cli, line, said):
    write()
    Path("x.bed").write_text(f"{BED}{line}\n")
    done = run_cli("call", "-f", "x.fa", "--primers", "x.bed", "x.bam")
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert len([one for one in done.stderr.splitlines() if "error" in one]) == 1


def test_a_bed_without_a_primer_is_refused(write, run_cli):
    write()
    Path("x.bed").write_text("# none\n")
    done = run_cli("likelihoods", "-f", "x.fa", "--primers", "x.bed", "x.bam")
    assert done.returncode == 2 and "no primer in it" in done.stderr
