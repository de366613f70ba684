"""The compiled genotypes are those of plain NumPy, which stands here. Every likelihood is a log10.

Samples have a few fragments, of one strand: tests/calling/test_other_sources.py is about what more of them may be.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray

from pairhmm.native import is_compiled
from pairhmm.variants.genotypes import INFORMATIVE, MAX_GQ, SampleGenotype
from pairhmm.variants.variant import Variant
from tests.calling.scored import AT, evidence_of, genotyped

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

Floats = NDArray[np.float64]

MAX_PL = 2**31 - 1
MAX_QUAL = 1e6
SMALLEST_LOG10 = -300.0
SNV, INDEL = 1e-3, 0.037


def floored(scores: Floats, score_floor: float) -> Floats:
    """Scores raised to each read's best minus a number."""
    return np.maximum(scores, scores.max(axis=1, keepdims=True) - score_floor)


def allele_likelihoods(by_haplotype: Floats, allele_of: NDArray[np.integer], n_alleles: int, floor: float) -> Floats:
    """Marginalise haplotypes to the alleles of one site.

    A read's best allele is 0. The others, of the best haplotype that has them, are at least `-floor`.
    """
    by_allele = np.full((by_haplotype.shape[0], n_alleles), -np.inf)
    for allele in range(n_alleles):
        carriers = allele_of == allele
        if carriers.any():
            by_allele[:, allele] = by_haplotype[:, carriers].max(axis=1)
    best = by_allele.max(axis=1, keepdims=True, initial=-np.inf)
    known = np.isfinite(best)
    # A read that no haplotype can explain does not tell alleles apart.
    by_allele = np.where(known, by_allele - np.where(known, best, 0.0), 0.0)
    result: Floats = np.maximum(by_allele, -floor)
    return result


def combine_mates(by_allele: Floats, fragments: NDArray[np.integer]) -> Floats:
    """One observation for each fragment: mates that overlap are copies of one molecule.

    Where mates agree on the best allele, the clearer one counts: the one with the larger range of likelihoods. Where
    they disagree, their likelihoods are added, and cancel.
    """
    combined: dict[int, Floats] = {}
    for fragment, theirs in zip(fragments.tolist(), by_allele, strict=True):
        ours = combined.get(fragment)
        if ours is None:
            combined[fragment] = theirs
        elif ours.argmax() == theirs.argmax():
            combined[fragment] = theirs if np.ptp(theirs) > np.ptp(ours) else ours
        else:
            combined[fragment] = ours + theirs - (ours + theirs).max()
    return np.array([combined[fragment] for fragment in sorted(combined)]).reshape(-1, by_allele.shape[1])


def genotype_table(n_alleles: int, ploidy: int) -> NDArray[np.int16]:
    """All genotypes in VCF order: (genotypes, ploidy)."""
    every = combinations_with_replacement(range(n_alleles), ploidy)
    return np.array(sorted(every, key=lambda genotype: genotype[::-1]), dtype=np.int16)


def log10_priors(allele_priors: tuple[float, ...], ploidy: int) -> Floats:
    """Prior of each genotype: k copies of an alternative allele have theta / k, and the reference the rest."""
    table = genotype_table(len(allele_priors) + 1, ploidy)
    priors = np.ones(len(table))
    for allele, theta in enumerate(allele_priors, start=1):
        copies = (table == allele).sum(axis=1)
        priors *= np.where(copies > 0, theta / np.maximum(copies, 1), 1.0)
    priors[0] = max(1.0 - priors[1:].sum(), priors[1:].max(initial=0.0))
    result: Floats = np.log10(priors / priors.sum())
    return result


def genotype_likelihoods(observations: Floats, ploidy: int) -> Floats:
    """log10 P(observations | genotype) in VCF order.

    An observation's likelihood is the mean of P(observation | allele) over the genotype's alleles. Observations are
    independent.
    """
    table = genotype_table(observations.shape[1], ploidy)
    shares = np.array([(table == allele).mean(axis=1) for allele in range(observations.shape[1])])
    # Without a score floor, likelihoods of mates that differ can lie beyond the range of a double.
    total: Floats = np.log10(np.power(10.0, np.maximum(observations, SMALLEST_LOG10)) @ shares).sum(axis=0)
    return total


def call_sample(
    by_allele: Floats, fragments: NDArray[np.integer], allele_priors: tuple[float, ...], ploidy: int
) -> SampleGenotype:
    """The genotype of one sample from its reads' allele likelihoods, however many genotypes there are."""
    n_alleles = len(allele_priors) + 1
    priors = log10_priors(allele_priors, ploidy)
    if not len(by_allele):
        return SampleGenotype(None, (0,) * n_alleles, 0, 0, (0,) * len(priors), float(priors[0]), ploidy)
    likelihoods = genotype_likelihoods(combine_mates(by_allele, fragments), ploidy)
    phred = np.minimum(np.rint(-10.0 * (likelihoods - likelihoods.max())), MAX_PL).astype(np.int64)
    depths, written = _informative_depths(by_allele), tuple(phred.tolist())
    if len(phred) > 1 and not phred.any():
        return SampleGenotype(None, depths, len(by_allele), 0, written, float(priors[0]), ploidy)
    posteriors = likelihoods + priors
    # The probability of being wrong is summed directly: 1 - P(best) would lose every GQ above 150.
    posteriors -= _log10_sum(posteriors)
    best = int(posteriors.argmax())
    wrong = _log10_sum(posteriors[np.arange(len(posteriors)) != best]) if len(posteriors) > 1 else -np.inf
    return SampleGenotype(
        tuple(genotype_table(n_alleles, ploidy)[best].tolist()),
        depths,
        len(by_allele),
        int(min(MAX_GQ, round(-10.0 * max(wrong, -MAX_QUAL)))),
        written,
        float(posteriors[0]),
        ploidy,
    )


def _informative_depths(by_allele: Floats) -> tuple[int, ...]:
    """Informative reads of each allele (AD)."""
    n_reads, n_alleles = by_allele.shape
    ranked = np.sort(by_allele, axis=1)
    informative = ranked[:, -1] - ranked[:, -2] > INFORMATIVE if n_alleles > 1 else np.ones(n_reads, bool)
    counts = np.bincount(by_allele.argmax(axis=1)[informative], minlength=n_alleles)
    return tuple(int(count) for count in counts)


def _log10_sum(values: Floats) -> float:
    top = float(values.max())
    return top + float(np.log10(np.power(10.0, np.maximum(values - top, SMALLEST_LOG10)).sum()))


def same_genotypes(found: SampleGenotype, expected: SampleGenotype) -> None:
    """All that a record shows is the same; the posterior may differ in its last places."""
    assert found.log10_reference == pytest.approx(expected.log10_reference, rel=1e-9, abs=1e-9)
    assert replace(found, log10_reference=0.0) == replace(expected, log10_reference=0.0)


@pytest.mark.parametrize("score_floor", [4.5, None])
@pytest.mark.parametrize(("n_alleles", "ploidy"), [(1, 1), (2, 0), (2, 1), (2, 2), (3, 2), (4, 3), (3, 7), (9, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_native_genotypes_are_those_of_numpy(n_alleles, ploidy, score_floor, seed):
    rng = np.random.default_rng([1, seed, n_alleles, ploidy])
    count, haplotypes, samples = int(rng.integers(0, 60)), n_alleles + 3, 3
    scores = -rng.integers(0, 200, (count, haplotypes)) / 16.0
    scores[rng.random(scores.shape) < 0.1] = -80.0
    scores[rng.random(count) < 0.05] = -np.inf
    allele_of = rng.integers(-1, n_alleles, haplotypes)
    fragments = rng.integers(0, 4, count)
    arrays = {
        "set_aside": rng.random(count) < 0.1,
        "start": rng.integers(0, 13, count),
        "end": rng.integers(9, 20, count),
        "sample": rng.integers(0, samples, count).astype(np.int32),
    }
    # The prior of an allele is that of its length; each of three letters has a third of it.
    alts = ("C", "G", "CC", "CCC", "T", "GG", "TT", "CT")[: n_alleles - 1]
    priors = tuple(SNV / 3 if len(alt) == 1 else INDEL for alt in alts)
    evidence = evidence_of(
        *(scores, fragments),
        variants=[Variant("q", AT, "A", alts)],
        alleles=allele_of[:, np.newaxis].tolist(),
        **arrays,
    )
    over = ~arrays["set_aside"] & (arrays["start"] < AT + 1) & (arrays["end"] > AT)
    with np.errstate(invalid="ignore"):
        seen = scores if score_floor is None or not count else floored(scores, score_floor)
        rows = allele_likelihoods(seen, allele_of, n_alleles, score_floor or 300.0)
    for sample in range(samples):
        ours = over & (arrays["sample"] == sample)
        # By itself, a sample does not share the frequencies of alleles.
        alone = replace(evidence, set_aside=~ours, sample=np.zeros(count, dtype=np.int32))
        (site,) = genotyped(alone, (ploidy,), score_floor=score_floor, priors=(SNV, INDEL))
        found = replace(site.samples[0], strands=(0, 0, 0, 0))
        if ploidy == 0:
            assert found == SampleGenotype(None, (0,) * n_alleles, 0, 0, (), 0.0, 0)
        else:
            same_genotypes(found, call_sample(rows[ours], fragments[ours], priors, ploidy))


def test_alleles_that_no_sample_has_leave_a_genotype_as_unsure_as_it_is():
    """Four reads show one length of a repeat, and two a similar one: either may be the right one."""
    scores = [(0.0, -3.0, -4.0)] * 8 + [(-3.0, 0.0, -0.5)] * 4 + [(-4.0, -0.5, 0.0)] * 2
    (listed,), (found,) = (genotyped(evidence_of(scores), mnv=is_discovered) for is_discovered in (False, True))
    assert len(listed.variant.alts) == 2 and len(found.variant.alts) == 1
    assert found.samples[0].alleles == (0, 1)
    assert found.samples[0].quality == listed.samples[0].quality < 20
