"""Local assembly beside its plain Python, and what discovery makes of it."""

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import READ_LETTERS, encode
from tests.calling.assembly_oracle import assembled_alleles
from tests.calling.reads import OTHER, aligned

COUNTS, FRACTIONS = (3, 2), (0.12, 0.08)


def assembled(start, reference, reads, counts=COUNTS, fractions=FRACTIONS):
    letters = np.concatenate([np.empty(0, dtype=np.uint8), *map(encode, reads)])
    found = native.assembled_alleles(
        start, encode(reference), offsets(list(map(len, reads))), letters, *counts, *fractions
    )
    return [(at, size, is_indel, "".join(READ_LETTERS[code] for code in alt)) for at, size, is_indel, alt, _ in found]


def letters(rng, count):
    return "".join(rng.choice(list("ACGT"), count))


def changed(rng, text):
    """A text with some random differences, which may be copies of what is there."""
    for _ in range(rng.integers(0, 4)):
        at = int(rng.integers(40, len(text) - 40))
        kind = rng.integers(0, 4)
        size = int(rng.choice([1, 2, 4, 12, 30, 60, 90]))
        if kind == 0:
            text = text[:at] + str(rng.choice(list("ACGT"))) + text[at + 1 :]
        elif kind == 1:
            text = text[:at] + letters(rng, size) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at : at + size] + text[at:]
        else:
            text = text[:at] + text[min(at + size, len(text) - 40) :]
    return text


def sequenced(rng, haplotypes, depth, length=100, error=0.003):
    reads = []
    for _ in range(depth * max(map(len, haplotypes)) // length):
        whole = haplotypes[rng.integers(len(haplotypes))]
        size = int(rng.integers(length // 3, length + 1))
        at = int(rng.integers(0, max(1, len(whole) - size)))
        bases = np.array(list(whole[at : at + size]))
        wrong = rng.random(len(bases)) < error
        bases[wrong] = rng.choice(list("ACGT"), int(wrong.sum()))
        reads.append("".join(bases))
    return reads


def random_window(seed):
    rng = np.random.default_rng(seed)
    unit = letters(rng, int(rng.integers(1, 5)))
    reference = letters(rng, 150) + unit * int(rng.integers(1, 15)) + letters(rng, 150)
    haplotypes = [changed(rng, reference) for _ in range(3)]
    return reference, sequenced(rng, haplotypes, int(rng.choice([8, 30, 60])))


@pytest.mark.parametrize("seed", range(40))
def test_alleles_are_those_of_the_oracle_whatever_the_order_of_reads(seed):
    reference, reads = random_window(seed)
    expected = assembled_alleles(1000, reference, reads, COUNTS, FRACTIONS)
    assert assembled(1000, reference, reads) == expected
    assert assembled(1000, reference, reads[::-1]) == expected


def test_the_random_windows_have_alleles_of_all_kinds():
    found = {allele for seed in range(40) for allele in assembled(0, *random_window(seed))}
    assert {(size > 0, is_indel) for _, size, is_indel, _ in found} == {(True, False), (True, True), (False, True)}
    assert max(size for _, size, _, _ in found) >= 30
    assert max(len(alt) for *_, alt in found) >= 30


@pytest.mark.parametrize(("copied", "is_found"), [(90, True), (45, False)])
def test_a_second_copy_that_no_read_spans_is_found_where_its_number_is_sure(copied, is_found):
    rng = np.random.default_rng(11)
    reference = letters(rng, 300)
    haplotype = reference[: 100 + copied] + reference[100:]
    reads = [haplotype[at : at + 60] for at in range(0, len(haplotype) - 59, 4)]
    expected = [(99, 0, True, reference[100 : 100 + copied])] if is_found else []
    assert assembled(0, reference, reads) == expected == assembled_alleles(0, reference, reads, COUNTS, FRACTIONS)


@pytest.mark.parametrize(("shared", "is_found"), [(18, True), (10, False)])
def test_an_allele_that_reads_leave_with_few_letters_is_found(shared, is_found):
    rng = np.random.default_rng(13)
    reference = letters(rng, 300)
    haplotype = reference[:150] + reference[190:]
    # No read reaches as far as k letters on both sides of the deletion.
    reads = [haplotype[at : at + 100] for at in (50 + shared, 48 + shared)]
    expected = [(149, 40, True, "")] if is_found else []
    assert assembled(0, reference, reads) == expected == assembled_alleles(0, reference, reads, COUNTS, FRACTIONS)


def with_other(text, at):
    return text[:at] + {"A": "C", "C": "G", "G": "T", "T": "A"}[text[at]] + text[at + 1 :]


def insertion_read_twice(rng, errors):
    """A reference, reads over either end of an insertion at 150 and two over its middle, and how these spell it."""
    reference, inserted = letters(rng, 300), letters(rng, 80)
    haplotype = reference[:150] + inserted + reference[150:]
    ends = [haplotype[at : at + 100] for at in (68, 72, 76, 202, 206, 210)]
    middle = [with_other(haplotype, 190 + at) if at else haplotype for at in errors]
    reads = [reference] * 4 + ends + [whole[115:265] for whole in middle]
    return reference, {whole[150:230] for whole in middle}, reads


@pytest.mark.parametrize("errors", [(0, 4), (-4, 4)])
def test_errors_of_the_only_two_reads_do_not_hide_an_insertion(errors):
    reference, insertions, reads = insertion_read_twice(np.random.default_rng(17), errors)
    found = assembled(0, reference, reads, (2, 2))
    assert found == assembled_alleles(0, reference, reads, (2, 2), FRACTIONS)
    # What each of the two reads has is an allele: which of them is right is not known here.
    spelled = {reference[: at + 1] + alt + reference[at + 1 :] for at, _, _, alt in found}
    assert spelled == {reference[:150] + one + reference[150:] for one in insertions}


def test_errors_beside_an_snv_that_two_reads_show_are_no_alleles():
    reference = letters(np.random.default_rng(19), 300)
    haplotype = with_other(reference, 150)
    reads = [reference] * 6 + [with_other(haplotype, 150 + at)[75:225] for at in (-4, 4)]
    assert assembled(0, reference, reads, (2, 2)) == [] == assembled_alleles(0, reference, reads, (2, 2), FRACTIONS)
    assert assembled(0, reference, [*reads, haplotype[75:225], haplotype[80:230]], (2, 2))[0][0] == 150


def test_differences_of_relatives_stay_apart():
    """Two indels among SNVs, six letters from each other, as in a virus far from the reference."""
    reference = letters(np.random.default_rng(23), 300)
    haplotype = reference
    for at in (150, 156, 168, 180):
        haplotype = with_other(haplotype, at)
    haplotype = haplotype[:162] + haplotype[163:174] + "ACGT"["ACGT".index(reference[173]) ^ 1] + haplotype[174:]
    reads = [haplotype[50 + at : 250 + at] for at in range(6)]
    found = assembled(0, reference, reads)
    assert found == assembled_alleles(0, reference, reads, COUNTS, FRACTIONS)
    assert len(found) >= 5
    assert all(size <= 1 and len(alt) <= 1 for _, size, _, alt in found)


INSERTED = letters(np.random.default_rng(3), 60)
CONTIG = letters(np.random.default_rng(4), 2000)


def fetch(chrom, start, end):
    return CONTIG[max(0, start) : end]


def clipped_reads(rng, depth=30, length=100):
    """Reads of two copies of the contig, one with an insertion at 1000, each clipped where its copy is left."""
    reads = []
    for start in np.sort(rng.integers(800, 1100, 3 * depth)).tolist():
        if rng.random() < 0.5 or start + length <= 1000:
            reads.append(aligned(start, fetch("", start, start + length), [(0, length)]))
            continue
        whole = CONTIG[:1000] + INSERTED + CONTIG[1000:]
        before = max(0, 1000 - start)
        if before >= 20:
            reads.append(aligned(start, whole[start : start + length], [(0, before), (4, length - before)]))
        else:
            clip = int(rng.integers(10, 60))
            bases = whole[1000 + len(INSERTED) - clip : 1000 + len(INSERTED) - clip + length]
            reads.append(aligned(1000, bases, [(4, clip), (0, length - clip)]))
    return sorted(reads, key=lambda read: read.start)


def found_in(reads, chunk=10_000, contig=CONTIG, samples=1, **options):
    bases = native.ReferenceBases(lambda chrom, start, end: contig[max(0, start) : end])
    finder = native.CandidateFinder(bases, samples, CandidateOptions(**options))
    found = []
    for first in range(0, len(reads), chunk):
        found += finder.scan("c", ReadBlock.from_alignments("c", reads[first : first + chunk]).native)
        assert all(variant.pos < finder.settled for variant in found)
    found += finder.finish()
    return [(variant.pos, variant.ref, variant.alts) for variant in found]


@pytest.mark.parametrize("chunk", [1, 13, 10_000])
def test_an_insertion_that_no_alignment_shows_is_found_in_clipped_ends(chunk):
    reads = clipped_reads(np.random.default_rng(7))
    assert found_in(reads, chunk) == [(999, CONTIG[999], (CONTIG[999] + INSERTED,))]
    assert found_in(reads, chunk, assembly=False) == []


def reads_without(size, at=800, length=100, least=15, contig=CONTIG):
    """Reads of a copy of the contig without `size` bases, clipped where they are left on the shorter side."""
    copy = contig[:at] + contig[at + size :]
    reads = []
    for start in range(at - length + least, at - least, 3):
        before, bases = at - start, copy[start : start + length]
        if before >= length - before:
            reads.append(aligned(start, bases, [(0, before), (4, length - before)]))
        else:
            reads.append(aligned(at + size, bases, [(4, before), (0, length - before)]))
    return sorted(reads, key=lambda read: read.start)


@pytest.mark.parametrize("chunk", [1, 10_000])
@pytest.mark.parametrize(("size", "is_found"), [(120, True), (200, True), (260, True), (320, True), (340, False)])
def test_a_long_deletion_is_found_in_the_clips_on_both_sides_of_it(size, is_found, chunk):
    deletion = (799, CONTIG[799 : 800 + size], (CONTIG[799],))
    assert found_in(reads_without(size), chunk) == [deletion] * is_found


@pytest.mark.parametrize("size", [120, 130, 140, 149])
def test_a_deletion_between_two_tiles_is_found(size):
    assert found_in(reads_without(size, at=930)) == [(929, CONTIG[929 : 930 + size], (CONTIG[929],))]


def test_a_long_deletion_is_found_with_the_snv_beside_it():
    """All reads of its chromosome are clipped before the SNV."""
    copy = CONTIG[:797] + OTHER[CONTIG[797]] + CONTIG[798:800] + CONTIG[1020:]
    reads = []
    for start in range(715, 785, 3):
        before = 797 - start
        if before >= 50:
            reads.append(aligned(start, copy[start : start + 100], [(0, before), (4, 100 - before)]))
        else:
            reads.append(aligned(1020, copy[start : start + 100], [(4, before + 3), (0, 97 - before)]))
    found = found_in(sorted(reads, key=lambda read: read.start))
    haplotype = list(CONTIG)
    for at, ref, (alt,) in reversed(found):
        haplotype[at : at + len(ref)] = alt
    assert "".join(haplotype) == copy


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_a_long_deletion_takes_two_clips_whose_letters_go_on_behind_it(chunk):
    reads = reads_without(260)
    stops = [read for read in reads if read.start < 800]
    starts = [read for read in reads if read.start > 800]
    deletion = (799, CONTIG[799:1060], (CONTIG[799],))
    assert found_in(stops, chunk) == [deletion]
    assert found_in(starts, chunk) == [deletion]
    assert found_in([stops[-1], starts[0]], chunk) == [deletion]
    assert found_in(stops[-1:], chunk) == []


def test_a_deletion_whose_clips_go_on_at_several_places_takes_two_clips_on_either_side():
    # Behind the deletion, and 60 bases later, stand the same letters.
    contig = CONTIG[:1120] + CONTIG[1060:1080] + CONTIG[1140:]
    reads = reads_without(260, contig=contig)
    stops = [read for read in reads if read.start < 800]
    deletion = (799, contig[799:1060], (contig[799],))
    assert found_in(reads, contig=contig) == [deletion]
    assert found_in(stops, contig=contig) == []


REPEAT = "GATA" * 15


def reads_of_repeat(change, chunk=10_000):
    """What is found in reads of 100 over a repeat of 60 bases that has so many more or fewer, clipped at its end."""
    contig = CONTIG[:1000] + REPEAT + CONTIG[1060:]
    copy = contig[:1000] + (REPEAT * 2)[: 60 + change] + contig[1060:]
    reads = [aligned(start, contig[start : start + 100]) for start in range(905, 950, 3)]
    for left in (4, 5, 6):  # letters before the repeat, too few for a way from there
        matched = left + 60 + min(change, 0)
        sequence = copy[1000 - left : 1100 - left]
        reads.append(aligned(1000 - left, sequence, [(0, matched), (4, 100 - matched)]))
    found = found_in(sorted(reads, key=lambda read: read.start), chunk, contig=contig)
    return found, contig


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_clips_behind_a_long_repeat_tell_its_length(chunk):
    found, contig = reads_of_repeat(-8, chunk)
    assert found == [(999, contig[999:1008], (contig[999],))]
    found, contig = reads_of_repeat(8, chunk)
    assert found == [(999, contig[999], (contig[999] + "GATAGATA",))]


def test_clips_of_reads_that_begin_in_a_repeat_do_not_tell_its_length():
    contig = CONTIG[:1000] + REPEAT + CONTIG[1060:]
    reads = [aligned(start, contig[start : start + 100]) for start in range(905, 950, 3)]
    # The aligner may have placed the letters of the repeat at any of its copies.
    reads += [aligned(1004, REPEAT[:40] + contig[1060:1120], [(0, 40), (4, 60)]) for _ in range(3)]
    assert found_in(sorted(reads, key=lambda read: read.start), contig=contig) == []


def test_letters_that_are_left_by_chance_do_not_split_a_long_deletion():
    # An SNV behind the deletion, and its letters from the deletion's end on, inside what is deleted, too.
    other = "A" if CONTIG[1063] != "A" else "C"
    beside = CONTIG[1060:1063] + other
    contig = CONTIG[:900] + beside + CONTIG[904:]
    copy = contig[:800] + beside + contig[1064:]
    reads = [
        aligned(start, copy[start : start + 100], [(0, 800 - start), (4, start - 700)]) for start in range(720, 760, 3)
    ]
    reads += [
        aligned(1060, copy[start : start + 100], [(4, 800 - start), (0, start - 700)]) for start in range(751, 790, 3)
    ]
    found = found_in(reads, contig=contig)
    assert [(at, len(ref), alts) for at, ref, alts in found] == [(799, 261, (contig[799],)), (1063, 1, (other,))]


def with_poor_letters(reads, every):
    """Reads with a poor letter, which is right, at so many letters from each other."""
    for number, read in enumerate(reads):
        read.quals[number % every :: every] = 5
    return reads


def test_poor_letters_do_not_keep_reads_from_spelling_an_insertion():
    reads = with_poor_letters(clipped_reads(np.random.default_rng(7)), 20)
    assert found_in(reads) == [(999, CONTIG[999], (CONTIG[999] + INSERTED,))]


@pytest.mark.parametrize(("quality", "is_found"), [(5, True), (2, False)])
def test_of_two_reads_one_may_have_poor_letters_that_are_more_likely_right_than_not(quality, is_found):
    copy = CONTIG[:1000] + INSERTED + CONTIG[1000:]
    reads = [aligned(start, copy[start : start + 150], [(0, 1000 - start), (4, start - 850)]) for start in (940, 950)]
    reads[1].quals[10::20] = quality
    reads = [aligned(start, CONTIG[start : start + 100]) for start in range(905, 941, 9)] + reads
    assert bool(found_in(reads)) == is_found


def test_a_deletion_in_a_repeat_that_no_good_letters_span_stays():
    contig = CONTIG[:1000] + "CA" * 26 + CONTIG[1052:]
    copy = contig[:1000] + contig[1006:]
    reads = [aligned(start, contig[start : start + 150]) for start in range(905, 995, 3)]
    for start in range(906, 930, 3):
        reads.append(aligned(start, copy[start : start + 150], [(0, 1000 - start), (2, 6), (0, start - 850)]))
        reads[-1].quals[1020 - start] = 5
    reads.sort(key=lambda read: read.start)
    assert [(at, len(ref)) for at, ref, _ in found_in(reads, contig=contig)] == [(999, 7)]


def test_a_wrong_alignment_of_reads_that_the_assembly_spells_is_no_candidate():
    # A deletion of 12 bases, which some reads show, and which others show as mismatches behind a shorter deletion.
    copy = CONTIG[:1000] + CONTIG[1012:]
    right = [
        aligned(start, copy[start : start + 100], [(0, 1000 - start), (2, 12), (0, start - 900)])
        for start in range(920, 980, 5)
    ]
    wrong = [
        aligned(start, copy[start : start + 100], [(0, 1000 - start), (2, 2), (0, start - 900)])
        for start in range(901, 910, 3)
    ]
    reads = sorted([*right, *wrong], key=lambda read: read.start)
    deletion = (999, CONTIG[999:1012], (CONTIG[999],))
    assert found_in(reads) == [deletion]
    others = found_in(reads, assembly=False)
    assert deletion[0] in {at for at, _, _ in others} and len(others) > 1


def test_ends_that_another_sample_spells_are_no_candidates():
    """Reads of one sample end behind an insertion, and match the reference badly there; the other's ways have it."""
    copy = CONTIG[:1000] + "CT" + CONTIG[1000:]
    plain = [aligned(start, CONTIG[start : start + 100], sample=start % 2) for start in range(905, 1000, 5)]
    spanning = [
        aligned(start, copy[start : start + 100], [(0, 1000 - start), (1, 2), (0, start - 902)])
        for start in range(920, 980, 5)
    ]
    ends = [aligned(start, copy[start : start + 100], sample=1) for start in (904, 905, 905, 906, 906)]
    reads = sorted([*plain, *spanning, *ends], key=lambda read: read.start)
    assert len(found_in(reads, samples=2, assembly=False)) > 1
    assert [at for at, _, _ in found_in(reads, samples=2)] == [998]


@pytest.mark.parametrize("places", [[], [(0, 2000)], [(500, 640), (990, 1010)], [(400, 401), (700, 720), (1205, 1700)]])
def test_candidates_of_places_are_those_of_a_search_everywhere(places):
    rng = np.random.default_rng(11)
    snvs = rng.choice(np.arange(200, 1800), 40, replace=False).tolist()
    reads = clipped_reads(rng)
    for start in range(150, 1750, 7):
        bases = list(CONTIG[start : start + 100])
        for at in snvs:
            # Some reads show it, and the shares of some are near the threshold.
            if start <= at < start + 100 and rng.random() < at % 5 / 12:
                bases[at - start] = "ACGT"["CGTA".index(CONTIG[at])]
        reads.append(aligned(start, "".join(bases), [(0, 100)]))
    reads.sort(key=lambda read: read.start)
    everywhere = found_in(reads)
    expected = [one for one in everywhere if any(start <= one[0] < end for start, end in places)]
    assert len(everywhere) > 10
    for chunk in (13, 10_000):
        finder, found = native.CandidateFinder(native.ReferenceBases(fetch), 1, CandidateOptions()), []
        for first in range(0, len(reads), chunk):
            near = [place for place in places if place[1] > finder.settled]
            found += finder.scan("c", ReadBlock.from_alignments("c", reads[first : first + chunk]).native, near)
        found += finder.finish()
        assert [(variant.pos, variant.ref, variant.alts) for variant in found] == expected
