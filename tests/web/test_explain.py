"""What the page says of a position (web/src/call/explain.js) is what `pairhmm explain` says."""

import os

import pysam
import pytest

from pairhmm.backends.cpu import instruction_sets
from tests.calling.test_circles import ALLELES, LENGTH, write_circle
from tests.explain import test_explain as reasons
from tests.explain.planted import GENOME, SITE, THIRD, Planted
from tests.explain.sections import sections_of

AT = f"q:{SITE + 1}"
LEVEL = "x86-64-v2"


def assembled(planted):
    inserted = "".join(THIRD[letter] for letter in GENOME[SITE + 1 : SITE + 13])
    planted.reads(20)
    planted.inserted_reads([*range(SITE - 94, SITE - 86), *range(SITE - 80, SITE - 10, 4)], inserted)


@pytest.fixture
def explained_in_node(ask):
    """``explained_in_node(bam, reference, position, **options)``: the explanation, or the line of an error."""

    def run(bam, reference, position, **options):
        files = {"bam": [["q.bam", bam, f"{bam}.bai"]], "reference": ["q.fa", reference, f"{reference}.fai", None]}
        answer = ask({**files, "explain": position, "options": options})
        return answer["explained"] or answer["error"]

    return run


@pytest.fixture
def assert_same(ask, run_cli):
    """``assert_same(bam, reference, position, arguments, **options)``: both say the same. Returns the page's answer."""
    forced = {"PAIRHMM_CPU": LEVEL} if (LEVEL, True) in instruction_sets() else {}

    def check(bam, reference, position, arguments=(), **options):
        gzi = f"{reference}.gzi"
        files = {
            "bam": [["q.bam", bam, f"{bam}.bai"]],
            "reference": ["q.fa", reference, f"{reference}.fai", gzi if os.path.exists(gzi) else None],
        }
        ours = ask({**files, "explain": position, "options": options})["explained"]
        command = ("-q", "explain", "--backend", "cpu", "-f", reference, *arguments, bam, position)
        done = run_cli(*command, env={**os.environ, **forced})
        assert done.returncode == 0, done.stderr
        theirs = sections_of(done.stdout)
        assert theirs.pop("Regions")
        assert dict(ours["sections"]) == theirs
        return ours, done.stdout.splitlines()[0]

    return check


@pytest.mark.parametrize(
    ("plant", "position", "is_candidate"),
    [
        (reasons.heterozygous, AT, True),
        (reasons.low_mapping_quality, AT, False),
        (reasons.duplicates, AT, False),
        (reasons.poor_bases, AT, False),
        (reasons.one_read, AT, False),
        (reasons.low_share, AT, False),
        (reasons.strand_errors, AT, True),
        (reasons.foreign, AT, True),
        (reasons.unfit, AT, True),
        (reasons.empty, AT, False),
        (reasons.empty, "q:3,990", False),
        (reasons.empty, "empty:2001", False),
        (assembled, f"q:{SITE + 4}", False),
        (assembled, AT, True),
    ],
)
def test_the_page_says_what_the_command_says(tmp_path, assert_same, plant, position, is_candidate):
    planted = Planted(tmp_path)
    plant(planted)
    ours, verdict = assert_same(*planted.write(), position)
    assert (not ours["reason"]) == is_candidate
    if ours["reason"]:
        assert verdict == f"{ours['place']} not called: {ours['reason']}"


def test_thresholds_are_those_that_are_chosen(tmp_path, assert_same):
    planted = Planted(tmp_path)
    reasons.low_mapping_quality(planted)
    arguments = ("--min-mapq", "5", "--min-alt-count", "30")
    ours, _ = assert_same(*planted.write(), AT, arguments, minMapq=5, minSnvCount=30)
    assert "a candidate needs 30" in ours["reason"]


@pytest.mark.parametrize("at", [10050161, 10004769, 10009227, 10019093])
def test_real_reads(shared_data, assert_same, at):
    folder = shared_data / "na12878-chr20-100kb"
    files = folder / "NA12878_S1.chr20.10_10p1mb.bam", folder / "ucsc.hg19.chr20.unittest.fasta.gz"
    assert_same(*files, f"chr20:{at}")


@pytest.mark.parametrize(
    ("position", "options", "rule"),
    [
        ("q:5-9", {}, "not one position"),
        ("x:5", {}, "contig"),
        ("q:5000", {}, "outside q, which has 4000 bases"),
        (AT, {"mixture": True}, "has no genotypes to explain"),
    ],
)
def test_what_can_not_be_explained(tmp_path, explained_in_node, position, options, rule):
    planted = Planted(tmp_path)
    planted.reads(5)
    assert rule in explained_in_node(*planted.write(), position, **options)


@pytest.mark.parametrize("name", ["SNVs at 1 and L", "insertion", "deletion over"])
def test_positions_beside_the_origin_of_a_circle(tmp_path, monkeypatch, assert_same, name):
    monkeypatch.chdir(tmp_path)
    write_circle("x", ALLELES[name])
    pysam.faidx("x.fa")
    for position in (1, LENGTH - 3, LENGTH):
        asked = f"c:{position}"
        assert_same(tmp_path / "x.bam", tmp_path / "x.fa", asked, ("--circular", "c"), circular=["c"])
