"""The compiled genotypes are those of plain NumPy, which stands here. Every likelihood is a log10."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from math import comb

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


FOREIGN_SHARES = {0.05: 0.25, 0.1: 0.25, 0.2: 0.25, 0.3: 0.25, 0.4: 0.025, 0.5: 0.0025}
"""P(share of foreign reads, relative to that of a chromosome)."""
FOREIGN_ALLELES, FOREIGN_REFERENCE, STRAND_ERRORS, GROWING_ERRORS = 1e-5, 3e-7, 5e-5, 1e-4
ERROR_SHARES = 0.1, 0.3, 0.5, 0.7, 0.9


def any_share(low: int, all_: int) -> float:
    """P(so many are low), where any share is as likely."""
    return 1 / (comb(all_, low) * (all_ + 1))


def odds_of_mapq(ours: NDArray[np.integer], others: NDArray[np.integer]) -> float:
    """How much likelier it is that mapping qualities of an allele have a distribution of their own, up to 50 times."""
    if not len(ours) or not len(others):
        return 1.0
    median = np.sort(others)[len(others) // 2]
    low, lower = int((ours < median).sum()), int((others < median).sum())
    apart = any_share(low, len(ours)) * any_share(lower, len(others))
    return (1 + min(100.0, apart / any_share(low + lower, len(ours) + len(others)))) / 2


def with_other_sources(
    observations: Floats,
    strands: NDArray[np.integer],
    mapq: NDArray[np.integer],
    cycle: Floats,
    priors: Floats,
    ploidy: int,
) -> Floats:
    """log10 P(observations | genotype), some of which may be foreign reads or errors that a strand has in common.

    `strands`: of each fragment, 1 for the forward one, 2 for the reverse one, 3 for both. `mapq`: 255 does not count.
    `cycle`: of the site in the fragment's read, as a share of it.
    """
    n_alleles = observations.shape[1]
    table = genotype_table(n_alleles, ploidy)
    of_allele = np.power(10.0, np.maximum(observations, SMALLEST_LOG10))
    own = of_allele @ np.array([(table == allele).mean(axis=1) for allele in range(n_alleles)])
    ranked = np.sort(observations, axis=1)
    informative = ranked[:, -1] - ranked[:, -2] > INFORMATIVE if n_alleles > 1 else np.ones(len(own), bool)
    shown = np.where(informative, observations.argmax(axis=1), -1)
    sums = [genotype_likelihoods(observations, ploidy)]

    def add(weight: float, shares: Floats | float, allele: int) -> None:
        share = np.broadcast_to(shares, len(own))[:, np.newaxis]
        mixed = np.maximum((1 - share) * own + share * of_allele[:, [allele]], 1e-200)
        sums.append(np.log10(mixed).sum(axis=0) + np.log10(weight))

    for allele in range(n_alleles):
        prior = 10 ** priors[comb(allele + ploidy - 1, ploidy)]
        is_shown = shown == allele
        if 2 <= is_shown.sum() < (shown >= 0).sum() / max(2, ploidy):
            odds = odds_of_mapq(mapq[is_shown & (mapq < 255)], mapq[~is_shown & (mapq < 255)])
            for share, weight in FOREIGN_SHARES.items():
                source = prior * FOREIGN_ALLELES if allele else FOREIGN_REFERENCE
                add(odds * weight / sum(FOREIGN_SHARES.values()) * source, share / ploidy, allele)
        for strand in (1, 2) if allele else ():
            alone = strands == strand
            others = ~is_shown & ~alone
            if (is_shown & alone).sum() >= 2 and (is_shown & ~alone).sum() <= 1 and others.any():
                for share in ERROR_SHARES:
                    add(prior * STRAND_ERRORS / 2 / len(ERROR_SHARES), share * alone, allele)
                    add(prior * GROWING_ERRORS / 2 / len(ERROR_SHARES), share * alone * cycle**2, allele)
    return np.array([_log10_sum(np.array(one)) for one in zip(*sums, strict=True)])


def call_sample(
    by_allele: Floats,
    fragments: NDArray[np.integer],
    allele_priors: tuple[float, ...],
    ploidy: int,
    flag: NDArray[np.integer],
    mapq: NDArray[np.integer],
    cycle: Floats,
) -> SampleGenotype:
    """The genotype of one sample from its reads' allele likelihoods, however many genotypes there are."""
    n_alleles = len(allele_priors) + 1
    priors = log10_priors(allele_priors, ploidy)
    if not len(by_allele):
        return SampleGenotype(None, (0,) * n_alleles, 0, 0, (0,) * len(priors), float(priors[0]), ploidy)
    distinct = np.unique(fragments)
    strands = [np.bitwise_or.reduce(np.where(flag[fragments == one] & 16, 2, 1)) for one in distinct]
    highest, latest = (np.array([of[fragments == one].max() for one in distinct]) for of in (mapq, cycle))
    observations = combine_mates(by_allele, fragments)
    likelihoods = with_other_sources(observations, np.array(strands), highest, latest, priors, ploidy)
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


def test_mates_that_agree_are_the_clearer_one_and_others_cancel():
    rows = np.array([[0.0, -1.0], [0.0, -3.0], [-2.0, 0.0], [0.0, -2.0]])
    combined = combine_mates(rows, np.array([7, 7, 8, 8]))
    assert combined == pytest.approx(np.array([[0.0, -3.0], [0.0, 0.0]]))


@pytest.mark.parametrize("ploidy", [1, 2, 3])
def test_genotype_likelihoods_are_products_of_means(ploidy):
    rows = np.random.default_rng(1).uniform(-4, 0, (6, 3))
    expected = [
        sum(np.log10(np.mean([10 ** row[allele] for allele in genotype])) for row in rows)
        for genotype in genotype_table(3, ploidy).tolist()
    ]
    assert genotype_likelihoods(rows, ploidy) == pytest.approx(np.array(expected))


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
    fragments = rng.integers(0, max(1, count), count)
    arrays = {
        "set_aside": rng.random(count) < 0.1,
        "start": rng.integers(0, 13, count),
        "end": rng.integers(9, 20, count),
        "sample": rng.integers(0, samples, count).astype(np.int32),
        "flag": rng.choice([0, 16], count),
        "mapq": rng.choice([20, 40, 60, 255], count),
    }
    # The prior of an allele is that of its length.
    alts = ("C", "G", "CC", "CCC", "T", "GG", "TT", "CT")[: n_alleles - 1]
    priors = tuple(SNV if len(alt) == 1 else INDEL for alt in alts)
    evidence = evidence_of(
        *(scores, fragments),
        variants=[Variant("q", AT, "A", alts)],
        alleles=allele_of[:, np.newaxis].tolist(),
        **arrays,
    )
    # Reads with gaps map worse.
    mapq = arrays["mapq"] if all(len(alt) == 1 for alt in alts) else np.full(count, 255)
    from_start = (AT + 0.5 - arrays["start"]) / np.maximum(1, arrays["end"] - arrays["start"])
    cycle = np.clip(np.where(arrays["flag"] == 16, 1 - from_start, from_start), 0, 1)
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
            of_reads = [array[ours] for array in (arrays["flag"], mapq, cycle)]
            expected = call_sample(rows[ours], fragments[ours], priors, ploidy, *of_reads)
            same_genotypes(found, expected)
