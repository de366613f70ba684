"""The text of explanations."""

from __future__ import annotations

import re


def sections_of(text: str) -> dict[str, list[str]]:
    """The lines of an explanation's sections, by title."""
    _, body = text.split("\n", 1)
    found = re.findall(r"^(\S.*)\n((?:  .*\n)*)", body, re.MULTILINE)
    return {title: [line[2:] for line in lines.splitlines()] for title, lines in found}
