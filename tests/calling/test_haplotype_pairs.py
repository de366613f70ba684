"""What the sites of a region say together is a pair of haplotypes that explains the reads."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest

import pairhmm
from pairhmm.native import is_compiled
from pairhmm.simulate.api import simulate
from pairhmm.variants.variant import Variant
from tests.calling.scored import evidence_of, genotyped

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

SNVS = Variant("q", 10, "A", ("C",)), Variant("q", 50, "A", ("C",))


def genotypes(rows, alleles, **given):
    """Of the two SNVs, from reads' scores by haplotype."""
    sites = genotyped(evidence_of(rows, variants=SNVS, alleles=alleles), **given)
    return [site.samples[0].alleles for site in sites]


@pytest.mark.parametrize("ploidy", [1, 2])
def test_sites_are_not_all_the_reference_where_no_read_fits_it(ploidy):
    """Either allele explains all reads, so that no read tells the alleles of any site apart."""
    rows = [[-20.0, 0.0, 0.0]] * 12
    alleles = [(0, 0), (1, 0), (0, 1)]
    assert genotypes(rows, alleles, ploidies=(ploidy,), score_floor=4.5) == [None, None], "of a list"
    assert genotypes(rows, alleles, ploidies=(ploidy,), score_floor=4.5, mnv=True) == [(1,) * ploidy]


def test_reads_of_a_third_haplotype_make_no_genotype():
    own = [[0.0, -9.0, -9.0, -9.0]] * 12 + [[-9.0, 0.0, -9.0, -9.0]] * 12
    rows = own + [[-9.0, -9.0, 0.0, -9.0]] * 5
    alleles = [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert genotypes(rows, alleles, score_floor=4.5) == genotypes(own, alleles, score_floor=4.5) == [(0, 1), (0, 0)]


def test_a_rival_does_not_lend_its_reads_to_the_reference():
    """Reads of the middle of two insertions fit both alike, those of their end speak against the second one."""
    rows = [[0.0, -9.0, -9.0]] * 6 + [[-9.0, 0.0, 0.0]] * 6 + [[0.0, 0.0, -9.0]] * 20
    assert genotypes(rows, [(0, 0), (1, 0), (0, 1)], score_floor=4.5) == [(0, 1), (0, 0)]


def fragments(region):
    """P(fragment | haplotype) of a sample's fragments, the best 1: what either mate says against one counts once."""
    rows: dict[str, np.ndarray] = {}
    for read in np.flatnonzero(~region.set_aside).tolist():
        scores = region.log10[read]
        row = np.maximum(scores - scores.max(), -4.5)
        rows[region.names[read]] = np.minimum(rows.get(region.names[read], 0.0), row)
    return np.array([10 ** (row - row.max()) for row in rows.values()])


def trimmed(ref, alt):
    while len(ref) > 1 and len(alt) > 1 and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
    return ref, alt


def spelled(sites):
    """The copies of each allele that genotypes have."""
    copies = Counter()
    for site in sites:
        for allele in site.samples[0].alleles or ():
            if allele and site.variant.alts[allele - 1] != "*":
                copies[site.variant.pos, *trimmed(site.variant.ref, site.variant.alts[allele - 1])] += 1
    return copies


def carried(variants, alleles):
    """The alternative alleles of a haplotype."""
    pairs = [(one, allele) for one, allele in zip(variants, alleles, strict=True) if allele]
    return Counter((one.pos, *trimmed(one.ref, one.alts[allele - 1])) for one, allele in pairs)


def test_the_pair_that_is_written_is_nearly_the_best(tmp_path):
    """Of regions with a variant every 60 bases, many in repeats: at most 10 (log10) below the best pair."""
    made = simulate(tmp_path, length=30_000, coverage=30, snvs=300, indels=200, max_indel=20, seed=4)
    given = str(made.bam), str(made.reference)
    sites = list(pairhmm.call(*given, backend="cpu"))
    regions = 0
    for region in pairhmm.likelihoods(*given, backend="cpu"):
        variants, likelihoods = region.region.variants, fragments(region)
        if len(variants) < 2 or not len(likelihoods):
            continue
        regions += 1
        places = {one.pos for one in variants}
        called = spelled(site for site in sites if site.variant.pos in places)
        own = [carried(variants, haplotype.alleles) for haplotype in region.haplotypes]
        pairs = {
            pair: float(np.log10(likelihoods[:, list(pair)].mean(axis=1)).sum())
            for pair in combinations_with_replacement(range(len(own)), 2)
        }
        written = [value for (one, other), value in pairs.items() if own[one] + own[other] == called]
        assert max(written) >= max(pairs.values()) - 10, region
    assert regions > 50
