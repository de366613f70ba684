"""STR models: qualities by the repeat at a base, from rates and from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pairhmm import engine
from pairhmm.calling.cut_reads import CutReads
from pairhmm.calling.scoring import model_reads
from pairhmm.errors import InputError, OptionError
from pairhmm.models.batch import PairBatch, Qualities
from pairhmm.models.gatk import START, GatkOptions, IndelQualities
from pairhmm.models.labels import label_of
from pairhmm.models.str_model import StrModel
from pairhmm.models.str_parameters import (
    LIBRARIES,
    UNITS,
    model_of_rates,
    rates_of,
    read_str_model,
    str_model_of,
    str_toml,
)
from pairhmm.native import is_compiled, native
from pairhmm.sequences.letters import encode
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS
from tests.models.repeats_oracle import tandem_repeats

needs_compiled = pytest.mark.skipif(not is_compiled(), reason="repeats need the compiled part")

SHAPE = LONGEST_REPEAT_UNIT, MOST_REPEATS


def distinct_model() -> StrModel:
    """A model whose insertion quality tells unit and copies apart: (unit - 1) * 11 + copies / 2."""
    table = tuple(tuple((unit * 11 + copies // 2) for copies in range(1, 21)) for unit in range(8))
    return StrModel(table, table, table)


def prepared(model: StrModel, bases: NDArray[np.uint8], quality: NDArray[np.uint8]) -> Qualities:
    """A read as it is scored."""
    cut = CutReads(np.array([0, len(bases)]), bases, quality, np.array([255], dtype=np.uint8))
    return model_reads(cut, GatkOptions(str_model=model), None)["qualities"]


@needs_compiled
@pytest.mark.parametrize("seed", range(5))
def test_copies_are_those_of_gatk(seed):
    """The quality of every base is that of the copies that GATK's rule counts there, in one of the units."""
    bases = np.random.default_rng(seed).integers(0, 2, 80, dtype=np.uint8)
    kind = np.empty(len(bases), dtype=np.uint8)
    native.classify_repeats(np.array([0, len(bases)]), bases, MOST_REPEATS, LONGEST_REPEAT_UNIT, kind)
    counted = [max(1, tandem_repeats(bases, position)) for position in range(len(bases) - 1)]
    assert (kind[:-1] % MOST_REPEATS + 1).tolist() == counted
    assert kind[-1] == 0


@needs_compiled
@pytest.mark.parametrize(
    ("text", "place", "unit", "copies"),
    [("CAAAAAAG", 2, 1, 6), ("GCATCATCATCATT", 0, 3, 4), ("TACACACACG", 0, 2, 4), ("ACGTGCTA", 3, 1, 1)],
)
def test_a_base_has_the_qualities_of_its_repeat(text, place, unit, copies):
    bases = encode(text)
    read = prepared(distinct_model(), bases, np.full(len(bases), 40, dtype=np.uint8))
    qualities = read.insertion_quality[place], read.deletion_quality[place], read.gap_quality[place]
    assert qualities == ((unit - 1) * 11 + copies // 2,) * 3


@needs_compiled
@pytest.mark.parametrize(
    ("unit", "copies"), [("A", 12), ("AC", 8), ("ACG", 6), ("ACGT", 5), ("A", 70), ("AC", 55), ("ACG", 50)]
)
def test_all_alignments_of_a_changed_read_add_up_to_its_rate(unit, copies):
    """A read with one unit fewer than a haplotype scores as without a change, times the rate."""
    rate = 1e-3
    gain, loss = np.zeros(SHAPE), np.full(SHAPE, rate)
    model = model_of_rates(gain, loss, "test")
    left, right = "GTTGACTTGCATGCCTAGAT", "TGGATCCTTGCAGTCATGGC"
    changed, full = left + unit * (copies - 1) + right, left + unit * copies + right
    scores = []
    for haplotype in (full, changed):
        bases = encode(changed)
        offset = np.array([0, len(bases)])
        quality = np.full(len(bases), 60, dtype=np.uint8)
        batch = PairBatch(
            read_offset=offset,
            start=START,
            qualities=prepared(model, bases, quality),
            group_read=np.array([0, 1]),
            group_haplotype=np.array([0, 1]),
            haplotype_offset=np.array([0, len(haplotype)]),
            haplotypes=encode(haplotype),
        )
        scores.append(float(engine.forward(batch, "reference", 1).log10[0]))
    assert scores[0] - scores[1] == pytest.approx(np.log10(rate), abs=0.35)


@needs_compiled
@pytest.mark.parametrize(("copies", "step"), [(20, 0), (22, 0), (23, 1), (46, 4), (120, 8), (230, 11), (400, 11)])
def test_gaps_are_rarer_at_each_base_of_longer_repeats(copies, step):
    """A repeat of more than 20 copies slips in total as often as one of 20: each 26% of places cost 1 more."""
    bases = encode("CGT" + "A" * copies + "CGT")
    read = prepared(str_model_of("pcr"), bases, np.full(len(bases), 40, dtype=np.uint8))
    at = 3 + copies // 2
    model = str_model_of("pcr")
    found = read.insertion_quality[at], read.deletion_quality[at], read.gap_quality[at]
    assert found == (model.insertion[0][19] + step, model.deletion[0][19] + step, model.gap[0][19])


@needs_compiled
def test_gaps_of_longer_repeats_are_no_rarer_than_elsewhere():
    row = (45,) * 18 + (44, 44)
    read = prepared(StrModel((row,) * 8, (row,) * 8, (row,) * 8), encode("C" + "A" * 80), np.full(81, 40, np.uint8))
    assert read.insertion_quality[40] == read.deletion_quality[40] == 45


def test_built_in_models_lower_qualities_with_copies_and_with_pcr():
    free, pcr = (str_model_of(name) for name in LIBRARIES)
    for table in ("insertion", "deletion"):
        ours, theirs = np.array(getattr(free, table)), np.array(getattr(pcr, table))
        assert (theirs <= ours).all() and (theirs < ours).any()
        assert (ours[:, 0] == 45).all() and ours[0, 4] > ours[0, 14]
    assert set(free.gap[0]) == {10} and free.gap[3][9] == 2


@needs_compiled
def test_long_repeats_slip_in_a_fifth_of_the_reads_without_pcr():
    """Half of the reads are then another allele, and no slips."""
    free, pcr = (sum(rates_of(str_model_of(name))) for name in LIBRARIES)
    assert free[:2, 17:].min() > 0.15 and free.max() < 0.23
    assert pcr[:2, 17:].min() > 0.35


def test_a_file_gives_its_model_back(tmp_path: Path):
    model = str_model_of("pcr")
    path = tmp_path / "str.toml"
    path.write_text(str_toml(model, ["a comment"]))
    again = read_str_model(path)
    assert (again.insertion, again.deletion, again.gap) == (model.insertion, model.deletion, model.gap)
    assert again.name == str(path)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("[gap_continuation]", "[gaps]", "gaps: unknown key"),
        ("unit_8 = [45", "unit_9 = [45", "unit_9: unknown key"),
        ("unit_1 = [45, 45", "unit_1 = [45", "must have 20 values"),
        ("unit_1 = [45", "unit_1 = [-1", "-1 is not a quality"),
        ("[insertion_opening]", "[insertion_opening", "not a TOML file"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, old, new, rule):
    text = str_toml(str_model_of("pcr-free"), [])
    assert old in text
    path = tmp_path / "str.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=rule):
        read_str_model(path)


def test_tables_have_every_unit_and_number_of_copies():
    row = (45,) * MOST_REPEATS
    with pytest.raises(OptionError, match="8 rows of 20"):
        StrModel((row,) * 7, (row,) * 8, (row,) * 8)
    with pytest.raises(OptionError, match="insertion"):
        StrModel(((300,) * MOST_REPEATS,) * 8, (row,) * 8, (row,) * 8)
    assert len(UNITS) == LONGEST_REPEAT_UNIT


def test_one_table_alone_stands_in_place_of_the_options():
    by_copies = IndelQualities((45,) * 20, (45,) * 20)
    with pytest.raises(OptionError, match="give one"):
        GatkOptions(indel_qualities=by_copies, str_model=str_model_of("pcr"))
    assert label_of(GatkOptions(str_model=str_model_of("pcr"))) == "gatk (pcr)"
