"""`pairhmm call` and `pairhmm likelihoods` as commands, on real reads."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pysam
import pytest

from tests.command_line.start import command

SHARED = Path(os.environ.get("PAIRHMM_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
TINY = SHARED / "na12878-chr22-tiny"
REFERENCE, BAM, TRUTH = TINY / "q.fa", TINY / "NA12878.chr22.tiny.bam", TINY / "NA12878.chr22.tiny.giab.vcf"
DELETIONS = {(5638, "CAT", "C"), (9251, "GTTCT", "G")}

if not TINY.exists():
    if "shared" in os.environ.get("PAIRHMM_TEST_REQUIRE", ""):
        pytest.fail(f"{TINY} is required")
    pytest.skip(f"{TINY} is not there", allow_module_level=True)


def run(verb: str, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    given = [*command(), verb, "-f", str(REFERENCE), *map(str, arguments)]
    done = subprocess.run(given, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def records(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def unphased(column: str) -> str:
    """GT of a sample's column, without phase."""
    genotype = column.split(":")[0]
    return "/".join(sorted(genotype.split("|"))) if "|" in genotype else genotype


def truth() -> set[tuple[int, str, str]]:
    return {(int(row[1]), row[3], row[4]) for row in records(TRUTH.read_text())}


def test_real_reads_give_the_truth_and_nothing_else(tmp_path):
    out = tmp_path / "out.vcf"
    run("call", "-o", out, BAM)
    passed = {(int(row[1]), row[3], row[4]): unphased(row[9]) for row in records(out.read_text()) if row[6] == "PASS"}
    assert passed == dict.fromkeys(truth() | DELETIONS, "0/1")
    assert len(truth()) == 14


def test_candidates_are_genotyped_as_given():
    rows = records(run("call", "-v", TRUTH, BAM).stdout)
    assert [(int(row[1]), row[3], row[4]) for row in rows] == sorted(truth())
    assert {unphased(row[9]) for row in rows} == {"0/1"}


@pytest.mark.parametrize(
    "line", [("call", "--no-version"), ("call", "--no-version", "-v", TRUTH), ("likelihoods", "-v", TRUTH)]
)
def test_bytes_do_not_depend_on_threads_or_chunks(line):
    expected = run(*line, BAM).stdout
    for settings in (("-@", 2), ("--chunk-size", 1), ("--chunk-size", 100)):
        assert run(*line, *settings, BAM).stdout == expected, settings


def test_regions_limit_the_calls():
    whole = records(run("call", "--no-version", BAM).stdout)
    rows = records(run("call", "--no-version", "-r", "q:5,000-6,000", "-r", "q:9000-9500", BAM).stdout)
    assert [row[1] for row in rows] == ["5009", "5638", "9251"]
    assert all(row in whole for row in rows)


def test_each_read_group_is_a_sample_of_its_own(tmp_path):
    """The same reads as two samples, in one file or in two, are called alike twice."""
    copies = []
    for sample in ("one", "two"):
        copies.append(tmp_path / f"{sample}.bam")
        with pysam.AlignmentFile(BAM) as source:
            header = source.header.to_dict() | {"RG": [{"ID": sample, "SM": sample}]}
            with pysam.AlignmentFile(copies[-1], "wb", header=header) as copy:
                for read in source.fetch(until_eof=True):
                    read.set_tag("RG", sample)
                    copy.write(read)
    text = run("call", "--no-version", *copies).stdout
    header = next(line for line in text.splitlines() if line.startswith("#CHROM"))
    assert header.split("\t")[9:] == ["one", "two"]
    rows = [row for row in records(text) if row[6] == "PASS"]
    assert {(int(row[1]), row[3], row[4]) for row in rows} >= truth() | DELETIONS
    assert all(row[9] == row[10] for row in rows)


def test_haplotypes_of_a_region_are_genotyped(tmp_path):
    with pysam.FastaFile(str(REFERENCE)) as fasta:
        bases = fasta.fetch("q", 5560, 5720)
    haplotypes = tmp_path / "haplotypes.fa"
    # CAT at 5638 is followed by what stands at 5641.
    haplotypes.write_text(f">reference\n{bases}\n>deletion\n{bases[:78]}{bases[80:]}\n")
    (row,) = records(run("call", "--haplotypes", haplotypes, "-r", "q:5561-5720", BAM).stdout)
    assert (row[1], row[3], row[4]) == ("5638", "CAT", "C")
    assert row[9].startswith("0/1:")
    table = records(run("likelihoods", "--haplotypes", haplotypes, "-r", "q:5561-5720", BAM).stdout)
    assert {one[6] for one in table} == {"reference", "deletion"}
    run("call", "--haplotypes", haplotypes, BAM, code=2)


@pytest.mark.parametrize(("region", "is_told"), [("5561-5720", False), ("5560-5719", True), ("5561-5660", True)])
def test_haplotypes_of_another_region_are_announced(tmp_path, region, is_told):
    """As where -r is 0-based, or too short: every haplotype then has alleles that no read shows."""
    with pysam.FastaFile(str(REFERENCE)) as fasta:
        bases = fasta.fetch("q", 5560, 5720)
    haplotypes = tmp_path / "haplotypes.fa"
    haplotypes.write_text(f">reference\n{bases}\n>deletion\n{bases[:78]}{bases[80:]}\n")
    done = run("call", "--haplotypes", haplotypes, "-r", f"q:{region}", BAM)
    assert (f"every haplotype has an insertion or a deletion at an end of q:{region}" in done.stderr) == is_told


def test_haplotypes_that_can_not_be_used(tmp_path):
    haplotypes = tmp_path / "haplotypes.fa"
    haplotypes.write_text(">one\nACGT\n>one\nACCT\n")
    for options, message in (
        ((), f"{haplotypes}: one: two haplotypes have this name; give each a name of its own"),
        (("-v", TRUTH), f"--haplotypes: {haplotypes}: take the place of the candidates {TRUTH}; give one of the two"),
    ):
        done = run("likelihoods", "--haplotypes", haplotypes, "-r", "q:5561-5564", *options, BAM, code=2)
        assert done.stderr.splitlines()[-1].startswith(f"pairhmm: error: {message}")


def test_ploidy_of_a_sample_and_of_a_sex(tmp_path):
    (tmp_path / "ploidy.txt").write_text("# as bcftools has it\nq 1 6000 M 1\nq 9000 9500 M 0\n* * * M 3\n* * * F 1\n")

    def copies(*options: str) -> list[int]:
        rows = records(run("call", "-v", TRUTH, *options, BAM).stdout)
        called = [unphased(row[9]) for row in rows]
        return [0 if "." in genotype else genotype.count("/") + 1 for genotype in called]

    places = [int(row[1]) for row in records(TRUTH.read_text())]
    assert copies("--sample-ploidy", "1=4") == [4] * 14
    assert {row[9] for row in records(run("call", "-v", TRUTH, "--sample-ploidy", "1=0", BAM).stdout)} == {
        ".:.:.:.:.:."
    }
    by_sex = [1 if place <= 6000 else 0 if 9000 <= place <= 9500 else 3 for place in places]
    assert set(by_sex) >= {1, 3}
    assert copies("--ploidy-file", tmp_path / "ploidy.txt", "--sample-sex", "1=M") == by_sex
    assert copies("--ploidy-file", tmp_path / "ploidy.txt", "--sample-sex", "1=F") == [1] * 14
    assert copies("--ploidy-file", tmp_path / "ploidy.txt") == [2] * 14
    done = run("call", "-v", TRUTH, "--ploidy-file", tmp_path / "ploidy.txt", BAM)
    assert "--ploidy-file: not used for 1, whose sex is not given: add --sample-sex" in done.stderr


def test_a_gvcf_and_filters():
    lines = run("call", "--gvcf", "--mnv", "--gq-bands", "20,60", "--min-qd", 2, "--max-fs", 60, BAM).stdout
    assert "##GVCFBlock20-60=minGQ=20(inclusive),maxGQ=60(exclusive)" in lines
    assert '##FILTER=<ID=StrandBias,Description="FS is above 60">' in lines
    assert sum(row[4] == "<NON_REF>" for row in records(lines)) > 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--gq-bands", "20,10"], "'20,10' is not a list of ascending numbers from 1 to 99"),
        (["--gq-bands", "10,20"], "--gq-bands needs --gvcf."),
        (["--ploidy", "3.5"], "'3.5' is not a valid whole number."),
        (["--mnv"], "--mnv is for variants that are found in reads; leave out --mnv or the file"),
        (["--gvcf"], "--gvcf is for variants that are found in reads; leave out --gvcf or the file"),
        (["--sample-ploidy", "x=1"], "--sample-ploidy, --sample-sex: x: no such sample; samples are 1"),
        (["--sample-ploidy", "1=many"], "'1=many' is not NAME=NUMBER"),
        (["--sample-sex", "1"], "'1' is not NAME=SEX"),
        (["--sample-sex", "1=M"], "--sample-sex: 1=M: no rule says what it means; add --ploidy-file"),
        (
            ["--ploidy-file", "GRCh38", "--sample-sex", "1=male"],
            "--sample-sex: 1=male: no rule is for this sex; sexes of --ploidy-file are M, F",
        ),
        (["--ploidy-file", "hg38"], "hg38: No such file or directory; check the path; built in are GRCh37 and GRCh38"),
    ],
)
def test_ploidies_that_are_none(options, message):
    assert message in run("call", "-v", TRUTH, *options, BAM, code=2).stderr


def test_a_ploidy_file_that_is_none(tmp_path):
    for text, message in (("q 1 x M 1", "line 1: 1-x is no interval"), ("q 1 2 M", "line 1: not five cells")):
        (tmp_path / "ploidy.txt").write_text(text + "\n")
        assert message in run("call", "--ploidy-file", tmp_path / "ploidy.txt", BAM, code=2).stderr


def test_tables_have_a_companion(tmp_path):
    out = tmp_path / "table.tsv.gz"
    run("likelihoods", "-v", TRUTH, "-o", out, BAM)
    with pysam.TabixFile(str(out)) as table:
        assert len(list(table.fetch("q", 5000, 5010))) > 20
    with pysam.TabixFile(str(tmp_path / "table.haplotypes.tsv.gz")) as haplotypes:
        rows = [row.split("\t") for row in haplotypes.fetch("q", 5000, 5010)]
    assert [row[5:] for row in rows] == [["0", "5009:C>T", "0"], ["1", "5009:C>T", "0"]]


def test_prepared_likelihoods_have_a_floor():
    raw = records(run("likelihoods", "-v", TRUTH, BAM).stdout)
    prepared = records(run("likelihoods", "--prepared", "-v", TRUTH, BAM).stdout)
    assert len(prepared) < len(raw)
    best: dict[tuple[str, ...], float] = {}
    for row in prepared:
        key = tuple(row[:6])
        best[key] = max(best.get(key, -1e9), float(row[7]))
    assert all(float(row[7]) >= best[tuple(row[:6])] - 4.5 - 1e-6 for row in prepared)


def test_confident_references_pass(tmp_path):
    """What `-v` lists and the reads do not have: QUAL is 0, and GQ says how sure that is."""
    lines = TRUTH.read_text().splitlines()
    header = [line for line in lines if line.startswith("##")]
    row = "q\t{}\t.\t{}\t{}\t.\t.\t.\n"
    with pysam.FastaFile(str(REFERENCE)) as fasta:
        bases = fasta.fetch("q")
    others = "".join(row.format(pos, bases[pos - 1], "ACGT"["CGTA".index(bases[pos - 1])]) for pos in (5200, 5400))
    candidates = tmp_path / "absent.vcf"
    candidates.write_text("\n".join(header) + "\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + others)
    rows = records(run("call", "-v", candidates, BAM).stdout)
    assert [(row[6], row[9][:3], row[7].split(";")[1]) for row in rows] == [("PASS", "0/0", "AF=0")] * 2
    assert all(int(row[9].split(":")[3]) >= 30 > float(row[5]) for row in rows)
    strict = records(run("call", "-v", candidates, "--max-depth", 1, "--min-qual", 45, BAM).stdout)
    assert [row[6] for row in strict] == ["LowQual"] * 2


def test_the_header_names_date_source_and_reference():
    header = [line for line in run("call", BAM).stdout.splitlines() if line.startswith("##")]
    assert re.fullmatch(r"##fileDate=20\d{6}", header[1]) and re.fullmatch(r"##source=pairhmm \S+", header[2])
    assert f"##reference={REFERENCE}" in header
    bare = [line for line in run("call", "--no-version", BAM).stdout.splitlines() if line.startswith("##")]
    assert bare[:2] == ["##fileformat=VCFv4.3", f"##reference={REFERENCE}"]
    assert not [line for line in bare if line.startswith(("##fileDate", "##source", "##pairhmm"))]
