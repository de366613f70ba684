"""Numbers as options take them: whole ones that fit what computes with them, and real ones that are finite."""

from __future__ import annotations

import math
from typing import Any

import rich_click as click

_MOST = 2**31 - 1


class Whole(click.IntRange):
    """Whole numbers of a range, at most what 32 bits hold."""

    def __init__(self, least: int = 0, most: int = _MOST) -> None:
        super().__init__(least, most)


class Real(click.FloatRange):
    """Finite numbers of a range."""

    def __init__(self, least: float | None = None, most: float | None = None) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or an error for NaN (which lies in every range) and infinity."""
        if not math.isfinite(number := super().convert(value, param, ctx)):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number
