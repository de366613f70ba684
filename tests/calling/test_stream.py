"""Reads and regions put together: nothing may depend on how the reads are cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.genotyping import RegionGenotyper
from pairhmm.calling.scored_region import Evidence
from pairhmm.calling.scoring import ReadScorer
from pairhmm.calling.shard_runs import wanted_intervals
from pairhmm.calling.stream import EvidenceOptions, RegionStream
from pairhmm.models.gatk import GatkOptions, least_scores, set_aside
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from pairhmm.variants.genotypes import GenotypeOptions
from pairhmm.variants.regions import Region, RegionOptions
from pairhmm.variants.variant import Variant
from tests.calling.reads import aligned

RNG = np.random.default_rng(2)
CONTIGS = {name: "".join(RNG.choice(list("ACGT"), 3000)) for name in ("a", "b", "empty")}
LENGTHS = {name: len(bases) for name, bases in CONTIGS.items()}
SITES = {"a": (500, 520, 1400), "b": (120, 2000)}
READ = 100


def fetch(chrom: str, start: int, end: int) -> str:
    return CONTIGS[chrom][max(0, start) : end]


def swap(letter: str) -> str:
    return "ACGT"["ACGT".index(letter) ^ 1]


def alignments(chrom: str, depth: int = 20) -> list[SimpleNamespace]:
    """Reads of two chromosomes, one of which has an SNV at each site."""
    rng = np.random.default_rng(8)
    bases = CONTIGS[chrom]
    reads = []
    for index, start in enumerate(sorted(rng.integers(0, len(bases) - READ, depth * len(bases) // READ).tolist())):
        letters = list(bases[start : start + READ])
        if rng.random() < 0.5:
            for site in SITES[chrom]:
                if start <= site < start + READ:
                    letters[site - start] = swap(bases[site])
        reads.append(aligned(start, "".join(letters), name=f"{chrom}{index // 2}", sample=index % 2))
        reads[-1].quals = rng.integers(20, 40, READ).astype(np.uint8)
    return reads


READS = {chrom: alignments(chrom) for chrom in SITES}


def blocks(chunk: int) -> Iterator[ReadBlock]:
    for chrom, reads in READS.items():
        for first in range(0, len(reads), chunk):
            yield ReadBlock.from_alignments(chrom, reads[first : first + chunk])


def noisy_blocks() -> Iterator[ReadBlock]:
    """Every third read has letters of another place in its middle. All qualities are 30."""
    for block in blocks(500):
        noisy = block.bases.reshape(-1, READ).copy()
        noisy[::3, 40:60] = noisy[::3, 60:80]
        yield replace(block, bases=noisy.reshape(-1), quals=np.full(noisy.size, 30, dtype=np.uint8), _native=None)


LISTED = [
    Variant(chrom, pos, CONTIGS[chrom][pos], (swap(CONTIGS[chrom][pos]),), "", 0)
    for chrom, positions in (("a", (500, 520, 900, 1400)), ("b", (120, 2000)), ("empty", (7,)))
    for pos in positions
]


def known_parts():
    """What every source of regions is made of."""
    return native.ReferenceBases(fetch), list(LENGTHS.items()), 2, CandidateOptions(), RegionOptions()


def given_regions(listed=LISTED):
    return native.ListedRegions(*known_parts(), iter(listed))


def half_listed():
    """520 is shown beside 500, and listed nowhere."""
    return given_regions([variant for variant in LISTED if variant.pos != 520])


def stream(source, model: GatkOptions | None = None, **options) -> RegionStream:
    scorer = ReadScorer(model or GatkOptions(), engine.choose("cpu"))
    return RegionStream(native.ReferenceBases(fetch), source, scorer, EvidenceOptions(**options))


def evidence(stream: RegionStream, blocks) -> list[Evidence]:
    return [Evidence.of(region, [], is_joined=False) for batch in stream.run(blocks) for region in batch]


def discovered():
    return native.DiscoveredRegions(*known_parts())


def same(left: Evidence, right: Evidence) -> bool:
    return (
        left.region == right.region
        and left.haplotypes == right.haplotypes
        and left.names == right.names
        and all(
            np.array_equal(getattr(left, name), getattr(right, name))
            for name in ("log10", "precision", "set_aside", "sample", "flag", "start", "end", "length", "from_end")
        )
    )


@pytest.mark.parametrize("make", [discovered, given_regions, half_listed])
@pytest.mark.parametrize("chunk", [1, 13, 250])
def test_blocks_and_calls_of_the_engine_change_nothing(make, chunk):
    """With so few cells, each read of a region is a part of its own."""
    whole = evidence(stream(make()), blocks(100_000))
    pieces = evidence(stream(make(), max_cells=1), blocks(chunk))
    assert len(whole) == len(pieces) > 3
    assert all(same(left, right) for left, right in zip(whole, pieces, strict=True))


def test_candidates_are_found_and_genotyped():
    found = []
    genotyper = RegionGenotyper(["one", "two"], GenotypeOptions(), GatkOptions(), discovered=True)
    for region in chain.from_iterable(stream(discovered()).run(blocks(200))):
        for site in genotyper.sites(region):
            found.append((site.variant.chrom, site.variant.pos))
            assert [sample.alleles for sample in site.samples] == [(0, 1), (0, 1)]
            assert site.quality > 30
    assert found == [(chrom, pos) for chrom, positions in SITES.items() for pos in positions]


def test_given_candidates_are_all_there_in_order():
    genotyper = RegionGenotyper(["one", "two"], GenotypeOptions(), GatkOptions(), discovered=False)
    sites = [
        (site.variant.pos, [sample.alleles for sample in site.samples])
        for region in chain.from_iterable(stream(given_regions()).run(blocks(200)))
        for site in genotyper.sites(region)
    ]
    assert [pos for pos, _ in sites] == [500, 520, 900, 1400, 120, 2000, 7]
    assert sites[2][1] == [(0, 0), (0, 0)]
    assert sites[6][1] == [None, None]


def test_regions_without_any_read_are_there():
    assert [len(one.names) for one in evidence(stream(given_regions()), [])] == [0] * 6


def test_depth_is_capped_the_same_way_whatever_the_blocks():
    whole, pieces = stream(given_regions(), max_depth=5), stream(given_regions(), max_depth=5)
    kept = [one.names for one in evidence(whole, blocks(100_000))]
    assert kept == [one.names for one in evidence(pieces, blocks(17))]
    assert max(map(len, kept)) == 10
    assert whole.counts.capped_regions == pieces.counts.capped_regions > 0
    assert whole.counts.capped_reads == pieces.counts.capped_reads > 0


@pytest.mark.parametrize("error_rate", [None, 0.0, 0.004, 0.02])
def test_reads_that_fit_no_haplotype_are_set_aside(error_rate):
    model = GatkOptions(error_rate=error_rate)
    shares = set()
    for one in evidence(stream(given_regions(), model, max_haplotypes=2), noisy_blocks()):
        cut = np.minimum(one.end, one.region.end) - np.maximum(one.start, one.region.start)
        quality = np.full(cut.sum(), 30, dtype=np.uint8)
        least = least_scores(offsets(cut), quality, quality, len(one.haplotypes[0].sequence))
        expected = set_aside(one.log10, one.length, np.ones_like(one.length), least, model)
        assert one.set_aside.dtype == bool and one.set_aside.tolist() == expected.tolist()
        shares.update(expected.tolist())
    assert shares == ({False} if error_rate is None else {False, True})


def test_wanted_intervals_cover_the_regions_and_are_disjoint():
    intervals = list(wanted_intervals(LISTED, LENGTHS, fetch, 0))
    assert all(left[0] != right[0] or left[2] < right[1] for left, right in pairwise(intervals))
    for region in evidence(stream(given_regions()), []):
        core = region.region
        assert any(
            chrom == core.chrom and start <= core.core_start <= core.core_end <= end for chrom, start, end in intervals
        )


def test_what_is_not_listed_is_a_nuisance_of_its_region():
    first = next(chain.from_iterable(stream(half_listed()).run(blocks(200))))
    assert [(variant.pos, variant.role) for variant in first.region.variants] == [(500, "asked"), (520, "nuisance")]
    assert [(one.alleles, one.is_nuisance) for one in first.haplotypes] == [
        ((0, 0), False),
        ((1, 0), False),
        ((0, 1), True),
        ((1, 1), True),
    ]
    listed = first.without_unlisted()
    assert [variant.pos for variant in listed.region.variants] == [500]
    assert [one.alleles for one in listed.haplotypes] == [(0,), (1,)]
    assert np.array_equal(listed.log10, first.log10[:, :2])


def test_nothing_that_is_listed_is_a_nuisance():
    for one in evidence(stream(given_regions()), blocks(200)):
        assert {variant.role for variant in one.region.variants} == {"asked"}


def test_a_listed_indel_is_known_wherever_the_list_puts_it():
    """A base of a run deleted, told at its last base by the list and at its first by the reads."""
    bases = "GATTACAGTC" * 20 + "AAAAAA" + "CTGACCTGAT" * 20
    reads = [
        aligned(start, bases[start:200] + bases[201:270], [(0, 200 - start), (2, 1), (0, 69)])
        for start in range(120, 160, 4)
    ]
    block = ReadBlock.from_alignments("c", reads)

    def variants_of(listed):
        source = native.ListedRegions(
            native.ReferenceBases(lambda chrom, start, end: bases[start:end]),
            *([("c", len(bases))], 1, CandidateOptions(), RegionOptions(), iter([listed])),
        )
        regions = source.advance("c", block.native, 156) + source.finish("c")
        return [(variant.pos, variant.role) for region in regions for variant in region.variants]

    listed = Variant("c", 204, bases[204:206], (bases[204],))
    assert variants_of(listed) == [(204, "asked")]
    assert variants_of(replace(listed, ref=bases[204:207])) == [(199, "nuisance"), (204, "asked")]


def test_a_given_region_is_given_once_and_in_its_turn():
    region = Region("b", 1000, 1100, 1000, 1100, 1000, 1100)
    newest = ReadBlock.empty("b").native
    source = native.GivenRegion(region, list(LENGTHS.items()))
    assert source.finish("a") == []
    assert source.advance("b", newest, 300) == []
    assert source.advance("b", newest, 1200) == [region]
    assert source.finish("b") == []


def test_reads_overlap_the_core_of_their_region():
    for one in evidence(stream(given_regions()), blocks(50)):
        region: Region = one.region
        assert (one.start < region.core_end).all()
        assert (one.end > region.core_start).all()
        expected = sum(
            one.start < region.core_end and one.end > region.core_start for one in READS.get(region.chrom, [])
        )
        assert len(one.names) == expected
