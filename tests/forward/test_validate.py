"""`pairhmm.validate` on the reference backend, with files small enough to score by hand."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.engine.device_pool import DevicePool
from pairhmm.errors import InputError
from pairhmm.forward.validate import Case, validate
from pairhmm.models.batch import PairBatch, Scores

HAPLOTYPE = "ACGTTGCAAGCT"
READ = "GTTGCAAG"


def line(expected: float | str, read: str = READ, base_quality: str = "?") -> str:
    n = len(read)
    return f"{HAPLOTYPE} {read} {base_quality * n} {'I' * n} {'I' * n} {'+' * n} {expected}\n"


def score(read: str = READ, base_quality: int = 30) -> float:
    """The oracle's log10 likelihood of a read against HAPLOTYPE."""
    from pairhmm.models.batch import Group, Read
    from pairhmm.sequences.letters import encode

    n = len(read)
    quality = [np.full(n, q, np.uint8) for q in (base_quality, 40, 40, 10)]
    batch = PairBatch.from_groups([Group([Read(encode(read), *quality)], [encode(HAPLOTYPE)])])
    return float(engine.forward(batch, backend="reference").log10[0])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "reference.txt"


def test_agrees_with_scores_of_the_same_backend(file: Path) -> None:
    file.write_text("# a comment\n" + line(score()) + line(score("GTTGAAAG"), "GTTGAAAG"))
    result = validate(file, backend="reference", tolerance=1e-9)
    assert result.holds
    assert (result.pairs, result.failures) == (2, 0)
    assert result.worst_difference <= 1e-9


def test_reports_the_worst_case_first(file: Path) -> None:
    file.write_text("# a comment\n" + line(score()) + line(score() + 0.5) + line(score() + 0.25))
    result = validate(file, backend="reference", worst=2)
    assert not result.holds
    assert (result.pairs, result.failures) == (3, 2)
    assert [case.line for case in result.worst] == [3, 4]
    assert result.worst_difference == pytest.approx(0.5)


@pytest.mark.parametrize("quality", [2, 6])
def test_base_qualities_are_raised_to_the_floor(file: Path, quality: int) -> None:
    file.write_text(line(score(base_quality=6), base_quality=chr(33 + quality)))
    assert validate(file, backend="reference", tolerance=1e-9).holds
    unfloored = validate(file, backend="reference", tolerance=1e-9, min_base_quality=0)
    assert unfloored.holds == (quality == 6)


@pytest.mark.parametrize(
    ("expected", "got", "difference"),
    [
        (-1.0, -1.5, 0.5),
        (-math.inf, -math.inf, 0.0),
        (-1.0, -math.inf, math.inf),
        (-1.0, math.nan, math.inf),
        (math.nan, -1.0, math.inf),
    ],
)
def test_difference_is_never_nan(expected: float, got: float, difference: float) -> None:
    assert Case(1, 8, 12, expected, got, 0).difference == difference


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf])
def test_a_score_that_is_not_finite_fails_at_any_tolerance(
    file: Path, monkeypatch: pytest.MonkeyPatch, value: float
) -> None:
    file.write_text(line(-1.0))
    scores = Scores(np.array([value]), np.zeros(1, np.uint8))
    monkeypatch.setattr(DevicePool, "forward", lambda *args, **kwargs: scores)
    result = validate(file, tolerance=1e300)
    assert not result.holds
    assert result.failures == 1


def test_a_file_without_pairs_is_an_error(file: Path) -> None:
    file.write_text("# nothing but a comment\n")
    with pytest.raises(InputError, match="no pairs"):
        validate(file, backend="reference")


def test_pairs_beyond_one_batch(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The package exports a function of the name of this module, so the module is taken from where it is registered.
    monkeypatch.setattr(sys.modules["pairhmm.forward.validate"], "PAIRS_PER_BATCH", 2)
    file.write_text("".join(line(score() + shift) for shift in (0, 0, 0, 0.25, 0.5)))
    result = validate(file, backend="reference", worst=1)
    assert (result.pairs, result.failures) == (5, 2)
    assert [case.line for case in result.worst] == [5]
