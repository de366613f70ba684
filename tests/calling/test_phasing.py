"""Phase is that which the fragments of two sites give by plain Python, and that of simulated chromosomes."""

from itertools import pairwise, product
from math import log10

import numpy as np
import pysam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.native import is_compiled
from pairhmm.simulate.api import simulate
from tests.calling.scored import evidence_of, genotyped, substitutions

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

SURE = 2.0
"""log10 odds from which on two sites are phased (cpu/calling/phasing.hpp)."""
LEADS = st.lists(st.sampled_from([-4.5, -2.0, -0.3, 0.0, 0.3, 2.0, 4.5]), min_size=8, max_size=8)


def phased(positions, *sites, homozygous=()):
    """The genotypes of one sample at some sites, each the log10 by which fragments prefer the alternative allele."""
    rows, fragments, start = [], [], []
    # Reads that reach over no other site show both alleles of each, or one of a homozygous site.
    for number, leads in enumerate(sites):
        own = [(f"own{number}.{i}", 9.0 if i % 2 or number in homozygous else -9.0) for i in range(40)]
        for fragment, lead in [*own, *((f"f{fragment}", lead) for fragment, lead in leads.items())]:
            rows.append([lead if alleles[number] else 0.0 for alleles in product((0, 1), repeat=len(sites))])
            fragments.append(fragment)
            start.append(positions[number])
    evidence = evidence_of(
        *(np.array(rows), fragments),
        variants=[substitutions(2, position) for position in positions],
        alleles=list(product((0, 1), repeat=len(sites))),
        start=start,
        end=np.array(start) + 1,
    )
    return [site.samples[0] for site in genotyped(evidence)]


def mean(one, other):
    return log10((10**one + 10**other) / 2)


@given(LEADS, LEADS)
def test_two_sites(ours, theirs):
    """log10 P(fragments | alternatives together) - log10 P(fragments | apart), over the fragments of both sites."""
    odds = sum(mean(0, one + other) - mean(one, other) for one, other in zip(ours, theirs, strict=True))
    # Fragments 6 and 7 of the first site have other numbers in the second one.
    odds -= sum(mean(0, ours[i] + theirs[i]) - mean(ours[i], theirs[i]) for i in (6, 7))
    if abs(abs(odds) - SURE) < 1e-9:
        return
    first, second = phased(
        (100, 120), dict(enumerate(ours)), dict(zip([0, 1, 2, 3, 4, 5, 16, 17], theirs, strict=True))
    )
    assert first.alleles == second.alleles == (0, 1)
    if abs(odds) < SURE:
        assert (first.phased, second.phased) == (None, None)
    else:
        assert (first.phased, first.phase_set, second.phase_set) == ((0, 1), 100, 100)
        assert second.phased == ((0, 1) if odds > 0 else (1, 0))
        assert (first.genotype, second.genotype) == ("0|1", "0|1" if odds > 0 else "1|0")


ONE, OTHER = [4.5, 4.5, -4.5, -4.5], [-4.5, -4.5, 4.5, 4.5]


def of_four(leads, first):
    """Leads of four fragments, which are numbered from `first`."""
    return dict(enumerate(leads, start=first))


def test_sets_that_no_fragment_joins_stay_apart():
    """Sites 0 and 2 share fragments, and so do sites 1 and 3. The homozygous site and the last one have no phase."""
    sites = [of_four(ONE, 0), of_four(ONE, 10), of_four(OTHER, 0), of_four(ONE, 10), of_four(ONE, 0), of_four(ONE, 20)]
    called = phased((10, 20, 30, 40, 50, 60), *sites, homozygous=(4,))
    assert [one.genotype for one in called] == ["0|1", "0|1", "1|0", "0|1", "1/1", "0/1"]
    assert [one.phase_set for one in called] == [10, 20, 10, 20, None, None]


def test_sets_that_begin_at_one_position_do_not_share_a_name():
    called = phased((7, 7, 9, 9), of_four(ONE, 0), of_four(ONE, 10), of_four(ONE, 0), of_four(ONE, 10))
    assert [one.genotype for one in called] == ["0|1", "0/1", "0|1", "0/1"]


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
    return simulate(tmp_path_factory.mktemp("phase"), length=30_000, coverage=30, snvs=300, indels=75, seed=3)


def test_phase(data, run_cli, tmp_path):
    calls = tmp_path / "calls.vcf"
    done = run_cli("-q", "call", "--backend", "cpu", "-f", data.reference, "-o", calls, data.bam)
    assert done.returncode == 0, done.stderr
    pairs, switched = switches(calls, data.truth)
    assert pairs >= 50
    assert switched <= MOST_SWITCHES * pairs
    # A phase set has the position of its first record, whose alleles are in ascending order.
    first = {}
    for (_, pos, _, _), (genotype, phase_set) in genotypes(calls).items():
        if phase_set is not None and phase_set not in first:
            first[phase_set] = pos, genotype == tuple(sorted(genotype))
    assert first == {phase_set: (phase_set, True) for phase_set in first}
