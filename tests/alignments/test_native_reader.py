"""Both readers give what pysam's reads give, block by block and word by word."""

import logging
import re
from dataclasses import replace

import numpy as np
import pysam
import pytest

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import ReadSelection
from pairhmm.alignments.sources import neighbours
from pairhmm.errors import InputError
from pairhmm.sequences.fasta import Reference
from tests.alignments.by_pysam import read_by_pysam

CONTIGS = {"one": 700_000, "two": 30_000, "three": 20_000}
LETTERS = "=ACMGRSVTWYHKDBN"
ALL = ReadSelection(0, 0, 30)
USUAL = ReadSelection(0xF04, 20)
GROUPS = [{"ID": "a", "SM": "ann"}, {"ID": "b", "SM": "bob"}, {"ID": "7", "SM": "ann"}]
ARRAYS = ("sample", "flag", "mapq", "start", "end", "base_offset", "bases", "quals", "cigar_offset", "cigar")


@pytest.fixture(scope="module")
def fasta(tmp_path_factory):
    """A reference that has not the last contig."""
    path = tmp_path_factory.mktemp("reference") / "ref.fa"
    path.write_text("".join(f">{name}\n{'ACGT' * (CONTIGS[name] // 4)}\n" for name in ("one", "two")))
    pysam.faidx(str(path))
    return path


def cigar_of(rng, length):
    """Operations that spell `length` bases, some of them of no bases; or none."""
    if rng.random() < 0.03:
        return None
    cigar, left = [(5, 3)] if rng.random() < 0.1 else [], length
    while left:
        size = int(rng.integers(1, left + 1))
        cigar.append((int(rng.choice([0, 0, 0, 1, 4, 7, 8])), size))
        left -= size
        if rng.random() < 0.3:
            cigar.append((int(rng.choice([2, 3, 6])), int(rng.choice([0, 1, 10, 3000]))))
    return cigar


def random_read(rng, header, number, contig, start):
    read = pysam.AlignedSegment(header)
    length = int(rng.choice([0, 1, 2, 30, 31, 150])) if rng.random() < 0.2 else int(rng.integers(20, 160))
    read.query_name = rng.choice([f"r{number}", "r:1:2" * 20, "n\u00e4me"]) if rng.random() < 0.2 else f"read{number}"
    read.query_sequence = "".join(rng.choice(list(LETTERS if rng.random() < 0.1 else "ACGT"), length))
    if rng.random() < 0.9:
        read.query_qualities = pysam.qualitystring_to_array("".join(map(chr, rng.integers(33, 127, length))))
    read.reference_id, read.reference_start = contig, start
    read.mapping_quality = int(rng.choice([0, 19, 20, 60, 255]))
    read.cigartuples = cigar_of(rng, length)
    tags = [("XA", "x" * int(rng.integers(0, 9))), ("XB", [1, 2, 3]), ("XF", 1.5), ("XC", "c", "A")]
    tags = [*tags[: int(rng.integers(0, 5))], ("RG", rng.choice(["a", "b"]) if rng.random() < 0.9 else 7)]
    if rng.random() < 0.8:
        tags.append(("MI", rng.choice(["1", "12/A", "12/B"]) if rng.random() < 0.9 else 12))
    if rng.random() < 0.5:
        tags.append(("MC", "3H5S100M2D1N4I7S"))
    read.set_tags(tags)
    read.next_reference_id, read.next_reference_start = int(rng.integers(-1, 3)), int(rng.integers(-1, 500))
    read.template_length = int(rng.integers(-500, 500))
    # Last: pysam changes the flags of reads without a place.
    flags = [0, 16, 99, 147, 0x4, 0x100, 0x200, 0x400, 0x800, 0x49, 0x59, 1]
    read.flag = int(rng.choice(flags)) if rng.random() < 0.3 else int(rng.choice([0, 16, 99, 147]))
    return read


def write_bam(path, seed, count=3_000, csi=False):
    """A sorted and indexed file of random reads, with some that are not right."""
    rng = np.random.default_rng(seed)
    lines = {"HD": {"VN": "1.6"}, "SQ": [{"SN": name, "LN": size} for name, size in CONTIGS.items()], "RG": GROUPS}
    header = pysam.AlignmentHeader.from_dict(lines)
    shares = (count * 8 // 10, count // 10, count // 10)
    number = 0
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for contig, share in enumerate(shares):
            size = list(CONTIGS.values())[contig]
            starts = rng.integers(0, size, share)
            # Crowds, and a gap in which no read starts.
            starts = np.where(rng.random(share) < 0.5, starts % 9_000, starts)
            for start in np.sort(np.where((starts > 30_000) & (starts < 400_000), starts // 1000, starts)).tolist():
                out.write(random_read(rng, header, number, contig, start))
                number += 1
        for _ in range(5):
            read = random_read(rng, header, number, -1, -1)
            out.write(read)
    pysam.index(*(["-c"] if csi else []), str(path))
    return path


def fits_cram(read):
    is_whole = read.reference_start >= 0 and (read.infer_query_length() or 0) == read.query_length
    return read.is_unmapped or is_whole


def rewritten(bam, kind, index=True):
    """The reads of a BAM file as CRAM or SAM."""
    path = bam.with_suffix(f".{kind}")
    how = {"cram": ("wc", [b"no_ref=1"]), "sam": ("w", None)}[kind]
    with (
        pysam.AlignmentFile(str(bam)) as reads,
        pysam.AlignmentFile(str(path), how[0], template=reads, format_options=how[1]) as out,
    ):
        for read in filter(fits_cram, reads.fetch(until_eof=True)):
            out.write(read)
    if kind == "cram" and index:
        pysam.index(str(path))
    return path


def blocks_of(paths, fasta, caplog, *, by_pysam, selection=ALL, threads=1, **asked):
    """Blocks, what was logged, and the error."""
    caplog.clear()
    caplog.set_level(logging.INFO)
    found, error = [], ""
    with (
        pytest.MonkeyPatch.context() as patch,
        Reference(fasta) as reference,
        AlignmentReader(paths, reference, "regions" in asked, threads) as reader,
    ):
        caplog.clear()
        if by_pysam:
            read_by_pysam(patch, fasta)
        try:
            found.extend(read_blocks(reader.sources, list(reader.contigs), selection, **asked))
        except InputError as raised:
            error = str(raised)
    return found, caplog.text.split("reads left out: ")[1:], error


def index_of(path):
    return next(path.parent.glob(f"{path.name}.?[as]i"), None)


def assert_same(paths, fasta, caplog, **asked):
    """Both readers agree. Returns the number of reads, and the error."""
    expected, log, error = blocks_of(paths, fasta, caplog, by_pysam=True, **asked)
    given, its_log, its_error = blocks_of(paths, fasta, caplog, by_pysam=False, **asked)
    assert its_error == error
    if not error:
        # pysam counts no reads on contigs that it passes over as a whole.
        if index_of(paths[0]):
            log, its_log = (
                [re.sub(r"\d+ on contigs that the reference lacks(, )?", "", line) for line in lines]
                for lines in (log, its_log)
            )
        assert "".join(its_log).rstrip(", \n") == "".join(log).rstrip(", \n")
        assert [len(block) for block in given] == [len(block) for block in expected]
    for one, other in zip(given, expected, strict=not error):
        assert (one.chrom, list(one.names), one.molecules) == (other.chrom, list(other.names), other.molecules)
        for name in ARRAYS:
            array, like = getattr(one, name), getattr(other, name)
            assert array.dtype == like.dtype, name
            np.testing.assert_array_equal(array, like, err_msg=name)
    return sum(map(len, given)), error


def intervals(seed, count=40, widest=900):
    rng = np.random.default_rng(seed)
    found = []
    for name in ("one", "two"):
        starts = np.sort(rng.choice(CONTIGS[name] - 2_000, count, replace=False))
        # Disjoint, and some of them near to the next.
        ends = np.minimum(starts + rng.integers(1, widest, count), np.append(starts[1:], CONTIGS[name]))
        found += [(name, int(start), int(end)) for start, end in zip(starts, ends, strict=True)]
    return found


@pytest.mark.parametrize("families", ["none", "MI", "position"])
@pytest.mark.parametrize(
    ("selection", "chunk_size"), [(ALL, 100), (USUAL, 7), (replace(USUAL, default_base_quality=9), 20_000)]
)
def test_whole_files(tmp_path, fasta, caplog, families, selection, chunk_size):
    path = write_bam(tmp_path / "x.bam", 1)
    (tmp_path / "x.bam.bai").unlink()
    reads, error = assert_same([path], fasta, caplog, selection=selection, chunk_size=chunk_size, families=families)
    assert reads or "no base qualities" in error


@pytest.mark.parametrize("kind", ["bai", "csi", "cram"])
@pytest.mark.parametrize("seed", range(4))
def test_regions_and_wanted_intervals(tmp_path, fasta, caplog, seed, kind):
    path = write_bam(tmp_path / "x.bam", seed, csi=kind == "csi")
    path = rewritten(path, kind) if kind == "cram" else path
    places = intervals(seed, *[(40, 900), (3, 5), (400, 50), (10, 40_000)][seed])
    for asked in ({"regions": places}, {"wanted": places}, {"wanted": places[:2]}, {"wanted": []}, {"regions": []}, {}):
        assert not assert_same([path], fasta, caplog, chunk_size=50, **asked)[1]


@pytest.mark.parametrize(
    "asked", [{}, {"regions": intervals(9)}, {"wanted": intervals(9)}], ids=["all", "regions", "wanted"]
)
@pytest.mark.parametrize("chunk_size", [1, 30, 20_000])
def test_several_files(tmp_path, fasta, caplog, asked, chunk_size):
    paths = [write_bam(tmp_path / f"{number}.bam", number, 900 - 400 * number) for number in range(3)]
    reads, error = assert_same(paths, fasta, caplog, chunk_size=chunk_size, **asked)
    assert reads
    assert not error


def test_a_thread_unpacks(tmp_path, fasta, caplog):
    path = write_bam(tmp_path / "x.bam", 3)
    assert assert_same([path], fasta, caplog, threads=2)[0]


def test_reads_of_contigs_that_are_passed_over_are_counted(tmp_path, fasta, caplog):
    path = write_bam(tmp_path / "x.bam", 3)
    with pysam.AlignmentFile(str(path)) as file:
        mapped = file.get_index_statistics()[2].mapped
    log = blocks_of([path], fasta, caplog, by_pysam=False)[1]
    assert f"{mapped} on contigs that the reference lacks" in log[0]


def test_a_cigar_of_more_operations_than_bam_counts(tmp_path, fasta, caplog):
    """It stands in the tag CG."""
    path, count = tmp_path / "x.bam", 70_000
    header = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": name, "LN": size} for name, size in CONTIGS.items()]})
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for start in (5, 9):
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start, read.flag = "long", 0, start, 0
            read.query_sequence = "ACGT" * (count // 4)
            read.cigartuples = [(operation, 1) for operation in (0, 1)] * (count // 2)
            out.write(read)
    assert assert_same([path], fasta, caplog) == (2, "")


@pytest.mark.parametrize("block_size", [60_000, 300])
def test_damaged_records_are_found_as_pysam_finds_them(tmp_path, fasta, caplog, block_size):
    """Any byte of a record may be changed, inside blocks whose checksums are right."""
    with pysam.BGZFile(str(write_bam(tmp_path / "whole.bam", 6, 60))) as file:
        data = file.read()
    first = data.index(b"read0") - 36
    rng, errors = np.random.default_rng(block_size), set()
    for _ in range(60):
        changed = bytearray(data)
        for at in rng.integers(first, len(data), int(rng.choice([1, 1, 5]))).tolist():
            changed[at] = int(rng.choice([0, 1, 4, 127, 255, changed[at] ^ 16]))
        path = tmp_path / "x.bam"
        with pysam.BGZFile(str(path), "w") as out:
            for begin in range(0, len(changed), block_size):
                out.write(bytes(changed[begin : begin + block_size]))
                out.flush()
        errors.add(assert_same([path], fasta, caplog, chunk_size=20)[1])
    assert "" in errors
    assert any("can't be read to its end" in error for error in errors)


@pytest.mark.parametrize("families", ["none", "MI", "position"])
@pytest.mark.parametrize("kind", ["cram", "sam"])
@pytest.mark.parametrize(("selection", "chunk_size", "threads"), [(ALL, 100, 1), (USUAL, 7, 2)])
def test_whole_files_of_other_kinds(tmp_path, fasta, caplog, kind, families, selection, chunk_size, threads):
    path = rewritten(write_bam(tmp_path / "x.bam", 1), kind, index=False)
    asked = {"selection": selection, "chunk_size": chunk_size, "families": families, "threads": threads}
    reads, error = assert_same([path], fasta, caplog, **asked)
    assert reads or "no base qualities" in error


def test_files_of_all_kinds_together(tmp_path, fasta, caplog):
    bams = [write_bam(tmp_path / f"{number}.bam", number, 300) for number in range(3)]
    paths = [bams[0], rewritten(bams[1], "cram"), rewritten(bams[2], "sam")]
    assert assert_same(paths, fasta, caplog, chunk_size=30)[0]


def test_cram_that_was_written_with_another_reference(tmp_path, fasta, caplog):
    """The error is that of pysam, and names the cure."""
    bam = write_bam(tmp_path / "x.bam", 2, 300)
    other = tmp_path / "other.fa"
    letters = np.random.default_rng(1).choice(list("ACGT"), 700_000)
    other.write_text("".join(f">{name}\n{''.join(letters[:size])}\n" for name, size in CONTIGS.items()))
    path = tmp_path / "x.cram"
    with (
        pysam.AlignmentFile(str(bam)) as reads,
        pysam.AlignmentFile(str(path), "wc", template=reads, reference_filename=str(other)) as out,
    ):
        for read in filter(fits_cram, reads):
            out.write(read)
    assert "give that with reference" in assert_same([path], fasta, caplog)[1]


@pytest.mark.parametrize("kind", ["cram", "sam"])
def test_damaged_files_of_other_kinds(tmp_path, fasta, caplog, kind):
    data = rewritten(write_bam(tmp_path / "whole.bam", 6, 60), kind).read_bytes()
    first = data.index(b"read0") if kind == "sam" else len(data) // 3
    rng, errors = np.random.default_rng(3), set()
    for _ in range(40):
        changed = bytearray(data)
        for at in rng.integers(first, len(data) - 40, int(rng.choice([1, 1, 5]))).tolist():
            changed[at] = int(rng.choice([9, 48, 65, 127, changed[at] ^ 16]))
        path = tmp_path / f"x.{kind}"
        path.write_bytes(changed)
        try:
            errors.add(assert_same([path], fasta, caplog, chunk_size=20)[1])
        except InputError as error:
            # It is refused before any read.
            errors.add(str(error))
    told = "can't be read to its end" if kind == "cram" else "repair or remove the line"
    assert any(told in error for error in errors)


def test_near_regions_are_one_fetch():
    regions = [(chrom, start, start + 1) for chrom in "ab" for start in range(0, 60_000, 50)]
    assert list(neighbours(regions)) == [regions[:1200], regions[1200:]]


def test_far_regions_are_not_read_on_to():
    regions = [("a", 100, 200), ("a", 50_000, 50_100)]
    assert list(neighbours(regions)) == [regions[:1], regions[1:]]
