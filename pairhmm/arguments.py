"""Brings what callers give to one form: one path or several, one text or several."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias, TypeGuard, overload

from pairhmm.errors import InputError

AnyPath: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths: TypeAlias = AnyPath | Iterable[AnyPath]
"""A path, or several."""

Texts: TypeAlias = str | bytes | Iterable[str | bytes]
"""A text, or several. A string is one text, never its letters."""

Place: TypeAlias = tuple[str, int, int]
"""Contig, start and end, 0-based half-open."""

Regions: TypeAlias = str | bytes | Place | Iterable[str | bytes | Place]
"""A region, or several: texts such as ``chr1:1-100``, 1-based, or places, 0-based half-open."""


@overload
def path_of(path: AnyPath) -> str: ...
@overload
def path_of(path: AnyPath | None) -> str | None: ...
def path_of(path: AnyPath | None) -> str | None:
    """A path as text; None stays None.

    Raises TypeError for anything that is not a path.
    """
    return None if path is None else os.fsdecode(path)


def paths_of(paths: Paths) -> list[str]:
    """A path or several, as a list of texts; errors as in `path_of`."""
    if isinstance(paths, str | bytes | os.PathLike):
        return [os.fsdecode(paths)]
    return [os.fsdecode(path) for path in paths]


def some_paths_of(values: Paths, what: str) -> list[str]:
    """`paths_of` for what must not be empty.

    Raises InputError for no path at all; `what` names what is missing.
    """
    paths = paths_of(values)
    if not paths:
        raise InputError(what, "", "no file is named", "name at least one")
    return paths


def texts_of(texts: Texts) -> list[str]:
    """A text or several, as a list.

    Raises TypeError for anything that is not text, such as a tuple.
    """
    several = [texts] if isinstance(texts, str | bytes) else texts
    return [_text_of(text) for text in several]


def regions_of(regions: Regions) -> list[str | Place]:
    """A region or several, as a list of texts and places.

    Raises TypeError for anything else.
    """
    if isinstance(regions, str | bytes) or _is_place(regions):
        return [_region_of(regions)]
    return [_region_of(region) for region in regions]


def _is_place(value: object) -> TypeGuard[Place]:
    return isinstance(value, tuple) and len(value) == 3 and not isinstance(value[1], str | bytes | tuple)


def _region_of(region: object) -> str | Place:
    return region if _is_place(region) else _text_of(region)


def _text_of(value: object) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise TypeError(f"{value!r} is of type {type(value).__name__}, and text is needed")
    return text
