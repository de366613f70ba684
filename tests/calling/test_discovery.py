"""Candidates from reads, native reads cut to regions, and native PCR indel qualities."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pairhmm import _cpu
from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.cut_reads import CutReads
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.scoring import model_reads
from pairhmm.models.gatk import GatkOptions
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import encode
from tests.calling.reads import aligned
from tests.models.repeats_oracle import indel_quality_caps

RNG = np.random.default_rng(5)
CONTIG = "".join(RNG.choice(list("ACGT"), 300)) + "GCACACACACAT" + "".join(RNG.choice(list("ACGT"), 300))
OPERATIONS = "MIDNSHP=X"


def fetch(chrom: str, start: int, end: int) -> str:
    return CONTIG[max(0, start) : end]


def read(start: int, cigar: list[tuple[str, int]], edits: dict[int, str] | None = None, **more) -> SimpleNamespace:
    """A read that follows the reference; inserted and clipped bases are T, `edits` replaces query bases."""
    bases, position = [], start
    for operation, length in cigar:
        if operation == "M":
            bases.extend(CONTIG[position : position + length])
        if operation in "MDN":
            position += length
        if operation in "IS":
            bases.extend("T" * length)
    for at, letter in (edits or {}).items():
        bases[at] = letter
    operations = [(OPERATIONS.index(operation), length) for operation, length in cigar]
    return aligned(start, "".join(bases), operations, **{"name": f"r{start}", **more})


def find(reads, samples=1, chunk=1000, **options) -> list[tuple[int, str, tuple[str, ...]]]:
    finder = _cpu.CandidateFinder(_cpu.ReferenceBases(fetch), samples, CandidateOptions(**options))
    reads = sorted(reads, key=lambda one: one.start)
    found = []
    for first in range(0, len(reads), chunk):
        found.extend(finder.scan("c", ReadBlock.from_alignments("c", reads[first : first + chunk]).native))
    found.extend(finder.finish())
    return [(variant.pos, variant.ref, variant.alts) for variant in found]


def other(position: int) -> str:
    return "A" if CONTIG[position] != "A" else "C"


def test_a_mismatch_in_enough_reads_is_a_candidate():
    plain = [read(100, [("M", 50)])] * 5
    with_snv = [read(100, [("M", 50)], {20: other(120)})] * 3
    assert find(plain + with_snv) == [(120, CONTIG[120], (other(120),))]
    assert find(plain + with_snv[:1]) == []
    assert find(plain * 6 + with_snv) == []


def test_poor_bases_and_unknown_letters_are_not_counted():
    assert find([read(100, [("M", 50)], {20: other(120)}, quality=9)] * 5) == []
    assert find([read(100, [("M", 50)], {20: "N"})] * 5) == []


def test_two_letters_at_one_place_are_one_record():
    letters = sorted(set("ACGT") - {CONTIG[120]})[:2]
    reads = [read(100, [("M", 50)], {20: letter}) for letter in letters * 3]
    assert find(reads) == [(120, CONTIG[120], tuple(letters))]


@pytest.mark.parametrize("at", [302, 304, 306, 308])
def test_deletions_are_shifted_left(at):
    reads = [read(270, [("M", at - 270), ("D", 2), ("M", 40)])] * 2
    assert find(reads) == [(300, "GCA", ("G",))]


def test_insertions_are_shifted_left():
    reads = []
    for at in (301, 305, 311):
        one = read(270, [("M", at - 270), ("I", 2), ("M", 40)])
        one.bases = one.bases.copy()
        one.bases[at - 270 : at - 268] = encode("CA")
        reads.append(one)
    assert find(reads) == [(300, "G", ("GCA",))]


def in_repeat(inserted: str, at: int = 305, behind: int = 40) -> SimpleNamespace:
    """A read with bases inserted into the repeat of CA, which is [301, 311)."""
    return read(270, [("M", at - 270), ("I", len(inserted)), ("M", behind)], dict(enumerate(inserted, start=at - 270)))


def test_a_repeat_of_another_length_is_found_though_each_read_has_an_error_in_it():
    reads = [in_repeat("CT"), in_repeat("GA", 303), in_repeat("AG", 306), in_repeat("TA", 309)]
    assert find(reads) == [(300, "G", ("GCA",))]
    # Letters that do not go on with the repeat are no copies of its unit.
    assert find([in_repeat("GT"), in_repeat("TG"), in_repeat("TT", 303)]) == []
    # One that ends in the repeat does not show its length.
    assert find([in_repeat("CT"), in_repeat("GA", 303, behind=5)]) == []


def test_a_repeat_that_an_aligner_changes_in_two_parts_is_as_long_as_both_make_it():
    parts = [("M", 32), ("D", 4), ("M", 2), ("I", 2), ("M", 40)]
    reads = [read(270, parts, {34: letter}) for letter in "GT"]
    assert find(reads, assembly=False) == [(300, "GCACA", ("GCA", "G"))]


def in_copies(*positions: int, letter: str = "T") -> list[SimpleNamespace]:
    """Reads that have a letter at one of these positions each, twice."""
    return [read(270, [("M", 80)], {position - 270: letter}) for position in positions] * 2


def test_snvs_that_may_be_one_in_a_repeat_tell_how_its_length_changes():
    """From the left of a longer repeat, an odd copy is further on than from its right."""
    change = (300, "GCA", ("GCACA", "G"))
    assert find(in_copies(303, 305)) == [change, (303, "C", ("T",)), (305, "C", ("T",))]
    assert change not in find(in_copies(303, 305), assembly=False)
    # Not SNVs half a unit apart, nor two of which one is outside the repeat.
    assert len(find(in_copies(303, 306))) == len(find(in_copies(309, 311, letter="G"))) == 2


def test_indels_of_one_anchor_are_one_record():
    reads = [read(270, [("M", 31), ("D", size), ("M", 40)]) for size in (2, 2, 4, 4)]
    assert find(reads) == [(300, "GCACA", ("GCA", "G"))]


@pytest.mark.parametrize(
    "cigar", [[("I", 3), ("M", 40)], [("S", 5), ("D", 2), ("M", 40)], [("M", 40), ("I", 3), ("S", 5)]]
)
def test_indels_at_an_end_of_the_alignment_are_not_candidates(cigar):
    assert find([read(100, cigar)] * 5) == []


def test_a_candidate_needs_support_in_one_sample():
    reads = [read(100, [("M", 50)], {20: other(120)}, sample=sample) for sample in (0, 1)]
    assert find(reads, samples=2) == []
    assert len(find([*reads, reads[1]], samples=2)) == 1


def random_reads(count: int) -> list[SimpleNamespace]:
    rng = np.random.default_rng(11)
    reads = []
    for _ in range(count):
        start = int(rng.integers(0, 500))
        shape = [("M", 40)] if rng.random() < 0.6 else [("M", 20), (str(rng.choice(["I", "D"])), 2), ("M", 18)]
        edits = {int(at): str(rng.choice(list("ACGT"))) for at in rng.integers(0, 38, 2)}
        reads.append(read(start, shape, edits))
    return sorted(reads, key=lambda one: one.start)


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_blocks_do_not_change_what_is_found(chunk):
    reads = random_reads(1500)
    whole = find(reads, min_snv_fraction=0.02, min_indel_fraction=0.02)
    assert len(whole) > 50
    assert find(reads, chunk=chunk, min_snv_fraction=0.02, min_indel_fraction=0.02) == whole


def cut(one: SimpleNamespace, start: int, end: int, slack: int = 0) -> tuple[int, int]:
    block = ReadBlock.from_alignments("c", [one])
    first, last = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    block.native.cut(np.zeros(1, dtype=np.int64), start, end, slack, first, last)
    return int(first[0]), int(last[0])


@pytest.mark.parametrize(
    ("cigar", "window", "slack", "expected"),
    [
        ([("M", 50)], (110, 130), 0, (10, 30)),
        ([("M", 50)], (0, 600), 0, (0, 50)),
        ([("M", 50)], (200, 300), 0, (0, 0)),
        ([("M", 20), ("D", 10), ("M", 20)], (122, 128), 0, (0, 0)),
        ([("M", 20), ("D", 10), ("M", 20)], (110, 140), 0, (10, 30)),
        ([("M", 20), ("I", 5), ("M", 20)], (110, 130), 0, (10, 35)),
        ([("M", 20), ("I", 5), ("M", 20)], (120, 130), 0, (25, 35)),
        ([("S", 10), ("M", 30)], (80, 120), 0, (0, 30)),
        ([("S", 10), ("M", 30)], (95, 120), 0, (5, 30)),
        ([("S", 10), ("M", 30)], (95, 120), 3, (8, 30)),
        ([("S", 10), ("M", 30)], (105, 120), 0, (15, 30)),
        ([("M", 30), ("S", 10)], (110, 200), 0, (10, 40)),
        ([("M", 30), ("S", 10)], (110, 135), 0, (10, 35)),
        ([("M", 30), ("S", 10)], (110, 135), 4, (10, 31)),
        ([("M", 30), ("S", 10)], (110, 125), 0, (10, 25)),
        ([("H", 5), ("S", 10), ("M", 30), ("S", 4), ("H", 5)], (0, 600), 0, (0, 44)),
        ([("M", 20), ("N", 100), ("M", 20)], (110, 230), 0, (10, 30)),
    ],
)
def test_reads_are_cut_through_their_cigar(cigar, window, slack, expected):
    assert cut(read(100, cigar), *window, slack) == expected


@pytest.mark.parametrize("model", ["conservative", "aggressive", "hostile"])
def test_native_pcr_qualities_are_those_of_the_model(model):
    rng = np.random.default_rng(3)
    texts = ["A", "AC", "A" * 40, "AC" * 20, "ACG" * 9 + "T" * 9, "GATTACA" * 6, "N" * 12]
    texts += ["".join(rng.choice(list("ACN"), rng.integers(2, 60))) for _ in range(200)]
    # Letters stand in words of 64, and reads of up to 127 and 255 have code of their own.
    for length in (63, 64, 65, 126, 127, 128, 129, 191, 192, 193, 254, 255, 256, 257, 321):
        texts += [(unit * length)[:length] for unit in ("A", "CA", "GATTACAC")]
        texts.append("".join(rng.choice(list("AC"), length)))
    reads = [encode(text) for text in texts]
    bases = np.concatenate(reads)
    offset, quality = offsets([len(one) for one in reads]), np.full(len(bases), 30, dtype=np.uint8)
    cut = CutReads(offset, bases, quality, np.full(len(reads), 60, dtype=np.uint8))
    options = GatkOptions(insertion_quality=45, deletion_quality=12, pcr_indel_model=model)
    prepared = model_reads(cut, options, None)["qualities"]
    caps = np.concatenate([indel_quality_caps(one, model) for one in reads])
    assert prepared.insertion_quality.tolist() == np.minimum(caps, 45).tolist()
    assert prepared.deletion_quality.tolist() == np.minimum(caps, 12).tolist()


def test_taking_and_joining_reads_keeps_them_whole():
    reads = random_reads(50)
    block = ReadBlock.from_alignments("c", reads)
    parts = [block.take(np.arange(first, min(first + 7, 50))) for first in range(0, 50, 7)]
    again = ReadBlock.concatenate(parts)
    for name in ("start", "end", "base_offset", "bases", "quals", "cigar_offset", "cigar"):
        assert np.array_equal(getattr(block, name), getattr(again, name)), name
    assert block.names == again.names
