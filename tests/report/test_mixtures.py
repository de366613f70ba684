"""Mixtures in a report: depth, tiles and fractions, as data of the page and in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.report.mixtures import BINS
from pairhmm.report.tiles import Tile, read_tiles

LENGTH, READ, STEP = 2000, 100, 50
GAP = 900, 1250


class Files(NamedTuple):
    reference: Path
    calls: Path
    bam: Path
    tiles: Path

    @property
    def arguments(self) -> list[object]:
        return ["-f", self.reference, "--calls", self.calls, "--alignments", self.bam, "--tiles", self.tiles]


@pytest.fixture(scope="session")
def mixture(tmp_path_factory) -> Files:
    """A sample whose reads of 100 bases begin at every 50th base, 20 at each, and at none of a gap."""
    folder = tmp_path_factory.mktemp("mixture")
    files = Files(*(folder / name for name in ("ref.fa", "calls.vcf", "reads.bam", "primers.bed")))
    bases = "".join(np.random.default_rng(2).choice(list("ACGT"), LENGTH))
    files.reference.write_text(f">virus\n{bases}\n")
    header = pysam.AlignmentHeader.from_dict(
        {"HD": {"SO": "coordinate"}, "SQ": [{"SN": "virus", "LN": LENGTH}], "RG": [{"ID": "g", "SM": "s"}]}
    )
    with pysam.AlignmentFile(files.bam, "wb", header=header) as out:
        for start in range(0, LENGTH - READ + 1, STEP):
            for number in range(0 if GAP[0] < start + READ and start < GAP[1] else 20):
                read = pysam.AlignedSegment(header)
                read.query_name, read.flag, read.reference_id = f"r{start}.{number}", 0, 0
                read.reference_start, read.mapping_quality, read.cigartuples = start, 60, [(0, READ)]
                read.query_sequence, read.query_qualities = bases[start : start + READ], [30] * READ
                read.set_tag("RG", "g")
                out.write(read)
    pysam.index(str(files.bam))
    primers = []
    for number, start in enumerate((0, 400, 800, 1200, 1600), start=1):
        primers += [f"virus\t{start}\t{start + 20}\tv_{number}_LEFT\t{number % 2}\t+"]
        primers += [f"virus\t{start + 380}\t{start + 400}\tv_{number}_RIGHT{'_alt' * (number == 2)}\t{number % 2}\t-"]
    files.tiles.write_text("\n".join(primers) + "\n")
    own = [bases[position - 1] for position in (101, 301)]
    other = ["ACGT"[("ACGT".index(base) + 1) % 4] for base in own]
    files.calls.write_text(
        f"##fileformat=VCFv4.3\n##contig=<ID=virus,length={LENGTH}>\n"
        '##FILTER=<ID=Low,Description="">\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n'
        '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="">\n##FORMAT=<ID=AF,Number=A,Type=Float,Description="">\n'
        '##FORMAT=<ID=CIAF,Number=.,Type=Float,Description="">\n'
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts\n"
        f"virus\t101\t.\t{own[0]}\t{other[0]}\t90\tPASS\t.\tGT:DP:AF:CIAF\t0/1:40:0.3:0.2,0.4\n"
        f"virus\t301\t.\t{own[1]}\t{own[1]}TT,{other[1]}\t9\tLow\t.\tGT:DP:AF:CIAF\t0/2:40:0,0.02:0,0.01,0.01,0.05\n"
    )
    return files


def test_depth_tiles_and_alleles_are_in_the_page(reported, mixture):
    data = reported(*mixture.arguments)
    assert data["mixtures"]["minDepth"] == 10
    (track,) = data["mixtures"]["tracks"]
    assert (track["sample"], track["contig"], track["length"]) == (0, "virus", LENGTH)
    assert len(track["depth"]["median"]) == BINS
    assert track["depth"]["low"][0] == 20 and track["depth"]["high"][100] == 40
    assert set(track["depth"]["high"][int(BINS * 950 / LENGTH) : int(BINS * 1200 / LENGTH)]) == {0}
    medians = {name: [start, end, median] for name, start, end, median in track["tiles"]}
    assert medians == {
        "v_1": [20, 380, 40],
        "v_2": [420, 780, 40],
        "v_3": [820, 1180, 0],
        "v_4": [1220, 1580, 40],
        "v_5": [1620, 1980, 40],
    }
    records = [line.split() for line in mixture.calls.read_text().splitlines()[-2:]]
    first, second = ([ref, alts.split(",")[-1]] for _, _, _, ref, alts, *_ in records)
    assert track["alleles"] == [
        [101, *first, 0.3, 0.2, 0.4, 40, 90, "PASS"],
        [301, *second, 0.02, 0.01, 0.05, 40, 9, "Low"],
    ]
    columns = [column[1] for column in data["cohort"]["columns"]]
    row = dict(zip(["Sample", *columns], data["cohort"]["rows"][0], strict=True))
    assert (row["Median depth"], row["Dropouts"]) == (40, 1)
    assert row["Covered"] == pytest.approx(100 * (1 - (GAP[1] - GAP[0]) / LENGTH))


def test_reads_over_the_origin_of_a_circle_are_depth_on_both_sides(reported, refused, mixture, tmp_path):
    """20 reads more: their last 40 bases, from the contig's beginning, are clipped."""
    bases = mixture.reference.read_text().split()[1]
    with pysam.AlignmentFile(mixture.bam) as reads:
        every, header = list(reads), reads.header
    with pysam.AlignmentFile(tmp_path / "over.bam", "wb", header=header) as out:
        for read in every:
            out.write(read)
        for number in range(20):
            read.query_name, read.reference_start = f"over{number}", LENGTH - 60
            read.query_sequence, read.query_qualities = bases[-60:] + bases[:40], [30] * READ
            read.cigartuples = [(0, 60), (4, 40)]
            out.write(read)
    pysam.index(str(tmp_path / "over.bam"))
    over = f"virus\t{LENGTH}\t.\t{bases[-1]}{bases[0]}\t{bases[-1]}\t90\tPASS\t.\tGT:DP:AF:CIAF\t0/1:40:0.3:0.2,0.4\n"
    (tmp_path / "over.vcf").write_text(mixture.calls.read_text() + over)
    given = "-f", mixture.reference, "--calls", tmp_path / "over.vcf", "--alignments", tmp_path / "over.bam"
    assert "--circular: chrM: no contig 'chrM'; contigs are virus" in refused(*given, "--circular", "chrM")
    assert "give their --alignments" in refused("--calls", tmp_path / "over.vcf", "--circular", "virus")
    beside = tmp_path / "beside.bed"
    beside.write_text(f"virus\t{LENGTH - 50}\t{LENGTH + 40}\tover\nvirus\t{LENGTH - 20}\t{LENGTH}\tlast\n")
    assert "is not inside virus" in refused(*given, "--tiles", beside)
    for options, first in ((("--circular", "virus"), 40), ((), 20)):
        (track,) = reported(*given, *options)["mixtures"]["tracks"]
        bins = -(-40 * BINS // LENGTH)
        assert set(track["depth"]["median"][: bins - 1]) == {first}
        assert (track["depth"]["median"][-1], track["length"]) == (40, LENGTH)
        assert track["alleles"][-1][:3] == [LENGTH, bases[-1] + bases[0], bases[-1]]
    data = reported(*given, "--circular", "virus", "--tiles", beside, "--targets", beside)
    assert data["mixtures"]["tracks"][0]["tiles"] == [
        ["over", LENGTH - 50, LENGTH + 40, 40],
        ["last", LENGTH - 20, LENGTH, 40],
    ]
    over = min(data["targets"]["rows"], key=lambda row: row[2])
    assert (over[:4], over[5:8]) == (["over", "virus", LENGTH - 50, LENGTH + 40], [40, 40, 1])
    figures = dict(zip(["", *(key for key, *_ in data["cohort"]["columns"])], data["cohort"]["rows"][0], strict=True))
    assert figures["target_depth"] == 40
    (track,) = reported("--calls", tmp_path / "over.vcf")["mixtures"]["tracks"]
    assert track["length"] == LENGTH


def test_calls_without_reads_have_fractions_only(reported, mixture):
    data = reported("--calls", mixture.calls)
    (track,) = data["mixtures"]["tracks"]
    assert track["depth"] is None and len(track["alleles"]) == 2
    assert "Median depth" not in [column[1] for column in data["cohort"]["columns"]]


def test_other_calls_have_no_mixture(reported, make_run):
    assert reported("--calls", make_run(2, 10).calls)["mixtures"] is None


def test_what_does_not_go_together(refused, mixture, tmp_path):
    assert refused("--calls", mixture.calls, "--tiles", mixture.tiles).startswith("--tiles: need the depth of reads")
    (tmp_path / "plain.vcf").write_text(mixture.calls.read_text().replace("CIAF", "OTHER"))
    diploid = "-f", mixture.reference, "--calls", "plain.vcf", "--alignments", mixture.bam
    assert "these calls have no fractions (CIAF)" in refused(*diploid)
    # A single sample of the alignments is that of the calls, whatever its name. Of two, none is.
    (tmp_path / "renamed.vcf").write_text(mixture.calls.read_text().replace("\ts\n", "\tother\n"))
    with pysam.AlignmentFile(mixture.bam) as reads:
        header = reads.header.to_dict()
    header["RG"].append({"ID": "h", "SM": "t"})
    pysam.AlignmentFile(tmp_path / "two.bam", "wb", header=header).close()
    pysam.index(str(tmp_path / "two.bam"))
    renamed = "-f", mixture.reference, "--calls", "renamed.vcf", "--alignments"
    assert "two.bam: has no sample other, which renamed.vcf has; it has s, t" in refused(*renamed, "two.bam")


@pytest.mark.parametrize(
    ("text", "tiles"),
    [
        ("v 10 60 a\nv 50 90\n", [Tile("v", 10, 60, "a"), Tile("v", 50, 90, "tile 2")]),
        (
            "v 0 10 n_1_LEFT\nv 5 15 n_1_LEFT_alt1\nv 70 80 n_1_RIGHT\nv 40 50 n_2_LEFT_0\nv 90 99 n_2_RIGHT_0\n",
            [Tile("v", 15, 70, "n_1"), Tile("v", 50, 90, "n_2")],
        ),
    ],
)
def test_tiles_are_intervals_or_lie_between_primers(tmp_path, text, tiles):
    path = tmp_path / "tiles.bed"
    path.write_text(text.replace(" ", "\t"))
    assert read_tiles(str(path), {"v": 100}) == tiles


def test_tiles_over_the_origin_of_a_circle(tmp_path):
    path = tmp_path / "tiles.bed"
    path.write_text("v\t80\t90\tn_1_LEFT\nv\t20\t30\tn_1_RIGHT\nv\t95\t105\tn_2_LEFT\nv\t40\t50\tn_2_RIGHT\n")
    assert read_tiles(str(path), {"v": 100}, ["v"]) == [Tile("v", 90, 120, "n_1"), Tile("v", 5, 40, "n_2")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v 0 10 n_1_LEFT\n", "tile n_1 has no bases between a primer _LEFT and a primer _RIGHT"),
        ("v 50 60 n_1_LEFT\nv 20 30 n_1_RIGHT\n", "tile n_1 has no bases"),
        ("v 0 10 n_1_LEFT\nv 20 30 b\n", "b is no primer, but others are"),
        ("w 0 10 n_1_LEFT\n", "line 1: no contig 'w'; contigs are v"),
    ],
)
def test_tiles_that_can_not_be_used(tmp_path, text, message):
    path = tmp_path / "tiles.bed"
    path.write_text(text.replace(" ", "\t"))
    with pytest.raises(InputError) as error:
        read_tiles(str(path), {"v": 100})
    assert message in str(error.value).replace(f"{path}: ", "")


def test_the_tab_is_drawn(browser, open_report, mixture):
    from selenium.webdriver import ActionChains

    open_report(*mixture.arguments)
    browser.open_tab("mixtures")
    assert (
        "1 of 5 tiles with a median depth below 10: v_3" in browser.find_element("css selector", ".flags.raised").text
    )
    assert browser.colours("#tab-mixtures canvas") > 20
    canvas = browser.find_element("css selector", "#tab-mixtures canvas")
    ActionChains(browser).move_to_element(canvas).perform()
    told = browser.find_element("id", "tooltip").text
    assert "median depth" in told and "v_3" in told
    cells = browser.execute_script(
        "return [...document.querySelectorAll('#tab-mixtures tr[data-index]')].map((row) => row.innerText)"
    )
    assert [line.split()[0] for line in cells] == ["101", "301", "v_3", "v_1", "v_2", "v_4", "v_5"]
    browser.open_tab("sites")
    browser.wait("return document.querySelector('.panel .evidence')")
    assert "30.00 % (20.00 to 40.00)" in browser.find_element("css selector", ".panel .evidence").text


def test_axe_finds_nothing(browser, open_report, mixture, axe):
    open_report(*mixture.arguments)
    browser.open_tab("mixtures")
    assert axe(browser) == []
