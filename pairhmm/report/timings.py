"""The times of a run's jobs in a report, from Snakemake's benchmark files."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import PageData

_SECONDS, _MEGABYTES, _CPU = "s", "max_rss", "cpu_time"
SAMPLED_SECONDS = 1.0
"""Snakemake samples a job's memory and processor time. Of a job shorter than this it has seen too little."""


def read_timings(paths: Sequence[str]) -> list[list[Any]]:
    """Name, seconds, processor seconds and peak memory (MB) of each job. None stands for what was not sampled.

    A job is named by the part of its path that the others do not share. Repetitions are numbered.
    """
    timings = []
    for path, name in zip(paths, _names(paths), strict=True):
        rows = _rows(path)
        for number, row in enumerate(rows, start=1):
            seconds = _number(row.get(_SECONDS, ""))
            if seconds is None:
                raise InputError(path, f"line {number + 1}", "has no seconds", "give a benchmark file of Snakemake")
            own = name if len(rows) == 1 else f"{name} ({number})"
            known = row if seconds >= SAMPLED_SECONDS else {}
            timings.append([own, seconds, *(_number(known.get(column, "")) for column in (_CPU, _MEGABYTES))])
    return timings


def _rows(path: str) -> list[dict[str, str]]:
    header, *lines = [line.split("\t") for line in read_lines(path)] or [[]]
    if _SECONDS not in header:
        rule = "is empty" if not header else "its first line has no column s"
        raise InputError(path, "line 1", rule, "give a benchmark file of Snakemake")
    return [dict(zip(header, line, strict=False)) for line in lines]


def _number(text: str) -> float | None:
    """A number. None where Snakemake could not measure, and for numbers that JSON does not have."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _names(paths: Sequence[str]) -> list[str]:
    absolute = [os.path.abspath(path) for path in paths]
    shared = os.path.commonpath(absolute) if len(paths) > 1 else os.path.dirname(absolute[0]) if paths else ""
    return [str(Path(os.path.relpath(path, shared or ".")).with_suffix("")) for path in absolute]


def read_reported_timings(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> PageData:
    """Read the benchmark files of Snakemake."""
    return PageData({"timings": read_timings(inputs.timings)})
