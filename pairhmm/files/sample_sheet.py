"""Reads sample sheets: tab-separated tables with one sample a line."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.files.names import check_names
from pairhmm.files.text_lines import read_lines

COLUMNS = ("sample", "alignments", "reads", "sex", "ploidy", "individual", "father", "mother")
_MANY = ("alignments", "reads")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A line of a sample sheet.

    Attributes
    ----------
    place : str
        Number of the line, as error messages give it.
    alignments, reads : tuple of str
        Files, as the sheet writes them.
    sex, ploidy : str
        Empty where the sheet does not say.
    individual : str
        Who the sample is from; empty where the sheet does not say. Several samples may be from one individual.
    father, mother : str
        Individuals; empty where they are not known.
    """

    place: str
    sample: str
    alignments: tuple[str, ...]
    reads: tuple[str, ...]
    sex: str
    ploidy: str
    individual: str = ""
    father: str = ""
    mother: str = ""


def read_sheet(path: str | Path) -> list[SheetRow]:
    """The lines of a sample sheet.

    The first line names the columns in any order: `sample`, and any others of `COLUMNS`. Commas separate several files
    of a sample. Lines that are empty or begin with ``#`` are skipped.

    Raises InputError for unknown or missing columns, and for samples without a name or named twice; names the line.
    """
    try:
        table = list(csv.reader(read_lines(str(path)), delimiter="\t"))
    except csv.Error as error:
        rule = f"can't be read as a table ({error})"
        raise InputError(str(path), "", rule, "check the path; it is tab-separated text") from error
    numbered = [
        (number, cells)
        for number, cells in enumerate(table, start=1)
        if any(map(str.strip, cells)) and not cells[0].startswith("#")
    ]
    if not numbered:
        raise InputError(str(path), "", "is empty", f"its first line names columns: {', '.join(COLUMNS)}")
    (first, names), *rest = numbered
    unknown = [name for name in names if name not in COLUMNS]
    if unknown or "sample" not in names or len(set(names)) < len(names):
        rule = f"unknown column {unknown[0]!r}" if unknown else "needs a column sample, and each column once"
        raise InputError(str(path), f"line {first}", rule, f"columns are {', '.join(COLUMNS)}, tab-separated")
    rows: list[SheetRow] = []
    for number, cells in rest:
        place = f"line {number}"
        if len(cells) > len(names):
            raise InputError(str(path), place, f"{len(cells)} cells for {len(names)} columns", "remove some")
        row = _row(place, dict(zip(names, map(str.strip, cells), strict=False)))
        if not row.sample:
            raise InputError(str(path), place, "no sample name", "fill the column sample")
        check_names(str(path), f"{place}: sample", [row.sample], "choose another name")
        before = next((one for one in rows if one.sample == row.sample), None)
        if before is not None:
            cure = "name each sample once; several files of one are separated by commas"
            raise InputError(str(path), place, f"sample {row.sample!r} stands in {before.place} too", cure)
        rows.append(row)
    if not rows:
        raise InputError(str(path), "", "names no sample", "add a line for each")
    return rows


def _row(place: str, cells: dict[str, str]) -> SheetRow:
    alignments, reads = (tuple(filter(None, map(str.strip, cells.get(name, "").split(",")))) for name in _MANY)
    texts = {name: cells.get(name, "") for name in COLUMNS if name not in _MANY}
    return SheetRow(place=place, alignments=alignments, reads=reads, **texts)
