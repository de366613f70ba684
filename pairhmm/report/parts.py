"""The parts of a report: what each says of the run and of its samples, for the page and for MultiQC."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.formats import MULTIQC_ENDING
from pairhmm.files.outputs import open_output
from pairhmm.report.file_sums import sum_of

_COLOURS = [[0, "#edf2f8"], [0.5, "#6baed6"], [1, "#08458f"]]
Value = float | str | None
Column = tuple[str, str, str]
"""Title, description and format of a column of the cohort's table. A column of text has an empty format."""


def multiqc_path(folder: str, name: str) -> Path:
    """The path at which MultiQC finds the content of this name."""
    return Path(folder) / f"{name}{MULTIQC_ENDING}"


def write_multiqc(folder: str, contents: Mapping[str, dict[str, Any]]) -> None:
    """Write each content as ``NAME_mqc.json`` into a folder, which is made where it is missing."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError("--mqc", folder, error.strerror or "can't be made", "name another folder") from error
    for name, content in contents.items():
        with open_output(multiqc_path(folder, name)) as out:
            out.write(json.dumps(content, indent=1) + "\n")


def general_statistics(headers: Mapping[str, tuple[str, str, str]], data: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of MultiQC's general statistics.

    Parameters
    ----------
    headers : mapping of str to (str, str, str)
        Title, description and format of each column. A column of text has an empty format.
    data : mapping of str to mapping
        Values of each sample.
    """
    columns = [
        {key: {"title": title, "description": description, "namespace": "pairhmm"} | ({"format": form} if form else {})}
        for key, (title, description, form) in headers.items()
    ]
    return {"id": "pairhmm_general", "plot_type": "generalstats", "pconfig": columns, "data": data}


def heatmap(
    name: str,
    title: str,
    description: str,
    columns: Sequence[str],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
) -> dict[str, Any]:
    """A heatmap of MultiQC."""
    return {
        "id": name,
        "section_name": title,
        "description": description,
        "plot_type": "heatmap",
        "pconfig": {"id": f"{name}_plot", "title": f"pairhmm: {title}", "square": False, "colstops": _COLOURS},
        "xcats": list(columns),
        "ycats": list(rows),
        "data": [list(row) for row in values],
    }


class ReportPart:
    """A part of a report: the data of some of its files.

    A new part is a module with a subclass and a function that reads it, which is added to `PARTS` of
    `pairhmm.report.api`, and a module of `report/page/` that draws it, with a line in main.js.
    """

    @property
    def samples(self) -> Sequence[str]:
        """The samples that it has, each once."""
        return ()

    @property
    def columns(self) -> Mapping[str, Column]:
        """Columns of the cohort's table and of MultiQC's general statistics."""
        return {}

    @property
    def counts(self) -> Mapping[str, int]:
        """How many things of each kind it shows."""
        return {}

    def figures(self, sample: str) -> Mapping[str, Value]:
        """A sample's values in these columns. Those that it does not have are missing or None."""
        return {}

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        """Keys of the page's JSON: None or nothing without a file. `samples` has the report's numbers."""
        return {}

    def multiqc(self) -> dict[str, dict[str, Any]]:
        """Custom content for MultiQC, by the name of the file without the ending."""
        return {}


@dataclass(frozen=True, slots=True)
class PageData(ReportPart):
    """A part that the page alone shows: keys of its JSON."""

    data: dict[str, Any]

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        return self.data


@dataclass(slots=True)
class Report:
    """All parts of a report.

    Attributes
    ----------
    inputs : list of (str, str)
        What a file is, and its path. The page tells their sizes and checksums.
    notes : list of str
        What is missing or left out.
    sheet : list of str or None
        Samples of the sheet; None without a sheet.
    """

    parts: list[ReportPart]
    inputs: list[tuple[str, str]]
    notes: list[str]
    sheet: list[str] | None = None

    @property
    def samples(self) -> list[str]:
        """The samples of all parts, each once."""
        return list(dict.fromkeys(sample for part in self.parts for sample in part.samples))

    @property
    def columns(self) -> dict[str, Column]:
        """The columns of the cohort's table that there is something for."""
        return {key: column for part in self.parts for key, column in part.columns.items()}

    @property
    def counts(self) -> dict[str, int]:
        return {key: count for part in self.parts for key, count in part.counts.items()}

    def figures(self, sample: str) -> dict[str, Value]:
        """A sample's value in every column; None where it has none."""
        values = {key: value for part in self.parts for key, value in part.figures(sample).items()}
        shown: dict[str, Value] = {}
        for key, (_, _, form) in self.columns.items():
            value = values.get(key)
            shown[key] = value if isinstance(value, str) else rounded(value, max(2, _digits(form) or 0))
        return shown

    def for_page(self) -> dict[str, Any]:
        """The page's JSON, without what does not depend on files."""
        samples = self.samples
        numbers = {name: number for number, name in enumerate(samples)}
        data = {key: value for part in self.parts for key, value in part.for_page(numbers).items()}
        data["overview"]["sheet"] = self._compared_sheet(samples)
        columns = [[key, title, told, _digits(form)] for key, (title, told, form) in self.columns.items()]
        rows = [[sample, *self.figures(sample).values()] for sample in samples]
        return data | {
            "samples": samples,
            "inputs": [[what, path, *sum_of(path)] for what, path in self.inputs],
            "notes": self.notes,
            "cohort": {"columns": columns, "rows": rows},
        }

    def _compared_sheet(self, samples: Sequence[str]) -> dict[str, Any] | None:
        """The samples of the sheet that have no results, and those with results that it does not have."""
        if self.sheet is None:
            return None
        known, listed = set(samples), set(self.sheet)
        return {
            "samples": len(self.sheet),
            "missing": [sample for sample in self.sheet if sample not in known],
            "unknown": [sample for sample in samples if sample not in listed],
        }


def rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)


def _digits(form: str) -> int | None:
    """The digits behind the point that a column is written with; None for a column of text."""
    return int(form.split(".")[1][0]) if form else None
