"""The progress of a run."""

from __future__ import annotations

import pysam
import pytest

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.calling.targets import Progress, run_progress
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.candidates import indexed_contigs

CONTIGS = {"a": 100, "b": 200, "c": 100}


@pytest.mark.parametrize(
    ("chrom", "position", "share"),
    [
        *(("a", 0, 0), ("a", 20, 0.1), ("a", 30, 0.2), ("a", 99, 0.2), ("a", 100, 0.2), ("a", 180, 0.6)),
        *(("a", 999, 0.6), ("b", 5, 0.6), ("b", 30, 0.8), ("b", 50, 1), ("c", 7, 0)),
    ],
)
def test_share(chrom, position, share):
    progress = Progress([Interval("a", 10, 30), Interval("a", 100, 140), Interval("b", 10, 50)])
    assert progress.share(chrom, position) == pytest.approx(share)


def test_an_empty_progress():
    assert Progress([]).share("a", 5) == 0


@pytest.fixture
def files(tmp_path):
    """Reads on b and c, candidates on a and b."""
    (tmp_path / "r.fa").write_text("".join(f">{name}\n{'A' * length}\n" for name, length in CONTIGS.items()))
    lines = [{"SN": name, "LN": length} for name, length in CONTIGS.items()]
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": lines})
    with pysam.AlignmentFile(str(tmp_path / "r.bam"), "wb", header=header) as out:
        for contig in (1, 2):
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start = "x", contig, 10
            read.query_sequence, read.cigarstring, read.mapping_quality = "A" * 20, "20M", 60
            out.write(read)
    rows = "".join(f"{chrom}\t20\t.\tA\tC\t.\t.\t.\n" for chrom in "ab")
    contigs = "".join(f"##contig=<ID={name}>\n" for name in CONTIGS)
    text = f"##fileformat=VCFv4.3\n{contigs}#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n{rows}"
    with pysam.BGZFile(str(tmp_path / "v.vcf.gz"), "wb") as out:
        out.write(text.encode())
    return tmp_path


def progress_of(folder, places=None, candidates=None) -> Progress:
    with Reference(str(folder / "r.fa")) as genome, AlignmentReader([str(folder / "r.bam")], genome) as reader:
        return run_progress(reader, CONTIGS, places, candidates)


def test_without_indexes_it_is_everything(files):
    candidates = str(files / "v.vcf.gz")
    assert indexed_contigs(candidates) == []
    assert progress_of(files, candidates=candidates).share("b", 100) == pytest.approx(200 / 400)


def test_indexes_tell_of_contigs_with_reads_and_candidates(files):
    pysam.index(str(files / "r.bam"))
    assert progress_of(files).share("b", 100) == pytest.approx(100 / 300)
    pysam.tabix_index(str(files / "v.vcf.gz"), preset="vcf")
    candidates = str(files / "v.vcf.gz")
    assert indexed_contigs(candidates) == ["a", "b"]
    assert progress_of(files, candidates=candidates).share("b", 100) == pytest.approx(1 / 2)
    places = [Interval("b", 50, 60), Interval("c", 0, 10)]
    assert progress_of(files, places).share("b", 55) == pytest.approx(1 / 4)


def test_an_index_that_is_none_is_passed_over(files):
    (files / "v.vcf.gz.tbi").write_bytes(b"nothing")
    assert indexed_contigs(str(files / "v.vcf.gz")) == []
