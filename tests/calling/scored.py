"""Sites of scores that a test has."""

from itertools import islice, product

import numpy as np

from pairhmm.calling.genotyping import Site, to_sites
from pairhmm.calling.scored_region import Evidence
from pairhmm.native import native
from pairhmm.sequences.arrays import Names
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region
from pairhmm.variants.variant import Variant

AT = 10
"""Where the first candidate lies. Reads reach over all candidates without `start` and `end`."""


def substitutions(alleles: int, position: int = AT) -> Variant:
    """A candidate of so many alleles, of one length, so that each alternative one has the prior of SNVs."""
    ref, *alts = map("".join, islice(product("ACGT", repeat=3), alleles))
    return Variant("q", position, ref, tuple(alts))


def evidence_of(scores, fragments=None, *, variants=None, alleles=None, **arrays) -> Evidence:
    """A scored region. `alleles`: those of each haplotype. By default, each is another allele of one candidate."""
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    reads, haplotypes = scores.shape
    alleles = [(number,) for number in range(haplotypes)] if alleles is None else alleles
    variants = (substitutions(haplotypes),) if variants is None else variants

    def column(name, default, kind):
        return np.ascontiguousarray(arrays.get(name, np.full(reads, default)), dtype=kind)

    return Evidence(
        Region("q", 0, 99, 0, 99, 0, 99, tuple(variants), tuple((one.pos, one.pos + 1) for one in variants)),
        [Haplotype("A", tuple(own)) for own in alleles],
        Names.of([f"r{number}" for number in (range(reads) if fragments is None else fragments)]),
        column("sample", 0, np.int32),
        column("flag", 0, np.uint16),
        column("mapq", 60, np.uint8),
        column("start", 0, np.int64),
        column("end", 100, np.int64),
        column("length", 100, np.int64),
        np.ascontiguousarray(arrays.get("from_end", np.full((reads, len(variants)), 9)), dtype=np.int32),
        scores,
        np.zeros((reads, haplotypes), dtype=np.uint8),
        column("set_aside", False, np.bool_),
    )


def native_region(evidence: Evidence) -> native.ScoredRegion:
    """The scored region for native code."""
    return native.ScoredRegion(
        evidence.region,
        evidence.haplotypes,
        evidence.names.text,
        evidence.names.end,
        evidence.sample,
        evidence.flag,
        evidence.mapq,
        evidence.start,
        evidence.end,
        evidence.length,
        evidence.from_end,
        evidence.log10,
        evidence.precision,
        evidence.set_aside,
        evidence.unfit,
        evidence.reads,
        evidence.fragment,
    )


def genotyped(
    evidence: Evidence,
    ploidies=(2,),
    families=(),
    *,
    score_floor=None,
    priors=(1e-3, 1e-3),
    mnv=False,
    contamination=0.0,
    mixture=False,
) -> list[Site]:
    """The sites of a scored region. `ploidies`: of each sample; `priors`: of SNVs and of indels.

    `mixture`: samples are mixtures. `mnv`: the candidates were discovered, and neighbouring SNVs are one site.
    """
    related = [(one.father, one.mother, list(one.children)) for one in families]
    rules = [(ploidy, []) for ploidy in ploidies]
    genotyper = native.Genotyper(
        *(*priors, rules, related, score_floor, mnv, mnv, False, [contamination] * len(ploidies)), mixture=mixture
    )
    return to_sites(genotyper.genotype(native_region(evidence)), ())
