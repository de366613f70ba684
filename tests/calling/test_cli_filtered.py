"""Reads that are left out, or that fit no haplotype, are counted and announced with the cure."""

import re

import numpy as np
import pysam
import pytest

from pairhmm.simulate.api import simulate


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("aside"), length=12_000, coverage=20, snvs=20, indels=3, seed=2)


def rewritten(source, path, change):
    """A copy of a BAM file with each read changed."""
    with pysam.AlignmentFile(source) as reads, pysam.AlignmentFile(path, "wb", template=reads) as out:
        for read in reads.fetch(until_eof=True):
            change(read)
            out.write(read)
    pysam.index(str(path))
    return path


@pytest.fixture
def call(data, run_cli, tmp_path):
    def run(bam, *options):
        done = run_cli("call", "-f", data.reference, *options, "-o", tmp_path / "calls.vcf", bam)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


def counts(said):
    found = re.search(r"(\d+) reads \((\d+) set aside\)", said)
    return int(found[1]), int(found[2])


def test_the_closing_line_counts_them(call, data):
    said = call(data.bam)
    reads, aside = counts(said)
    assert 0 <= aside < 0.2 * reads
    assert "warning" not in said


def test_low_qualities_are_named_with_their_cure(call, data, tmp_path):
    """Letters of another place cost more than the qualities of 17 promise."""

    def lower(read):
        bases = read.query_sequence
        read.query_sequence = bases[:20] + bases[60:80] + bases[40:]
        read.query_qualities = pysam.qualitystring_to_array("2" * read.query_length)

    bam = rewritten(data.bam, tmp_path / "q17.bam", lower)
    said = call(bam, "-v", data.truth)
    reads, unfit = counts(said)
    assert unfit > 0.3 * reads
    assert f"{unfit} of {reads} reads" in said
    assert "--base-quality-threshold 0" in said
    assert "count as 6" not in call(bam, "-v", data.truth, "--base-quality-threshold", 0)


def test_poor_reads_fit_by_what_their_qualities_promise(call, data, tmp_path):
    """Every base counts as 6, and costs a bit: reads of no error scored below any limit that ignores that."""

    def lower(read):
        read.query_qualities = pysam.qualitystring_to_array("2" * read.query_length)

    reads, unfit = counts(call(rewritten(data.bam, tmp_path / "q17.bam", lower)))
    assert unfit < 0.01 * reads


def test_reads_with_many_errors_are_named_with_their_cure(call, data, tmp_path):
    rng = np.random.default_rng(1)

    def err(read):
        bases = list(read.query_sequence)
        qualities = read.query_qualities
        for place in rng.choice(len(bases), len(bases) // 10, replace=False):
            bases[place] = "ACGT"["ACGT".index(bases[place]) ^ 2]
        read.query_sequence = "".join(bases)
        read.query_qualities = qualities

    bam = rewritten(data.bam, tmp_path / "errors.bam", err)
    found = ("-r", "chr1:1-3000", "--min-alt-count", 5, "--min-indel-count", 5)
    said = call(bam, *found)
    assert "--error-rate 0" in said
    assert re.search(r"\d+ of \d+ reads \(\d+%\) fit no haplotype: ", said)
    assert "fit no haplotype" not in call(bam, *found, "--error-rate", 0)


@pytest.mark.parametrize("is_listed", [False, True])
def test_a_site_where_many_reads_fit_nothing(call, data, tmp_path, is_listed):
    """Far fewer than a fifth of the run, but of one site: the record and a line on stderr say so."""
    rng = np.random.default_rng(1)
    with pysam.VariantFile(str(data.truth)) as truth:
        site = [one for one in truth if len(one.ref) == len(one.alts[0]) == 1][10]

    def err(read):
        if read.reference_start > site.start or read.reference_end <= site.start or rng.random() < 0.6:
            return
        bases, qualities = list(read.query_sequence), read.query_qualities
        for place in rng.choice(len(bases), len(bases) // 5, replace=False):
            bases[place] = "ACGT"["ACGT".index(bases[place]) ^ 2]
        read.query_sequence = "".join(bases)
        read.query_qualities = qualities

    bam = rewritten(data.bam, tmp_path / "site.bam", err)
    said = call(bam, *(["-v", data.truth] if is_listed else []))
    records = [line.split("\t") for line in (tmp_path / "calls.vcf").read_text().splitlines() if line[0] != "#"]
    flagged = {int(one[1]): float(found[1]) for one in records if (found := re.search(r"NOFIT=([\d.]+)", one[7]))}
    assert 0.2 <= flagged[site.pos] < 0.7
    assert all(abs(place - site.pos) < 300 for place in flagged)
    many = "20% of the reads or more fit no haplotype (INFO NOFIT)"
    assert f"at {len(flagged)} of {len(records)} sites, {many}, chr1:{min(flagged)} the first: " in said
    assert "reads fit no haplotype" not in said


def test_given_haplotypes_that_most_reads_do_not_fit(data, run_cli, tmp_path):
    """Every base of the one given haplotype's middle is another one."""
    with pysam.FastaFile(str(data.reference)) as fasta:
        bases = fasta.fetch("chr1", 5000, 5200)
    swapped = bases[:90] + "".join("ACGT"["ACGT".index(base) ^ 2] for base in bases[90:110]) + bases[110:]
    (tmp_path / "haplotypes.fa").write_text(f">one\n{swapped}\n")
    for verb in ("call", "likelihoods"):
        done = run_cli(
            verb, "-f", data.reference, "--haplotypes", tmp_path / "haplotypes.fa", "-r", "chr1:5001-5200",
            "-o", tmp_path / f"{verb}.{'vcf' if verb == 'call' else 'tsv'}", data.bam,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert re.search(r"chr1:5001-5200: \d+ of \d+ reads fit none of the given haplotypes", done.stderr)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("left_out"), length=6_000, coverage=20, snvs=8, indels=2, seed=2)


@pytest.fixture
def changed(small, tmp_path):
    """``changed(**fields)``: the reads with other fields."""

    def change(**fields):
        return rewritten(
            small.bam,
            tmp_path / "changed.bam",
            lambda read: [setattr(read, name, value) for name, value in fields.items()],
        )

    return change


@pytest.mark.parametrize(
    ("fields", "reason", "given"),
    [
        ({"mapping_quality": 0}, "low mapping quality (--min-mapq)", "discovered"),
        ({"is_duplicate": True}, "duplicate (--exclude-flags)", "-v"),
        ({"is_qcfail": True}, "QC-fail (--exclude-flags)", "-r"),
        ({"is_unmapped": True}, "unmapped", "likelihoods"),
    ],
)
def test_reads_that_are_all_left_out(changed, small, run_cli, tmp_path, fields, reason, given):
    bam = changed(**fields)
    options = {"-v": ("-v", small.truth), "-r": ("-r", "chr1:1-6000")}.get(given, ())
    verb, out = ("likelihoods", "x.tsv") if given == "likelihoods" else ("call", "x.vcf")
    done = run_cli("-q", verb, "-f", small.reference, *options, "-o", tmp_path / out, bam)
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "no read is used" in line]
    count = pysam.AlignmentFile(bam).count(until_eof=True)
    assert said.startswith("pairhmm: warning: no read is used; reads left out: ")
    assert f"{count} {reason}" in said


def test_a_flag_without_a_name(changed, small, run_cli, tmp_path):
    done = run_cli("call", "-f", small.reference, "--exclude-flags", "0x33", "-o", tmp_path / "x.vcf", changed(flag=16))
    assert "with another excluded flag (--exclude-flags)" in done.stderr
    assert "low mapping quality" not in done.stderr


@pytest.mark.parametrize(("quality", "is_said"), [("'", True), ("5", False)])
def test_bases_that_are_all_of_low_quality(changed, small, run_cli, tmp_path, quality, is_said):
    with pysam.AlignmentFile(small.bam) as reads:
        length = next(iter(reads)).query_length
    bam = changed(query_qualities=pysam.qualitystring_to_array(quality * length))
    done = run_cli("-q", "call", "-f", small.reference, "-o", tmp_path / "x.vcf", bam)
    said = (
        "no read has a base of quality 10 or more (--min-base-quality), so that no SNV is found; the highest quality is"
    )
    assert (said in done.stderr) is is_said
    # The base qualities of listed sites are another matter.
    done = run_cli("-q", "call", "-f", small.reference, "-v", small.truth, "-o", tmp_path / "x.vcf", bam)
    assert "--min-base-quality" not in done.stderr


def test_sound_reads_are_no_warning(small, run_cli, tmp_path):
    done = run_cli("-q", "call", "-f", small.reference, "-o", tmp_path / "x.vcf", small.bam)
    assert (done.returncode, done.stderr) == (0, "")
