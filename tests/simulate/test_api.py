"""`simulate`: what its files hold agrees, and the same seed gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.simulate.api import SimulatedData, simulate

NAMES = [
    "reads.bam",
    "reads.bam.bai",
    "reads_1.fastq.gz",
    "reads_2.fastq.gz",
    "reference.fa",
    "reference.fa.fai",
    "truth.vcf.gz",
    "truth.vcf.gz.tbi",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SimulatedData:
    folder = tmp_path_factory.mktemp("simulated")
    return simulate(folder, length=40_000, contigs=2, coverage=12, snvs=40, indels=40, sample="NA1", seed=7)


def test_folder_holds_the_announced_files_only(made: SimulatedData) -> None:
    assert sorted(path.name for path in made.bam.parent.iterdir()) == NAMES


def test_bam_is_sorted_paired_and_named(made: SimulatedData) -> None:
    pairs: dict[str, list[pysam.AlignedSegment]] = {}
    with pysam.AlignmentFile(str(made.bam)) as bam:
        assert bam.header.to_dict()["RG"][0]["SM"] == "NA1"
        assert bam.check_index()
        places = []
        for read in bam:
            assert read.mapping_quality == 60 and read.is_proper_pair and read.get_tag("RG") == "NA1"
            places.append((read.reference_id, read.reference_start))
            pairs.setdefault(str(read.query_name), []).append(read)
        fetched = bam.count("chr2", 5_000, 6_000)
    assert places == sorted(places)
    assert fetched == sum(
        read.reference_id == 1 and read.reference_start < 6_000 and (read.reference_end or 0) > 5_000
        for pair in pairs.values()
        for read in pair
    )
    assert len(pairs) == made.pairs == 1_600
    for pair in pairs.values():
        forward, reverse = sorted(pair, key=lambda read: read.is_reverse)
        assert (forward.is_reverse, reverse.is_reverse) == (False, True)
        assert forward.is_read1 != reverse.is_read1
        assert (forward.next_reference_start, reverse.next_reference_start) == (
            reverse.reference_start,
            forward.reference_start,
        )
        assert forward.template_length == -reverse.template_length > 0


def test_alignments_differ_from_the_reference_by_variants_and_errors_only(made: SimulatedData) -> None:
    known = {}
    with pysam.VariantFile(str(made.truth)) as truth:
        for record in truth:
            for offset in range(len(record.ref)):
                known[(record.chrom, record.start + offset)] = record
    with pysam.AlignmentFile(str(made.bam)) as bam, pysam.FastaFile(str(made.reference)) as fasta:
        contigs = {name: fasta.fetch(name) for name in fasta.references}
        expected = observed = 0.0
        gaps, known_gaps = 0, 0
        for read in bam:
            place = read.reference_start
            for op, size in read.cigartuples or ():
                if op in (1, 2):
                    gaps += 1
                    known_gaps += (read.reference_name, place - 1) in known
                place += size if op in (0, 2) else 0
            for offset, position in read.get_aligned_pairs(matches_only=True):
                if (read.reference_name, position) not in known:
                    observed += read.query_sequence[offset] != contigs[read.reference_name][position]
                    expected += 10 ** (-read.query_qualities[offset] / 10)
    assert observed == pytest.approx(expected, rel=0.15)
    assert gaps > 150 and known_gaps > 0.9 * gaps


def test_truth_matches_the_reference_and_is_carried_by_the_reads(made: SimulatedData) -> None:
    with (
        pysam.VariantFile(str(made.truth)) as truth,
        pysam.AlignmentFile(str(made.bam)) as bam,
        pysam.FastaFile(str(made.reference)) as fasta,
    ):
        records = list(truth)
        assert sum(len(r.ref) == len(r.alts[0]) for r in records) == made.snvs == 40
        assert len(records) == 80
        for record in records:
            assert record.samples["NA1"].phased
            assert fasta.fetch(record.chrom, record.start, record.stop) == record.ref
            if len(record.ref) == len(record.alts[0]):
                columns = bam.pileup(record.chrom, record.start, record.stop, truncate=True, min_base_quality=20)
                bases = [base.upper() for column in columns for base in column.get_query_sequences()]
                share = bases.count(record.alts[0]) / len(bases)
                assert share > 0.9 if record.samples["NA1"]["GT"] == (1, 1) else 0 < share < 1


def test_fastq_holds_the_reads_of_the_bam(made: SimulatedData) -> None:
    with pysam.AlignmentFile(str(made.bam)) as bam:
        aligned = {(read.query_name, 1 if read.is_read1 else 2): read for read in bam}
    for mate, path in ((1, made.fastq_1), (2, made.fastq_2)):
        with pysam.FastxFile(str(path)) as fastq:
            records = list(fastq)
        assert len(records) == made.pairs
        for record in records:
            name, _, number = record.name.rpartition("/")
            read = aligned[(name, mate)]
            assert int(number) == mate
            assert record.sequence == read.get_forward_sequence()
            assert list(record.get_quality_array()) == list(read.get_forward_qualities())


def test_same_seed_same_bytes_other_seed_other_genome(tmp_path: Path) -> None:
    options = {"length": 6_000, "coverage": 5.0, "read_length": 101}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulate(tmp_path / name, seed=seed, **options)
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert (tmp_path / "a" / "reference.fa").read_bytes() != (tmp_path / "c" / "reference.fa").read_bytes()


def test_coverage_leaves_the_genome_as_it_is(tmp_path: Path) -> None:
    for name, coverage in (("a", 2.0), ("b", 6.0)):
        simulate(tmp_path / name, length=6_000, coverage=coverage)
    for name in ("reference.fa", "truth.vcf.gz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_samples_of_one_genome(tmp_path: Path) -> None:
    """They share the reference; variants and reads are each one's own."""
    made = [simulate(tmp_path / str(seed), length=8_000, coverage=2, seed=seed, genome_seed=3) for seed in (3, 4)]
    assert made[0].reference.read_bytes() == made[1].reference.read_bytes()
    assert made[0].truth.read_bytes() != made[1].truth.read_bytes()
    alone = simulate(tmp_path / "alone", length=8_000, coverage=2, seed=3)
    assert all((alone.bam.parent / name).read_bytes() == (made[0].bam.parent / name).read_bytes() for name in NAMES)


def test_fragments_are_as_long_as_asked(tmp_path: Path) -> None:
    exact = {"length": 20_000, "coverage": 5, "snvs": 0, "indels": 0, "fragment_spread": 0}
    for asked, expected in ((200, 200), (90, 150)):
        made = simulate(tmp_path / str(asked), fragment_length=asked, **exact)
        with pysam.AlignmentFile(str(made.bam)) as bam:
            lengths = [abs(read.template_length) for read in bam]
        # A slip of sequencing makes an alignment a base longer or shorter.
        assert all(abs(length - expected) <= 2 for length in lengths), "no fragment is shorter than a read"
        assert sum(length == expected for length in lengths) > 0.9 * len(lengths)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"length": 100}, "--length: must be at least"),
        ({"contigs": 0}, "--contigs: must be at least 1"),
        ({"length": 10**10}, "--length: must be at most"),
        ({"coverage": 0.0}, "--coverage: must be above 0"),
        ({"coverage": float("nan")}, "--coverage: must be above 0"),
        ({"read_length": 5}, "--read-length: must be from 20 to 500"),
        ({"fragment_length": 0}, "--fragment-length: must be from 1 to"),
        ({"fragment_spread": -1}, "--fragment-spread: must be from 0 to"),
        ({"max_indel": 150}, "--max-indel: must be from 1"),
        ({"snvs": -1}, "--snvs: must not be negative"),
        ({"indels": -1}, "--indels: must not be negative"),
        ({"seed": -1}, "--seed: must not be negative"),
        ({"sample": "a b"}, "--sample: must be letters"),
        ({"length": 3_000, "snvs": 2_000}, "variants fit on chr1"),
    ],
)
def test_bad_options_are_told_and_leave_no_file(tmp_path: Path, options: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        simulate(tmp_path / "out", **options)
    assert not list(tmp_path.glob("out/*")) and not list(tmp_path.glob("out/.*"))


def test_output_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        simulate(tmp_path / "out", length=5_000)
