"""Pieces of a run give together what the run gives, wherever it is cut."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.calling import shards as cuts
from pairhmm.calling.call import call
from pairhmm.calling.likelihoods import likelihoods
from pairhmm.calling.scatter import scatter
from pairhmm.calling.shards import Work
from pairhmm.errors import InputError, OptionError
from pairhmm.models.profile import preset
from pairhmm.sequences.intervals import write_beds
from pairhmm.simulate.api import simulate


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two contigs as full of insertions and deletions as a caller meets them nowhere."""
    folder = tmp_path_factory.mktemp("scatter")
    return simulate(folder, length=30_000, contigs=2, coverage=16, snvs=90, indels=60, max_indel=30, seed=5)


@pytest.fixture(scope="module")
def truth(data):
    with pysam.VariantFile(str(data.truth)) as records:
        return [(one.chrom, one.pos - 1, one.ref) for one in records]


def run(verb, data, given, **regions):
    """What a run gives; candidates are numbered within their run."""
    found = verb([str(data.bam)], str(data.reference), given, **regions)
    return [site(one) if verb is call else rows(one) for one in found]


def site(one):
    return replace(one, variant=replace(one.variant, record_index=0))


def rows(one):
    """What a table has of a region."""
    region = replace(one.region, variants=tuple(replace(variant, record_index=0) for variant in one.region.variants))
    return region, one.haplotypes, one.names, one.sample.tolist(), one.log10.tolist(), one.precision.tolist()


def over_pieces(verb, data, given, pieces, folder):
    found = []
    for number, piece in enumerate(pieces):
        bed = folder / f"{number}.bed"
        write_beds(folder, {bed.name: piece})
        found += run(verb, data, given, regions_file=str(bed))
    return found


@pytest.mark.parametrize("given", [False, True], ids=["discovered", "given"])
@pytest.mark.parametrize("pieces", [1, 16])
def test_pieces_give_what_the_whole_gives(data, tmp_path, given, pieces):
    candidates = str(data.truth) if given else None
    cut = scatter([str(data.bam)], str(data.reference), pieces, candidates)
    assert len(cut) == pieces
    assert [sum(end - start for _, start, end in piece) for piece in cut] == pytest.approx(
        [30_000 / pieces] * pieces, rel=0.6
    )
    assert over_pieces(call, data, candidates, cut, tmp_path) == run(call, data, candidates)
    expected = run(likelihoods, data, candidates)
    assert len(expected) > 50
    assert over_pieces(likelihoods, data, candidates, cut, tmp_path) == expected


def test_pieces_of_a_run_that_joins_reads(data, tmp_path, monkeypatch):
    """Mates and copies of a molecule may lie on both sides of a cut. All reads of a candidate are in its piece."""
    joining = {"profile": preset("normalised"), "join_mates": True, "families": "position"}
    monkeypatch.setattr(f"{__name__}.run", partial(run, **joining))
    cut = scatter([str(data.bam)], str(data.reference), 16, **joining)
    for verb in (call, likelihoods):
        expected = run(verb, data, None)
        assert len(expected) > 50
        assert over_pieces(verb, data, None, cut, tmp_path) == expected
    assert any(2 in one.reads for one in likelihoods([str(data.bam)], str(data.reference), **joining))


def cut_at(monkeypatch, data, targets, given=None, **regions):
    """Pieces whose cuts are wanted at these places."""
    left = iter(targets)
    monkeypatch.setattr(Work, "locus_at", lambda *_: next(left))
    return scatter([str(data.bam)], str(data.reference), len(targets) + 1, given, **regions)


@pytest.mark.parametrize("given", [False, True], ids=["discovered", "given"])
@pytest.mark.parametrize("shift", [0, 1, -60])
def test_a_cut_wanted_at_a_variant_is_moved(data, truth, tmp_path, monkeypatch, given, shift):
    """At the first base of every fourth variant of the truth, behind its anchor, and before it."""
    candidates = str(data.truth) if given else None
    targets = [(chrom, pos + shift) for chrom, pos, _ in truth[::4]]
    cut = cut_at(monkeypatch, data, targets, candidates)
    borders = {(chrom, end) for piece in cut[:-1] for chrom, _, end in piece[-1:]}
    assert 20 < len(borders) <= len(targets)
    for chrom, pos, ref in truth:
        assert not any(chrom == one and pos < border < pos + len(ref) for one, border in borders)
    assert over_pieces(call, data, candidates, cut, tmp_path) == run(call, data, candidates)


def test_calls_do_not_depend_on_what_is_asked_for_together(data, truth, tmp_path):
    """Regions are joined before what was asked for is chosen, also where a variant is cut through.

    Tables have the regions of both sides then, which is why pieces are not cut so.
    """
    lengths = {"chr1": 15_000, "chr2": 15_000}
    naive = []
    for chrom, length in lengths.items():
        borders = [0, *(pos + 1 for one, pos, _ in truth[::4] if one == chrom), length]
        naive += [[(chrom, *edges)] for edges in pairwise(borders)]
    assert over_pieces(call, data, None, naive, tmp_path) == run(call, data, None)
    assert over_pieces(likelihoods, data, None, naive, tmp_path) != run(likelihoods, data, None)


def test_regions_are_cut_inside(data, tmp_path, monkeypatch):
    """Small targets, as an exome has them: reads reach from one into the next."""
    rng = np.random.default_rng(3)
    starts = np.cumsum(rng.integers(130, 420, 40))
    targets = [("chr1", int(start), int(start) + 120) for start in starts]
    bed = tmp_path / "targets.bed"
    write_beds(tmp_path, {bed.name: targets})
    wanted = [(chrom, int(place)) for chrom, start, end in targets[::2] for place in (start, (start + end) // 2, end)]
    cut = cut_at(monkeypatch, data, wanted, regions_file=str(bed))
    assert sum(bool(piece) for piece in cut) > 5
    assert sum(end - start for _, start, end in chain.from_iterable(cut)) == 40 * 120
    whole = run(call, data, None, regions_file=str(bed))
    assert len(whole) > 5
    assert over_pieces(call, data, None, cut, tmp_path) == whole


def uneven(path: Path, form: str) -> Path:
    """Reads on one contig of 1 Mb: a tenth of them in its first half."""
    header = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": "c", "LN": 1_000_000}], "RG": [{"ID": "1", "SM": "s"}]})
    places = sorted([*range(0, 500_000, 500), *range(500_000, 950_000, 50)])
    settings = {"format_options": [b"seqs_per_slice=200"]} if form == "wc" else {}
    fasta = str(path.parent / "c.fa")
    with pysam.AlignmentFile(str(path), form, header=header, reference_filename=fasta, **settings) as out:
        for number, place in enumerate(places):
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start = str(number), 0, place
            read.mapping_quality, read.cigartuples = 60, [(0, 100)]
            read.query_sequence, read.query_qualities = "ACGTT" * 20, pysam.qualitystring_to_array("I" * 100)
            out.write(read)
    return path


@pytest.mark.parametrize(
    ("form", "options", "near"),
    # A .csi keeps no place of stretches that are joined for having few reads.
    [("wb", [], 20_000), ("wb", ["-c"], 120_000), ("wc", [], 20_000)],
    ids=["bai", "csi", "crai"],
)
def test_work_is_that_of_the_index(tmp_path, form, options, near):
    (tmp_path / "c.fa").write_text(">c\n" + "ACGTT" * 200_000 + "\n")
    path = uneven(tmp_path / "reads", form)
    pysam.index(*options, str(path))
    (_, begin, cut), (_, _, end) = chain.from_iterable(scatter([str(path)], str(tmp_path / "c.fa"), 2))
    assert (begin, end) == (0, 1_000_000)
    # Of 10,000 reads 5,000 are before (450,000 * 4 / 9 + 500,000).
    assert cut == pytest.approx(700_000, abs=near)


@pytest.mark.parametrize("content", [b"", b"BAI\1\xff", b"text"])
def test_an_index_that_is_none(data, tmp_path, content):
    bam = tmp_path / "reads.bam"
    bam.symlink_to(data.bam)
    (tmp_path / "reads.bam.csi").symlink_to(Path(f"{data.bam}.bai"))
    (tmp_path / "reads.bam.bai").write_bytes(content)
    with pytest.raises(InputError, match=r"reads.bam(.bai)?: .*index"):
        scatter([str(bam)], str(data.reference), 2)


def test_nothing_asked_for(data, tmp_path):
    (tmp_path / "empty.bed").touch()
    assert scatter([str(data.bam)], str(data.reference), 2, regions_file=str(tmp_path / "empty.bed")) == [[], []]


def test_many_pieces_read_each_stretch_once(data, monkeypatch):
    """Places to cut that are near each other are searched together: reads are not taken anew for each."""
    fetched = []
    original = cuts.run_blocks

    def counted(*arguments, **more):
        for block in original(*arguments, **more):
            fetched.append(len(block))
            yield block

    monkeypatch.setattr(cuts, "run_blocks", counted)
    with pysam.AlignmentFile(str(data.bam)) as bam:
        reads = bam.mapped
    pieces = scatter([str(data.bam)], str(data.reference), 500)
    assert len(pieces) == 500
    assert sum(fetched) < 2 * reads


def test_more_pieces_than_a_command_line_takes(data):
    with pytest.raises(OptionError, match="from 1 to 100000"):
        scatter([str(data.bam)], str(data.reference), 100_001)


def test_places_of_one_base_are_not_cut(data, tmp_path):
    """As many as a panel's targets; what is asked for is in the pieces, in order."""
    bed = tmp_path / "targets.bed"
    places = [("chr1", start, start + 1) for start in range(0, 14_000, 2)] + [("chr1", 14_000, 14_002)]
    write_beds(tmp_path, {bed.name: places})
    pieces = scatter([str(data.bam)], str(data.reference), 300, regions_file=str(bed))
    assert len(pieces) == 300
    assert [place for piece in pieces for place in piece][: len(places) - 1] == places[:-1]
