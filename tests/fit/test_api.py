"""`fit` on alignments: which reads are taken, what is written, and that it helps reads that it did not see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.bench.dosages import Allele, read_dosages
from pairhmm.calling.call import write_calls
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.opening import open_run
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.errors import InputError, OptionError
from pairhmm.fit import collecting
from pairhmm.fit.api import fit
from pairhmm.fit.collecting import collect_plain
from pairhmm.fit.maximisation import expectation
from pairhmm.fit.profile_model import ProfileFit
from pairhmm.fit.spread import spread_over_windows
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.parameter_file import read_options
from pairhmm.models.profile import preset, read_parameters
from pairhmm.native import is_compiled
from pairhmm.sequences.letters import decode
from pairhmm.simulate.api import SimulatedData, simulate

TRUE = """start = "anywhere"
[match]
A = [0.99, 0.002, 0.002, 0.002, 0.25]
C = [0.006, 0.994, 0.002, 0.002, 0.25]
G = [0.002, 0.002, 0.994, 0.002, 0.25]
T = [0.002, 0.002, 0.002, 0.994, 0.25]
[insertion]
A = 0.4
C = 0.1
G = 0.1
T = 0.4
[transitions]
MM = 0.985
MI = 0.005
MD = 0.01
IM = 0.7
II = 0.3
DM = 0.6
DD = 0.4
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, require) -> SimulatedData:
    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    folder = tmp_path_factory.mktemp("simulated")
    (folder / "true.toml").write_text(TRUE)
    return simulate(
        folder / "data", length=30_000, coverage=20, snvs=20, indels=5, seed=3, profile_errors=folder / "true.toml"
    )


RARE_CANDIDATES = {"min_snv_fraction": 0.3, "min_indel_fraction": 0.3}
"""Reads with this many errors show indels everywhere."""


def test_a_fit_finds_what_reads_were_drawn_from(data: SimulatedData, tmp_path: Path) -> None:
    output, rounds = tmp_path / "fitted.toml", tmp_path / "rounds.tsv"
    fitted = fit(data.bam, data.reference, output, rounds_output=rounds, **RARE_CANDIDATES)
    assert data.pairs < fitted.reads < 2 * data.pairs
    model = read_parameters(output)
    assert model.unlike_one() == ""
    assert model.transitions["MI"] == pytest.approx(0.005, rel=0.1)
    assert model.transitions["MD"] == pytest.approx(0.01, rel=0.1)
    assert model.match[1, 0] == pytest.approx(0.006, rel=0.15)
    lines = [line.split("\t") for line in rounds.read_text().splitlines()]
    assert lines[0] == ["#pairs", "round", "reads", "log10_likelihood", "log10_likelihood_per_read", "log10_with_prior"]
    objective = [float(line[-1]) for line in lines[1:]]
    assert objective == sorted(objective)
    assert (np.diff(model.by_copies[1]) >= 0).all() and model.by_copies[1, 0] == pytest.approx(0.01, rel=0.15)
    assert "# MI, 1 copy | 0.00" in output.read_text()


def test_reads_lie_beside_the_likeliest_given_haplotype(data: SimulatedData, tmp_path: Path) -> None:
    """Reads of both alleles are taken, and alleles are not counted as errors."""
    output = tmp_path / "fitted.toml"
    fitted = fit(data.bam, data.reference, output, candidates=data.truth, error_rate=None)
    assert 250 < fitted.reads < 2 * data.pairs
    # The first parameters still count for much with so few reads.
    assert 0.005 < fitted.model.model.transitions["MD"] < 0.011
    assert fitted.model.model.match[0, 0] == pytest.approx(0.99, abs=0.004)


def test_given_haplotypes_are_used_alone(data: SimulatedData, tmp_path: Path) -> None:
    haplotypes = tmp_path / "haplotypes.fa"
    with pysam.FastaFile(str(data.reference)) as genome:
        haplotypes.write_text(f">reference\n{genome.fetch('chr1', 9_900, 10_400)}\n")
    fitted = fit(
        data.bam,
        data.reference,
        tmp_path / "fitted.toml",
        haplotypes=haplotypes,
        regions="chr1:9901-10400",
        error_rate=None,
    )
    assert 30 < fitted.reads < 200


def test_a_fit_of_gatks_model_gives_options_and_qualities_by_copies(data: SimulatedData, tmp_path: Path) -> None:
    output = tmp_path / "gatk.toml"
    fitted = fit(data.bam, data.reference, output, "gatk", **RARE_CANDIDATES)
    options = read_options(output)
    assert options.indel_qualities is not None and len(options.indel_qualities.insertion) == 20
    assert 18 <= options.deletion_quality <= 22 and 18 <= options.indel_qualities.deletion[0] <= 22
    assert 2 <= options.gap_quality <= 6
    assert "--deletion-quality" in output.read_text()
    assert fitted.log10 > fitted.first_log10


def test_unseen_reads_are_likelier_under_the_fitted_model(data: SimulatedData, tmp_path: Path) -> None:
    output = tmp_path / "fitted.toml"
    fit(data.bam, data.reference, output, regions="chr1:1-15,000", **RARE_CANDIDATES)
    options = RunOptions(discovery=CandidateOptions(**RARE_CANDIDATES))
    with open_run(RunInputs.of(data.bam, data.reference, regions="chr1:15,001-30,000"), options) as run:
        unseen = collect_plain(run, run.stream.reference.fetch, options.model, 10_000).sample()
    fitted, first = (
        expectation(ProfileFit.of(model), unseen, 1).log10 for model in (read_parameters(output), preset("normalised"))
    )
    assert fitted > first + 0.1 * len(unseen)


def test_a_sample_is_spread_and_depends_on_no_blocks_or_threads(data: SimulatedData, tmp_path: Path) -> None:
    """Where there is no index everything is read, and where there is one, windows."""
    unindexed = tmp_path / "unindexed.bam"
    unindexed.symlink_to(data.bam)
    for bam in (data.bam, unindexed):
        few, cut = tmp_path / "few.toml", tmp_path / "cut.toml"
        fitted = fit(bam, data.reference, few, max_reads=300, **RARE_CANDIDATES)
        assert fitted.reads == 300
        fit(bam, data.reference, cut, max_reads=300, chunk_size=200, threads=2, **RARE_CANDIDATES)
        assert few.read_text() == cut.read_text()


def test_a_sample_is_from_all_parts(data: SimulatedData) -> None:
    options = RunOptions(discovery=CandidateOptions(**RARE_CANDIDATES), chunk_size=200)
    everything = RunInputs.of(data.bam, data.reference)
    windows = spread_over_windows(everything, 300)
    assert 10 <= len(windows.intervals) <= 11
    assert spread_over_windows(everything, 4000) is everything
    for inputs in (everything, windows):
        with open_run(inputs, options) as run:
            reference = run.stream.reference.fetch("chr1", 0, 30_000)
            found = collect_plain(run, run.stream.reference.fetch, options.model, 300)
        pairs = found.sample()
        assert len(pairs) == 300 < found.pairs and sum(map(len, found.parts)) == 300
        places = [
            reference.find(decode(pairs.letters[a:b]))
            for a, b in zip(pairs.haplotype_offset[:-1], pairs.haplotype_offset[1:], strict=True)
        ]
        by_part = [sum(first <= place < first + 6000 for place in places) for first in range(0, 30_000, 6000)]
        assert min(by_part) >= 25


def test_windows_lie_in_the_regions(data: SimulatedData) -> None:
    inputs = spread_over_windows(RunInputs.of(data.bam, data.reference, regions="chr1:5,001-25,000"), 300)
    ends = [(start, end) for _, start, end in inputs.intervals]
    assert min(start for start, _ in ends) >= 5000 and max(end for _, end in ends) <= 25_000
    assert ends == sorted(ends)


def test_reads_are_taken_between_their_clips(tmp_path: Path, data: SimulatedData) -> None:
    """A read with soft clips, a spliced one and a short one: the first counts by its aligned bases, the others not."""
    with pysam.FastaFile(str(data.reference)) as genome:
        letters = genome.fetch("chr1", 1000, 1200)
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": "chr1", "LN": 30_000}]}
    bam = tmp_path / "odd.bam"
    with pysam.AlignmentFile(str(bam), "wb", header=header) as writer:
        for name, cigar, bases in (
            ("clipped", "5H10S60M20S", "T" * 10 + letters[:60] + "G" * 20),
            ("spliced", "40M30N40M", letters[:40] + letters[70:110]),
            ("short", "60S20M", "T" * 60 + letters[:20]),
        ):
            read = pysam.AlignedSegment(writer.header)
            read.query_name, read.reference_start, read.mapping_quality = name, 1000, 60
            read.cigarstring, read.query_sequence, read.flag, read.reference_id = cigar, bases, 0, 0
            read.query_qualities = pysam.qualitystring_to_array("I" * len(bases))
            writer.write(read)
    with open_run(RunInputs.of(bam, data.reference), RunOptions()) as run:
        found = collect_plain(run, run.stream.reference.fetch, GatkOptions(), 10)
    pairs = found.sample()
    assert (len(pairs), found.unusable) == (1, 2)
    assert decode(pairs.bases) == letters[:60]
    assert decode(pairs.letters)[20:80] == letters[:60] and len(pairs.letters) == 100


@pytest.mark.parametrize("part", [60, 250])
def test_long_reads_are_cut_at_variants(data: SimulatedData, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    """Parts of reads lie beside each other where nothing varies, and their ends are those of the reference."""
    monkeypatch.setattr(collecting, "LONG", 120)
    monkeypatch.setattr(collecting, "PART", part)
    with open_run(RunInputs.of(data.bam, data.reference), RunOptions()) as run:
        reference = run.stream.reference.fetch("chr1", 0, 30_000)
        found = collect_plain(run, run.stream.reference.fetch, GatkOptions(), 10_000)
    pairs = found.sample()
    assert found.beside_variants < 20
    bases, letters = np.diff(pairs.read_offset), np.diff(pairs.haplotype_offset)
    assert bases.min() >= collecting.SHORTEST and (letters - 2 * collecting.PAD).max() <= part
    assert (np.abs(bases - letters + 2 * collecting.PAD) <= 5).mean() > 0.95
    ends = [(int(a), int(b)) for a, b in zip(pairs.haplotype_offset[:-1], pairs.haplotype_offset[1:], strict=True)]
    assert all(decode(pairs.letters[first:end]) in reference for first, end in ends)
    # Letters of parts are those beside them, but for the errors of this library.
    first = pairs.read_offset[:-1]
    assert (pairs.bases[first] == pairs.letters[pairs.haplotype_offset[:-1] + collecting.PAD]).mean() > 0.95


def test_reads_beside_variants_are_left_out(data: SimulatedData) -> None:
    """Every read that is taken has its stretch of the reference, and none has a true variant that discovery finds."""
    with pysam.VariantFile(str(data.truth)) as truth:
        true = [record.start for record in truth]
    with open_run(RunInputs.of(data.bam, data.reference), RunOptions()) as run:
        reference = run.stream.reference.fetch("chr1", 0, 30_000)
        found = collect_plain(run, run.stream.reference.fetch, GatkOptions(), 10_000)
    pairs = found.sample()
    windows = [
        decode(pairs.letters[a:b]) for a, b in zip(pairs.haplotype_offset[:-1], pairs.haplotype_offset[1:], strict=True)
    ]
    starts = [reference.find(window) for window in windows]
    assert min(starts) >= 0 and found.beside_variants > 0
    near = sum(
        start <= site < start + len(window) for start, window in zip(starts, windows, strict=True) for site in true
    )
    assert near < 0.02 * len(pairs) + 20


def test_what_gives_no_reads_is_one_line(data: SimulatedData, tmp_path: Path) -> None:
    output = tmp_path / "fitted.toml"
    with pytest.raises(InputError, match="no read to fit to; check regions"):
        fit(data.bam, data.reference, output, min_mapq=200)
    assert not list(tmp_path.iterdir())


def test_first_parameters_that_are_no_distributions_are_refused(data: SimulatedData, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--parameters: eps_M\(., A\) sums to 3.9; begin a fit with"):
        fit(data.bam, data.reference, tmp_path / "fitted.toml", initial=preset("published"))


def test_a_fit_joins_no_reads(data: SimulatedData, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is not for a fit, which takes reads one by one"):
        fit(data.bam, data.reference, tmp_path / "fitted.toml", profile=preset("normalised"), join_mates=True)


def test_rounds_and_parameters_are_two_files(data: SimulatedData, tmp_path: Path) -> None:
    output = tmp_path / "fitted.toml"
    with pytest.raises(InputError, match=r"fitted\.toml"):
        fit(data.bam, data.reference, output, rounds_output=output)


REAL = {
    "chr22 tiny": ("na12878-chr22-tiny", "NA12878.chr22.tiny.bam", "q.fa", "NA12878.chr22.tiny.giab.vcf", ()),
    "chr20 100 kb": (
        "na12878-chr20-100kb",
        "NA12878_S1.chr20.10_10p1mb.bam",
        "ucsc.hg19.chr20.unittest.fasta.gz",
        "test_nist.b37_chr20_100kbp_at_10mb.vcf.gz",
        ("chr20:10,000,001-10,100,000",),
    ),
}
"""Folder, alignments, reference, truth and regions."""

TRUE_DELETIONS = {Allele("q", 5637, "CAT", "C"): 1, Allele("q", 9250, "GTTCT", "G"): 1}
"""Of chr22 tiny, beside its truth set."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if "100 kb" in name else ()) for name in REAL]
)
def test_fitted_parameters_lose_no_genotype(name: str, shared_data: Path, tmp_path: Path) -> None:
    """Both fitted models give as many right genotypes as GATK's defaults, or more. The fit has no truth.

    On chr22 tiny, the fitted profile has no extra call either.
    """
    folder, *files, regions = REAL[name]
    bam, reference, truth = (shared_data / folder / file for file in files)
    profile, gatk, calls = (tmp_path / one for one in ("profile.toml", "gatk.toml", "calls.vcf"))
    fit(bam, reference, profile, regions=regions)
    fit(bam, reference, gatk, "gatk", regions=regions)
    expected = read_dosages(truth, reference, None) | (TRUE_DELETIONS if name == "chr22 tiny" else {})
    right, extra = [], []
    for model in ({}, {"profile": read_parameters(profile)}, {"model": read_options(gatk)}):
        write_calls(bam, reference, calls, regions=regions, **model)
        called = read_dosages(calls, reference, None)
        right.append(sum(called.get(allele) == copies for allele, copies in expected.items()))
        extra.append(called.keys() - expected.keys())
    assert right[1] >= right[0] and right[2] >= right[0]
    assert right[0] == (16 if name == "chr22 tiny" else 221)
    if name == "chr22 tiny":
        assert extra == [set()] * 3 and right == [16] * 3
