"""The calibration of STR models: what it counts, and the rates that it finds again."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.str_counts import count_changes
from pairhmm.calling.str_rates import estimate_rates
from pairhmm.models.str_parameters import LEAST_COPIES
from pairhmm.sequences.letters import CODE_OF_N
from pairhmm.sequences.tandem_repeats import find_tracts

# Aligned bases of a read on both sides of a repeat, and reads over it.
FLANK, LEAST_READS = 5, 4

M, I, D, S = 0, 1, 2, 4  # noqa: E741 - BAM's names


def block(*reads: tuple[int, list[tuple[int, int]]]) -> ReadBlock:
    """Reads at a start with a CIGAR, all of letters A."""
    made = []
    for start, cigar in reads:
        length = sum(size for op, size in cigar if op in (M, I, S))
        end = start + sum(size for op, size in cigar if op in (M, D))
        bases = np.zeros(length, dtype=np.uint8)
        made.append(
            SimpleNamespace(
                name="r", sample=0, flag=0, mapq=60, start=start, end=end, bases=bases, quals=bases, cigar=cigar
            )
        )
    return ReadBlock.from_alignments("chr1", made)


# A run of eight T from 20 on, and six times AC from 48 on.
GENOME = "GCTAGGATCAGTCGATGACG" + "T" * 8 + "GACTGATCGGCATGATCGCG" + "AC" * 6 + "GTCATGGATCTTAGCCATGGATCCGATCTA"


EVENTS = ((D, 1), (D, 2), (I, 1), (I, 2), (I, 3), (D, 4))


def count(*reads: tuple[int, list[tuple[int, int]]]) -> Counter:
    return count_changes([block(*reads)], lambda chrom, start, end: GENOME[start:end])


def test_reads_with_other_units_count_at_their_repeat():
    plain = [(5, [(M, 60)])] * 10
    lost, won = (5, [(M, 15), (D, 1), (M, 44)]), (5, [(M, 15), (I, 2), (M, 43)])
    of_pair = (5, [(M, 43), (D, 2), (M, 25)])
    ends = [(22, [(M, 50)])] * 3
    found = count(*plain, lost, lost, won, of_pair, *ends)
    assert found == {(1, 8, 14, 2, 1): 1, (2, 6, 16, 1, 0): 1}


def test_a_gap_that_is_no_unit_is_no_change():
    found = count(*[(20, [(M, 70)])] * 9, (20, [(M, 28), (D, 3), (M, 39)]))
    assert found == {(2, 6, 10, 0, 0): 1}


def test_the_most_common_length_is_the_samples():
    found = count(*[(5, [(M, 15), (D, 1), (M, 44)])] * 9, (5, [(M, 60)]))
    assert found == {(1, 7, 10, 0, 1): 1, (2, 6, 10, 0, 0): 1}


def test_blocks_change_no_count():
    reads = sorted(
        [(start, [(M, 15 + n % 9), (op, size), (M, 25)]) for n, start in enumerate(range(25)) for op, size in EVENTS],
        key=lambda read: read[0],
    )
    whole = count(*reads)
    assert len(whole) > 1
    for size in (1, 3, 40):
        parts = [block(*reads[begin : begin + size]) for begin in range(0, len(reads), size)]
        assert count_changes(parts, lambda chrom, start, end: GENOME[start:end]) == whole


def test_of_a_long_contig_only_what_is_near_reads_is_looked_at():
    """A run of N or of one letter is no exception."""
    first, asked = 10**8, []
    length = first + 10**6

    def fetch(chrom, start, end):
        asked.append(end - start)
        end = min(end, length)
        letters = GENOME.ljust(length - first, "G")[max(0, start - first) : max(0, end - first)]
        return "N" * (end - start - len(letters)) + letters

    far = [(first + 5, [(M, 60)])] * 10
    found = count_changes([block(*[(50, [(M, 60)])] * 9, *far)], fetch)
    assert found == {(1, 8, 10, 0, 0): 1, (2, 6, 10, 0, 0): 1}
    assert max(asked) <= 1 << 19


def sequence(rng):
    """Random letters among repeats of all lengths, some of them long, with Ns."""
    parts = []
    for _ in range(800):
        parts.append(rng.integers(0, 4, rng.integers(1, 40)))
        parts.append(np.tile(rng.integers(0, 4, rng.integers(1, 9)), rng.integers(1, 20)))
        parts.append(np.full(rng.choice([0] * 20 + [5, 300, 3000]), rng.choice([0, 4])))
    return np.concatenate(parts).astype(np.uint8)


def test_the_repeats_under_reads_are_those_of_the_whole():
    rng = np.random.default_rng(1)
    codes = sequence(rng)
    letters = "".join("ACGTN"[code] for code in codes)
    begins = np.sort(rng.integers(0, len(codes) - 200, 2000)).tolist()
    places = [(begin, min(len(codes), begin + int(rng.choice([60, 150, 4000])))) for begin in begins]
    reads = block(*[(begin, [(M, end - begin)]) for begin, end in places])
    expected: Counter = Counter()
    tracts = find_tracts(codes, LEAST_COPIES)
    for start, end, unit, copies in zip(*tracts, tracts.copies, strict=True):
        depth = sum(begin + FLANK <= start and end + FLANK <= last for begin, last in places)
        if codes[start] < CODE_OF_N and depth >= LEAST_READS:
            expected[int(unit), min(20, int(copies)), depth, 0, 0] += 1
    assert count_changes([reads], lambda chrom, start, end: letters[start:end]) == expected
    assert expected.total() > 1000


def test_few_reads_tell_nothing():
    assert not count(*[(5, [(M, 60)])] * (LEAST_READS - 1))


@pytest.mark.parametrize("heterozygous", [0, 30])
def test_rates_are_found_again(heterozygous):
    """Binomial reads over repeats of one unit, some of them heterozygous: the noise is that of so many reads."""
    rng = np.random.default_rng(2)
    truth = 2e-4 * 1.6 ** np.arange(17)
    sites: Counter = Counter()
    for step, rate in enumerate(truth):
        depth = rng.poisson(30, 400)
        changed = rng.binomial(depth, min(0.4, rate))
        changed[:heterozygous] = rng.binomial(depth[:heterozygous], 0.5)
        fewer = rng.binomial(changed, 0.7)
        for n, less, all_ in zip(depth.tolist(), fewer.tolist(), changed.tolist(), strict=True):
            sites[1, step + 4, n, less, all_ - less] += 1
    found = estimate_rates(sites)
    rates = (found.gain + found.loss)[0, 3:]
    assert (np.diff(rates) >= 0).all()
    expected = np.minimum(truth, 0.4)
    assert (np.abs(rates - expected) <= 0.15 * expected + 4 * np.sqrt(expected / (400 * 30))).all()
    assert found.loss[0, 10] / rates[7] == pytest.approx(0.7, abs=0.05)


def test_without_reads_rates_are_those_expected():
    found = estimate_rates(Counter())
    assert not found.repeats.any()
    assert (found.gain + found.loss)[2, 2] == pytest.approx(1e-4, rel=0.1)
    assert not found.gain[:, :2].any()
