"""Brings what callers give to one form: one path or several, one text or several."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias, overload

from pairhmm.errors import InputError

AnyPath: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths: TypeAlias = AnyPath | Iterable[AnyPath]
"""One path, or several."""

Texts: TypeAlias = str | bytes | Iterable[str | bytes]
"""One text, or several. A string is one text, never its letters."""


@overload
def path_of(given: AnyPath) -> str: ...
@overload
def path_of(given: AnyPath | None) -> str | None: ...
def path_of(given: AnyPath | None) -> str | None:
    """A path as text; None stays None.

    Raises TypeError for anything that is not a path.
    """
    return None if given is None else os.fsdecode(given)


def paths_of(given: Paths) -> list[str]:
    """One path or several, as a list of texts; errors as in `path_of`."""
    if isinstance(given, str | bytes | os.PathLike):
        return [os.fsdecode(given)]
    return [os.fsdecode(one) for one in given]


def some_paths_of(given: Paths, what: str) -> list[str]:
    """`paths_of` for what must not be empty.

    Raises InputError for no path at all; `what` names what is missing.
    """
    paths = paths_of(given)
    if not paths:
        raise InputError(what, "", "no file is named", "name at least one")
    return paths


def texts_of(given: Texts) -> list[str]:
    """One text or several, as a list.

    Raises TypeError for anything that is not text, such as a tuple.
    """
    several = [given] if isinstance(given, str | bytes) else given
    return [_text_of(one) for one in several]


def _text_of(given: str | bytes) -> str:
    text = given.decode() if isinstance(given, bytes) else given
    if not isinstance(text, str):
        raise TypeError(f"{given!r} is of type {type(given).__name__}, and text is needed")
    return text
