"""A gVCF has every position that is asked for, the records of a VCF, and a form that bcftools joins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pysam
import pysam.bcftools
import pytest

import pairhmm
from pairhmm.calling import parallel
from pairhmm.errors import InputError, OptionError
from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import GenotypeOptions, RecordOptions
from pairhmm.variants.ploidy import Ploidies, PloidyRule

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

GVCF = RecordOptions(gvcf=True)
LENGTH = 20_000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two samples on one genome of two contigs, of which the first ends without reads."""
    folder = tmp_path_factory.mktemp("gvcf")
    shape = {
        "length": LENGTH,
        "contigs": 2,
        "coverage": 20,
        "snvs": 60,
        "indels": 30,
        "max_indel": 20,
        "genome_seed": 1,
    }
    one, other = (
        pairhmm.simulate(folder / name, seed=seed, sample=name, **shape) for seed, name in ((3, "one"), (4, "other"))
    )
    # Nothing shows the last third of the first contig.
    kept = folder / "kept.bam"
    with pysam.AlignmentFile(str(one.bam)) as reads, pysam.AlignmentFile(str(kept), "wb", template=reads) as out:
        for read in reads:
            if read.reference_id or read.reference_end < 6_000:
                out.write(read)
    pysam.index(str(kept))
    return one.reference, kept, other.bam


def write(data, out, bam=None, records=GVCF, **keywords):
    pairhmm.write_calls(bam or data[1], data[0], out, records=records, backend="cpu", **keywords)
    return out


def lines(path) -> list[list[str]]:
    return [line.split("\t") for line in Path(path).read_text().splitlines() if not line.startswith("#")]


def info(line: list[str]) -> dict[str, str]:
    return dict(field.split("=") for field in line[7].split(";"))


def spans(records) -> list[tuple[str, int, int]]:
    """Contig, first and last position of each record."""
    return [(one[0], int(one[1]), int(info(one).get("END", int(one[1]) + len(one[3]) - 1))) for one in records]


def test_every_position_once(data, tmp_path):
    records = lines(write(data, tmp_path / "x.vcf"))
    whole = lines(write(data, tmp_path / "plain.vcf", records=None))
    assert {one[0] for one in records} == {"chr1", "chr2"}
    reach = {"chr1": 0, "chr2": 0}
    for chrom, first, last in spans(records):
        # Only records overlap, where a deletion spans the next one.
        assert first <= reach[chrom] + 1
        reach[chrom] = max(reach[chrom], last)
    with pysam.FastaFile(str(data[0])) as genome:
        assert reach == dict(zip(genome.references, genome.lengths, strict=True))
        assert all(one[3] == genome.fetch(one[0], int(one[1]) - 1, int(one[1]) - 1 + len(one[3])) for one in records)
    blocks = [one for one in records if one[4] == "<NON_REF>"]
    inside = [place for place, one in zip(spans(records), records, strict=True) if one[4] != "<NON_REF>"]
    assert not any(
        chrom == own and first <= end and begin <= last
        for chrom, first, last in spans(blocks)
        for own, begin, end in inside
    )
    # Records are those of a VCF, with one allele more.
    variants = [one for one in records if one[4] != "<NON_REF>"]
    assert len(variants) == len(whole) > 30
    for own, plain in zip(variants, whole, strict=True):
        assert own[4] == f"{plain[4]},<NON_REF>"
        assert own[:4] + own[5:7] == plain[:4] + plain[5:7]
        ours, theirs = (dict(zip(one[8].split(":"), one[9].split(":"), strict=True)) for one in (own, plain))
        assert ours | {"AD": "", "PL": ""} == theirs | {"AD": "", "PL": ""}
        assert ours["AD"] == theirs["AD"] + ",0"
        # VCF's order: the genotypes without the last allele come first.
        assert ours["PL"].startswith(theirs["PL"] + ",")


def test_fields_that_joint_genotypers_ask_for(data, tmp_path):
    """Those of docs/vcf.md: GLnexus's configuration for GATK, and GenomicsDB with GenotypeGVCFs."""
    blocks = variants = 0
    with pysam.VariantFile(str(write(data, tmp_path / "x.vcf.gz"))) as records:
        formats, infos = records.header.formats, records.header.info
        numbers = {"MIN_DP": 1, "DP": 1, "GQ": 1, "SB": 4, "AD": "R", "PL": "G"}
        assert {name: (formats[name].number, formats[name].type) for name in numbers} == {
            name: (number, "Integer") for name, number in numbers.items()
        }
        assert (infos["END"].number, infos["END"].type) == (1, "Integer")
        assert infos["DP"].type == formats["DP"].type, "GenomicsDB takes a name for one type"
        for record in records:
            sample, alleles = record.samples[0], len(record.alleles)
            assert record.alts[-1] == "<NON_REF>" and record.alts.count("<NON_REF>") == 1
            assert len(sample["PL"]) == alleles * (alleles + 1) // 2 and min(sample["PL"]) == 0
            assert sample["GQ"] >= 0 and sample["DP"] >= 0
            if alleles == 2:
                blocks += 1
                assert "\tEND=" in str(record) and sample["MIN_DP"] <= sample["DP"]
            else:
                variants += 1
                assert len(sample["AD"]) == alleles and sample["AD"][-1] == 0
                assert len(sample["SB"]) == 4 and sum(sample["SB"]) == sum(sample["AD"])
    assert blocks > 100 and variants > 30


def shifted_right(read, genome):
    """The CIGAR of a read whose insertions and deletions stand as far right as they can."""
    pieces = [list(one) for one in read.cigartuples]
    at, query = read.reference_start, 0
    for number, (operation, size) in enumerate(pieces[:-1]):
        if operation in (1, 2):
            while pieces[number + 1][1] > 1:
                ahead = genome[at] if operation == 2 else read.query_sequence[query]
                if ahead != (genome[at + size] if operation == 2 else genome[at]):
                    break
                pieces[number - 1][1] += 1
                pieces[number + 1][1] -= 1
                at, query = at + 1, query + 1
        at += size * (operation in (0, 2, 7, 8))
        query += size * (operation in (0, 1, 4, 7, 8))
    return pieces


def test_blocks_do_not_depend_on_where_an_aligner_puts_an_indel(data, tmp_path):
    """Aligners shift indels left or right in a repeat. Records have them on the left, and explain what reads show."""
    shifted, moved = tmp_path / "shifted.bam", 0
    with pysam.FastaFile(str(data[0])) as genome:
        bases = {name: genome.fetch(name) for name in genome.references}
    with pysam.AlignmentFile(str(data[1])) as reads, pysam.AlignmentFile(str(shifted), "wb", template=reads) as out:
        for read in reads:
            pieces = shifted_right(read, bases[read.reference_name])
            moved += [list(one) for one in read.cigartuples] != pieces
            read.cigartuples = pieces
            out.write(read)
    pysam.index(str(shifted))
    assert moved > 20
    found = [lines(write(data, tmp_path / "x.vcf", bam)) for bam in (None, shifted)]
    records = [[one for one in own if one[4] != "<NON_REF>"] for own in found]
    assert records[0] == records[1]
    # Where an indel leaves a read that begins in its repeat, bases beside it count that did not before.
    unsure = [
        [
            (*place, one[9])
            for place, one in zip(spans(own), own, strict=True)
            if one[4] == "<NON_REF>" and int(one[9].split(":")[2]) < 20 <= int(one[9].split(":")[1])
        ]
        for own in found
    ]
    assert unsure[0] == unsure[1]


def test_blocks_say_what_is_not_known(data, tmp_path):
    blocks = [one for one in lines(write(data, tmp_path / "x.vcf")) if one[4] == "<NON_REF>"]
    unread = [one for one in blocks if one[9] == "./.:0:0:0:0,0,0" and one[0] == "chr1"][-1]
    assert info(unread)["END"] == "10000" and 5_900 < int(unread[1]) < 6_100
    sure = [one for one in blocks if one[0] == "chr2" and int(one[9].split(":")[2]) >= 40]
    size = sum(last - first + 1 for _, first, last in spans(sure))
    assert size > 0.75 * 10_000
    assert {one[8] for one in blocks} == {"GT:DP:GQ:MIN_DP:PL"}


@pytest.mark.parametrize("given", [{}, {"regions": ["chr1:500-3000", "chr1:5000-7000", "chr2:2000-2000"]}])
def test_bytes_do_not_depend_on_threads_or_format(data, tmp_path, monkeypatch, given):
    monkeypatch.setattr(parallel, "WORTH_THREADS", 0)
    monkeypatch.setattr(parallel, "usable_cores", lambda: 8)
    monkeypatch.setattr(parallel, "_FEWEST_READS", 40)
    monkeypatch.setattr(parallel, "_WINDOW", 1)
    expected = write(data, tmp_path / "1.vcf", **given).read_bytes()
    assert write(data, tmp_path / "3.vcf", threads=3, **given).read_bytes() == expected
    assert write(data, tmp_path / "small.vcf", chunk_size=50, **given).read_bytes() == expected
    cram = tmp_path / "x.cram"
    pysam.view("-C", "-T", str(data[0]), "-o", str(cram), str(data[1]), catch_stdout=False)
    pysam.index(str(cram))
    assert write(data, tmp_path / "c.vcf", cram, **given).read_bytes() == expected


def test_regions_give_what_is_asked_for(data, tmp_path):
    bed = tmp_path / "x.bed"
    bed.write_text("chr1\t499\t3000\nchr2\t1999\t2000\n")
    found = spans(lines(write(data, tmp_path / "x.vcf", regions_file=bed)))
    covered = {(chrom, position) for chrom, first, last in found for position in range(first, last + 1)}
    asked = {("chr1", position) for position in range(500, 3001)} | {("chr2", 2000)}
    assert asked <= covered
    assert min(first for chrom, first, _ in found if chrom == "chr1") == 500


def test_bcftools_joins_two_samples(data, tmp_path):
    files = [write(data, tmp_path / f"{name}.vcf.gz", bam) for name, bam in zip("ab", data[1:], strict=True)]
    for path in files:
        pysam.bcftools.norm("-c", "e", "-f", str(data[0]), "-o", str(tmp_path / "n.vcf"), str(path), catch_stdout=False)
    joined = tmp_path / "joined.vcf"
    pysam.bcftools.merge("-g", str(data[0]), "-o", str(joined), *map(str, files), catch_stdout=False)
    own = {}
    for path in files:
        with pysam.VariantFile(str(path)) as records:
            for one in records:
                if one.alts != ("<NON_REF>",):
                    own[one.samples.keys()[0], one.chrom, one.pos] = one.samples[0]["GT"], one.alleles
    seen = 0
    with pysam.VariantFile(str(joined)) as records:
        assert list(records.header.samples) == ["one", "other"]
        for one in records:
            variants = [name for name in ("one", "other") if (name, one.chrom, one.pos) in own]
            for name, sample in one.samples.items():
                if name in variants and len(variants) < 2:
                    genotype, alleles = own[name, one.chrom, one.pos]
                    assert [sample.alleles[i] for i in range(2)] == [
                        one.ref if allele == 0 else alleles[allele] + one.ref[len(alleles[0]) :] for allele in genotype
                    ]
                    seen += 1
                elif len(variants) == 1 and (one.chrom, one.pos) > ("chr1", 6_500):
                    # The other sample has the reference there, not nothing, or lies in a deletion of its own.
                    assert set(sample["GT"]) <= {0, None}
    assert seen > 30


@pytest.fixture(scope="module")
def real(shared_data, tmp_path_factory):
    """The reference and a gVCF of NA12878, in which a deletion has two alternate alleles, one of them `*`."""
    folder = shared_data / "na12878-chr20-100kb"
    data = folder / "ucsc.hg19.chr20.unittest.fasta.gz", folder / "NA12878_S1.chr20.10_10p1mb.bam"
    out = tmp_path_factory.mktemp("real") / "x.vcf.gz"
    return data[0], write(data, out, regions=["chr20:10,008,400-10,009,300"])


def alleles_of_variants(path) -> list[tuple[int, tuple[str | None, ...]]]:
    """Position and alleles of the first sample's genotypes, where one of them is not the reference."""
    with pysam.VariantFile(str(path)) as records:
        found = [(one.pos, tuple(sorted(one.samples[0].alleles))) for one in records if any(one.samples[0]["GT"])]
    assert any("*" in alleles for _, alleles in found)
    return found


def test_bcftools_joins_deletions_with_two_alleles(real, tmp_path):
    reference, path = real
    joined = tmp_path / "joined.vcf"
    arguments = ["--force-samples", "-g", str(reference), "-o", str(joined), str(path), str(path)]
    pysam.bcftools.merge(*arguments, catch_stdout=False)
    assert alleles_of_variants(joined) == alleles_of_variants(path)


def test_gvcfz_keeps_deletions_with_two_alleles(real, tmp_path, require):
    program = shutil.which("bcftools")
    require("bcftools", program is not None, "no bcftools: apt install bcftools")

    def gvcfz(*arguments: object) -> Path:
        out = tmp_path / "smaller.vcf"
        line = [program, "+gvcfz", *arguments, "-g", 'PASS:GT!="alt"', "-o", out]
        subprocess.run([*map(str, line)], check=True, capture_output=True)
        return out

    _, path = real
    trimmed = tmp_path / "trimmed.vcf"
    pysam.bcftools.view("-a", "-o", str(trimmed), str(path), catch_stdout=False)
    for given in (path, trimmed):
        assert alleles_of_variants(gvcfz(given)) == alleles_of_variants(path)


@pytest.mark.parametrize(("ploidy", "genotype", "likelihoods"), [(1, "0", 2), (2, "0/0", 3)])
def test_ploidy(data, tmp_path, ploidy, genotype, likelihoods):
    rules = (PloidyRule("chr2", 4_000, 6_000, "M", 0),)
    genotypes = GenotypeOptions(ploidy=ploidy, ploidies=Ploidies(sex_of={"one": "M"}, rules=rules))
    records = lines(write(data, tmp_path / "x.vcf", genotypes=genotypes))
    blocks = [one for one in records if one[4] == "<NON_REF>"]
    assert {one[9].split(":")[0] for one in blocks} == {genotype, genotype.replace("0", ".")}
    assert {one[9].count(",") + 1 for one in blocks} == {likelihoods}
    inner = [place for place in spans(blocks) if place[0] == "chr2"]
    assert not any(first <= 6_000 and last > 4_000 for _, first, last in inner)
    assert any(last == 4_000 for _, _, last in inner)


def test_what_a_gvcf_can_not_have(data, tmp_path):
    out = tmp_path / "x.vcf"
    with pytest.raises(InputError, match="reads of 2 samples; write one gVCF a sample"):
        pairhmm.write_calls([data[1], data[2]], data[0], out, records=GVCF)
    with pytest.raises(InputError, match=r"^gvcf: .*: gvcf is for variants that are found in reads"):
        write(data, out, candidates=tmp_path / "list.vcf")
    with pytest.raises(InputError, match="a gVCF has ploidy 0, 1 or 2"):
        write(data, out, genotypes=GenotypeOptions(ploidy=4))
    with pytest.raises(OptionError, match="gq_bands"):
        RecordOptions(gq_bands=(20, 10))
    assert not out.exists()
