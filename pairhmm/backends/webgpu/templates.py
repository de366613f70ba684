"""WGSL from parts: what a shader compiler is given when its source may have no loops over registers.

Directives stand in lines of their own, as comments. ``//#for k K`` ... ``//#end`` repeats lines for k = 0 .. K - 1,
with ``$k`` for the number, ``$k.quad`` for k / 4, ``$k.axis`` for the component of a vector that has row k, and
``$k.byte`` for the bit at which a word has byte k. ``//#if NAME`` ... ``//#else`` ... ``//#end`` keeps lines where a
constant is not zero, or is. ``//#include FILE`` puts a file there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

Lines = Sequence[str]
MARK = "//#"


def expand(name: str, read: Callable[[str], str], constants: Mapping[str, int]) -> str:
    """Text of the file `name`, its directives done.

    Parameters
    ----------
    name : str
    read : callable
        A file's name to its text.
    constants : mapping
        What ``for`` and ``if`` know; a name that is not in it is zero for ``if``.

    Raises
    ------
    ValueError
        For a directive that is unknown or has no end.
    """
    return "\n".join(_expanded(read(name).splitlines(), read, constants)) + "\n"


def _expanded(lines: Lines, read: Callable[[str], str], constants: Mapping[str, int]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        verb, *words = _directive(lines[at])
        if not verb:
            yield lines[at]
            at += 1
        elif verb == "include":
            yield from _expanded(read(words[0]).splitlines(), read, constants)
            at += 1
        elif verb in ("for", "if"):
            end, middle = _block(lines, at)
            if verb == "for":
                body = list(_expanded(lines[at + 1 : end], read, constants))
                for number in range(constants[words[1]]):
                    yield from (_numbered(line, words[0], number) for line in body)
            elif constants.get(words[0]):
                yield from _expanded(lines[at + 1 : middle], read, constants)
            else:
                yield from _expanded(lines[middle + 1 : end], read, constants)
            at = end + 1
        else:
            raise ValueError(f"unknown directive: {lines[at]}")


def _directive(line: str) -> list[str]:
    """The words of a directive; one that is empty for any other line."""
    text = line.strip()
    return text.removeprefix(MARK).split() if text.startswith(MARK) else [""]


def _block(lines: Lines, begin: int) -> tuple[int, int]:
    """Where the block that opens at `begin` ends, and where its other half begins (its end without one)."""
    depth, middle = 0, None
    for at in range(begin, len(lines)):
        verb = _directive(lines[at])[0]
        depth += (verb in ("for", "if")) - (verb == "end")
        if verb == "else" and depth == 1:
            middle = at
        if depth == 0:
            return at, at if middle is None else middle
    raise ValueError(f"no end: {lines[begin]}")


def _numbered(line: str, name: str, number: int) -> str:
    values = {".quad": number // 4, ".axis": "xyzw"[number % 4], ".byte": 8 * (number % 4), "": number}
    for suffix, value in values.items():
        line = line.replace(f"${name}{suffix}", str(value))
    return line
