"""Merged blocks have all reads by contig, start and input, and copy each read a few times only."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from pairhmm.alignments import read_blocks
from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.merged_blocks import merged_blocks

RANK = {"b": 0, "a": 1, "c": 2}


def block_of(chrom, reads):
    """Reads of (start, name), each of so many bases as its name has letters."""
    alignments = []
    for number, (start, name) in enumerate(reads):
        bases, quals = np.frombuffer(name.encode(), dtype=np.uint8), np.zeros(len(name), dtype=np.uint8)
        place = {"start": start, "end": start + len(name), "cigar": [(0, len(name))]}
        alignments.append(SimpleNamespace(name=name, sample=number, flag=0, mapq=60, bases=bases, quals=quals, **place))
    return ReadBlock.from_alignments(chrom, alignments)


def inputs_of(rng, count, most_starts):
    """Inputs as lists of (contig, reads) of few and of many reads, many of which start at the same base."""
    inputs = []
    for order in range(count):
        parts = []
        for chrom in RANK:
            starts = np.sort(rng.integers(0, most_starts, int(rng.integers(0, 60)))).tolist()
            reads = [(start, f"{chrom}{order}:{number}") for number, start in enumerate(starts)]
            while reads:
                size = int(rng.choice([1, 2, 5, 30]))
                parts.append((chrom, reads[:size]))
                reads = reads[size:]
        inputs.append(parts)
    return inputs


def merged(inputs, chunk_size):
    streams = [iter([block_of(chrom, reads) for chrom, reads in parts]) for parts in inputs]
    return list(merged_blocks(streams, RANK, chunk_size))


@pytest.mark.parametrize("chunk_size", [1, 7, 10_000])
@pytest.mark.parametrize("most_starts", [1, 4, 300])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_reads_come_by_contig_start_and_input(count, most_starts, chunk_size):
    """Ties at the ends of blocks, and blocks of one read, among them."""
    for seed in range(10):
        inputs = inputs_of(np.random.default_rng(seed), count, most_starts)
        expected = [
            (RANK[chrom], start, order, number, name)
            for order, parts in enumerate(inputs)
            for number, (chrom, start, name) in enumerate((chrom, *read) for chrom, reads in parts for read in reads)
        ]
        blocks = merged(inputs, chunk_size)
        given = [
            (RANK[one.chrom], start, name) for one in blocks for start, name in zip(one.start, one.names, strict=True)
        ]
        assert given == [(contig, start, name) for contig, start, _, _, name in sorted(expected)]
        for block in blocks:
            assert block.bases.tobytes().decode() == "".join(block.names)
            np.testing.assert_array_equal(block.end - block.start, block.cigar >> 4)
            assert 0 < len(block) <= chunk_size
        for one, other in pairwise(blocks):
            assert len(one) == chunk_size or one.chrom != other.chrom


def test_no_reads():
    assert merged([], 10) == []
    assert merged([[], []], 10) == []


def test_reads_are_copied_a_few_times_whatever_the_number_of_inputs(monkeypatch):
    """What is left of a block is not copied whenever the block of another input ends."""
    copied = 0
    take = ReadBlock.take

    def counted(self, indices):
        nonlocal copied
        copied += len(indices)
        return take(self, indices)

    monkeypatch.setattr(ReadBlock, "take", counted)
    count, size, blocks = 40, 50, 4
    inputs = [
        [
            ("a", [(count * number + order, f"{order}:{number}") for number in range(first, first + size)])
            for first in range(0, blocks * size, size)
        ]
        for order in range(count)
    ]
    assert sum(map(len, merged(inputs, 1_000))) == count * size * blocks
    assert copied <= 4 * count * size * blocks


def test_the_blocks_of_many_inputs_are_small(monkeypatch):
    """Two blocks of each input are held at a time: together as few reads as those of one input, or some of each."""
    asked = []

    def record(source, order, request, wanted, left_out):
        asked.append(request.chunk_size)
        return iter(())

    monkeypatch.setattr(read_blocks, "native_blocks", record)
    for count in (1, 4, 1000):
        inputs = [SimpleNamespace(path="a.bam")] * count
        assert not list(read_blocks.read_blocks(inputs, ["a"], None, 20_000))
    assert sorted(set(asked)) == [40, 10_000, 20_000]
