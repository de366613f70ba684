"""Fractions of mixtures count molecules: neither errors that repeat, nor what lengths of alleles add, change them."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.calling.genotyping import Site
from pairhmm.native import is_compiled
from tests.conftest import RunCli

pytestmark = pytest.mark.skipif(not is_compiled(), reason="mixtures need the compiled part")

LENGTH, READ = 700, 100
Read = tuple[int, list[tuple[int, int]], np.ndarray, bool]


def genome(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, LENGTH)


def aligned(codes: np.ndarray, at: int, inserted: np.ndarray, deleted: int, start: int, is_reverse: bool) -> Read:
    """The read from `start` on of a haplotype with an allele before `at`, clipped where it begins or ends within it."""
    letters = np.concatenate((codes[:at], inserted, codes[at + deleted :]))[start : start + READ]
    before, within = min(READ, max(0, at - start)), max(0, min(at + len(inserted), start + READ) - max(at, start))
    behind = READ - before - within
    if before <= 0 or behind <= 0:
        parts = [(0, before), (4, within), (0, behind)]
    else:
        parts = [(0, before), (1, within), (2, deleted), (0, behind)]
    place = start if start < at else at + deleted + max(0, start - at - len(inserted))
    return place, [one for one in parts if one[1] > 0], letters, is_reverse


def called(folder: Path, codes: np.ndarray, reads: Iterable[Read]) -> list[Site]:
    (folder / "ref.fa").write_text(f">q\n{''.join('ACGT'[code] for code in codes)}\n")
    pysam.faidx(str(folder / "ref.fa"))
    header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}]})
    with pysam.AlignmentFile(str(folder / "s.bam"), "wb", header=header) as out:
        for number, (start, cigar, letters, is_reverse) in enumerate(sorted(reads, key=lambda one: one[0])):
            read = pysam.AlignedSegment(header)
            read.query_name, read.flag, read.mapping_quality = f"r{number}", 16 * is_reverse, 60
            read.reference_id, read.reference_start, read.cigartuples = 0, start, cigar
            read.query_sequence = "".join("ACGT"[code] for code in letters)
            read.query_qualities = pysam.qualitystring_to_array("?" * len(letters))
            out.write(read)
    pysam.index(str(folder / "s.bam"))
    return list(pairhmm.call(folder / "s.bam", folder / "ref.fa", mixture=True))


def fraction_of(site: Site) -> tuple[float, float, float]:
    """The fraction of the first alternative allele, and its interval."""
    fraction = site.samples[0].fractions[1]
    assert fraction is not None
    return fraction


def test_reads_with_errors_to_an_alleles_letter_are_not_counted(tmp_path: Path) -> None:
    """C is read as T in 2% of the reads, and alleles T have 5%: not 7%."""
    rng, codes = np.random.default_rng(1), genome(2)
    places = np.flatnonzero(codes[100:600] == 1)[::12] + 100
    reads = list[Read]()
    for start in rng.integers(0, LENGTH - READ, 14_000).tolist():
        letters, is_reverse = codes[start : start + READ].copy(), bool(rng.random() < 0.5)
        if rng.random() < 0.05:
            letters[[at - start for at in places if start <= at < start + READ]] = 3
        was, now = (2, 0) if is_reverse else (1, 3)
        letters[(letters == was) & (rng.random(READ) < 0.02)] = now
        reads.append((start, [(0, READ)], letters, is_reverse))
    sites = [site for site in called(tmp_path, codes, reads) if site.variant.pos in places]
    assert len(sites) == len(places)
    assert np.mean([fraction_of(site)[0] for site in sites]) == pytest.approx(0.05, abs=0.007)


def test_errors_at_ends_of_reads_make_no_haplotype(tmp_path: Path, run_cli: RunCli) -> None:
    """Two strains differ at three places. At the middle one, ends of reads of one strain show the other's letter."""
    rng, codes = np.random.default_rng(7), genome(6)
    strains = codes.copy(), codes.copy()
    strains[0][[342, 350, 358]] = (codes[[342, 350, 358]] + 1) % 4
    reads = list[Read]()
    for start in rng.integers(0, LENGTH - READ, 14_000).tolist():
        letters = strains[int(rng.random() < 0.4)][start : start + READ].copy()
        if (0 <= 350 - start < 6 or READ - 6 <= 350 - start < READ) and rng.random() < 0.3:
            letters[350 - start] = strains[0][350]
        reads.append((start, [(0, READ)], letters, bool(rng.random() < 0.5)))
    called(tmp_path, codes, reads)
    table = tmp_path / "haplotypes.tsv"
    given = "-f", tmp_path / "ref.fa", "--haplotype-table", table, "-o", tmp_path / "calls.vcf", tmp_path / "s.bam"
    assert run_cli("call", "--mixture", "-q", *map(str, given)).returncode == 0
    found = {line.split("\t")[5] for line in table.read_text().splitlines()[1:]}
    assert found == {"".join("ACGT"[code] for code in own[342:359]) for own in strains}


@pytest.mark.parametrize(("inserted", "deleted"), [(20, 0), (0, 20)])
def test_lengths_of_alleles_change_no_fraction(tmp_path: Path, inserted: int, deleted: int) -> None:
    """More reads lie over a longer haplotype: counted without that, 20% of 20 inserted bases were 23%."""
    rng, codes = np.random.default_rng(3), genome(4)
    more = rng.integers(0, 4, inserted)
    reads = list[Read]()
    for _ in range(28_000):
        has = rng.random() < 0.2
        start = int(rng.integers(0, LENGTH + (inserted - deleted) * has - READ + 1))
        own = (more, deleted) if has else (more[:0], 0)
        reads.append(aligned(codes, 350, *own, start, bool(rng.random() < 0.5)))
    found = [site for site in called(tmp_path, codes, reads) if len(site.variant.ref) - 1 == deleted]
    assert len(found) == 1
    assert fraction_of(found[0])[0] == pytest.approx(0.2, rel=0.09)


@pytest.mark.parametrize(("inserted", "deleted"), [(20, 0), (0, 20)])
def test_alleles_of_all_molecules_have_a_fraction_of_one(tmp_path: Path, inserted: int, deleted: int) -> None:
    """No haplotype of the reference's length has any weight: its share of molecules was 0 / 0."""
    rng, codes = np.random.default_rng(8), genome(4)
    more = rng.integers(0, 4, inserted)
    reads = list[Read]()
    for start in rng.integers(0, LENGTH + inserted - deleted - READ + 1, 4_000).tolist():
        own = codes.copy()
        for at, share in ((340, 0.3), (345, 0.2), (375, 0.1)):
            own[at] = (codes[at] + (rng.random() < share)) % 4
        reads.append(aligned(own, 350, more, deleted, start, bool(rng.random() < 0.5)))
    (found,) = [
        site for site in called(tmp_path, codes, reads) if abs(len(site.variant.ref) - len(site.variant.alts[0])) == 20
    ]
    assert fraction_of(found) == pytest.approx((1, 0.998, 1), abs=0.002)


def test_no_artefact_is_what_most_molecules_have(tmp_path: Path) -> None:
    """All molecules have an insertion, and all reads of the forward strand begin within it."""
    codes = genome(5)
    more = np.random.default_rng(6).integers(0, 4, 6)
    reads = [aligned(codes, 350, more, 0, start, start > 350) for start in [300, 353] * 400]
    reads = [(start, cigar, letters, not is_reverse) for start, cigar, letters, is_reverse in reads]
    found = [site for site in called(tmp_path, codes, reads) if len(site.variant.alts[0]) == 7]
    assert [site.variant.artefact for site in found] == [0]
    assert fraction_of(found[0])[1] > 0.9
