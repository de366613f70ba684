"""A run of which no read is used does not end like one without variants."""

from __future__ import annotations

import pysam
import pytest

from pairhmm.simulate.api import simulate


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("left_out"), length=6_000, coverage=20, snvs=8, indels=2, seed=2)


@pytest.fixture
def changed(data, tmp_path):
    """``changed(**fields)``: the reads with other fields."""

    def change(**fields):
        path = tmp_path / "changed.bam"
        with pysam.AlignmentFile(data.bam) as reads, pysam.AlignmentFile(path, "wb", template=reads) as out:
            for read in reads:
                for name, value in fields.items():
                    setattr(read, name, value)
                out.write(read)
        pysam.index(str(path))
        return path

    return change


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"mapping_quality": 0}, "low mapping quality (--min-mapq)"),
        ({"is_duplicate": True}, "duplicate (--exclude-flags)"),
        ({"is_qcfail": True}, "QC-fail (--exclude-flags)"),
        ({"is_unmapped": True}, "unmapped"),
    ],
)
@pytest.mark.parametrize("given", ["discovered", "-v", "-r", "likelihoods"])
def test_reads_that_are_all_left_out(changed, data, run_cli, tmp_path, fields, reason, given):
    bam = changed(**fields)
    options = {"-v": ("-v", data.truth), "-r": ("-r", "chr1:1-6000")}.get(given, ())
    verb, out = ("likelihoods", "x.tsv") if given == "likelihoods" else ("call", "x.vcf")
    done = run_cli("-q", verb, "-f", data.reference, *options, "-o", tmp_path / out, bam)
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "no read is used" in line]
    count = pysam.AlignmentFile(bam).count(until_eof=True)
    assert said.startswith("pairhmm: warning: no read is used; reads left out: ")
    assert f"{count} {reason}" in said


def test_a_flag_without_a_name(changed, data, run_cli, tmp_path):
    done = run_cli("call", "-f", data.reference, "--exclude-flags", "0x33", "-o", tmp_path / "x.vcf", changed(flag=16))
    assert "with another excluded flag (--exclude-flags)" in done.stderr
    assert "low mapping quality" not in done.stderr


@pytest.mark.parametrize(("quality", "is_said"), [("'", True), ("5", False)])
def test_bases_that_are_all_of_low_quality(changed, data, run_cli, tmp_path, quality, is_said):
    with pysam.AlignmentFile(data.bam) as reads:
        length = next(iter(reads)).query_length
    bam = changed(query_qualities=pysam.qualitystring_to_array(quality * length))
    done = run_cli("-q", "call", "-f", data.reference, "-o", tmp_path / "x.vcf", bam)
    said = (
        "no read has a base of quality 10 or more (--min-base-quality), so that no SNV is found; the highest quality is"
    )
    assert (said in done.stderr) is is_said
    # The base qualities of listed sites are another matter.
    done = run_cli("-q", "call", "-f", data.reference, "-v", data.truth, "-o", tmp_path / "x.vcf", bam)
    assert "--min-base-quality" not in done.stderr


def test_sound_reads_are_no_warning(data, run_cli, tmp_path):
    done = run_cli("-q", "call", "-f", data.reference, "-o", tmp_path / "x.vcf", data.bam)
    assert (done.returncode, done.stderr) == (0, "")
