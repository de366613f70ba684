"""The report as one HTML file: the page's parts put together, and the data in it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

from pairhmm.io.files.outputs import open_output
from pairhmm.reporting.packing import pack, to_json

STYLES = ("page.css", "table.css", "panel.css", "print.css")
# One scope for all; main.js starts the page when everything else stands.
SCRIPTS = (
    "data.js",
    "dom.js",
    "format.js",
    "colours.js",
    "filter.js",
    "table.js",
    "tooltip.js",
    "cohort.js",
    "genotypes.js",
    "panel_data.js",
    "heatmap.js",
    "alignment.js",
    "panel.js",
    "sites.js",
    "scan.js",
    "run.js",
    "main.js",
)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def write_page(destination: str, title: str, data: dict[str, Any], panels: Iterable[str]) -> None:
    """Write the report.

    Parameters
    ----------
    destination : str
        ``-`` is stdout.
    title : str
    data : dict
        What the page shows at once; JSON.
    panels : iterable of str
        What it unpacks when it is asked for, packed: one line each.
    """
    parts: dict[str, Callable[[], Iterable[str]]] = {
        "title": lambda: [html.escape(title)],
        "style": lambda: map(_part, STYLES),
        "script": lambda: map(_part, SCRIPTS),
        "data": lambda: [pack(to_json(data))],
        "panels": lambda: (panel + "\n" for panel in panels),
    }
    with open_output(destination) as out:
        # Text and names of parts by turns.
        for number, piece in enumerate(_PLACE.split(_part("page.html"))):
            out.writelines(parts[piece]() if number % 2 else [piece])


def _part(name: str) -> str:
    return (files("pairhmm") / "report_page" / name).read_text(encoding="utf-8")
