"""Windows of a fit: spread over contigs, inside them, and only where they save reading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.calling.run_options import RunInputs
from pairhmm.fit.spread import FEWEST_WINDOWS, SURPLUS, spread_over_windows

CONTIGS, LENGTH, READS = ("c:0", "c:1", "c:2"), 20_000, 5000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A BAM with as many reads on each contig, one of which has a colon in its name, and its reference."""
    folder = tmp_path_factory.mktemp("contigs")
    bam, fasta = folder / "reads.bam", folder / "reference.fa"
    letters = "".join("ACGT"[code] for code in np.random.default_rng(1).integers(0, 4, LENGTH))
    fasta.write_text("".join(f">{name}\n{letters}\n" for name in CONTIGS))
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": name, "LN": LENGTH} for name in CONTIGS]}
    with pysam.AlignmentFile(str(bam), "wb", header=header) as writer:
        for contig in range(len(CONTIGS)):
            for start in np.linspace(0, LENGTH - 100, READS).astype(int).tolist():
                read = pysam.AlignedSegment(writer.header)
                read.query_name, read.flag, read.reference_id, read.reference_start = "r", 0, contig, start
                read.mapping_quality, read.cigarstring = 60, "100M"
                read.query_sequence, read.query_qualities = (
                    letters[start : start + 100],
                    pysam.qualitystring_to_array("I" * 100),
                )
                writer.write(read)
    pysam.index(str(bam))
    return bam, fasta


def test_windows_are_spread_over_contigs(files) -> None:
    most = 1500
    windows = spread_over_windows(RunInputs.of(*files), most).intervals
    assert FEWEST_WINDOWS <= len(windows) <= FEWEST_WINDOWS + len(CONTIGS)
    assert {chrom for chrom, _, _ in windows} == set(CONTIGS)
    assert all(0 <= start < end <= LENGTH for _, start, end in windows)
    covered = sum(end - start for _, start, end in windows)
    assert covered == pytest.approx(LENGTH * len(CONTIGS) * SURPLUS * most / (READS * len(CONTIGS)), rel=0.1)


def test_the_index_of_cram_gives_windows_too(files, tmp_path: Path) -> None:
    bam, fasta = files
    cram = tmp_path / "reads.cram"
    pysam.view("-C", "-T", str(fasta), "-o", str(cram), str(bam), catch_stdout=False)
    pysam.index(str(cram))
    windows = spread_over_windows(RunInputs.of(cram, fasta), 1).intervals
    assert len(windows) >= FEWEST_WINDOWS and all(0 <= start < end <= LENGTH for _, start, end in windows)


def test_what_is_small_or_has_no_index_or_is_listed_is_read_whole(files, tmp_path: Path) -> None:
    bam, fasta = files
    unindexed = tmp_path / "reads.bam"
    unindexed.symlink_to(bam)
    for inputs, most in (
        (RunInputs.of(bam, fasta), 10_000),
        (RunInputs.of(unindexed, fasta), 1500),
        (RunInputs.of("-", fasta), 1500),
        (RunInputs.of(bam, fasta, "candidates.vcf"), 1500),
    ):
        assert spread_over_windows(inputs, most) is inputs
