"""Arrays that do not fit are refused where they enter the compiled part, with the argument's name."""

from dataclasses import replace

import numpy as np
import pytest

from pairhmm.calling.discovery import CandidateOptions
from pairhmm.sequences.arrays import Names
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.variant import Variant
from tests.calling.scored import evidence_of, native_region

native = pytest.importorskip("pairhmm._cpu", reason="the compiled part is not installed")

U8, I64 = np.uint8, np.int64
LETTERS = np.array([0, 1, 2, 3], U8)
BEYOND = np.array([0, 9])
FALLING = np.array([0, 4, 2])


def reads(**changes):
    arrays = {
        "start": np.array([5]),
        "sample": np.array([0], np.int32),
        "base_offset": np.array([0, 4]),
        "base": LETTERS,
        "quality": np.full(4, 30, U8),
        "cigar_offset": np.array([0, 1]),
        "cigar": np.array([4 << 4], np.uint32),
    }
    return native.Reads(**(arrays | changes))


def region(**changes):
    """Two reads over one candidate, of two haplotypes."""
    evidence = evidence_of(np.zeros((2, 2)))
    return native_region(replace(evidence, **changes))


def genotyper(**changes):
    options = {"snv_prior": 1e-3, "indel_prior": 1e-4, "ploidies": [(2, [])], "families": [], "score_floor": None}
    options |= {"contamination": [0.0]}
    return native.Genotyper(**(options | changes), discovered=False, mnv=False, gvcf=False)


def counted(sample=0):
    finder = native.CandidateFinder(native.ReferenceBases(lambda *_: "A" * 20), 1, CandidateOptions())
    finder.scan("q", reads(sample=np.array([sample], np.int32)))


def preparation(**changes):
    none = np.zeros(0, U8)
    names = ("most_by_copies", "insertion_by_kind", "deletion_by_kind", "gap_by_kind")
    given = (True, 18, 6, 45, 45, 10, 20, 8)
    return native.ReadPreparation(
        *given,
        **(dict.fromkeys(names, none) | {"error": np.ones(256), "start_match": 0, "start_deletion": 1} | changes),
    )


def prepared(**changes):
    arrays = {"base": LETTERS, "quality": np.full(4, 30, U8), "indel_quality": None, "joined": None}
    return preparation().prepare(offset=np.array([0, 4]), mapq=np.full(1, 60, U8), **(arrays | changes))


def scored_cut(group_read):
    one = np.array([0, 1])
    level = next(name for name, runs in native.levels() if runs)
    groups = group_read, one, group_read, np.array([0, 4])
    return preparation().score(prepared(), *groups, LETTERS, level, 500, 1)


def joined(read, last_read):
    names, none = Names.of(["r"]), np.zeros(1, I64)
    aligned = native.AlignedReads(reads(), none, np.zeros(1, np.uint16), np.zeros(1, U8), names, None)
    return aligned.join(read, none, np.array([4]), np.array([0, last_read]), True)


def batch():
    one = np.array([0, 1])
    return native.Batch(one, one, one, np.array([0, 4]), np.array([0, 4]), LETTERS, None, 0.0, 1.0)


MISFITS = {
    "reads without bases": ("base_offset", lambda: reads(base=LETTERS[:2])),
    "reads without qualities": ("quality", lambda: reads(quality=np.zeros(1, U8))),
    "a CIGAR longer than its read": ("cigar", lambda: reads(cigar=np.array([5 << 4], np.uint32))),
    "a start beyond all contigs": ("start", lambda: reads(start=np.array([2**62]))),
    "a sample that is not there": ("sample", lambda: counted(sample=3)),
    "a role that a candidate does not have": (
        "role",
        lambda: native.variant_extent(Variant("q", 5, "A", ("C",), role="none"), native.ReferenceBases(str)),
    ),
    "a slice beyond the source": ("start", lambda: native.gather(LETTERS, np.array([2]), BEYOND, np.zeros(9, U8))),
    "a slice beyond the target": ("offset", lambda: native.gather(LETTERS, np.array([0]), BEYOND, np.zeros(4, U8))),
    "repeats of falling offsets": ("offset", lambda: native.classify_repeats(FALLING, LETTERS, 9, 8, np.zeros(4, U8))),
    "repeats without room": ("kind", lambda: native.classify_repeats(np.array([0, 4]), LETTERS, 9, 8, np.zeros(3, U8))),
    "qualities of too many reads": ("offset", lambda: preparation().base_qualities(BEYOND, LETTERS, np.zeros(1, U8))),
    "a model of too few qualities": ("most_by_copies", lambda: preparation(most_by_copies=np.zeros(9, U8))),
    "a table of another size": ("by_kind", lambda: preparation(gap_by_kind=np.zeros(9, U8))),
    "reads of a letter that is no base": ("base", lambda: prepared(base=np.full(4, 15, U8))),
    "reads of a quality that is none": ("quality", lambda: prepared(quality=np.full(4, 128, U8))),
    "indel qualities of other bases": ("indel_quality", lambda: prepared(indel_quality=np.zeros(4, U8))),
    "a column of a base that is not there": (
        "source",
        lambda: prepared(joined=(np.array([0, 1]), np.array([0, 1]), np.array([4]))),
    ),
    "scores of other reads": ("group_read", lambda: scored_cut(np.array([0, 2]))),
    "a read to join that is not there": ("read", lambda: joined(np.array([1]), 1)),
    "reads to join of no region": ("region_read", lambda: joined(np.array([0]), 0)),
    "a ploidy below none": ("ploidies", lambda: genotyper(ploidies=[(-1, [])])),
    "a family of a sample that is not there": ("families", lambda: genotyper(families=[(0, 0, [1])])),
    "a read of a sample that is not there": (
        "sample",
        lambda: genotyper().genotype(region(sample=np.array([0, 1], np.int32))),
    ),
    "a haplotype of an allele that is not there": (
        "haplotypes",
        lambda: region(haplotypes=[Haplotype("A", (0,)), Haplotype("C", (5,))]),
    ),
    "a haplotype without alleles": ("haplotypes", lambda: region(haplotypes=[Haplotype("A", ())])),
    "a region without haplotypes": ("haplotypes", lambda: region(haplotypes=[])),
    "a region of too few flags": ("flag", lambda: region(flag=np.zeros(1, np.uint16))),
    "a region of too few columns": ("from_end", lambda: region(from_end=np.zeros((2, 0), np.int32))),
    "names that end behind their end": ("name_end", lambda: region(names=Names(b"ab", np.array([1, 5])))),
    "a pattern beyond the letters": ("offset", lambda: native.scan_index(LETTERS, BEYOND, 1)),
    "hits of a signature that is not there": (
        "hits",
        lambda: native.hit_lines(
            *("file", np.full((1, 9), 3), np.array([0]), b"r", np.array([1]), np.array([0]), ["s"], np.array([4])),
            False,
        ),
    ),
    "a batch of too few letters": (
        "hap_offset",
        lambda: native.Batch(*[np.array([0, 1])] * 3, np.array([0, 4]), BEYOND, LETTERS, None, 0.0, 1.0),
    ),
    "scores without room": ("scores", lambda: scored(np.zeros(0))),
}


def scored(scores):
    made = batch()
    columns = [np.full(4, 30, U8)] * 4
    made.set_qualities(LETTERS, *columns, 10.0 ** (-np.arange(256) / 10))
    native.forward(native.levels()[0][0], made, np.zeros(1, U8), 1, scores)


@pytest.mark.parametrize(("name", "call"), MISFITS.values(), ids=MISFITS)
def test_arrays_that_do_not_fit_are_refused(name, call):
    with pytest.raises(ValueError, match=rf"^{name}: "):
        call()


def test_arrays_that_fit_are_taken():
    counted()
    assert len(genotyper().genotype(region())) == 1
    scores = np.zeros(1)
    scored(scores)
    assert scores[0] < 0
