"""A gVCF has one record a position: an SNV and an indel behind its base share one, with the genotypes of the VCF."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np
import pysam
import pysam.bcftools
import pytest

import pairhmm
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import GenotypeOptions, RecordOptions

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

LENGTH, READ, STEP = 6_000, 100, 7


def clusters(rng, genome):
    """The letters that two chromosomes have for each base: often an SNV, an indel behind it and changes beside them."""
    both = [list(genome), list(genome)]
    some = [(0,), (1,), (0, 1)]
    for at in range(150, LENGTH - 200, 150):
        size, is_inserted = int(rng.integers(1, 6)), rng.random() < 0.5
        with_snv, with_indel = (some[rng.integers(3)] for _ in range(2))
        if rng.random() < 0.2:
            # A deletion takes all of it away on one chromosome.
            both[0][at - 2 : at + 3] = [""] * 5
            with_snv = with_indel = (1,)
        inserted = "".join(rng.choice(list("ACGT"), size))
        for chromosome in with_snv:
            both[chromosome][at] = "CGTA"["ACGT".index(genome[at])]
        for chromosome in with_indel:
            if is_inserted:
                both[chromosome][at] += inserted
            else:
                both[chromosome][at + 1 : at + 1 + size] = [""] * size
        near = at + int(rng.integers(1, 9))
        if rng.random() < 0.3 and both[1][near]:
            both[1][near] = "GTAC"["ACGT".index(genome[near])]
    return both


def reads_of(rng, chromosome, name):
    """Lines of SAM of reads of a chromosome, aligned as it was changed."""
    bases = [
        (place, letter, "M" if first else "I")
        for place, letters in enumerate(chromosome)
        for first, letter in zip((True, *[False] * len(letters)), letters, strict=False)
    ]
    for number, begin in enumerate(range(0, len(bases) - READ, STEP)):
        part = bases[begin : begin + READ]
        while part[0][2] == "I":
            part = part[1:]
        operations = part[0][2]
        for (last, *_), (place, _, operation) in pairwise(part):
            operations += "D" * (place - last - 1) + operation
        cigar = "".join(f"{len(list(run))}{operation}" for operation, run in groupby(operations))
        letters = "".join(str(rng.choice(list("ACGT"))) if rng.random() < 0.002 else one[1] for one in part)
        mapq = rng.choice([60, 60, 50, 30])
        start = part[0][0] + 1
        fields = f"{name}{number}", 16 * (number % 2), "q", start, mapq, cigar, "*", 0, 0, letters, "?" * len(part)
        yield start, "\t".join(map(str, (*fields, "RG:Z:s")))


@pytest.fixture(scope="module", params=[1, 2])
def sample(request, tmp_path_factory):
    """A reference and reads of two of its chromosomes with clusters of variants."""
    folder, rng = tmp_path_factory.mktemp("clusters"), np.random.default_rng(request.param)
    genome = "".join(rng.choice(list("ACGT"), LENGTH))
    (folder / "q.fa").write_text(f">q\n{genome}\n")
    pysam.faidx(str(folder / "q.fa"), catch_stdout=False)
    reads = sorted(
        read for number, one in enumerate(clusters(rng, genome)) for read in reads_of(rng, one, f"r{number}.")
    )
    head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
    (folder / "q.sam").write_text(head + "".join(f"{line}\n" for _, line in reads))
    pysam.view("-b", "-o", str(folder / "q.bam"), str(folder / "q.sam"), catch_stdout=False)
    pysam.index(str(folder / "q.bam"))
    return folder / "q.fa", folder / "q.bam"


@pytest.fixture(scope="module", params=[(True, 2), (False, 2), (False, 1)], ids=["assembly", "alignments", "haploid"])
def written(request, sample, tmp_path_factory):
    """The reference, the gVCF and the VCF of a sample."""
    folder = tmp_path_factory.mktemp("calls")
    assembly, ploidy = request.param
    for name, is_gvcf in (("g", True), ("plain", False)):
        pairhmm.write_calls(
            sample[1],
            sample[0],
            folder / f"{name}.vcf.gz",
            records=RecordOptions(gvcf=is_gvcf),
            discovery=CandidateOptions(assembly=assembly),
            genotypes=GenotypeOptions(ploidy=ploidy),
            backend="cpu",
        )
    return sample[0], folder / "g.vcf.gz", folder / "plain.vcf.gz"


def rows(path):
    """Position, alleles, QUAL and the fields of the sample of each record."""
    with pysam.VariantFile(str(path)) as records:
        for one in records:
            genotype = one.samples[0]
            yield one.pos, one.alleles, one.qual, {**genotype, "stop": one.stop, "phased": genotype.phased}


def test_positions_rise_and_cover_every_base(written):
    records = list(rows(written[1]))
    assert all(one < other for (one, *_), (other, *_) in pairwise(records))
    covered = Counter(at for position, _, _, own in records for at in range(position, own["stop"] + 1))
    assert sorted(covered) == list(range(1, LENGTH + 1))
    blocks = [(position, own["stop"]) for position, alleles, _, own in records if alleles[1] == "<NON_REF>"]
    assert all(covered[at] == 1 for first, last in blocks for at in range(first, last + 1))


def test_mapping_qualities_can_be_joined(written):
    """GenotypeGVCFs makes MQ of the sums of squares and the numbers of reads of all samples."""
    with pysam.VariantFile(str(written[1])) as records:
        assert (records.header.info["RAW_MQandDP"].number, records.header.info["RAW_MQandDP"].type) == (2, "Integer")
        seen = 0
        for one in records:
            assert ("RAW_MQandDP" in one.info) == (one.alts[0] != "<NON_REF>")
            if one.alts[0] == "<NON_REF>":
                continue
            squares, reads = one.info["RAW_MQandDP"]
            assert reads == one.info["DP"]
            assert one.info["MQ"] == pytest.approx((squares / reads) ** 0.5, abs=0.006)
            seen += one.info["MQ"] < 60
    assert seen > 20
    with pysam.VariantFile(str(written[2])) as records:
        assert "RAW_MQandDP" not in records.header.info


def letters(alleles, genotype):
    """The base at the position and what is behind it, on each chromosome."""
    return [(alleles[number][0], alleles[number][1:]) for number in genotype]


def test_a_shared_record_has_the_genotypes_of_both(written):
    of_position = {position: list(own) for position, own in groupby(rows(written[2]), itemgetter(0))}
    records = {position: own for position, *own in rows(written[1]) if own[0][1] != "<NON_REF>"}
    assert list(records) == list(of_position)
    shared = spanned = 0
    for position, (alleles, quality, own) in records.items():
        assert alleles[-1] == "<NON_REF>"
        count = len(alleles) * (len(alleles) + 1) // 2 if len(own["GT"]) == 2 else len(alleles)
        assert len(own["PL"]) == count and min(own["PL"]) == 0
        assert len(own["AD"]) == len(alleles) and len(own["SB"]) == 4
        plain = of_position[position]
        if len(plain) == 1:
            (_, expected, expected_quality, genotype), *_ = plain
            assert (alleles[:-1], quality) == (expected, expected_quality)
            assert own == genotype | {"PL": own["PL"], "AD": (*genotype["AD"], 0)}
            continue
        (_, bases, one, snv), (_, indels, other, indel) = plain
        assert (quality, own["GQ"]) == (max(one, other), min(snv["GQ"], indel["GQ"]))
        assert set(own["GT"]) | {0, len(alleles) - 1} == set(range(len(alleles)))
        shared += 1
        if "*" in alleles or "*" in bases or "*" in indels:
            spanned += 1
            continue
        found, at_base, behind = letters(alleles, own["GT"]), letters(bases, snv["GT"]), letters(indels, indel["GT"])
        assert Counter(base for base, _ in found) == Counter(base for base, _ in at_base)
        assert Counter(rest for _, rest in found) == Counter(rest + alleles[0][len(indels[0]) :] for _, rest in behind)
        if len(found) == 2 and snv["phased"] and indel["phased"] and snv.get("PS") == indel.get("PS"):
            pairs = Counter((base, rest) for (base, _), (_, rest) in zip(at_base, behind, strict=True))
            assert Counter(found) == pairs
            # The likelihoods say so, too.
            low, high = sorted(own["GT"])
            assert own["PL"][high * (high + 1) // 2 + low] == 0
    assert shared - spanned > 3


def copies(path, out, reference):
    """How often the sample has each allele, once alleles are parted, made of single changes and shifted left."""
    pysam.bcftools.norm("-m", "-any", "-a", "-f", str(reference), "-o", str(out), str(path), catch_stdout=False)
    found = Counter()
    with pysam.VariantFile(str(out)) as records:
        for one in records:
            found[one.pos, one.ref, one.alts[0]] += one.samples[0]["GT"].count(1)
    return +found


@pytest.mark.parametrize("written", [(True, 2)], indirect=True, ids=["assembly"])
def test_bcftools_parts_and_joins_what_is_shared(written, tmp_path):
    reference, gvcf, plain = written
    assert copies(gvcf, tmp_path / "g.vcf", reference) == copies(plain, tmp_path / "p.vcf", reference)
    joined = tmp_path / "joined.vcf"
    arguments = ["--force-samples", "-g", str(reference), "-o", str(joined), str(gvcf), str(gvcf)]
    pysam.bcftools.merge(*arguments, catch_stdout=False)
    variants = [one for one in rows(gvcf) if one[1][1] != "<NON_REF>"]
    with pysam.VariantFile(str(joined)) as records:
        found = [(one.pos, [own["GT"] for own in one.samples.values()]) for one in records if len(one.alleles) > 2]
    assert found == [(position, [own["GT"]] * 2) for position, _, _, own in variants]
