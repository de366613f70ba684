"""Blocks of the reference are those that plain Python counts, base by base."""

from collections import defaultdict
from math import log10

import numpy as np
import pytest

from pairhmm import native as compiled
from pairhmm.alignments.blocks import ReadBlock
from pairhmm.variants.gvcf import ConfidenceScanner

pytestmark = pytest.mark.skipif(not compiled.is_compiled(), reason="reads need the compiled part")

LEAST, LIMITS = 10, (1, 10, 20, 30, 40, 60, 80)
LETTERS = "ACGTN"


class Read:
    def __init__(self, name, start, cigar, bases, quals):
        self.name, self.sample, self.flag, self.mapq, self.start, self.cigar = name, 0, 0, 60, start, cigar
        self.end = start + sum(length for operation, length in cigar if operation in (0, 2, 3))
        self.bases, self.quals = np.array(bases, dtype=np.uint8), np.array(quals, dtype=np.uint8)


def random_reads(rng, genome, count):
    """Reads with mismatches, indels, clips, any quality, and mates that overlap."""
    codes = [LETTERS.index(letter) for letter in genome]
    reads = []
    for start in sorted(rng.integers(0, len(genome) - 60, count).tolist()):
        length = int(rng.integers(20, 50))
        shape = [(0, length)]
        if rng.random() < 0.5:
            before, indel = int(rng.integers(1, length - 5)), int(rng.integers(1, 4))
            shape = [(4, 3), (0, before), (int(rng.choice([1, 2, 3])), indel), (0, length - before - indel)]
        bases, at = [], start
        for operation, size in shape:
            if operation == 0:
                bases += codes[at : at + size]
            elif operation in (1, 4):
                bases += rng.integers(0, 4, size).tolist()
            at += size * (operation in (0, 2, 3))
        bases = [int(rng.integers(0, 5)) if rng.random() < 0.05 else base for base in bases]
        name = f"r{rng.integers(0, count // 2)}"
        reads.append(Read(name, start, shape, bases, rng.integers(0, 42, len(bases))))
    return reads


def log10s(error):
    """log10 P(base | 0, 1 and 2 copies that are not the reference) of a base that is the reference's, and of others."""
    right, wrong = 1 - error, error / 3
    return [log10(right), log10((right + wrong) / 2), log10(wrong)], [
        log10(wrong),
        log10((right + wrong) / 2),
        log10(right),
    ]


def shows_indels(genome, position, end):
    """Whether a read to `end` would show each indel of 1 to 10 bases: shifted by one, it has a mismatch."""
    rest = genome[position:end]
    return all(
        len(rest) > size and any(one != other or one == "N" for one, other in zip(rest, rest[size:], strict=False))
        for size in range(1, 11)
    )


def leftmost(genome, read):
    """The start and the CIGAR of a read of `random_reads` whose indel is shifted left as far as it goes."""
    if len(read.cigar) == 1 or read.cigar[2][0] == 3:
        return read.start, read.cigar
    clip, (_, before), (operation, size), (_, behind) = read.cigar
    at = read.start + before
    old = genome[at : at + size] if operation == 2 else "".join(LETTERS[one] for one in read.bases[3 + before :][:size])
    shift = 0
    while shift < before and genome[at - shift - 1] == old[-1] != "N":
        old = old[-1] + old[:-1]
        shift += 1
    if shift < before:
        return read.start, [clip, (0, before - shift), (operation, size), (0, shift + behind)]
    # It has left the read.
    if operation == 2:
        return read.start + size, [clip, (0, before + behind)]
    return read.start, [(4, 3 + size), (0, before + behind)]


def expected(genome, reads, ploidy):
    """GQ band, GQ, depth and Phred likelihoods at each position."""
    sums, showing = defaultdict(lambda: np.zeros(3)), defaultdict(int)
    depth, seen = defaultdict(int), {}
    for read in reads:
        first = seen.setdefault(read.name, read.end) if read.name in seen else read.start
        seen.setdefault(read.name, read.end)
        (at, cigar), query = leftmost(genome, read), 0
        for number, (operation, size) in enumerate(cigar):
            following = cigar[number + 1][0] if number + 1 < len(cigar) else 0
            for step in range(size):
                is_anchor = operation == 0 and step == size - 1 and following in (1, 2)
                if operation == 0 and at >= first:
                    base, quality = LETTERS[read.bases[query]], int(read.quals[query])
                    if quality >= LEAST and "N" not in (base, genome[at]):
                        same, other = log10s(10 ** (-quality / 10))
                        sums[at] += same if base == genome[at] and not is_anchor else other
                        depth[at] += 1
                        showing[at] += not is_anchor and shows_indels(genome, at, read.end)
                elif operation == 2 and at >= first:
                    sums[at] += log10s(1e-3)[1]
                    depth[at] += 1
                at += operation in (0, 2, 3)
                query += operation in (0, 1, 4)
    result = []
    for position in range(len(genome)):
        if not depth[position]:
            result.append((-2, 0, 0, 0, 0))
            continue
        snv = [max(0, -10 * (sums[position][copies] - sums[position][0])) for copies in (1, 2)]
        number, error = min(40, showing[position]), 10**-4.5
        indel = [-10 * number * (log10(0.5) - log10(1 - error)), 45 * number]
        sure = [min(99, round(pair[1]) if ploidy == 1 else round(min(pair))) for pair in (snv, indel)]
        pair = indel if sure[1] < sure[0] else snv
        quality = min(sure)
        phred = [round(one) for one in pair]
        band = sum(limit <= quality for limit in LIMITS) if any(phred[2 - ploidy :]) else -1
        result.append((band, quality, depth[position], *phred))
    return result


@pytest.mark.parametrize("ploidy", [1, 2])
@pytest.mark.parametrize("size", [7, 10**6], ids=["small blocks", "one block"])
def test_blocks(ploidy, size):
    rng = np.random.default_rng(5)
    genome = (
        "".join(rng.choice(list("ACGT"), 500)) + "CA" * 20 + "A" * 30 + "NN" + "".join(rng.choice(list("ACGT"), 900))
    )
    reads = random_reads(rng, genome, 400)
    scanner = ConfidenceScanner(lambda _, start, end: genome[max(0, start) : end], LEAST, LIMITS)
    for first in range(0, len(reads), size):
        scanner.add(ReadBlock.from_alignments("q", reads[first : first + size]))
    wanted = expected(genome, reads, ploidy)
    blocks = [block for edge in ((0, 700), (710, len(genome))) for block in scanner.take("q", *edge, ploidy)]
    covered = [position for block in blocks for position in range(block.start, block.end)]
    assert covered == [*range(700), *range(710, len(genome))]
    for block in blocks:
        assert block.base == genome[block.start]
        bands, qualities, depths, singles, pairs = zip(*wanted[block.start : block.end], strict=True)
        assert set(bands) == {block.band}
        assert (block.quality, block.least_depth, block.depth) == (min(qualities), min(depths), sum(depths))
        assert (block.one, block.both) == pytest.approx((min(singles), min(pairs)), abs=1)
    assert len({block.band for block in blocks}) > 4


def test_contigs_stay_apart():
    """Reads of the next contig may come before the blocks of the last one are taken."""
    scanner = ConfidenceScanner(lambda *_: "ACGT" * 100, LEAST)
    for chrom in ("a", "b"):
        scanner.add(ReadBlock.from_alignments(chrom, [Read("r", 10, [(0, 20)], [2, 3, 0, 1] * 5, [30] * 20)]))
    first = scanner.take("a", 0, 100, 2)[0]
    assert (first.start, first.end, first.band) == (0, 10, -2)
    scanner.forget("a")
    assert [one.least_depth for one in scanner.take("b", 10, 30, 2)] == [1]
    assert [one.least_depth for one in scanner.take("c", 10, 30, 2)] == [0]


def show(alignment, bases):
    """The blocks that one read makes on a genome with repeats of CA and of T."""
    genome = "GATTGCAG" + "CA" * 8 + "GGATC" + "T" * 9 + "GACCATTAGC"
    scanner = ConfidenceScanner(lambda _, start, end: genome[max(0, start) : end], LEAST)
    start, cigar = alignment
    codes = [LETTERS.index(base) for base in bases]
    scanner.add(ReadBlock.from_alignments("q", [Read("r", start, cigar, codes, [30] * len(codes))]))
    return [block[1:] for block in scanner.take("q", 0, len(genome), 2)]


@pytest.mark.parametrize(
    ("alignments", "bases"),
    [
        ([(0, [(0, 8), (2, 4), (0, 36)]), (0, [(0, 14), (2, 4), (0, 30)]), (0, [(0, 20), (2, 4), (0, 24)])],
         "GATTGCAG" + "CA" * 6 + "GGATCTTTTTTTTTGACCATTAGC"),
        ([(0, [(0, 8), (1, 4), (0, 40)]), (0, [(0, 24), (1, 4), (0, 24)]), (0, [(0, 19), (1, 4), (0, 29)])],
         "GATTGCAG" + "CA" * 10 + "GGATCTTTTTTTTTGACCATTAGC"),
        # Two in a read, each in its repeat, and two that meet in one repeat.
        ([(0, [(0, 8), (2, 2), (0, 19), (1, 2), (0, 19)]), (0, [(0, 22), (2, 2), (0, 14), (1, 2), (0, 10)])],
         "GATTGCAG" + "CA" * 7 + "GGATC" + "T" * 11 + "GACCATTAGC"),
        ([(0, [(0, 8), (2, 4), (0, 36)]), (0, [(0, 12), (2, 2), (0, 4), (2, 2), (0, 28)])],
         "GATTGCAG" + "CA" * 6 + "GGATCTTTTTTTTTGACCATTAGC"),
        # One that is shifted out of its read.
        ([(14, [(0, 34)]), (12, [(0, 8), (2, 2), (0, 26)])], "CA" * 5 + "GGATCTTTTTTTTTGACCATTAGC"),
    ],
)  # fmt: skip
def test_an_indel_counts_where_records_have_it(alignments, bases):
    first, *others = (show(alignment, bases) for alignment in alignments)
    assert len(first) >= 2
    assert all(one == first for one in others)
