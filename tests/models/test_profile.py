"""The profile model's parameters and what is wrong with them."""

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from Bio.Data.IUPACData import ambiguous_dna_values

from pairhmm.errors import InputError
from pairhmm.models import profile
from pairhmm.models.batch import PairBatch
from pairhmm.models.gatk import ERROR, copies_of
from pairhmm.sequences.letters import READ_LETTERS, encode_read

RATES = [0.1] * 20
NORMALISED = (files("pairhmm.models") / "presets" / "normalised.toml").read_text()


def test_normalised_preset_is_normalised():
    model = profile.preset("normalised")
    assert model.match.sum(axis=0) == pytest.approx([1] * 5)
    assert model.insertion.sum() == pytest.approx(1)
    for state in "MID":
        leaving = sum(p for name, p in model.transitions.items() if name[0] == state)
        assert leaving == pytest.approx(1)


def test_published_preset():
    model = profile.preset("published")
    assert model.match.diagonal().tolist() == [0.9, 0.8, 0.9, 0.7]
    assert model.match[0, 1] == 1.0
    assert model.transitions["MD"] == 0.0
    assert (model.start.match, model.start.deletion) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('start = "match"', 'start = "left"', "'left' is not a start"),
        ("MM =", "XY =", "transitions.XY: unknown key"),
        ("DD = 0.1", "", "transitions.DD: missing"),
        ("II = 0.1", "II = 1.5", "1.5 is not a probability"),
        ("[insertion]", "[insertions]", "insertions: unknown key"),
        ("0.999, ", "", "match.A: must have 5 values"),
        ('start = "match"', "start = ", "not a TOML file"),
        ('start = "match"', "start = 1", "1 is not a start"),
        ("II = 0.1", "II = -0.1", "transitions.II: -0.1 is not a probability"),
        ("II = 0.1", "II = nan", "transitions.II: nan is not a probability"),
        ("II = 0.1", 'II = "0.1"', "transitions.II: '0.1' is not a probability"),
        ("II = 0.1", "II = true", "transitions.II: True is not a probability"),
        ("[transitions]", "[transitions.more]", "transitions.more: unknown key"),
        ("[match]", "by_copies = 1\n[match]", "by_copies: not a table"),
        (NORMALISED, f"{NORMALISED}[by_copies]\nMI = {RATES}\n", "by_copies.MD: missing; give all of MI, MD"),
        (NORMALISED, f"{NORMALISED}[by_copies]\nMI = {RATES}\nMM = {RATES}\n", "by_copies.MM: unknown key"),
        (NORMALISED, f"{NORMALISED}[by_copies]\nMI = {RATES}\nMD = 0.1\n", "by_copies.MD: must have 20 values"),
        (NORMALISED, f"{NORMALISED}[by_copies]\nMI = {RATES}\nMD = {[-1, *RATES[1:]]}\n", "-1 is not a probability"),
        (
            NORMALISED,
            f"{NORMALISED}[by_copies]\nMI = {RATES}\nMD = {[*RATES[1:], 0.95]}\n",
            "MI \\+ MD of value 20 is 1.05",
        ),
        (NORMALISED, "", "holds no parameters"),
        (NORMALISED, "# nothing", "holds no parameters"),
    ],
)
def test_bad_parameters(tmp_path, old, new, message):
    path = tmp_path / "model.toml"
    path.write_text(NORMALISED.replace(old, new))
    with pytest.raises(InputError, match=message) as caught:
        profile.read_parameters(path)
    assert str(path) in str(caught.value)


def test_rows_must_sum_to_one():
    probabilities = np.full((3, 4), 0.25)
    probabilities[1, 0] = 0.5
    with pytest.raises(ValueError, match=r"row 2 sums to 1\.25"):
        profile.preset("normalised").rows(probabilities)


def test_one_hot_spreads_the_error():
    p = profile.one_hot(np.array([1, 4], dtype=np.uint8), np.array([0.03, 0.5]))
    assert p == pytest.approx(np.array([[0.01, 0.97, 0.01, 0.01], [0.25] * 4]))


@pytest.mark.parametrize("letter", READ_LETTERS)
def test_a_call_is_the_mean_of_the_calls_of_its_bases(letter):
    error = np.array([0.12])
    rows = [profile.one_hot(encode_read(base), error)[0] for base in ambiguous_dna_values[letter]]
    assert profile.one_hot(encode_read(letter), error)[0] == pytest.approx(np.mean(rows, axis=0))


def test_base_calls_name_their_rows():
    bases = np.repeat(np.arange(15, dtype=np.uint8), 128)
    quality = np.tile(np.arange(128, dtype=np.uint8), 15)
    profiles = profile.preset("normalised").base_calls(bases, quality)
    assert profiles.kinds is not None and len(profiles.probabilities) == len(bases)
    profile.check_profile(profiles.probabilities)
    assert np.array_equal(profiles.at_bases, profile.one_hot(bases, ERROR[quality]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"match": np.full((4, 5), 0.5)}, "eps_M(., A) sums to 2"),
        ({"insertion": np.full(4, 0.125)}, "eps_I sums to 0.5"),
        ({"transitions": dict.fromkeys(profile.TRANSITIONS, 1.0)}, "MM + MI + MD sums to 3"),
    ],
)
def test_what_is_no_distribution_is_named(change, said):
    assert replace(profile.preset("normalised"), **change).unlike_one() == said


@pytest.fixture
def slippery():
    """A model whose gaps open more often with every copy."""
    rates = np.array([np.arange(1, 21) / 1000, np.arange(1, 21) / 2000])
    return replace(profile.preset("normalised"), by_copies=rates)


def test_rates_by_copies_come_from_a_file(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(f"{NORMALISED}[by_copies]\nMI = {RATES}\nMD = {[0.2] * 20}\n")
    assert np.array_equal(profile.read_parameters(path).by_copies, [[0.1] * 20, [0.2] * 20])
    assert profile.preset("normalised").by_copies is None


def test_rows_have_the_rates_of_their_copies(slippery):
    """A base's rates are those of the repeat at it; MM is what they leave, and the other transitions are constant."""
    reads = [encode_read(text) for text in ("ACGTTTTTTTACAG", "CACACACAGG", "T")]
    offset = np.cumsum([0, *map(len, reads)])
    bases = np.concatenate(reads)
    plain = slippery.base_calls(bases, np.full(len(bases), 20, dtype=np.uint8))
    own = slippery.with_repeats(plain, offset)
    copies = copies_of(offset, bases)
    assert copies[3:9].tolist() == [7] * 6 and copies[-1] == 1
    rows, expected = profile.rows(own), profile.rows(plain)
    expected[:, 5] = 1 - copies / 1000 - copies / 2000
    expected[:, 8], expected[:, 10] = copies / 4000, copies / 2000  # an inserted letter has 1/4
    assert np.allclose(rows, expected, rtol=1e-12, atol=0)
    assert own.kinds is not None and len(own.probabilities) < len(bases)
    dense = slippery.with_repeats(slippery.profiles(plain.at_bases), offset)
    assert np.array_equal(profile.rows(dense), rows)
    assert np.array_equal(profile.rows(dense.sliced(slice(3, 9))), rows[3:9])


def test_too_many_rows_for_numbers_are_rows_a_base(slippery):
    """Each row twice: by itself, and in a repeat of its likeliest letter."""
    rng = np.random.default_rng(7)
    rows = 40_000
    probabilities = rng.dirichlet(np.ones(4), rows)
    kinds = np.concatenate([rng.permutation(rows), np.argsort(probabilities.argmax(axis=1))]).astype(np.uint16)
    given, offset = replace(slippery.profiles(probabilities), kinds=kinds), np.array([0, rows, 2 * rows])
    found = slippery.with_repeats(given, offset)
    assert found.kinds is None
    dense = slippery.with_repeats(slippery.profiles(given.at_bases), offset)
    assert np.array_equal(profile.rows(found), profile.rows(dense))


def test_a_profile_has_the_copies_of_its_likeliest_letters(slippery):
    """Rows need not be sure. A row without a likeliest letter is N, which ends a repeat."""
    unsure = np.full((6, 4), 0.2)
    unsure[:, 2] = 0.4
    given = np.concatenate([unsure, unsure])
    whole = slippery.with_repeats(slippery.profiles(given), np.array([0, 12]))
    assert whole.transitions[4, 3] == 0.012
    given[6] = 0.5, 0, 0.5, 0
    ended = slippery.with_repeats(slippery.profiles(given), np.array([0, 12]))
    assert ended.transitions[4, 3] == 0.006


def test_without_rates_by_copies_reads_stay_as_they_are():
    model = profile.preset("normalised")
    given = model.profiles(np.full((5, 4), 0.25))
    assert model.with_repeats(given, np.array([0, 5])) is given


def test_rates_by_copies_become_rows_where_kernels_take_constants():
    """Other batches stay as they are."""
    model = replace(profile.preset("normalised"), by_copies=np.array([np.arange(1, 21) / 500] * 2))
    bases, one, each = encode_read("ACGTTTTTAC"), np.array([0, 1]), np.array([0, 10])
    plain = model.base_calls(bases, np.full(10, 30, dtype=np.uint8))
    batch = PairBatch(one, one, each, each, bases, model.start, profiles=plain)
    assert profile.with_one_gap_model(batch) is batch
    kinds = replace(batch, profiles=model.with_repeats(plain, each))
    assert profile.with_one_gap_model(kinds) is kinds
    own = model.with_repeats(model.profiles(plain.at_bases), each)
    made = profile.with_one_gap_model(replace(batch, profiles=own))
    assert made.profiles is None
    assert np.array_equal(made.rows, profile.rows(own))
