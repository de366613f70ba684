"""Names that tables and VCF can hold: control characters would make other columns, rows or header lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from pairhmm.errors import InputError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_BYTES = bytes([*range(0x20), 0x7F])
_RULE = "a name with a tab, a line break or another control character"


def check_names(path: str, what: str, names: Iterable[str], cure: str) -> None:
    """Require that names have no control characters.

    Parameters
    ----------
    path : str
    what : str
        Of what the names are: ``sample``, for the message.
    names : iterable of str
    cure : str

    Raises
    ------
    InputError
        Naming the first that has one.
    """
    for name in names:
        if _CONTROL.search(name):
            raise InputError(path, f"{what} {name!r}".lstrip(), _RULE, cure)


def check_read_names(path: str, names: Sequence[str]) -> None:
    """`check_names` for the many of a block of reads: they are looked at together."""
    check_packed_names(path, "".join(names).encode(errors="surrogateescape"), names)


def check_packed_names(path: str, text: bytes, names: Iterable[str]) -> None:
    """`check_read_names` for names that come end to end."""
    if len(text.translate(None, _CONTROL_BYTES)) < len(text):
        check_names(path, "read", names, "repair or remove the read")


def decoded(name: str) -> str:
    """A file's name as text: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def printable(text: str) -> str:
    """A text for messages and header lines: as `decoded`, with its control characters escaped."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], decoded(text))
