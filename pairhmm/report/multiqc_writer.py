"""Custom content for MultiQC."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.formats import MULTIQC_ENDING
from pairhmm.files.outputs import open_output

_COLOURS = [[0, "#edf2f8"], [0.5, "#6baed6"], [1, "#08458f"]]


def multiqc_path(folder: str, name: str) -> Path:
    """The path at which MultiQC finds the content of this name."""
    return Path(folder) / f"{name}{MULTIQC_ENDING}"


def write_multiqc(folder: str, contents: Mapping[str, dict[str, Any]]) -> None:
    """Write each content as ``NAME_mqc.json`` into a folder, which is made where it is missing.

    Raises
    ------
    InputError
        Where the folder can't be made.
    """
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
