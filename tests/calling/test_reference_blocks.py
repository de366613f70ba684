"""Blocks of the reference are those that plain Python counts, base by base."""

from collections import defaultdict
from itertools import pairwise
from math import log10
from typing import NamedTuple

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.native import is_compiled, native

pytestmark = pytest.mark.skipif(not is_compiled(), reason="reads need the compiled part")

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


class Block(NamedTuple):
    """A block, as its line has it."""

    chrom: str
    start: int
    end: int
    base: str
    genotype: str
    depth: int
    quality: int
    least_depth: int
    phred: tuple[int, ...]


def blocks_of(text):
    for line in text.splitlines():
        chrom, pos, _, base, *_, end, _, sample = line.split("\t")
        genotype, *numbers, phred = sample.split(":")
        edges = int(pos) - 1, int(end.removeprefix("END="))
        yield Block(chrom, *edges, base, genotype, *map(int, numbers), tuple(map(int, phred.split(","))))


def walk_over(bases, intervals, ploidy=2, limits=LIMITS):
    """A walk over intervals (contig, start, end) of contigs that have the same bases."""
    contigs = sorted({chrom for chrom, _, _ in intervals})
    columns = [(contigs.index(chrom), *edges, ploidy) for chrom, *edges in intervals]
    contig, start, end, copies = (np.array(column) for column in zip(*columns, strict=True))
    places = contig.astype(np.int32), start, end, copies.astype(np.int32)
    reference = native.ReferenceBases(lambda _, start, end: bases[max(0, start) : end])
    return native.ReferenceWalk(reference, contigs, *places, LEAST, limits, ())


def add(walk, chrom, reads):
    block = ReadBlock.from_alignments(chrom, reads)
    walk.add(chrom, block.native, block.end, block.names.text, block.names.end)


def rest(walk):
    """All blocks that were not taken, joined where they continue each other."""
    lines = native.RecordLines()
    lines.add_rest(walk)
    return list(blocks_of(lines.take_all()))


@pytest.mark.parametrize("ploidy", [1, 2])
@pytest.mark.parametrize("size", [7, 10**6], ids=["small blocks", "one block"])
def test_blocks(ploidy, size):
    rng = np.random.default_rng(5)
    genome = (
        "".join(rng.choice(list("ACGT"), 500)) + "CA" * 20 + "A" * 30 + "NN" + "".join(rng.choice(list("ACGT"), 900))
    )
    reads = random_reads(rng, genome, 400)
    walk = walk_over(genome, [("q", 0, 700), ("q", 710, len(genome))], ploidy)
    for first in range(0, len(reads), size):
        add(walk, "q", reads[first : first + size])
    wanted = expected(genome, reads, ploidy)
    blocks = rest(walk)
    covered = [position for block in blocks for position in range(block.start, block.end)]
    assert covered == [*range(700), *range(710, len(genome))]
    bands = []
    for block in blocks:
        assert block.base == genome[block.start]
        own_bands, qualities, depths, singles, pairs = zip(*wanted[block.start : block.end], strict=True)
        assert len(set(own_bands)) == 1
        bands.append(own_bands[0])
        mean = round(sum(depths) / len(depths))
        assert (block.quality, block.least_depth, block.depth) == (min(qualities), min(depths), mean)
        assert block.phred == pytest.approx((0, min(singles), min(pairs))[:: 3 - ploidy], abs=1)
        assert block.genotype == "/".join(("." if bands[-1] < 0 else "0") * ploidy)
    # Blocks that touch differ in their bands.
    neighbours = pairwise(zip(blocks, bands, strict=True))
    assert all(one.end < other.start or band != next_band for (one, band), (other, next_band) in neighbours)
    assert len(set(bands)) > 4


def test_contigs_stay_apart():
    """Reads of the next contig may come before the blocks of the last one are taken."""
    walk = walk_over("ACGT" * 100, [("a", 0, 100), ("b", 10, 30), ("c", 10, 30)])
    for chrom in ("a", "b"):
        add(walk, chrom, [Read("r", 10, [(0, 20)], [2, 3, 0, 1] * 5, [30] * 20)])
    blocks = rest(walk)
    assert [(one.chrom, one.start, one.end, one.least_depth) for one in blocks] == [
        *(("a", 0, 10, 0), ("a", 10, 30, 1), ("a", 30, 100, 0), ("b", 10, 30, 1), ("c", 10, 30, 0))
    ]


def test_blocks_do_not_depend_on_where_a_run_is_cut():
    """Those at the seams of parts are joined, in parts of one block and of none, too."""
    edges = [0, 3, 10, 12, 40, 100]
    joined, text = native.RecordLines(), ""
    for start, end in pairwise(edges):
        walk = walk_over("ACGT" * 100, [("a", start, end)])
        add(walk, "a", [Read("r", 10, [(0, 20)], [2, 3, 0, 1] * 5, [30] * 20)])
        part = native.RecordLines()
        part.add_rest(walk)
        joined.add(part)
        joined.add(native.RecordLines())
        text += joined.take()
    whole = walk_over("ACGT" * 100, [("a", 0, 100)])
    add(whole, "a", [Read("r", 10, [(0, 20)], [2, 3, 0, 1] * 5, [30] * 20)])
    assert list(blocks_of(text + joined.take_all())) == rest(whole)


def show(alignment, bases):
    """The blocks that one read makes on a genome with repeats of CA and of T."""
    genome = "GATTGCAG" + "CA" * 8 + "GGATC" + "T" * 9 + "GACCATTAGC"
    walk = walk_over(genome, [("q", 0, len(genome))])
    start, cigar = alignment
    codes = [LETTERS.index(base) for base in bases]
    add(walk, "q", [Read("r", start, cigar, codes, [30] * len(codes))])
    return rest(walk)


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
