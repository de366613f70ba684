"""What the page says of a position (web/src/call/explain.js) is what `pairhmm explain` says."""

import pytest

import pairhmm
from pairhmm.explain.discovery import SECTIONS
from tests.explain import test_explain as reasons
from tests.explain.planted import GENOME, SITE, THIRD, Planted

AT = f"q:{SITE + 1}"
# Reasons for which an allele is no candidate: the text of the page is a part of the verdict's.
OF_DISCOVERY = {
    *("no-reads", "low-mapping-quality", "flags", "no-other-allele", "base-quality", "too-few-reads", "low-share"),
    "explained-by-assembly",
}


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


@pytest.mark.parametrize(
    ("plant", "position", "reason"),
    [
        (reasons.heterozygous, AT, "called"),
        (reasons.low_mapping_quality, AT, "low-mapping-quality"),
        (reasons.duplicates, AT, "flags"),
        (reasons.poor_bases, AT, "base-quality"),
        (reasons.one_read, AT, "too-few-reads"),
        (reasons.low_share, AT, "low-share"),
        (reasons.strand_errors, AT, None),
        (reasons.unfit, AT, None),
        (reasons.empty, AT, "no-other-allele"),
        (reasons.empty, "q:3,990", "no-reads"),
        (reasons.empty, "empty:2001", "no-reads"),
        (assembled, f"q:{SITE + 4}", "explained-by-assembly"),
        (assembled, AT, "called"),
    ],
)
def test_the_page_says_what_the_command_says(tmp_path, explained_in_node, plant, position, reason):
    planted = Planted(tmp_path)
    plant(planted)
    bam, reference = planted.write()
    (theirs,) = pairhmm.explain(bam, reference, position)
    assert reason in (None, theirs.verdict.reason)
    ours = explained_in_node(bam, reference, position)
    assert ours["place"] == f"{theirs.chrom}:{theirs.position}"
    assert dict(ours["sections"]) == {title: theirs.text[title] or ["none"] for title in SECTIONS}
    assert bool(ours["reason"]) == (theirs.verdict.reason in OF_DISCOVERY)
    if ours["reason"]:
        assert theirs.verdict.text == f"not called: {ours['reason']}"


def test_thresholds_are_those_that_are_chosen(tmp_path, explained_in_node):
    planted = Planted(tmp_path)
    reasons.low_mapping_quality(planted)
    bam, reference = planted.write()
    (theirs,) = pairhmm.explain(bam, reference, AT, min_mapq=5, min_snv_count=30)
    ours = explained_in_node(bam, reference, AT, minMapq=5, minSnvCount=30)
    assert dict(ours["sections"]) == theirs.text
    assert "a candidate needs 30" in ours["reason"]


def test_real_reads(shared_data, ask):
    folder = shared_data / "na12878-chr20-100kb"
    bam, reference = folder / "NA12878_S1.chr20.10_10p1mb.bam", folder / "ucsc.hg19.chr20.unittest.fasta.gz"
    places = ("chr20:10050161", "chr20:10004769", "chr20:10009227", "chr20:10019093")
    found = pairhmm.explain(bam, reference, ",".join(places))
    files = {
        "bam": [[bam.name, bam, f"{bam}.bai"]],
        "reference": [reference.name, reference, f"{reference}.fai", f"{reference}.gzi"],
    }
    for theirs, place in zip(found, places, strict=True):
        ours = ask({**files, "explain": place})["explained"]
        assert dict(ours["sections"]) == {title: theirs.text[title] or ["none"] for title in SECTIONS}
    assert any(theirs.windows for theirs in found)


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
