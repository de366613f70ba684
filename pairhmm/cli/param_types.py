"""The types of options and arguments: numbers, sizes, and files.

Input and output files are registered while the command line is parsed, so that every command guards its inputs against
its outputs.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection
from typing import Any

import rich_click as click

from pairhmm.files.destinations import note_output
from pairhmm.files.inputs import taken
from pairhmm.options import LARGEST


class Whole(click.IntRange):
    """Whole numbers of a range, at most what 32 bits hold."""

    name = "whole number"

    def __init__(self, least: int = 0, most: int = LARGEST) -> None:
        super().__init__(least, most)

    def _describe_range(self) -> str:
        """The range in words, for help pages and errors."""
        return _in_words(self.min, None if self.max == LARGEST else self.max)


class Real(click.FloatRange):
    """Finite numbers of a range."""

    name = "number"

    def __init__(self, least: float | None = None, most: float | None = None) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or an error for NaN (which lies in every range) and infinity."""
        if not math.isfinite(number := super().convert(value, param, ctx)):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:
        return _in_words(self.min, self.max)


def _in_words(least: float | None, most: float | None) -> str:
    if least is None:
        return "" if most is None else f"{most:g} or less"
    return f"{least:g} or more" if most is None else f"{least:g} to {most:g}"


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


class Size(click.ParamType):  # type: ignore[type-arg]
    """Bytes, as a number or with K, M or G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes of a size such as 500M."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d{1,18})([KMG]?)", value.upper())
        if not match or not int(match[1]):
            self.fail(f"{value!r} is not a size such as 500M or 8G", param, ctx)
        return int(match[1]) * _UNITS[match[2]]

    @staticmethod
    def text(size: int) -> str:
        """A number of bytes as a size, with the largest unit of which it is a whole number."""
        unit = next(unit for unit in ("G", "M", "K", "") if size % _UNITS[unit] == 0)
        return f"{size // _UNITS[unit]}{unit}"


class InputFile(click.Path):
    """A file that is read.

    Parameters
    ----------
    names : collection of str
        Values that are no files.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        # Readers say in one line what is wrong with a file.
        super().__init__(readable=False)
        self.names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if re.match(r"[a-z][a-z0-9+.-]+://", os.fsdecode(path)):
            self.fail(
                f"{value!r} is on another machine, and files are read from this one: download it first.", param, ctx
            )
        if path not in self.names and not (ctx is not None and ctx.resilient_parsing):
            taken(os.fsdecode(path))
        return path


class OutputFile(click.Path):
    """A file that is written."""

    def __init__(self) -> None:
        super().__init__(readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if param is not None and not (ctx is not None and ctx.resilient_parsing):
            note_output(param.opts[0], os.fsdecode(path))
        return path


INPUT_FILE = InputFile()
OUTPUT_FILE = OutputFile()
