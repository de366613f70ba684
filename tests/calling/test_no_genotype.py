"""Where no read tells the alleles of a site apart there is no genotype, whatever the prior or other samples say."""

from __future__ import annotations

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import GenotypeOptions
from pairhmm.variants.ploidy import Ploidies

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

LENGTH, READ, SITE, DEPTH = 2_000, 100, 1_000, 20


@pytest.fixture
def called(tmp_path):
    """``called(samples, **options)``: the record of SITE with A>G, of samples with these bases at it, half of each."""

    def call(samples: dict[str, str], **options: object) -> list[str]:
        genome = list("".join(np.random.default_rng(5).choice(list("ACGT"), LENGTH)))
        genome[SITE] = "A"
        (tmp_path / "q.fa").write_text(f">q\n{''.join(genome)}\n")
        groups = "".join(f"@RG\tID:{name}\tSM:{name}\n" for name in samples)
        lines = []
        for name, bases in samples.items():
            for number in range(DEPTH):
                start = SITE - READ + 5 + 4 * number
                own = [*genome[:SITE], bases[number % len(bases)], *genome[SITE + 1 :]][start : start + READ]
                # Both strands show either base.
                flag, quality = 16 * (number // 2 % 2), "I" * READ
                text = f"{name}{number}\t{flag}\tq\t{start + 1}\t60\t{READ}M\t*\t0\t0\t{''.join(own)}\t{quality}"
                lines.append((start, f"{text}\tRG:Z:{name}"))
        head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n{groups}"
        (tmp_path / "q.sam").write_text(head + "".join(f"{line}\n" for _, line in sorted(lines)))
        pysam.view("-b", "-o", str(tmp_path / "q.bam"), str(tmp_path / "q.sam"), catch_stdout=False)
        (tmp_path / "list.vcf").write_text(
            f"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nq\t{SITE + 1}\t.\tA\tG\t.\t.\t.\n"
        )
        given = tmp_path / "q.bam", tmp_path / "q.fa", tmp_path / "q.vcf", tmp_path / "list.vcf"
        pairhmm.write_calls(*given, backend="cpu", genotypes=GenotypeOptions(**options))
        (line,) = [line for line in (tmp_path / "q.vcf").read_text().splitlines() if line[0] == "q"]
        return line.split("\t")

    return call


def info(record: list[str]) -> dict[str, str]:
    return dict(field.split("=") for field in record[7].split(";"))


@pytest.mark.parametrize(("bases", "read_at_it"), [("N", "reads of N"), ("C", "reads of an allele that is not listed")])
@pytest.mark.parametrize("ploidy", [1, 2, 3])
def test_one_sample(called, bases, read_at_it, ploidy):
    record = called({"one": bases}, ploidy=ploidy)
    genotype, depths, depth, quality, likelihoods, _ = record[9].split(":")
    assert (genotype, depths, depth) == ("/".join("." * ploidy), "0,0", str(DEPTH)), read_at_it
    assert (quality, likelihoods) == (".", ".")
    assert record[5:7] == ["0.00", "LowQual"]
    assert [info(record)[name] for name in ("AC", "AF", "AN")] == ["0", ".", "0"]


def test_other_samples_do_not_choose_it(called):
    """Two samples with the allele made the third one heterozygous."""
    record = called({"ref": "A", "het": "AG", "alt": "G", "none": "C"})
    assert [column.split(":")[0] for column in record[9:]] == ["0/0", "0/1", "1/1", "./."]
    assert [info(record)[name] for name in ("AC", "AF", "AN")] == ["3", "0.5", "6"]
    without = called({"ref": "A", "het": "AG", "alt": "G"})
    assert without[5] == record[5]
    assert without[9:] == record[9:12]


def test_one_chromosome_of_two_samples(called):
    """On a sex chromosome, reads that contradict each other equally say nothing; beside them, others count."""
    ploidies = Ploidies(of_sample={"man": 1})
    record = called({"man": "AG", "woman": "AG"}, ploidies=ploidies)
    assert [column.split(":")[0] for column in record[9:]] == [".", "0/1"]
    assert [info(record)[name] for name in ("AC", "AN")] == ["1", "2"]
