"""The phase of `pairhmm call` is that of the simulated chromosomes."""

from __future__ import annotations

from itertools import pairwise

import pysam
import pytest

from pairhmm import native as compiled
from pairhmm.simulate.api import simulate

pytestmark = pytest.mark.skipif(not compiled.is_compiled(), reason="calls need the compiled part")

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
