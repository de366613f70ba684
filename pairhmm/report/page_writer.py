"""Writes the report as one HTML file: the page with its styles and scripts, and the data."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from graphlib import TopologicalSorter
from importlib.resources import files
from typing import Any

from pairhmm.files.outputs import open_output
from pairhmm.report.packing import pack, to_json

STYLES = ("page.css", "table.css", "panel.css", "print.css", "map.css")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
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
        "script": scripts,
        "data": lambda: [pack(to_json(data))],
        "panels": lambda: (panel + "\n" for panel in panels),
    }
    with open_output(destination) as out:
        # Splitting gives the template's text and the names of its placeholders in turn.
        for number, text in enumerate(_PLACE.split(_page_file("page.html"))):
            out.writelines(contents[text]() if number % 2 else [text])


def scripts() -> list[str]:
    """The ES modules as plain scripts, each after those that it imports. main.js, which starts the page, is last.

    They share one scope, so that installing pairhmm needs neither Node nor a bundler. The web page bundles the same
    modules.
    """
    folder = files("pairhmm") / "report" / "page"
    modules = {
        name: _page_file(name) for name in sorted(file.name for file in folder.iterdir()) if name.endswith(".js")
    }
    order = TopologicalSorter({name: _IMPORT.findall(text) for name, text in modules.items()}).static_order()
    return [_EXPORT.sub("", _IMPORT.sub("", modules[name])) for name in order]


def _page_file(name: str) -> str:
    """The text of a file of the page."""
    return (files("pairhmm") / "report" / "page" / name).read_text(encoding="utf-8")
