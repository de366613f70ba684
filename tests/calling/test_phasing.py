"""Phase is that which the fragments of two sites give by plain Python, and that of simulated chromosomes."""

from itertools import pairwise
from math import log10

import numpy as np
import pysam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.calling.genotyping import phased
from pairhmm.native import is_compiled, native
from pairhmm.simulate.api import simulate
from pairhmm.variants.genotypes import SampleGenotype

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

SURE = 2.0
"""log10 odds from which on two sites are phased (cpu/calling/phasing.hpp)."""
HETEROZYGOUS = SampleGenotype((0, 1), (5, 5), 10, 50, (50, 0, 50), -5.0)


def site(leads, fragments):
    """Reads that prefer the alternative allele by these log10."""
    count = len(leads)
    scores = np.ascontiguousarray(np.column_stack([np.zeros(count), np.array(leads, dtype=np.float64)]))
    return native.SiteReads(
        *(scores, np.zeros(count, dtype=bool), np.zeros(count, np.int64), np.ones(count, np.int64)),
        *(np.zeros(count, np.int32), np.array(fragments, dtype=np.int64), 0, 1, [0, 1], 2, 1, np.inf, 300.0),
    )


def mean(one, other):
    return log10((10**one + 10**other) / 2)


LEADS = st.lists(st.sampled_from([-4.5, -2.0, -0.3, 0.0, 0.3, 2.0, 4.5]), min_size=8, max_size=8)


@given(LEADS, LEADS)
def test_two_sites(ours, theirs):
    """log10 P(fragments | alternatives together) - log10 P(fragments | apart), over the fragments of both sites."""
    odds = sum(mean(0, one + other) - mean(one, other) for one, other in zip(ours, theirs, strict=True))
    # Fragments 6 and 7 of the first site have other numbers in the second one.
    odds -= sum(mean(0, ours[i] + theirs[i]) - mean(ours[i], theirs[i]) for i in (6, 7))
    if abs(abs(odds) - SURE) < 1e-9:
        return
    sites = [site(ours, range(8)), site(theirs, [0, 1, 2, 3, 4, 5, 16, 17])]
    first, second = phased([100, 120], sites, [HETEROZYGOUS] * 2, 0)
    if abs(odds) < SURE:
        assert (first, second) == (HETEROZYGOUS, HETEROZYGOUS)
    else:
        assert (first.phased, first.phase_set, second.phase_set) == ((0, 1), 100, 100)
        assert second.phased == ((0, 1) if odds > 0 else (1, 0))
        assert (first.genotype, second.genotype) == ("0|1", "0|1" if odds > 0 else "1|0")


def test_sets_that_no_fragment_joins_stay_apart():
    """Sites 0 and 2 share fragments, and so do sites 1 and 3. The homozygous site and the last one have no phase."""
    one, other = [4.5, 4.5, -4.5, -4.5], [-4.5, -4.5, 4.5, 4.5]
    sites = [site(one, range(4)), site(one, range(10, 14)), site(other, range(4)), site(one, range(10, 14))]
    sites += [site(one, range(4)), site(one, range(20, 24))]
    homozygous = SampleGenotype((1, 1), (0, 10), 10, 50, (90, 50, 0), -9.0)
    called = phased([1, 2, 3, 4, 5, 6], sites, [HETEROZYGOUS] * 4 + [homozygous, HETEROZYGOUS], 0)
    assert [one.genotype for one in called] == ["0|1", "0|1", "1|0", "0|1", "1/1", "0/1"]
    assert [one.phase_set for one in called] == [1, 2, 1, 2, None, None]


def test_sets_that_begin_at_one_position_do_not_share_a_name():
    one = [4.5, 4.5, -4.5, -4.5]
    sites = [site(one, range(4)), site(one, range(10, 14)), site(one, range(4)), site(one, range(10, 14))]
    called = phased([7, 7, 9, 9], sites, [HETEROZYGOUS] * 4, 0)
    assert [one.genotype for one in called] == ["0|1", "0/1", "0|1", "0/1"]


def test_mates_that_disagree_cancel():
    ours = site([4.5, -4.5, 4.5, -4.5], [0, 0, 1, 1])
    theirs = site([4.5, 4.5], [0, 1])
    assert [one.phased for one in phased([1, 2], [ours, theirs], [HETEROZYGOUS] * 2, 0)] == [None, None]


MOST_SWITCHES = 0.005
"""The share of neighbouring sites of a phase set that are switched."""


def genotypes(path):
    """GT, and PS if there is one, of each record, by what it is."""
    with pysam.VariantFile(str(path)) as records:
        return {
            (one.chrom, one.pos, one.ref, one.alts): (one.samples[0]["GT"], one.samples[0].get("PS")) for one in records
        }


def switches(calls, truth):
    """How many neighbouring sites of one phase set there are, and how many of them are switched."""
    own, true = genotypes(calls), genotypes(truth)
    sets = {}
    for site, (genotype, phase_set) in own.items():
        if phase_set is not None and len(set(true.get(site, ((),))[0])) == 2:
            sets.setdefault(phase_set, []).append(genotype == true[site][0])
    pairs = [one == other for members in sets.values() for one, other in pairwise(members)]
    return len(pairs), pairs.count(False)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A variant every 80 bases, so that many share a region."""
    return simulate(tmp_path_factory.mktemp("phase"), length=60_000, coverage=30, snvs=600, indels=150, seed=3)


def test_phase(data, run_cli, tmp_path):
    calls = tmp_path / "calls.vcf"
    done = run_cli("-q", "call", "--backend", "cpu", "-f", data.reference, "-o", calls, data.bam)
    assert done.returncode == 0, done.stderr
    pairs, switched = switches(calls, data.truth)
    assert pairs >= 100
    assert switched <= MOST_SWITCHES * pairs
    # A phase set has the position of its first record, whose alleles are in ascending order.
    first = {}
    for (_, pos, _, _), (genotype, phase_set) in genotypes(calls).items():
        if phase_set is not None and phase_set not in first:
            first[phase_set] = pos, genotype == tuple(sorted(genotype))
    assert first == {phase_set: (phase_set, True) for phase_set in first}
