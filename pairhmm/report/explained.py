"""Explanations of positions in a report, from the text that `pairhmm explain` writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import PageData

_VERDICT = re.compile(r"(\S.*:\d+) (called|not called): (.*)")
_INDENT = "  "


def read_explanations(paths: Iterable[str]) -> list[list[Any]]:
    """Each explanation: its place, whether it is called, why, and its sections, a title and lines each.

    The first section has no title: the options with which the position is called.
    """
    return [one for path in paths for one in _read(path)]


def _read(path: str) -> list[list[Any]]:
    explanations: list[list[Any]] = []
    is_first = True
    for number, line in enumerate(read_lines(path), start=1):
        if not line:
            is_first = True
            continue
        if is_first:
            explanations.append(_begun(path, number, line))
        elif line.startswith(_INDENT):
            explanations[-1][-1][-1][1].append(line.removeprefix(_INDENT))
        else:
            explanations[-1][-1].append([line, []])
        is_first = False
    if not explanations:
        raise InputError(path, "", "has no explanation", "give a file that pairhmm explain wrote, without --json")
    return explanations


def _begun(path: str, number: int, line: str) -> list[Any]:
    found = _VERDICT.fullmatch(line)
    if found is None:
        cure = "give a file that pairhmm explain wrote, without --json"
        raise InputError(path, f"line {number}", "is not the verdict of an explanation", cure)
    return [found[1], found[2] == "called", found[3], [["", []]]]


def read_reported_explanations(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> PageData:
    """Read the explanations."""
    return PageData({"explained": read_explanations(inputs.explanations)})
