"""From the reads of a viral sample to its consensus: the virus that is named, and the run of the demonstration."""

from __future__ import annotations

import runpy
import shutil
from types import SimpleNamespace

import pysam
import pytest

from pairhmm.scan.tables import COVERAGE_COLUMNS
from pairhmm.sequences.letters import encode_sets

HEADER = "#" + "	".join(COVERAGE_COLUMNS)


@pytest.fixture
def name_virus(snakemake, tmp_path):
    """``name_virus(*rows)``: contigs that the script names, of rows of signature, call and share of ambiguous reads."""
    (tmp_path / "viruses.fa").write_text("".join(f">{name}\nACGT{name}\n" for name in "ACGT"))

    def run(*rows, circular=()):
        lines = [f"r.fq\t{name}\t{call}\t9\t{share}\t9\t9\t1\t9\t30\t1\t0.1\t5\t" for name, call, share in rows]
        (tmp_path / "seen.tsv").write_text("\n".join([HEADER, *lines]) + "\n")
        given = SimpleNamespace(
            input=SimpleNamespace(signatures=str(tmp_path / "seen.tsv"), viruses=[str(tmp_path / "viruses.fa")]),
            output=SimpleNamespace(reference=str(tmp_path / "reference.fa"), circular=str(tmp_path / "circular.txt")),
            params=SimpleNamespace(circular=circular),
            log=[str(tmp_path / "log")],
            wildcards=SimpleNamespace(sample="s"),
        )
        runpy.run_path(str(snakemake.workflow / "scripts" / "name_virus.py"), {"snakemake": given})
        with pysam.FastaFile(str(tmp_path / "reference.fa")) as reference:
            return {name: reference.fetch(name) for name in reference.references}

    return run


def test_the_most_abundant_virus_is_named(name_virus):
    assert name_virus(("C", "present", 0.9), ("A", "weak", 0.0), ("G", "absent", "")) == {"C": "ACGTC"}


def test_segments_are_named_and_relatives_are_not(name_virus):
    seen = ("T", "present", 0.0), ("A", "present", 0.95), ("G", "present", 0.1)
    assert name_virus(*seen) == {"T": "ACGTT", "G": "ACGTG"}


def test_circles_of_a_sample_are_those_of_its_viruses(name_virus, tmp_path):
    name_virus(("T", "present", 0.0), ("G", "present", 0.1), circular=["G", "C"])
    assert (tmp_path / "circular.txt").read_text() == "--circular G"
    name_virus(("T", "present", 0.0), circular=["G"])
    assert (tmp_path / "circular.txt").read_text() == ""
    with pytest.raises(SystemExit, match=r"config: circular: .*viruses\.fa.* has no HBV"):
        name_virus(("T", "present", 0.0), circular=["HBV"])


def test_a_sample_without_a_virus_ends_with_one_line(name_virus):
    with pytest.raises(SystemExit, match=r"s: no virus of .*viruses\.fa.* is present"):
        name_virus(("A", "weak", 0.0))


@pytest.fixture(scope="module")
def viral(require, cohort):
    """The folder of the viral sample of the demonstration."""
    has_aligner = all(map(shutil.which, ("minimap2", "samtools")))
    require("minimap2", has_aligner, "minimap2 or samtools is missing: apt install minimap2 samtools")
    return cohort[0] / "virus" / "viral"


def test_the_consensus_has_the_alleles_of_the_truth(viral):
    with pysam.FastaFile(str(viral / "virus" / "reference.fa")) as reference:
        wanted = list(encode_sets(reference.fetch("virus")))
    with pysam.FastaFile(str(viral / "consensus.fa")) as consensus:
        assert consensus.references == ["virus|virus"]
        made = encode_sets(consensus.fetch("virus|virus"))
    with pysam.VariantFile(str(viral.parents[1] / "data" / "virus" / "truth.vcf.gz")) as truth:
        for record in truth:
            (genotype,) = (sample["GT"] for sample in record.samples.values())
            if len(record.ref) == len(record.alts[0]):
                alleles = {record.alleles[number] for number in genotype}
                wanted[record.start] = sum(int(encode_sets(allele)[0]) for allele in alleles)
    # Insertions and deletions are of one strain of two, below --min-fraction, so that the sequence keeps its length.
    assert len(made) == len(wanted)
    known = made != 15
    assert known.mean() > 0.98
    assert [at for at, (own, other) in enumerate(zip(made, wanted, strict=True)) if known[at] and own != other] == []


def test_the_report_is_of_the_mixture(viral):
    text = (viral / "virus" / "report.html").read_text()
    assert "A simulated virus" in text
    assert (viral / "virus" / "multiqc" / "pairhmm_general_mqc.json").exists()
