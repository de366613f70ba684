"""Counts in messages, in words."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """So many things: ``1 read``, ``2 reads``. `several` is the plural, where that is more than an ``s``."""
    return f"{number} {one if number == 1 else several or one + 's'}"
