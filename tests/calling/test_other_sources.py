"""Reads that do not show the sample's genotype: of a copy elsewhere, errors of one strand, and of another person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.alignments.primers import read_primers
from pairhmm.calling.opening import open_files
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.stutter import seen
from pairhmm.errors import InputError, OptionError
from pairhmm.native import is_compiled
from pairhmm.simulate.files import ReadWriter, write_fasta
from pairhmm.simulate.reads import SimulatedReads, draw_reads
from pairhmm.simulate.stutter import stutter_rates
from pairhmm.simulate.variants import SimulatedHaplotype, TruthVariant, build_haplotype
from pairhmm.variants.contamination import read_contamination
from pairhmm.variants.genotypes import GenotypeOptions
from pairhmm.variants.variant import Variant
from tests.calling.scored import evidence_of, genotyped

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

LENGTH, DUPLICATED = 9_000, (2_000, 7_000)


def site_of(reference: int, alternative: int, contamination: float = 0.0, **arrays):
    """A site with so many reads of either allele; `arrays`: of all these reads."""
    rows = [[0.0, -4.0]] * reference + [[-4.0, 0.0]] * alternative
    (site,) = genotyped(evidence_of(np.array(rows), **arrays), contamination=contamination)
    return site


def flags(forward: int, reverse: int) -> list[int]:
    return [0] * forward + [16] * reverse


@pytest.mark.parametrize(
    ("reference", "alternative", "called"), [(100, 8, (0, 0)), (20, 10, (0, 1)), (8, 3, (0, 1)), (0, 30, (1, 1))]
)
def test_a_small_share_of_many_reads_is_foreign(reference, alternative, called):
    assert site_of(reference, alternative).samples[0].alleles == called


@pytest.mark.parametrize(
    ("alternative", "called"), [(200, (0, 0)), (350, (0, 1)), (500, (0, 1)), (653, (0, 1)), (800, (1, 1))]
)
def test_an_uneven_share_of_deep_reads_is_a_heterozygotes(alternative, called):
    sample = site_of(1000 - alternative, alternative).samples[0]
    assert sample.alleles == called
    assert sample.quality >= 50


def test_reads_that_map_worse_are_likelier_foreign():
    alike, worse = (site_of(24, 9, mapq=[60] * 24 + [low] * 9).quality for low in (60, 20))
    assert 20 < worse < alike - 10


def test_an_allele_of_one_strand_is_an_error():
    both, one = (site_of(30, 8, flag=flags(15, 15) + own) for own in (flags(4, 4), flags(8, 0)))
    assert one.quality < 20 < both.quality
    # Where all reads are of one strand, nothing tells errors from alleles.
    assert site_of(30, 8).quality == pytest.approx(both.quality)


def test_a_long_gap_is_no_error_of_a_strand():
    for ref, is_error in (("ACC", True), ("ACCGTCCGTAT", False)):
        variants = (Variant("q", 50, ref, ("A",)),)
        both, one = (
            site_of(24, 14, flag=flags(12, 12) + own, variants=variants).quality for own in (flags(7, 7), flags(14, 0))
        )
        assert (one < both - 20) == is_error


def test_reads_that_tell_no_alleles_apart_make_none_foreign():
    """Most of the others show a deletion."""
    rows = [[0.0, -4.0]] * 15 + [[-4.0, 0.0]] * 29
    alone, beside = (genotyped(evidence_of(np.array(rows + [[0.0, 0.0]] * more)))[0].quality for more in (0, 16))
    assert beside == pytest.approx(alone, abs=0.5)


def test_an_allele_that_mates_on_both_strands_show_is_no_error():
    fragments = [*range(24), *(24 + i // 2 for i in range(8))]
    rows = np.array([[0.0, -4.0]] * 24 + [[-4.0, 0.0]] * 8)
    flag = flags(12, 12) + [0, 16] * 4
    (site,) = genotyped(evidence_of(rows, fragments, flag=flag))
    assert site.samples[0].alleles == (0, 1)


def test_contamination_explains_single_reads():
    """One of 20 reads of a homozygote, and three of 60."""
    for reference, alternative in ((3, 57), (57, 3)):
        expected = (1, 1) if alternative > reference else (0, 0)
        clean, contaminated = (site_of(reference, alternative, share).samples[0] for share in (0.0, 0.05))
        assert contaminated.alleles == expected
        assert contaminated.quality > clean.quality
    assert site_of(30, 30, 0.05).samples[0].alleles == (0, 1)


def test_contamination_makes_no_heterozygote_beside_another_one_homozygous(tmp_path):
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 4, LENGTH, dtype=np.uint8)
    variants = [
        TruthVariant(at, (int(codes[at]),), (int(codes[at] + 1) % 4,), own)
        for first in range(300, LENGTH - 300, 300)
        for at, own in ((first, (0, 1)), (first + 12, (1, 0)), (first + 21, (1, 0)))
    ]
    own = [build_haplotype(codes, variants, number) for number in (0, 1)]
    write_fasta(tmp_path / "ref.fa", {"c": codes})
    with ReadWriter(*(tmp_path / name for name in ("1.fq.gz", "2.fq.gz", "reads.bam")), {"c": LENGTH}, "s") as writer:
        writer.add(draw_reads(rng, own, LENGTH * 24 // 300, 150))
    called = calls(tmp_path, genotypes=GenotypeOptions(contamination=0.05))
    assert [one.start for one in variants if called.get(one.start) == (1, 1)] == []
    assert len(called) > 80


def test_contamination_of_a_table(tmp_path):
    table = tmp_path / "samples.tsv"
    table.write_text("#sample\tdepth\tcontamination\none\t30\t0.0310\ntwo\t20\t.\n")
    assert read_contamination(str(table)) == {"one": 0.031}
    with pytest.raises(OptionError, match="contamination"):
        GenotypeOptions(contaminations={"one": 0.7})
    for text, message in (("#sample\n", "no columns"), ("#sample\tcontamination\none\tmuch\n", "line 2.*'much'")):
        table.write_text(text)
        with pytest.raises(InputError, match=message):
            read_contamination(str(table))


Collapsed = tuple[Path, dict[int, tuple[int, ...]]]


@pytest.fixture(scope="module")
def collapsed(tmp_path_factory) -> Collapsed:
    return collapsed_copies(tmp_path_factory.mktemp("collapsed"), 30, 6)


def collapsed_copies(
    folder: Path, depth: int, foreign: int, seed: int = 5, inserted: int = 0, snvs: int = 1
) -> Collapsed:
    """A sample in whose reference two copies of a sequence are one, and its genotypes by position.

    Its variants are insertions of so many bases, or so many SNVs side by side.
    """
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, LENGTH, dtype=np.uint8)
    genotypes = [((0, 1), (1, 0), (1, 1))[i % 3] for i in range(LENGTH // 300 - 2)]
    at = [(300 * (i + 1), int(codes[300 * (i + 1)]), own) for i, own in enumerate(genotypes)]
    variants = [
        TruthVariant(place, (code,), (code, *((code + 1 + i % 3) % 4 for i in range(inserted))), own)
        if inserted
        else TruthVariant(place + i, (int(codes[place + i]),), (int(codes[place + i] + 1) % 4,), own)
        for place, code, own in at
        for i in range(snvs)
    ]
    start, end = DUPLICATED
    copy = codes[start:end].copy()
    changed = rng.random(end - start) < 0.035
    copy[changed] = (copy[changed] + 2) % 4
    elsewhere = SimulatedHaplotype(copy, np.arange(start, end, dtype=np.int32))
    own = [build_haplotype(codes, variants, number) for number in (0, 1)]
    reads = [draw_reads(rng, own, LENGTH * depth // 300, 150)]
    reads.append(draw_reads(rng, [elsewhere], (end - start) * foreign // 300, 150))
    write_fasta(folder / "ref.fa", {"c": codes})
    with ReadWriter(folder / "1.fq.gz", folder / "2.fq.gz", folder / "reads.bam", {"c": LENGTH}, "s") as writer:
        writer.add(SimulatedReads.concatenate(reads))
    return folder, {one.start: tuple(sorted(one.genotype)) for one in variants}


def source_rates(folder: Path, options: RunOptions | None = None) -> Any:
    options = options or RunOptions()
    with open_files(RunInputs.of(folder / "reads.bam", folder / "ref.fa"), options) as files:
        return seen(files, options)[0].source_rates


def rates_with_errors(
    folder: Path, codes: np.ndarray, places: np.ndarray, rate: float, *, letter: int | None = None, depth: int = 30
) -> Any:
    """The rates that reads show where some places are read wrong on the forward strand, more often in later cycles."""
    rng = np.random.default_rng(9)
    sequence = SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))
    write_fasta(folder / "ref.fa", {"c": codes})
    reads = draw_reads(rng, [sequence], len(codes) * depth // 300, 150)
    for row in range(0, len(reads.codes), 2):
        cycle = places - reads.starts[row]
        cycle = cycle[(cycle >= 0) & (cycle < 150)]
        wrong = cycle[rng.random(len(cycle)) < rate * (cycle / 150) ** 2]
        reads.codes[row, wrong] = (reads.codes[row, wrong] + 1) % 4 if letter is None else letter
    with ReadWriter(folder / "1.fq.gz", folder / "2.fq.gz", folder / "reads.bam", {"c": len(codes)}, "s") as bam:
        bam.add(reads)
    return source_rates(folder)


def test_the_library_shows_how_often_strands_have_errors(collapsed, tmp_path):
    """At each 100th base up to 80% of the forward reads are wrong, by their cycle; at none; and reads are foreign."""
    codes = np.random.default_rng(9).integers(0, 4, 2 * LENGTH, dtype=np.uint8)
    places = np.arange(300, len(codes) - 300, 100)
    often, never = (rates_with_errors(tmp_path, codes, places, rate) for rate in (0.8, 0.0))
    # An error in 300 of the letters that a base may be read as is 20 for each one of chromosomes.
    assert all(2 < often.of_context(context)[1] < 50 for context in range(256))
    assert all(sum(often.of_context(context)) < 0.05 for context in range(256, 512))
    copies = source_rates(collapsed[0])
    assert all(sum(rates.of_context(context)) < 0.05 for rates in (never, copies) for context in range(512))
    assert never.copies < 1e-3
    assert not (often.of_amplicons or copies.of_amplicons)
    # A copy is in 5 of 9 kb, which is more than any library is believed to have beside 20 places of a usual one.
    assert 0.1 < copies.copies <= 0.3


@pytest.mark.parametrize("more", [0.0, 0.002])
def test_the_library_shows_errors_that_qualities_do_not_promise(tmp_path, more):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, 2 * LENGTH, dtype=np.uint8)
    whole = SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))
    reads = draw_reads(rng, [whole], len(codes) * 30 // 300, 150)
    wrong = rng.random(reads.codes.shape) < more
    reads.codes[wrong] = (reads.codes[wrong] + 2) % 4
    write_fasta(tmp_path / "ref.fa", {"c": codes})
    with ReadWriter(*(tmp_path / name for name in ("1.fq.gz", "2.fq.gz", "reads.bam")), {"c": len(codes)}, "s") as bam:
        bam.add(reads)
    # Two standard deviations fewer.
    assert 0.75 * more <= source_rates(tmp_path).unpromised <= more


def test_copies_that_are_far_apart_are_seen(tmp_path):
    """Copies lie in the fifth part of 400 kb: reads of four places would miss them."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, 400_000, dtype=np.uint8)
    whole = SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))
    reads = [draw_reads(rng, [whole], len(codes) * 10 // 300, 150)]
    for start in range(80_000, 400_000, 100_000):
        place = np.arange(start, start + 20_000, dtype=np.int32)
        copy = (codes[place] + 2 * (rng.random(len(place)) < 0.03)).astype(np.uint8) % 4
        reads.append(draw_reads(rng, [SimulatedHaplotype(copy, place)], len(place) * 2 // 300, 150))
    write_fasta(tmp_path / "ref.fa", {"c": codes})
    with ReadWriter(tmp_path / "1.fq.gz", tmp_path / "2.fq.gz", tmp_path / "reads.bam", {"c": len(codes)}, "s") as bam:
        bam.add(SimulatedReads.concatenate(reads))
    assert 0.05 < source_rates(tmp_path).copies <= 0.3


def segments(folder: Path, seed: int, *, copies: bool) -> list[int]:
    """Of 300 kb at 12x, 6 of each 30 differ by 3%: in a copy with a third of the depth, or on one chromosome."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, 300_000, dtype=np.uint8)
    whole = SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))
    places = np.concatenate([np.arange(at, at + 6_000, dtype=np.int32) for at in range(12_000, len(codes), 30_000)])
    other, changed = codes.copy(), places[rng.random(len(places)) < 0.03]
    other[changed] = (other[changed] + 2) % 4
    if copies:
        reads = [draw_reads(rng, [whole], len(codes) * 12 // 300, 150)]
        reads += [
            draw_reads(rng, [SimulatedHaplotype(other[place], place)], len(place) * 4 // 300, 150)
            for place in np.split(places, 10)
        ]
    else:
        reads = [draw_reads(rng, [whole, SimulatedHaplotype(other, whole.ref_positions)], len(codes) * 12 // 300, 150)]
    write_fasta(folder / "ref.fa", {"c": codes})
    with ReadWriter(folder / "1.fq.gz", folder / "2.fq.gz", folder / "reads.bam", {"c": len(codes)}, "s") as bam:
        bam.add(SimulatedReads.concatenate(reads))
    return changed.tolist()


def test_the_library_shows_the_shares_of_its_copies(tmp_path):
    """A quarter of the reads there are foreign: half of a chromosome's share. So no record is false."""
    changed = segments(tmp_path, 3, copies=True)
    rates = source_rates(tmp_path)
    assert rates.copies >= 0.1
    assert rates.divergent < 0.01
    assert rates.shares[-1] + rates.shares[-2] > 0.7
    assert rates.divergences[1] + rates.divergences[2] > 0.9
    assert len(calls(tmp_path).keys() & set(changed)) <= 1


def test_the_library_shows_chromosomes_that_differ(tmp_path):
    changed = segments(tmp_path, 4, copies=False)
    rates = source_rates(tmp_path)
    assert rates.copies < 1e-3
    assert rates.divergent > 0.05
    assert len(calls(tmp_path).keys() & set(changed)) > 0.9 * len(changed)


def test_the_library_shows_the_context_of_errors(tmp_path):
    """At one of six places behind GGC, up to 80% of the forward reads have G."""
    codes = np.random.default_rng(9).integers(0, 4, 2 * LENGTH, dtype=np.uint8)
    is_behind = np.all([codes[i : len(codes) - 3 + i] == code for i, code in enumerate((2, 2, 1))], axis=0)
    behind = np.flatnonzero(is_behind) + 3
    rates = rates_with_errors(tmp_path, codes, behind[codes[behind] != 2][::6], 0.8, letter=2, depth=10)
    frequent = {context for context in range(512) if rates.of_context(context)[1] > 1}
    assert frequent == {((2 * 4 + 2) * 4 + 1) * 4 + 2}
    found, blind = (calls(tmp_path, stutter=stutter) for stutter in (True, False))
    assert not found
    assert len(blind) > 2


def test_errors_of_a_strand_are_no_copies(tmp_path):
    """Fragments that show them at several places make clusters."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 4, 60_000, dtype=np.uint8)
    behind = np.all([codes[i : i - 3] == code for i, code in enumerate((2, 2, 1))], axis=0)
    places = np.flatnonzero(behind & (codes[3:] != 2)) + 3
    assert rates_with_errors(tmp_path, codes, places[::4], 1.0, letter=2).copies < 0.02


def test_contexts_that_end_alike_share_a_rate(tmp_path):
    """Behind GC, C is read as T at few places: none of the four contexts shows more than two."""
    codes = np.random.default_rng(9).integers(0, 4, 2 * LENGTH, dtype=np.uint8)
    behind = np.flatnonzero((codes[:-2] == 2) & (codes[1:-1] == 1) & (codes[2:] == 1)) + 2
    rates = rates_with_errors(tmp_path, codes, behind[::20], 0.9, letter=3, depth=20)
    frequent = {context for context in range(512) if rates.of_context(context)[1] > 1}
    assert frequent == {((first * 4 + 2) * 4 + 1) * 4 + 3 for first in range(4)}


def calls(folder: Path, **options) -> dict[int, tuple[int, ...]]:
    found = pairhmm.call(folder / "reads.bam", folder / "ref.fa", backend="cpu", **options)
    return {site.variant.pos: site.samples[0].alleles for site in found if site.quality >= 20}


def amplicons(folder: Path, depth: int, between: int = 110) -> dict[int, tuple[int, ...]]:
    """Tiles whose mates cover most bases on one strand, with primers inside the next tile; genotypes by position."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, LENGTH, dtype=np.uint8)
    genotypes = [((0, 1), (1, 0), (1, 1))[i % 3] for i in range(LENGTH // between)]
    variants = [
        TruthVariant(at, (int(codes[at]),), (int(codes[at] + 1) % 4,), own)
        for at, own in zip(range(342, LENGTH, between), genotypes, strict=False)
    ]
    copies = np.array([build_haplotype(codes, variants, number).codes for number in (0, 1)])
    size, step, primer, read = 400, 330, 24, 230
    starts = np.arange(0, LENGTH - size, step)
    place = np.repeat(starts, depth)[:, np.newaxis] + np.arange(size)
    fragments = copies[(np.arange(len(place)) % 2)[:, np.newaxis], place]
    fragments[:, :primer] = codes[place[:, :primer]]
    fragments[:, -primer:] = codes[place[:, -primer:]]
    rows = np.stack([fragments[:, :read], fragments[:, -read:]], axis=1).reshape(-1, read)
    begins = np.stack([place[:, 0], place[:, -read]], axis=1).ravel().astype(np.int32)
    first_is_left = np.ones(len(place), dtype=bool)
    reads = SimulatedReads(rows, np.full_like(rows, 40), begins, begins + read, first_is_left, {})
    write_fasta(folder / "ref.fa", {"c": codes})
    with ReadWriter(folder / "1.fq.gz", folder / "2.fq.gz", folder / "reads.bam", {"c": LENGTH}, "s") as writer:
        writer.add(reads)
    sides = ((starts, "LEFT", "+"), (starts + size - primer, "RIGHT", "-"))
    (folder / "primers.bed").write_text(
        "".join(
            f"c\t{at}\t{at + primer}\tx_{number}_{side}\t1\t{strand}\n"
            for begin, side, strand in sides
            for number, at in enumerate(begin.tolist())
        )
    )
    last = int(starts[-1]) + size - primer
    return {one.start: tuple(sorted(one.genotype)) for one in variants if one.start < last}


@pytest.mark.parametrize("depth", [12, 30])
def test_variants_that_one_strand_shows_are_no_errors(tmp_path, depth):
    """Where the other strand has a primer, whose bases are not the sample's, SNVs are no errors either."""
    expected = amplicons(tmp_path, depth)
    assert calls(tmp_path, primers=read_primers(str(tmp_path / "primers.bed"))) == expected


@pytest.mark.parametrize("depth", [12, 30])
def test_variants_under_primers_are_no_errors(tmp_path, depth):
    """Without their places, too: reads begin at few places, and those that begin near are like the reference."""
    expected = amplicons(tmp_path, depth)
    found = calls(tmp_path)
    assert len(expected.items() & found.items()) > 0.95 * len(expected)
    assert not found.keys() - expected.keys()
    assert source_rates(tmp_path).of_amplicons


def test_primers_are_no_other_source(tmp_path):
    place = min(amplicons(tmp_path, 12))
    (found,) = pairhmm.explain(tmp_path / "reads.bam", tmp_path / "ref.fa", f"c:{place + 1}", backend="cpu")
    best = found.sites[0].samples["s"].genotypes[0]
    assert (best.genotype, best.other_sources < 0.1) == ("0/1", True)


def test_snvs_under_primers_of_neighbours_are_no_copies(tmp_path):
    """An SNV under a primer has an uneven share, which says nothing of the SNVs that are seen with it."""
    expected = amplicons(tmp_path, 40, between=55)
    assert calls(tmp_path) == expected


def test_reads_without_their_primers_are_of_no_amplicons(tmp_path):
    amplicons(tmp_path, 12)
    primers = read_primers(str(tmp_path / "primers.bed"))
    options = RunOptions(reads=replace(RunOptions().reads, primers=primers))
    assert not source_rates(tmp_path, options).of_amplicons


def test_a_copy_that_the_reference_lacks_makes_no_variants(collapsed):
    folder, expected = collapsed
    found = calls(folder)
    assert {place: found.get(place) for place in expected} == expected
    assert len(found.keys() - expected.keys()) <= 1


@pytest.mark.parametrize("seed", [5, 7])
def test_few_reads_of_a_copy_make_no_variants(tmp_path, seed):
    """At some sites half of ten reads or more are foreign; at others, two that share no SNV beside."""
    folder, expected = collapsed_copies(tmp_path, 10, 2, seed)
    found = calls(folder)
    assert len(found.keys() - expected.keys()) <= 1
    assert len(expected.items() & found.items()) > 0.8 * len(expected)


def test_errors_of_two_fragments_are_no_sign_of_a_copy(tmp_path):
    """With errors of 1 in 200 bases at 30x, two fragments show the same one by chance more often than an SNV."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, 4 * LENGTH, dtype=np.uint8)
    places = range(300, len(codes) - 300, 150)
    variants = [TruthVariant(at, (int(codes[at]),), (int(codes[at] + 1) % 4,), (0, 1)) for at in places]
    copies = [build_haplotype(codes, variants, number) for number in (0, 1)]
    reads = draw_reads(rng, copies, len(codes) * 30 // 300, 150)
    reads.quals[:] = 23
    wrong = rng.random(reads.codes.shape) < 0.005
    reads.codes[wrong] = (reads.codes[wrong] + rng.integers(1, 4, int(wrong.sum()))) % 4
    write_fasta(tmp_path / "ref.fa", {"c": codes})
    with ReadWriter(tmp_path / "1.fq.gz", tmp_path / "2.fq.gz", tmp_path / "reads.bam", {"c": len(codes)}, "s") as bam:
        bam.add(reads)
    found = calls(tmp_path)
    assert {at: found.get(at) for at in places} == dict.fromkeys(places, (0, 1))
    assert source_rates(tmp_path).copies < 0.01


def test_snvs_side_by_side_are_no_sign_of_a_copy(tmp_path):
    """A chromosome has them by one mutation."""
    folder, expected = collapsed_copies(tmp_path, 12, 3, snvs=3)
    found = calls(folder)
    assert expected.items() <= found.items()


def test_reads_of_a_copy_lack_an_insertion(tmp_path):
    """Of a fifth of the reads: a homozygote stays one."""
    folder, expected = collapsed_copies(tmp_path, 20, 5, inserted=4)
    found = calls(folder)
    assert {place: found.get(place) for place in expected} == expected


def test_reads_beside_a_copy_slip_as_they_do_by_themselves(tmp_path):
    """Likelihoods of many shorter runs are the same with the reads of a copy that has the usual runs."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, LENGTH, dtype=np.uint8)
    (start, end), run = DUPLICATED, np.array([2, *[0] * 13, 3], dtype=np.uint8)
    places = range(start + 300, end - 300, 300)
    for at in places:
        codes[at : at + len(run)] = run
    variants = [TruthVariant(at, (2, 0), (2,), ((0, 1), (1, 1))[i % 2]) for i, at in enumerate(places)]
    copy = codes[start:end].copy()
    changed = rng.random(end - start) < 0.05
    for at in places:
        changed[at - start : at - start + len(run)] = False
    copy[changed] = (copy[changed] + 2) % 4
    rates = 5 * stutter_rates()
    own = [build_haplotype(codes, variants, number) for number in (0, 1)]
    reads = draw_reads(rng, own, LENGTH * 24 // 300, 150, stutter=rates)
    elsewhere = SimulatedHaplotype(copy, np.arange(start, end, dtype=np.int32))
    foreign = draw_reads(rng, [elsewhere], (end - start) * 7 // 300, 150, stutter=rates)
    write_fasta(tmp_path / "ref.fa", {"c": codes})

    def likelihoods(reads: SimulatedReads) -> dict[int, list[int]]:
        with ReadWriter(tmp_path / "1.fq.gz", tmp_path / "2.fq.gz", tmp_path / "reads.bam", {"c": LENGTH}, "s") as bam:
            bam.add(reads)
        found = pairhmm.call(tmp_path / "reads.bam", tmp_path / "ref.fa", backend="cpu", stutter=False)
        return {site.variant.pos: list(site.samples[0].likelihoods) for site in found}

    alone, beside = likelihoods(reads), likelihoods(SimulatedReads.concatenate([reads, foreign]))
    assert sum(beside.get(at) == alone[at] for at in places) > len(places) // 3


@pytest.mark.parametrize(("depth", "contamination"), [(10, 0), (20, 0.03)])
def test_a_chromosome_that_differs_as_much_as_a_copy_is_kept(tmp_path, depth, contamination):
    """An SNV in each 40 bases of one chromosome."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, LENGTH, dtype=np.uint8)
    places = np.arange(300, LENGTH - 300, 40)
    places += rng.integers(0, 20, len(places))
    variants = [TruthVariant(at, (int(codes[at]),), (int(codes[at] + 1) % 4,), (0, 1)) for at in places.tolist()]
    copies = [build_haplotype(codes, variants, number) for number in (0, 1)]
    reads = draw_reads(rng, copies, LENGTH * depth // 300, 150)
    write_fasta(tmp_path / "ref.fa", {"c": codes})
    with ReadWriter(tmp_path / "1.fq.gz", tmp_path / "2.fq.gz", tmp_path / "reads.bam", {"c": LENGTH}, "s") as writer:
        writer.add(reads)
    found = calls(tmp_path, contamination=contamination)
    assert sum(found.get(at) == (0, 1) for at in places.tolist()) > 0.9 * len(places)


def test_a_chromosome_that_differs_beside_a_copy_is_kept(tmp_path):
    """A copy is one sequence: fragments that differ from its own are a chromosome's."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, 300_000, dtype=np.uint8)
    whole = SimulatedHaplotype(codes, np.arange(len(codes), dtype=np.int32))
    places = np.concatenate([np.arange(at, at + 6_000, dtype=np.int32) for at in range(12_000, len(codes), 30_000)])
    copy, other = codes.copy(), codes.copy()
    for sequence, divergence, by in ((copy, 0.04, 2), (other, 0.03, 1)):
        changed = places[rng.random(len(places)) < divergence]
        sequence[changed] = (sequence[changed] + by) % 4
    reads = [draw_reads(rng, [whole, SimulatedHaplotype(other, whole.ref_positions)], len(codes) * 20 // 300, 150)]
    reads += [
        draw_reads(rng, [SimulatedHaplotype(copy[place], place)], len(place) * 3 // 300, 150)
        for place in np.split(places, 10)
    ]
    write_fasta(tmp_path / "ref.fa", {"c": codes})
    with ReadWriter(tmp_path / "1.fq.gz", tmp_path / "2.fq.gz", tmp_path / "reads.bam", {"c": len(codes)}, "s") as bam:
        bam.add(SimulatedReads.concatenate(reads))
    found = calls(tmp_path)
    assert sum(at in found for at in changed.tolist()) > 0.91 * len(changed)
    assert not found.keys() & set(np.flatnonzero(copy != codes).tolist()) - set(changed.tolist())


def test_listed_alleles_of_a_copy_are_no_variants(collapsed, tmp_path):
    folder, expected = collapsed
    everything = pairhmm.call(folder / "reads.bam", folder / "ref.fa", backend="cpu")
    shown = [site.variant for site in everything]
    with pysam.FastaFile(str(folder / "ref.fa")) as reference, pysam.AlignmentFile(str(folder / "reads.bam")) as reads:
        sequence = reference.fetch("c")
        pile = reads.count_coverage("c", quality_threshold=20)
    listed = [
        f"c\t{at + 1}\t.\t{sequence[at]}\t{letter}\t.\t.\t.\n"
        for at in range(*DUPLICATED)
        for letter, counts in zip("ACGT", pile, strict=True)
        if letter != sequence[at] and counts[at] > 4
    ]
    assert len(listed) > 100 > len(shown)
    (tmp_path / "list.vcf").write_text(
        f"##fileformat=VCFv4.3\n##contig=<ID=c,length={LENGTH}>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        + "".join(listed)
    )
    found = {at for at, alleles in calls(folder, candidates=tmp_path / "list.vcf").items() if any(alleles)}
    assert len(found - expected.keys()) <= 1
    assert found & expected.keys()


def test_neighbours_do_not_depend_on_the_request(collapsed):
    """Fragments 600 bases away count."""
    folder, _ = collapsed
    whole = list(pairhmm.call(folder / "reads.bam", folder / "ref.fa", backend="cpu"))
    for start, end in ((2_990, 3_020), (4_000, 4_650)):
        part = pairhmm.call(folder / "reads.bam", folder / "ref.fa", backend="cpu", regions=f"c:{start + 1}-{end}")
        expected = [site for site in whole if start <= site.variant.pos < end]
        # Numbers of records are those of a run.
        assert [(one.variant.pos, one.quality, one.samples) for one in part] == [
            (one.variant.pos, one.quality, one.samples) for one in expected
        ]
        assert expected
