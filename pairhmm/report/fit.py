"""A fit in a report: the comments of its TOML, and its table of rounds."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import isfinite
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines, read_rows
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import PageData

ROUND_COLUMNS = ("pairs", "round", "reads", "log10_likelihood", "log10_likelihood_per_read", "log10_with_prior")
_MADE_BY = "pairhmm fit"
_CURE = f"give a file that {_MADE_BY} wrote"
_TITLE = re.compile(r"# pairhmm fit --model (gatk|profile): (.*)")
_SUMMARY = re.compile(r"# (\d{1,18}) reads; log10 likelihood (\S+), before the fit (\S+)")
_BASIS = "# Standard errors are of "
_HEADER = "# parameter | estimate | standard error | expected count"


def read_fit(path: str) -> dict[str, Any]:
    """The fit in a TOML file, as its comments describe it. The likelihoods are those of all reads, after and before."""
    lines = list(enumerate(read_lines(path), start=1))
    title = _TITLE.fullmatch(lines[0][1]) if lines else None
    summary = _SUMMARY.fullmatch(lines[1][1]) if len(lines) > 1 else None
    if title is None or summary is None:
        raise InputError(path, f"line {1 if title is None else 2}", "does not tell of a fit", _CURE)
    basis = next((line.removeprefix(_BASIS) for _, line in lines if line.startswith(_BASIS)), "")
    at = next((number for number, line in lines if line == _HEADER), None)
    if at is None:
        raise InputError(path, "", "has no estimates with standard errors", _CURE)
    estimates = [_estimate(path, number, line) for number, line in lines[at:] if line]
    after, before = (_number(path, 2, text) for text in summary.groups()[1:])
    return {
        "model": title[1],
        "source": title[2],
        "reads": int(summary[1]),
        "log10": after,
        "firstLog10": before,
        "basis": basis,
        "estimates": estimates,
    }


def _estimate(path: str, number: int, line: str) -> list[Any]:
    """Name, probability, standard error (None where there is none), and expected number of events of a parameter."""
    fields = line.removeprefix("# ").split(" | ")
    if len(fields) != 4 or not line.startswith("# "):
        raise InputError(path, f"line {number}", "is not an estimate", _CURE)
    name, probability, error, count = fields
    # Behind a probability of GATK's model stands its Phred value.
    value = _number(path, number, probability.partition(" ")[0])
    if not 0 <= value <= 1:
        raise InputError(path, f"line {number}", f"{value:g} is not a probability", _CURE)
    return [name, value, None if error == "nan" else _number(path, number, error), _number(path, number, count)]


def read_rounds(path: str) -> list[list[Any]]:
    """The rounds of a fit: its pairs ("sample" or "all"), its number from 0, reads, and log10 a read before it."""
    rounds = []
    for at, row in enumerate(read_rows(path, ROUND_COLUMNS, f"{_MADE_BY} --rounds"), start=2):
        pairs, number, reads, _, per_read, _ = row
        if pairs not in ("sample", "all") or not all(text.isascii() and text.isdigit() for text in (number, reads)):
            raise InputError(path, f"line {at}", "is not a round", _CURE)
        counts = int(_number(path, at, number)), int(_number(path, at, reads))
        rounds.append([pairs, *counts, _number(path, at, per_read)])
    return rounds


def _number(path: str, at: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise InputError(path, f"line {at}", f"{text[:30]!r} is not a number", _CURE)
    return number


def read_reported_fit(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> PageData:
    """Read the parameters and the rounds of a fit."""
    if inputs.fit is None:
        return PageData({"fit": None})
    rounds = [] if inputs.fit_rounds is None else read_rounds(inputs.fit_rounds)
    return PageData({"fit": read_fit(inputs.fit) | {"rounds": rounds}})
