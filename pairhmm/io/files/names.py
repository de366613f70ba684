"""Checks that names fit tables and VCF: control characters would break columns, rows and header lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from pairhmm.errors import InputError

MODEL_RECORD = "pairhmmModel"
"""The key of the header line that names the model and its parameters."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_BYTES = bytes([*range(0x20), 0x7F])
_RULE = "a name with a tab, a line break or another control character"


def check_names(path: str, what: str, names: Iterable[str], cure: str) -> None:
    """Raise an error for names with control characters.

    Parameters
    ----------
    path : str
    what : str
        What the names belong to, for the message, such as ``sample``.
    names : iterable of str
    cure : str

    Raises
    ------
    InputError
        For the first name that has one.
    """
    for name in names:
        if _CONTROL.search(name):
            raise InputError(path, f"{what} {name!r}".lstrip(), _RULE, cure)


def check_row_names(path: str, what: str, names: Iterable[str], cure: str) -> None:
    """Raise an error for names in the first column that begin with ``#``, which tables take for a header.

    The parameters are those of `check_names`.

    Raises
    ------
    InputError
        For the first name that does.
    """
    for name in names:
        if name.startswith("#"):
            raise InputError(
                path, f"{what} {name!r}".lstrip(), "a table takes a row that begins with # for a header", cure
            )


def check_file_names(what: str, paths: Sequence[str]) -> None:
    """Require names of files that can stand in a table, as `decoded` gives them, and that it tells apart.

    Raises
    ------
    InputError
        For control characters, and for two files that only bytes that are not UTF-8 tell apart.
    """
    check_names(what, "file", paths, "rename the file: its name stands in the table")
    shown: dict[str, str] = {}
    for path in paths:
        if shown.setdefault(decoded(path), path) != path:
            rule = "is not UTF-8, and reads as the name of another file does"
            raise InputError(what, f"file {path!r}", rule, "rename the file: its name stands in the table")


def check_packed_names(path: str, text: bytes, names: Iterable[str]) -> None:
    """Like `check_names`, for the names of a block of reads, all at once: they are laid end to end in `text`."""
    if len(text.translate(None, _CONTROL_BYTES)) < len(text):
        check_names(path, "read", names, "repair or remove the read")


def decoded(name: str) -> str:
    """A file name as text. Bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def printable(text: str) -> str:
    """A text as messages and header lines show it: as from `decoded`, with control characters escaped."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], decoded(text))
