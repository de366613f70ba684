"""The STR model that a run takes where its reads show that repeats stutter."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pysam
import pytest

from pairhmm import simulate
from pairhmm.calling.stutter import FEWEST, INDEXED, WINDOWS, _windows, excess_of
from pairhmm.native import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="reading alignments needs the compiled part")

GAPS = "MM = 0.988\nMI = 0.004\nMD = 0.008\nIM = 0.9\nII = 0.1\nDM = 0.9\nDD = 0.1\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reads with gaps at every base, and most of them in runs, and reads without."""
    folder = tmp_path_factory.mktemp("stutter")
    rows = "".join(
        f"{base} = {[0.25 if n == 4 else 1.0 if n == i else 0.0 for n in range(5)]}\n" for i, base in enumerate("ACGT")
    )
    inserted = "".join(f"{base} = 0.25\n" for base in "ACGT")
    errors = folder / "errors.toml"
    errors.write_text(f'start = "anywhere"\n[match]\n{rows}[insertion]\n{inserted}[transitions]\n{GAPS}')
    made = {"length": 30_000, "coverage": 20, "snvs": 20, "indels": 5}
    simulate(folder / "slips", profile_errors=errors, **made)
    simulate(folder / "plain", **made)
    return folder


def model_of(run_cli, folder: Path, *options: str) -> tuple[str, str]:
    """The model in the header, and what was told."""
    done = run_cli("call", "-f", folder / "reference.fa", folder / "reads.bam", *options)
    assert done.returncode == 0, done.stderr
    (model,) = [line for line in done.stdout.splitlines() if line.startswith("##pairhmmModel=")]
    return model.split("=", 1)[1], done.stderr


def test_a_run_takes_the_model_of_its_library_and_says_so(made, run_cli):
    model, told = model_of(run_cli, made / "slips")
    assert model == "gatk (pcr)" and "times as often as without PCR: STR model pcr" in told
    assert model_of(run_cli, made / "plain")[0] == "gatk"


@pytest.mark.parametrize("options", [("-r", "chr1:1,000-2,000"), ("-@", "2")])
def test_the_model_does_not_depend_on_the_request(made, run_cli, options):
    assert model_of(run_cli, made / "slips", *options)[0] == "gatk (pcr)"


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (("--no-stutter",), "gatk"),
        (("--str-model", "pcr-free"), "gatk (pcr-free)"),
        (("--gap-quality", "12"), "gatk, gap_quality=12"),
    ],
)
def test_options_that_say_what_gaps_are_like_count(made, run_cli, options, model):
    assert model_of(run_cli, made / "slips", *options)[0] == model


def test_the_model_is_that_of_all_contigs(made, run_cli, tmp_path):
    """A short first contig has nearly no reads."""
    first = "ACGTTGCAAC" * 50
    reference = (made / "slips" / "reference.fa").read_text()
    (tmp_path / "reference.fa").write_text(f">first\n{first}\n{reference}")
    with pysam.AlignmentFile(made / "slips" / "reads.bam") as reads:
        contigs = [("first", len(first)), *zip(reads.references, reads.lengths, strict=True)]
        header = reads.header.to_dict() | {"SQ": [{"SN": name, "LN": length} for name, length in contigs]}
        with pysam.AlignmentFile(tmp_path / "reads.bam", "wb", header=header) as out:
            one = pysam.AlignedSegment(out.header)
            one.query_name, one.reference_id, one.reference_start, one.mapping_quality = "one", 0, 100, 60
            one.query_sequence, one.cigarstring = first[100:200], "100M"
            one.query_qualities = [30] * 100
            out.write(one)
            for read in reads:
                out.write(pysam.AlignedSegment.from_dict(read.to_dict(), out.header))
    pysam.index(str(tmp_path / "reads.bam"))
    assert model_of(run_cli, tmp_path)[0] == "gatk (pcr)"


def test_windows_do_not_overlap():
    """A window of a CRAM's index may have fewer reads than are wanted of it."""
    length = 100 * INDEXED
    work = SimpleNamespace(total=10 * FEWEST, locus_at=lambda share: ("chr1", int(share * length)))
    windows = _windows(work, {"chr1": length}, FEWEST)
    assert len(windows) == WINDOWS and windows[-1].end == length
    assert all(one.end == following.start for one, following in pairwise(windows))


def test_a_large_cram_is_looked_at_in_other_reads(run_cli, tmp_path):
    simulate(tmp_path, length=70_000, coverage=20, snvs=1, indels=0)
    reference, bam, cram = (str(tmp_path / name) for name in ("reference.fa", "reads.bam", "reads.cram"))
    pysam.view("-C", "-T", reference, "-o", cram, bam, catch_stdout=False)
    pysam.index(cram)
    run = "call", "-f", reference, "-r", "chr1:1-1000"
    told = f"{cram}: its index counts bytes, so that errors of the library are looked at in other reads than in a BAM"
    assert told in run_cli(*run, cram).stderr
    assert "its index counts bytes" not in run_cli(*run, bam).stderr


def test_only_runs_that_tell_libraries_apart_count():
    assert excess_of(Counter({(1, 9, 40, 1, 0): 200})) == pytest.approx(9, rel=0.1)
    assert excess_of(Counter({(1, 9, 10_000, 400, 0): 1})) < 1.5
    # Too short, too long, of two bases, and heterozygous.
    others = ((1, 4, 40, 2, 0), (1, 18, 40, 8, 0), (2, 6, 40, 4, 0), (1, 9, 40, 18, 0))
    assert excess_of(Counter(dict.fromkeys(others, 200))) == 1


def test_qualities_of_another_offset_are_announced(made, run_cli, tmp_path):
    with pysam.AlignmentFile(made / "plain" / "reads.bam") as reads:
        with pysam.AlignmentFile(tmp_path / "reads.bam", "wb", template=reads) as out:
            for read in reads:
                read.query_qualities = [quality + 31 for quality in read.query_qualities]
                out.write(read)
    done = run_cli("call", "-f", made / "plain" / "reference.fa", tmp_path / "reads.bam", "-o", tmp_path / "x.vcf")
    assert "they seem to be Phred+64, read as Phred+33" in done.stderr
    assert "Phred+64" not in model_of(run_cli, made / "plain")[1]
