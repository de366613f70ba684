"""Bases that a chromosome has replaced by unrelated ones are one allele, though its reads are clipped there."""

from __future__ import annotations

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.native import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

SITE, REPLACED, LENGTH, READ, LEAST = 1_000, 40, 2_000, 100, 30


def reads_of(genome: str, bases: str | None):
    """Reads at every seventh position, clipped where they have `bases` in place of the reference's."""
    end, behind = SITE + len(bases or ""), SITE + REPLACED
    sequence = genome if bases is None else genome[:SITE] + bases + genome[behind:]
    for first in range(0, len(sequence) - READ, 7):
        before, after = SITE - first, READ - (end - first)
        start, cigar = first, f"{READ}M"
        if bases is not None and first >= end:
            start = first - end + behind
        elif bases is not None and before < READ:
            if before >= LEAST:
                cigar = f"{before}M{READ - before}S"
            elif after >= LEAST:
                start, cigar = behind, f"{READ - after}S{after}M"
            else:
                continue
        yield start, f"\t{16 * (first % 2)}\tq\t{start + 1}\t60\t{cigar}\t*\t0\t0\t{sequence[first : first + READ]}"


@pytest.fixture(params=[60, 40, 25])
def case(request, tmp_path):
    """The reference, and the bases of one chromosome; reads of it and of one like the reference."""
    rng = np.random.default_rng(request.param)
    genome, bases = ("".join(rng.choice(list("ACGT"), size)) for size in (LENGTH, request.param))
    bases = ("C" if genome[SITE] == "A" else "A") + bases[1:-1] + ("G" if genome[SITE + REPLACED - 1] == "T" else "T")
    (tmp_path / "q.fa").write_text(f">q\n{genome}\n")
    pysam.faidx(str(tmp_path / "q.fa"), catch_stdout=False)
    reads = sorted([*reads_of(genome, bases), *reads_of(genome, None)])
    lines = (f"r{number}{line}\t{'?' * READ}\tRG:Z:s\n" for number, (_, line) in enumerate(reads))
    head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
    (tmp_path / "q.sam").write_text(head + "".join(lines))
    pysam.view("-b", "-o", str(tmp_path / "q.bam"), str(tmp_path / "q.sam"), catch_stdout=False)
    pysam.index(str(tmp_path / "q.bam"))
    return genome, bases


def records(folder, *lists) -> list[tuple[int, str, str, str]]:
    pairhmm.write_calls(folder / "q.bam", folder / "q.fa", folder / "q.vcf", *lists, backend="cpu")
    with pysam.VariantFile(str(folder / "q.vcf")) as found:
        fields = [str(one).split("\t") for one in found]
    return [(int(line[1]), line[3], line[4], line[9][:3].replace("|", "/")) for line in fields]


def test_discovery_finds_one_allele(case, tmp_path):
    genome, bases = case
    ((position, ref, alt, genotype),) = records(tmp_path)
    assert genome[: position - 1] + alt + genome[position - 1 + len(ref) :] == (
        genome[:SITE] + bases + genome[SITE + REPLACED :]
    )
    assert genotype == "0/1"


def test_a_list_with_it_gets_a_heterozygote(case, tmp_path):
    genome, bases = case
    allele = genome[SITE : SITE + REPLACED], bases
    (tmp_path / "list.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        f"q\t{SITE + 1}\t.\t{allele[0]}\t{allele[1]}\t.\t.\t.\n"
    )
    assert records(tmp_path, tmp_path / "list.vcf") == [(SITE + 1, *allele, "0/1")]
