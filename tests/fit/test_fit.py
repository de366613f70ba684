"""Fits find the parameters that reads were drawn from, raise the likelihood, and are the same whatever the threads."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pairhmm.fit.by_copies import CLASSES, rising
from pairhmm.fit.counts import QUALITIES, expected_counts, log10_likelihoods, log10_start
from pairhmm.fit.errors import standard_errors
from pairhmm.fit.fit import fit_gatk, fit_profile
from pairhmm.fit.gatk_model import GatkFit, best_options
from pairhmm.fit.maximisation import FitOptions, expectation
from pairhmm.fit.pairs import FitPairs
from pairhmm.fit.profile_model import ProfileFit
from pairhmm.forward import posterior_reference as oracle
from pairhmm.models.batch import Start
from pairhmm.models.gatk import GatkOptions, pcr_quality
from pairhmm.models.profile import STARTS, preset
from tests.models.repeats_oracle import indel_quality_caps


def test_counts_are_the_oracles(draw, true_model) -> None:
    """Counts of one pair from the posteriors: matches by symbol, insertions, and transitions as flows."""
    pairs = draw(1, 40, seed=5, quality=20)
    fit = ProfileFit.of(true_model)
    tables = fit.tables(pairs)
    counts = expected_counts(pairs, tables, 1).total()
    rows = np.empty((40, 12))
    emission = tables.emission[pairs.bases.astype(int) * QUALITIES + pairs.quality]
    rows[:, :5], rows[:, 5:] = emission[:, :5], tables.transition[tables.place]
    rows[:, 8:10] *= emission[:, 5:]
    log10, match, insertion, deletion = oracle.posteriors(rows, pairs.letters, tables.start)
    assert counts.log10[0] == pytest.approx(log10, abs=1e-9)
    for a in range(4):
        for h in range(4):
            expected = match[np.ix_(pairs.bases == a, pairs.letters == h)].sum()
            assert counts.match[0, a * QUALITIES + 20, h] == pytest.approx(expected, abs=1e-9)
        assert counts.insertion[0, a * QUALITIES + 20] == pytest.approx(insertion[pairs.bases == a].sum(), abs=1e-9)
    mm, im, dm, mi, ii, md, dd = counts.transition[0].sum(axis=0)
    assert mm + im + dm == pytest.approx(match.sum(), abs=1e-9)
    assert mi + ii == pytest.approx(insertion.sum(), abs=1e-9)
    assert md + dd == pytest.approx(deletion.sum(), abs=1e-9)


def test_likelihoods_alone_are_those_of_the_counts(draw, true_model) -> None:
    pairs = draw(100)
    tables = ProfileFit.of(true_model).tables(pairs)
    assert (log10_likelihoods(pairs, tables, 2) == expected_counts(pairs, tables, 1).log10).all()


def test_a_profile_fit_finds_the_parameters(draw, true_model) -> None:
    fitted = fit_profile(draw(4000), preset("normalised"), FitOptions(sample=500))
    truth = ProfileFit.of(true_model).probabilities()
    for name, estimate in fitted.model.probabilities().items():
        if name in CLASSES[4:]:
            continue  # these classes have few bases, and take part of their rates from the first parameters
        assert (np.abs(estimate - truth[name]) <= 4.5 * fitted.errors[name]).all(), name
    assert fitted.observed and fitted.beyond == 0
    assert fitted.model.model.transitions["MI"] == pytest.approx(0.005, rel=0.1)
    assert fitted.model.model.match[1, 0] == pytest.approx(0.021, rel=0.1)
    assert fitted.model.model.start == STARTS["anywhere"]
    assert fitted.log10 > fitted.first_log10


def test_no_round_lowers_the_likelihood(draw) -> None:
    fitted = fit_profile(draw(400, quality=25), preset("normalised"), FitOptions(sample_rounds=25, gain=0.0))
    objectives = [one.objective for one in fitted.rounds]
    assert len(objectives) > 5
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(objectives))
    likelihoods = [one.log10 for one in fitted.rounds]
    assert all(after >= before - 1e-3 for before, after in pairwise(likelihoods))


def test_threads_change_nothing(draw) -> None:
    pairs = draw(700)
    alone, together = (fit_profile(pairs, preset("normalised"), threads=threads) for threads in (1, 3))
    for name, estimate in alone.model.probabilities().items():
        assert (estimate == together.model.probabilities()[name]).all()
    assert alone.rounds == together.rounds


def test_a_fit_begins_with_given_rates_by_copies(draw, true_model) -> None:
    rates = np.array([np.linspace(0.001, 0.02, 20), np.linspace(0.002, 0.04, 20)])
    given = replace(true_model, by_copies=rates)
    assert ProfileFit.of(given).rates is rates
    assert ProfileFit.of(true_model).rates.tolist() == [[0.005] * 20, [0.01] * 20]
    fitted = fit_profile(draw(400), given)
    again = fit_profile(draw(400), replace(fitted.model.model))
    assert again.first_log10 == pytest.approx(fitted.log10, abs=1e-6)


def test_few_reads_leave_rates_near_the_first(draw) -> None:
    """One read without a gap does not say that gaps are impossible."""
    codes = np.random.default_rng(1).integers(0, 4, 120).astype(np.uint8)
    pairs = FitPairs.of([codes[20:100]], [np.full(80, 40, dtype=np.uint8)], [codes])
    model = fit_profile(pairs, preset("normalised")).model.model
    assert model.transitions["MI"] == pytest.approx(3.1e-5, rel=0.1)
    assert model.transitions["II"] == pytest.approx(0.1, rel=0.05)
    assert model.insertion == pytest.approx([0.25] * 4, abs=1e-3)


def test_the_start_is_the_likelier_one() -> None:
    """Reads that all begin with their haplotype's first letter have the start "match"."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, (40, 60)).astype(np.uint8)
    quality = [np.full(50, 40, dtype=np.uint8)] * 40
    first = fit_profile(FitPairs.of(list(codes[:, :50]), quality, list(codes)), preset("normalised"))
    inner = fit_profile(FitPairs.of(list(codes[:, 5:55]), quality, list(codes)), preset("normalised"))
    assert first.model.model.start == STARTS["match"]
    assert inner.model.model.start == STARTS["anywhere"]


def test_a_start_sums_to_one() -> None:
    widths = np.array([1, 4])
    assert 10 ** log10_start(Start(0.0, 1.0), widths) == pytest.approx([1, 1])
    assert 10 ** log10_start(Start(1.0, 0.0), widths) == pytest.approx([1, 1.75])


def test_copies_are_those_of_the_pcr_model() -> None:
    rng = np.random.default_rng(2)
    bases = [rng.integers(0, 2, size).astype(np.uint8) for size in (1, 30, 80)]
    pairs = FitPairs.of(bases, bases, bases)
    table = pcr_quality("conservative")
    caps = np.concatenate([indel_quality_caps(each, "conservative") for each in bases])
    own = table[pairs.copies]
    own[pairs.read_offset[1:] - 1] = 255
    assert (own == caps).all()


def test_fits_of_both_models_find_rates_by_copies() -> None:
    """Homopolymers of six slip in a tenth of the reads, and nothing else does."""
    rng = np.random.default_rng(6)
    genome = rng.permuted(np.tile(np.arange(4), 15)).astype(np.uint8)
    haplotype = np.concatenate([genome, [0], np.full(6, 3), [1], genome[::-1]]).astype(np.uint8)
    reads = [np.delete(haplotype, 62) if k % 10 == 0 else haplotype for k in range(600)]
    quality = [np.full(len(read) - 20, 40, dtype=np.uint8) for read in reads]
    pairs = FitPairs.of([read[10:-10] for read in reads], quality, [haplotype] * 600)
    profile = fit_profile(pairs, preset("normalised"))
    assert profile.counts["6 copies"][2] + profile.counts["5 copies"][2] == pytest.approx(60, rel=0.05)
    # The first parameters of the classes with more copies have a part in it: no rate falls.
    assert profile.model.rates[1, 5] > 0.002 and profile.model.rates[:, 0].max() < 1e-4
    assert (np.diff(profile.model.rates[1]) >= 0).all()
    fitted, chosen, log10 = fit_gatk(pairs, GatkOptions())
    assert fitted.counts["6 copies"][2] + fitted.counts["5 copies"][2] == pytest.approx(60, rel=0.05)
    assert fitted.log10 > fitted.first_log10 and log10 > fitted.first_log10
    assert chosen.deletion_quality < 45 and fitted.model.insertion[0] < 1e-4


@pytest.mark.parametrize(
    ("events", "trials", "rates"),
    [
        ([1, 2, 3], [10, 10, 10], [0.1, 0.2, 0.3]),
        ([3, 1, 2], [10, 10, 10], [0.2, 0.2, 0.2]),
        ([0, 4, 0, 9], [10, 10, 30, 10], [0, 0.1, 0.1, 0.9]),
    ],
)
def test_rates_never_fall_with_the_copies(events, trials, rates) -> None:
    assert rising(np.array(events, dtype=float), np.array(trials, dtype=float)) == pytest.approx(np.array(rates))


def test_no_round_of_a_gatk_fit_lowers_the_likelihood(draw) -> None:
    fitted, _, _ = fit_gatk(draw(1500), GatkOptions(), FitOptions(sample=10_000, sample_rounds=12, gain=0))
    objective = np.array([one.objective for one in fitted.rounds])
    assert len(objective) == 13
    assert (np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all()
    assert (np.diff(fitted.model.insertion) >= -1e-15).all() and (np.diff(fitted.model.deletion) >= -1e-15).all()


def test_options_are_the_likeliest_of_all() -> None:
    """Counts that follow a PCR indel model at qualities of 37 and 35 give back these."""
    options = GatkOptions(insertion_quality=37, deletion_quality=35, gap_quality=8, pcr_indel_model="aggressive")
    fit = GatkFit.of(options)
    names = [name for name in fit.probabilities() if name != "gap"]
    pairs = FitPairs.of(*[[np.zeros(3, dtype=np.uint8)]] * 3)
    counts = expectation(fit, pairs, 1).counts
    for at, name in enumerate(names):
        _, insertion, deletion = fit.probabilities()[name]
        counts.transition[0, at, [0, 3, 5]] = 1e9 * (1 - insertion - deletion), 1e9 * insertion, 1e9 * deletion
    assert best_options(fit, counts, GatkOptions()) == options


def test_errors_of_independent_counts_are_binomial() -> None:
    rng = np.random.default_rng(8)
    p = np.array([0.1, 0.2, 0.7])
    counts = rng.multinomial(1000, p, size=2000).astype(float)
    errors, observed = standard_errors({"a": counts.sum(axis=0) / 2e6}, {"a": counts}, {"a": np.zeros(3)})
    assert observed
    assert errors["a"] == pytest.approx(np.sqrt(p * (1 - p) / 2e6), rel=0.08)
    few, observed = standard_errors({"a": p}, {"a": counts[:3]}, {"a": np.zeros(3)})
    assert not observed
    assert few["a"] == pytest.approx(np.sqrt(p * (1 - p) / 3000))
