"""Writes the report as one HTML file: the page with its styles and scripts, and the data, deflated as base64."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Callable, Iterable
from graphlib import TopologicalSorter
from importlib.resources import files
from typing import Any

from pairhmm.files.outputs import open_output

_LEVEL = 9
"""zlib's level of compression: the smallest output."""
STYLES = ("page.css", "table.css", "panel.css", "print.css", "map.css")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE)


def pack(data: bytes) -> str:
    """Raw deflate (RFC 1951) in base64. Browsers unpack it as ``deflate-raw``."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode("ascii")


def unpack(text: str) -> bytes:
    """The data that `pack` packed."""
    return zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS)


def to_json(data: Any) -> bytes:
    """Compact JSON. Raises ValueError for a number that JSON does not have, such as NaN."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def write_page(destination: str, title: str, data: dict[str, Any], panels: Iterable[str]) -> None:
    """Write the report.

    Parameters
    ----------
    destination : str
        ``-`` is stdout.
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
