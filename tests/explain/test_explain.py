"""Each reason, planted: what `explain` says of it, and that it says what `call` does."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pairhmm
from pairhmm.errors import InputError
from pairhmm.explain.api import parse_positions
from pairhmm.explain.facts import AltAllele
from pairhmm.explain.text import text_of
from pairhmm.explain.verdict import REASONS
from tests.explain.planted import DUPLICATE, GENOME, OTHER, READ, REVERSE, SITE, THIRD, Planted

AT = f"q:{SITE + 1}"


@pytest.fixture
def planted(tmp_path):
    return Planted(tmp_path)


def explained(planted, at=AT, **given):
    (one,) = pairhmm.explain(*planted.write(), at, **given)
    assert one.verdict.reason in REASONS
    return one


def heterozygous(planted, **given):
    planted.reads(20)
    planted.reads(20, {SITE}, **given)


def test_a_called_snv_has_the_record_of_call(planted, run_cli):
    heterozygous(planted)
    one = explained(planted)
    assert (one.verdict.is_called, one.verdict.reason) == (True, "called")
    assert "0/1 in s" in one.verdict.text
    bam, reference = planted.write()
    called = run_cli("-q", "call", "-f", reference, bam).stdout.splitlines()
    assert one.sites[0].record == called[-1]
    (shown,) = [allele for allele in one.alleles if allele.is_here]
    count = shown.samples["s"]
    assert (count.good, count.depth, count.forward, count.reverse) == (20, 40, 10, 10)
    best = one.sites[0].samples["s"].genotypes[0]
    assert best.genotype == "0/1"
    assert best.posterior > 0.999


def test_bases_of_primers_are_no_evidence(planted, run_cli, tmp_path):
    heterozygous(planted)
    bam, reference = planted.write()
    (tmp_path / "x.bed").write_text(f"q\t{SITE - 120}\t{SITE + 20}\tx_LEFT\nq\t{SITE - 20}\t{SITE + 120}\tx_RIGHT\n")
    done = run_cli("-q", "explain", "-f", reference, "--primers", tmp_path / "x.bed", bam, AT)
    assert done.stdout.startswith(f"{AT} not called"), done.stderr


def left_out(planted, **given):
    planted.reads(20)
    planted.reads(12, {SITE}, **given)


def low_mapping_quality(planted):
    left_out(planted, mapq=7)


def duplicates(planted):
    left_out(planted, flags=(DUPLICATE, DUPLICATE | REVERSE))


def poor_bases(planted):
    heterozygous(planted, poor=6)


def one_read(planted):
    planted.reads(20)
    planted.reads(1, {SITE})


def low_share(planted):
    planted.reads(57)
    planted.reads(3, {SITE})


def strand_errors(planted):
    planted.reads(34)
    planted.reads(6, {SITE}, flags=(0,))


def both_strands(planted):
    planted.reads(34)
    planted.reads(6, {SITE})


def foreign(planted):
    planted.reads(34)
    planted.reads(6, {SITE, SITE - 8, SITE + 8, SITE + 4}, mapq=30)


def unfit(planted):
    planted.reads(30)
    rng = np.random.default_rng(5)
    for number in range(18):
        start = SITE - 85 + 4 * number
        errors = rng.choice(np.setdiff1d(np.arange(start, start + READ), [SITE]), 9, replace=False)
        planted.read(start, {SITE, *errors.tolist()}, flag=REVERSE * (number % 2))


def empty(planted):
    planted.reads(20)


@pytest.mark.parametrize(
    ("plant", "given", "reason", "cure"),
    [
        (low_mapping_quality, {}, "low-mapping-quality", "--min-mapq 0 --no-cap-by-mapq"),
        (duplicates, {}, "flags", "--exclude-flags 0x4"),
        (poor_bases, {}, "base-quality", "--min-base-quality 0"),
        (one_read, {}, "too-few-reads", None),
        (low_share, {}, "low-share", None),
        (strand_errors, {"stutter": False}, "strand-errors", None),
        (foreign, {"stutter": False}, "foreign-reads", None),
        (both_strands, {"stutter": False, "contamination": 0.2}, "contamination", None),
        (unfit, {"stutter": False}, "reads-set-aside", "--error-rate 0"),
        (empty, {}, "no-other-allele", None),
        (heterozygous, {"regions": "q:1-100"}, "outside-regions", None),
        (heterozygous, {"max_depth": 3}, "depth-cap", "a higher --max-depth"),
    ],
)
def test_a_planted_reason_is_named(planted, plant, given, reason, cure):
    plant(planted)
    one = explained(planted, **given)
    assert not one.verdict.is_called
    assert one.verdict.reason == reason, one.verdict
    assert cure is None or cure in one.verdict.cures
    assert not any(site.is_called for site in one.sites)


def test_haplotypes_that_the_limit_leaves_out(planted):
    planted.reads(28)
    planted.reads(12, {SITE + shift for shift in (-20, -10, 0, 10, 20)})
    one = explained(planted, max_haplotypes=2)
    assert one.verdict.reason == "haplotype-cap"
    assert one.verdict.cures == ["a higher --max-haplotypes", "--error-rate 0"]
    assert explained(planted).verdict.is_called


def test_what_the_limit_leaves_out_is_counted(planted):
    planted.reads(28)
    planted.reads(12, {SITE + shift for shift in (-20, -10, 0, 10, 20)})
    one = explained(planted, max_haplotypes=8)
    (region,) = one.regions
    assert (region.haplotypes, region.left_out, region.is_over) == (8, 24, False)
    assert explained(planted).regions[0].left_out == 0


def test_alleles_that_assembly_explains(planted):
    inserted = "".join(THIRD[letter] for letter in GENOME[SITE + 1 : SITE + 13])
    planted.reads(20)
    planted.inserted_reads([*range(SITE - 94, SITE - 86), *range(SITE - 80, SITE - 10, 4)], inserted)
    one = explained(planted, f"q:{SITE + 4}")
    assert one.verdict.reason == "explained-by-assembly"
    assert one.verdict.cures in ([], ["--no-assembly"])
    (window,) = one.windows
    shown = next(allele for allele in one.alleles if allele.is_here)
    assert shown.samples["s"].is_enough()
    assert not shown.is_candidate
    assert shown.allele in [allele for allele, _ in window.explained]
    assert window.samples[0].k == 25
    assert explained(planted, AT).verdict.is_called


def test_a_candidate_that_no_alignment_shows(planted, monkeypatch):
    """An odd copy of a repeat that reads show in two places tells that the repeat has another length."""
    unit = "ACCTG"
    genome = GENOME[: SITE - 10] + 6 * unit + GENOME[SITE + 20 :]
    monkeypatch.setattr(sys.modules[Planted.__module__], "GENOME", genome)
    planted.reads(20, {SITE})
    planted.reads(20, {SITE + len(unit)})
    one = explained(planted)
    anchor = genome[SITE - 11]
    changes = [AltAllele(SITE - 10, anchor, anchor + unit), AltAllele(SITE - 10, anchor + unit, anchor)]
    (window,) = one.windows
    assert (window.snvs, window.changes) == ([SITE + 1, SITE + 6], changes)
    shown = {str(allele.allele): allele for allele in one.alleles}
    assert all(shown[str(change)].is_candidate and not shown[str(change)].samples["s"].all_reads for change in changes)
    of_repeat = "is a candidate: with it, the SNVs at 2001 and 2006 are one, in a repeat of another length"
    assert one.text["Assembly"] == [
        "no window: reads have fewer than 2 clips or gaps around, or --no-assembly is given",
        *(f"{change} {of_repeat}" for change in changes),
    ]


def test_a_candidate_that_clips_tell(planted, monkeypatch):
    """Reads of a copy with two units less, clipped where the reference has these."""
    unit = "GATA"
    genome = GENOME[:SITE] + 15 * unit + GENOME[SITE + 60 :]
    monkeypatch.setattr(sys.modules[Planted.__module__], "GENOME", genome)
    planted.reads(20)
    copy = genome[:SITE] + genome[SITE + 8 :]
    for left in (4, 5, 6):  # letters before the repeat, too few for a way from there
        bases = copy[SITE - left : SITE - left + READ]
        planted.add(SITE - left, f"{left + 52}M{READ - left - 52}S", bases, "?" * READ)
    one = explained(planted)
    change = AltAllele(SITE, genome[SITE - 1 : SITE + 8], genome[SITE - 1])
    window = next(window for window in one.windows if window.told_by_clips)
    assert window.told_by_clips == [(change, 3)]
    assert f"{change} is a candidate that clips of 3 reads tell" in one.text["Assembly"]
    (shown,) = [allele for allele in one.alleles if allele.allele == change]
    assert shown.is_candidate and not shown.samples["s"].all_reads


def test_an_unlisted_allele_fits_best(planted):
    planted.reads(20, {SITE})
    listed = planted.write_list(SITE, THIRD[GENOME[SITE]])
    one = explained(planted, candidates=listed)
    assert one.verdict.reason == "unlisted-allele"
    assert [shown.is_listed for shown in one.alleles if shown.is_here] == [False, True]
    listed = planted.write_list(SITE + 30, OTHER[GENOME[SITE + 30]])
    assert explained(planted, candidates=listed).verdict.reason == "not-listed"
    listed = planted.write_list(SITE, OTHER[GENOME[SITE]])
    assert explained(planted, candidates=listed).verdict.is_called


def test_a_listed_deletion_that_is_not_leftmost(planted):
    run = next(at for at in range(SITE, SITE + 500) if GENOME[at] != GENOME[at + 1] == GENOME[at + 2] == GENOME[at + 3])
    for number in range(20):
        planted.read(run - 85 + 4 * number, deletion=(run + 1, run + 2), flag=REVERSE * (number % 2))
    listed = planted.write_list(run + 2, GENOME[run + 2], ref=GENOME[run + 2 : run + 4])
    one = explained(planted, f"q:{run + 3}", candidates=listed)
    (shown,) = [allele for allele in one.alleles if allele.is_listed]
    assert shown.allele.position == run + 1
    assert shown.samples["s"].good == 20
    assert one.verdict.is_called
    assert one.sites[0].record.split("\t")[1] == str(run + 3)


def test_a_listed_allele_without_reads(planted):
    planted.reads(20)
    one = explained(planted, candidates=planted.write_list(SITE, OTHER[GENOME[SITE]]))
    assert one.verdict.reason == "no-other-allele"
    assert one.sites[0].record.split("\t")[9].startswith("0/0")


@pytest.mark.parametrize(("quality", "reason"), [(18, "prior"), (25, "filtered")])
def test_few_reads(planted, quality, reason):
    planted.reads(6)
    planted.reads(2, {SITE}, poor=quality)
    one = explained(planted)
    assert one.verdict.reason == reason
    if reason == "filtered":
        assert "LowQual: QUAL" in one.verdict.text


def test_reads_that_skip_the_position_are_not_over_it(planted):
    """Parts of a read between introns are reads of their own, as `call` has them."""
    heterozygous(planted)
    for number in range(30):
        start, half = SITE - 60 - number, READ // 2
        exons = GENOME[start : start + half] + GENOME[start + half + 200 : start + READ + 200]
        planted.add(start, f"{half}M200N{half}M", exons, "?" * READ)
    one = explained(planted)
    assert one.verdict.is_called
    assert (one.reads["s"].over, one.reads["s"].used) == (40, 40)


def test_no_read_at_all(planted):
    heterozygous(planted)
    assert explained(planted, "empty:2,001").verdict.reason == "no-reads"
    assert explained(planted, "q:3990").verdict.reason == "no-reads"


def test_a_deletion_on_the_other_chromosome(planted):
    planted.reads(20, {SITE})
    for number in range(20):
        planted.read(SITE - 85 + 4 * number, deletion=(SITE - 2, SITE + 3), flag=REVERSE * (number % 2))
    one = explained(planted)
    assert one.verdict.is_called
    (spanned,) = [site for site in one.sites if any(allele.alt == "*" for allele in site.alleles)]
    assert spanned.samples["s"].genotype.replace("|", "/") in ("1/2", "2/1")


def test_each_record_of_real_reads_is_that_of_call(shared_data, run_cli):
    folder = shared_data / "na12878-chr20-100kb"
    files = folder / "NA12878_S1.chr20.10_10p1mb.bam", folder / "ucsc.hg19.chr20.unittest.fasta.gz"
    done = run_cli("-q", "call", "-f", files[1], "-r", "chr20:10,000,001-10,020,000", files[0])
    records = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    assert len(records) > 20
    places = ["{}:{}".format(*record.split("\t")[:2]) for record in records]
    found = pairhmm.explain(*files, ",".join(places))
    assert all(one.verdict.is_called for one in found)
    own = [[site.record for site in one.sites] for one in found]
    assert [record for record, sites in zip(records, own, strict=True) if record not in sites] == []


def test_text_and_json_say_the_same(planted, run_cli):
    heterozygous(planted)
    bam, reference = planted.write()
    places = f"{AT},q:{SITE + 51}"
    text = run_cli("-q", "explain", "-f", reference, bam, places).stdout
    found = json.loads(run_cli("-q", "explain", "-f", reference, "--json", bam, places).stdout)
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    verdicts = [f"q:{one['position']} {one['verdict']['text']}" for one in found]
    sections = ["Reads", "Alleles of alignments", "Assembly", "Regions", "Genotypes"]
    assert titles == [verdicts[0], *sections, verdicts[1], *sections]
    assert [one["verdict"]["is_called"] for one in found] == [True, False]
    assert found[0]["sites"][0]["record"] in text
    assert "20 of 40 reads (50.0%; a candidate needs 2 reads and 12%); is a candidate" in text


@pytest.mark.parametrize(
    ("position", "rule"),
    [
        ("x:5", "contig"),
        ("q:5000", "outside q, which has 4000 bases"),
        ("q:0", "not an interval"),
        ("q:5-9", "not one position"),
        ("q", "not one position"),
        ("q:five", "not an interval"),
        ("", "contig"),
    ],
)
def test_bad_positions(planted, run_cli, position, rule):
    planted.reads(5)
    bam, reference = planted.write()
    done = run_cli("-q", "explain", "-f", reference, bam, position)
    assert done.returncode == 2
    assert rule in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_mixtures_are_not_explained(planted, run_cli):
    planted.reads(5)
    bam, reference = planted.write()
    done = run_cli("-q", "explain", "--mixture", "-f", reference, bam, AT)
    assert done.returncode == 2
    assert "No such option '--mixture'. Genotypes are explained, and a mixture has none: see" in done.stderr
    with pytest.raises(InputError, match="genotypes are explained, and a mixture has none"):
        pairhmm.explain(bam, reference, AT, mixture=True)


@pytest.mark.parametrize("given", [("q:5", "bam"), ("bam",)])
def test_a_file_in_the_place_of_the_position(planted, run_cli, given):
    planted.reads(5)
    bam, reference = planted.write()
    done = run_cli("-q", "explain", "-f", reference, *(bam if one == "bam" else one for one in given))
    assert done.returncode == 2
    assert f"{bam} is a file: give the position, chr:position, behind the alignments." in done.stderr


def test_positions_are_parted_by_commas():
    contigs = {"a": 20_000_000, "HLA:1": 50}
    found = parse_positions("a:10,004,769,HLA:1:7,a:5", contigs)
    assert [(one.chrom, one.end) for one in found] == [("a", 10_004_769), ("HLA:1", 7), ("a", 5)]
    with pytest.raises(InputError, match="outside a"):
        parse_positions("a:10004769,10004800", contigs)


def test_reasons_of_the_document(shared_data):
    text = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    assert dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", text, re.MULTILINE)) == REASONS
    folder = shared_data / "na12878-chr20-100kb"
    files = folder / "NA12878_S1.chr20.10_10p1mb.bam", folder / "ucsc.hg19.chr20.unittest.fasta.gz"
    (one,) = pairhmm.explain(*files, "chr20:10050161")
    assert textwrap.indent(text_of(one), "    ") in text
