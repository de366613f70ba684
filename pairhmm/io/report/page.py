"""Writes the report as one HTML file: the page with its styles and scripts, and the data."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

from pairhmm.io.files.outputs import open_output
from pairhmm.reporting.packing import pack, to_json

STYLES = ("page.css", "table.css", "panel.css", "print.css", "map.css")
# ES modules, which web/ bundles too. Here all of them share one scope, so that no bundler is needed to install pairhmm.
# main.js comes last, and starts the page.
SCRIPTS = (
    "data.js",
    "dom.js",
    "format.js",
    "colours.js",
    "filter.js",
    "svg.js",
    "export.js",
    "table.js",
    "tooltip.js",
    "overview.js",
    "cohort.js",
    "points.js",
    "blending.js",
    "map.js",
    "distances.js",
    "relate.js",
    "genotypes.js",
    "panel_data.js",
    "heatmap.js",
    "alignment.js",
    "pileup_cells.js",
    "pileup.js",
    "links.js",
    "deciding.js",
    "panel.js",
    "printing.js",
    "sites.js",
    "seen.js",
    "scan.js",
    "fit.js",
    "run.js",
    "scrolling.js",
    "main.js",
)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE)


def write_page(destination: str, title: str, data: dict[str, Any], panels: Iterable[str]) -> None:
    """Write the report.

    Parameters
    ----------
    destination : str
        ``-`` is stdout.
    title : str
    data : dict
        Data that the page shows when it is opened. It is written as JSON.
    panels : iterable of str
        Packed panels, one line each. The page unpacks a panel when it is opened.
    """
    contents: dict[str, Callable[[], Iterable[str]]] = {
        "title": lambda: [html.escape(title)],
        "style": lambda: map(_page_file, STYLES),
        "script": lambda: (in_one_scope(_page_file(name)) for name in SCRIPTS),
        "data": lambda: [pack(to_json(data))],
        "panels": lambda: (panel + "\n" for panel in panels),
    }
    with open_output(destination) as out:
        # Splitting gives the template's text and the names of its placeholders in turn.
        for number, text in enumerate(_PLACE.split(_page_file("page.html"))):
            out.writelines(contents[text]() if number % 2 else [text])


def in_one_scope(module: str) -> str:
    """The text of an ES module without its imports, and with its exports as plain declarations."""
    return _EXPORT.sub("", _IMPORT.sub("", module))


def _page_file(name: str) -> str:
    """The text of a file of the page."""
    return (files("pairhmm") / "report_page" / name).read_text(encoding="utf-8")
