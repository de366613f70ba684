"""What the reads over a site say of errors is what plain Python counts from the same reads."""

from collections import Counter
from math import comb, exp, log, log10, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import INFORMATIVE
from tests.calling.scored import AT, evidence_of, genotyped, substitutions

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

REVERSE = 16


def fisher(table):
    """FS: the two-sided p of tables with these margins that are no likelier, Phred."""
    if sum(table) > 400:
        table = [count * 200 // sum(table) for count in table]
    a, b, c, d = table
    ways = {k: comb(a + b, k) * comb(c + d, a + c - k) for k in range(a + c + 1)}
    rare = sum(count for count in ways.values() if count <= ways[a])
    return max(0.0, -10 * log10(rare / sum(ways.values())))


def odds(table):
    """SOR."""
    a, b, c, d = (count + 1 for count in table)
    ratio = a * d / (b * c)
    return log(ratio + 1 / ratio) + log(min(a, b) / max(a, b)) - log(min(c, d) / max(c, d))


def rank_sum(ours, theirs):
    """z of Mann and Whitney's U, with ties and the correction for continuity."""
    n, m = len(ours), len(theirs)
    if not n or not m:
        return None
    u = sum((one > other) + (one == other) / 2 for one in ours for other in theirs)
    ties = sum(count**3 - count for count in Counter([*ours, *theirs]).values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance < 1e-12:
        return 0.0
    excess = u - n * m / 2
    return (excess - (0.5 if excess >= 0 else -0.5)) / sqrt(variance)


def expected(leads, sample, flag, mapq, from_end, samples):
    """Strands, FS, SOR, MQ and the ranks. `leads`: log10 by which each read prefers the alternative allele."""
    strands = [[0, 0, 0, 0] for _ in range(samples)]
    qualities, places = ([], []), ([], [])
    for lead, own, flags, quality, place in zip(leads, sample, flag, mapq, from_end, strict=True):
        if abs(lead) <= INFORMATIVE:
            continue
        is_other = lead > 0
        strands[own][2 * is_other + bool(flags & REVERSE)] += 1
        if quality not in (0, 255):
            qualities[is_other].append(quality)
            if place >= 0:
                places[is_other].append(place)
    table = [sum(column) for column in zip(*strands, strict=True)]
    known = [quality**2 for quality in mapq if quality != 255]
    mean = sqrt(sum(known) / len(known)) if known else None
    return strands, [fisher(table), odds(table), mean, rank_sum(*qualities[::-1]), rank_sum(*places[::-1])]


READ = st.tuples(
    st.sampled_from([-3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0]),
    st.integers(0, 1),
    st.sampled_from([0, 16, 83, 99]),
    st.sampled_from([0, 20, 37, 60, 255]),
    st.integers(-1, 12),
)


@given(st.lists(READ, max_size=40))
def test_statistics_of_a_site(reads):
    leads, sample, flag, mapq, from_end = zip(*reads, strict=True) if reads else ((),) * 5
    count = len(leads)
    scores = np.ascontiguousarray(np.column_stack([np.zeros(count), np.array(leads, dtype=np.float64)]))
    # The site is the second of three candidates.
    columns = np.column_stack([np.full(count, 7), from_end, np.full(count, 9)])
    site = genotyped(
        evidence_of(
            scores,
            variants=[substitutions(2, AT - 3), substitutions(2), substitutions(2, AT + 3)],
            alleles=[(0, 0, 0), (0, 1, 0)],
            sample=sample,
            flag=flag,
            mapq=mapq,
            from_end=columns,
        ),
        (2, 2),
    )[1]
    strands, known = [one.strands for one in site.samples], site.statistics.annotations
    counted, numbers = expected(leads, sample, flag, mapq, from_end, 2)
    assert [list(one) for one in strands] == counted
    values = [known[name] for name in ("FS", "SOR", "MQ", "MQRankSum", "ReadPosRankSum")]
    assert values == pytest.approx(numbers, abs=1e-9)


@pytest.mark.parametrize("table", [(500, 300, 250, 450), (0, 900, 900, 0), (150, 51, 100, 100), (0, 0, 0, 0)])
def test_strand_bias_of_many_reads(table):
    """Tables of more than 400 reads are made smaller, as GATK does."""
    flag = np.repeat([0, 16, 0, 16], table).astype(np.uint16)
    scores = np.zeros((sum(table), 2))
    scores[: table[0] + table[1], 0], scores[table[0] + table[1] :, 1] = 3, 3
    (site,) = genotyped(evidence_of(scores, flag=flag))
    known = site.statistics.annotations
    assert site.samples[0].strands == table
    assert (known["FS"], known["SOR"]) == pytest.approx((fisher(table), odds(table)))
    assert not exp(-known["FS"]) > 1
