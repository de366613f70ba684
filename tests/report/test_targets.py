"""Coverage of targets: depth by molecules, shares, gaps, and what the first screen says of them."""

import numpy as np
import pysam
import pytest

from pairhmm.report import targets as module
from pairhmm.report.targets import Targets, _Sums
from pairhmm.sequences.intervals import Interval

LENGTH = 1000


def read(name, start, sample, flag=0, mapq=60, quality=30, mate=None):
    one = pysam.AlignedSegment()
    one.query_name, one.reference_id, one.reference_start, one.flag = name, 0, start, flag
    one.query_sequence, one.mapping_quality, one.cigarstring = "A" * 100, mapq, "100M"
    one.query_qualities = pysam.qualitystring_to_array(chr(33 + quality) * 100)
    one.set_tag("RG", sample)
    if mate is not None:
        one.next_reference_id, one.next_reference_start = 0, mate
    return one


@pytest.fixture
def run(tmp_path):
    """A BAM of two samples, its reference, and a BED of targets."""
    (tmp_path / "ref.fa").write_text(f">chr1\n{'A' * LENGTH}\n>chr2\n{'C' * 50}\n")
    header = {
        "HD": {"VN": "1.6", "SO": "coordinate"},
        "SQ": [{"SN": "chr1", "LN": LENGTH}, {"SN": "chr2", "LN": 50}],
        "RG": [{"ID": name, "SM": name} for name in ("s", "t")],
    }
    reads = [read(f"r{number}", 100, "s") for number in range(3)]
    reads += [read("pair", 110, "s", 0x63, mate=150), read("pair", 150, "s", 0x93, mate=110)]
    reads += [read("dup", 120, "s", 0x400), read("vague", 120, "s", mapq=5), read("poor", 120, "s", quality=5)]
    reads += [read("other", 130, "t")]
    with pysam.AlignmentFile(str(tmp_path / "a.bam"), "wb", header=header) as out:
        for one in sorted(reads, key=lambda one: one.reference_start):
            out.write(one)
    pysam.index(str(tmp_path / "a.bam"))
    (tmp_path / "t.bed").write_text("chr1\t100\t250\tGENE\nchr1\t200\t220\nchr2\t0\t10\tEMPTY\n")
    return ["-f", tmp_path / "ref.fa", "--alignments", tmp_path / "a.bam", "--targets", tmp_path / "t.bed"]


def expected() -> np.ndarray:
    """Depth of sample s: three reads at 100-200, and a pair at 110-250 that counts once where it overlaps."""
    depth = np.zeros(LENGTH, dtype=int)
    depth[100:200] += 3
    depth[110:250] += 1
    return depth


def test_depth_counts_molecules(run, reported):
    told = reported(*run, "--min-depth", 4)
    depth, samples = expected(), told["samples"]
    assert samples == ["s", "t"]
    gene, small, empty = (
        next(row for row in told["targets"]["rows"] if row[4] == 0 and row[2] == start) for start in (100, 200, 0)
    )
    assert gene[:4] == ["GENE", "chr1", 100, 250]
    here = depth[100:250]
    assert gene[5:8] == [round(here.mean(), 2), here.min(), round((here >= 4).mean(), 6)]
    assert gene[8:] == [[[100, 110], [200, 250]], 2]
    assert small[0] == "" and small[5:] == [1.0, 1, 0.0, [[200, 220]], 1]
    assert empty[5:] == [0.0, 0, 0.0, [[0, 10]], 1]
    # Bases of targets that overlap count once.
    columns = [key for key, *_ in told["cohort"]["columns"]]
    figures = dict(zip(columns, told["cohort"]["rows"][0][1:], strict=True))
    assert figures["target_depth"] == round(here.sum() / 160, 2)
    assert figures["target_share"] == round(100 * 90 / 160, 2) and figures["target_gaps"] == 3
    assert (told["targets"]["worst"], told["targets"]["gaps"], told["targets"]["count"]) == (0, 3, 3)


def test_targets_have_20_by_default_and_genotypes_10(run, make_run, reported):
    generated = make_run(3, 30)
    told = reported(*run)
    assert told["targets"]["least"] == 20
    assert reported(*generated.arguments)["overview"]["calls"]["minDepth"] == 10
    assert reported(*generated.arguments)["targets"] is None


def test_many_gaps_and_targets_are_cut(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 2)
    targets = Targets(1, 3, {"s": _Sums()})
    depth = np.zeros(300, dtype=np.uint32)
    depth[::2] = 1
    own = [(Interval("c", start, start + 100), f"t{start}") for start in (0, 100, 200)]
    depth[100:200] = 0
    targets.add("s", "c", depth, own)
    page = targets.for_page({"s": 0})["targets"]
    assert [row[0] for row in page["rows"]] == ["t100", "t0"] and page["of"] == 3
    assert len(page["rows"][1][8]) == 20 and page["rows"][1][9] == 50


def test_bad_input(run, refused, tmp_path):
    reference, alignments, targets = run[:2], run[2:4], run[4:]
    assert refused(*reference, *targets) == "--targets: need the depth of reads; give their --alignments"
    assert "need the reference" in refused(*alignments, *targets)
    assert "give those with --likelihoods or --targets" in refused(*reference, *alignments, "--hits", "x.tsv")
    for text, told in (("chr9\t1\t2\n", "t.bed: line 1: no contig 'chr9'"), ("\n", "t.bed: no target in it")):
        (tmp_path / "t.bed").write_text(text)
        assert told in refused(*run)


def test_the_first_screen_tells_of_gaps(browser, open_report, run, axe):
    open_report(*run, "--min-depth", 4)
    tiles = [one.text.replace("\n", " ") for one in browser.find_elements("css selector", ".tile.raised")]
    assert tiles == [
        "0.00 % of the bases of targets have a depth of 4 or more, the worst of 2 samples",
        "3 of 3 targets have bases below it, the worst of 2 samples",
    ]
    script = "return [...document.querySelectorAll('#targets tr.failed')].map((row) => row.lastChild.textContent)"
    assert "chr1:101-110 chr1:201-250" in browser.execute_script(script)
    assert axe(browser) == []
