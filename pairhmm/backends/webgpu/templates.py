"""Assembles WGSL modules into one text.

A module is a .wgsl file of functions, constants, structs and variables. Comment lines declare which names it imports
from other modules, and which it exports:

    // import host: K, W
    // import forward/batch.wgsl: batch, work
    // import forward/rows_*.wgsl: load_row
    // export: load_lane, Lane

"host" is the program that assembles the text: it declares constants and structs. A ``*`` stands for one of several
files that export the same names; the program chooses the file. What a module defines and does not export is private to
it. These are errors: an import that is not met or not used, a name that two modules define, and a name of another
module that is used without an import.

WGSL has no macros. It has no loops over registers either: compilers do not keep arrays in registers, and check their
bounds. So modules have directives, each on a line of its own:

- ``//#for k K`` ... ``//#end`` repeats lines for k = 0 .. K - 1. In them, ``$k`` is the number, ``$k.quad`` is k / 4,
  ``$k.axis`` is the component of a vector that has row k, and ``$k.byte`` is the bit at which byte k of a word begins.
  ``$k.back`` is K - 1 - k, and ``$k.after`` is k + 1, or 0 for the last; both with ``.quad`` and ``.axis``.
- ``//#if NAME`` ... ``//#else`` ... ``//#end`` keeps the first lines if the number is not zero, the others if it is.

Directives are expanded first, so a module may import something under a condition. Names in directives are numbers that
the host gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SCALARS = {"u32": "<u4", "i32": "<i4", "f32": "<f4"}
"""The 32-bit types of WGSL, with NumPy's name of each."""

FOURS = re.compile(r"array<vec4<u32>, (\d+)>")
"""Fours of u32 in WGSL, with their count. They begin at multiples of 16 bytes: a record has them first."""

Number = int | float | np.int32


class Field(NamedTuple):
    """A field of a record: its name, its WGSL type, and its meaning."""

    name: str
    kind: str
    meaning: str


class Record:
    """A struct of 32-bit fields, and fours of them at its beginning, that the host writes and kernels read.

    Parameters
    ----------
    name : str
        Name of the WGSL struct.
    fields : Field
        The fields in their order in memory.
    """

    def __init__(self, name: str, *fields: Field) -> None:
        self.name, self.fields = name, fields

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype([(field.name, _numpy_kind(field.kind)) for field in self.fields])

    @property
    def declaration(self) -> str:
        """The struct in WGSL."""
        fields = "".join(f"    {field.name}: {field.kind},  // {field.meaning}\n" for field in self.fields)
        return f"struct {self.name} {{\n{fields}}}\n"

    def values(self, given: Mapping[str, Any]) -> NDArray[np.void]:
        """A record; every field must be given."""
        return np.array([tuple(given[field.name] for field in self.fields)], dtype=self.dtype)


def _numpy_kind(kind: str) -> str:
    fours = FOURS.fullmatch(kind)
    return f"({fours[1]},4)<u4" if fours else SCALARS[kind]


def constants(values: Mapping[str, Number]) -> dict[str, str]:
    """WGSL declarations by name. An int becomes u32, an np.int32 becomes i32, a float becomes the nearest f32."""
    return {name: f"const {name} = {_literal(value)};\n" for name, value in values.items()}


def _literal(value: Number) -> str:
    if isinstance(value, np.int32):
        return f"{int(value)}i"
    if isinstance(value, float):
        return f"{float(np.float32(value)).hex()}f"
    return f"{value}u"


def places(sizes: Mapping[str, int]) -> dict[str, int]:
    """Where each part of an array begins, from the sizes of the parts in their order."""
    ends = np.cumsum([*sizes.values()]).tolist()
    return {name: end - size for (name, size), end in zip(sizes.items(), ends, strict=True)}


def float_bits(value: float) -> int:
    """The bits of the float32 that is nearest to a number."""
    return int(np.float32(value).view(np.uint32))


Lines = Sequence[str]
MARK = "//#"
HOST = "host"

IMPORT, EXPORT = re.compile(r"^// import (\S+): (.+)$", re.MULTILINE), re.compile(r"^// export: (.+)$", re.MULTILINE)
DEFINITION = re.compile(
    r"^(?:@\w+(?:\([^)]*\))? +)*(?:const|override|alias|struct|fn|var(?:<[^>]*>)?) +(\w+)", re.MULTILINE
)
COMMENT = re.compile(r"//.*")
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!:)")  # neither a member nor the declaration of a field or parameter


class Module(NamedTuple):
    """A file whose directives are expanded."""

    text: str
    imports: dict[str, list[str]]  # Names that it imports, by the file that exports them
    # Names that others may use, all names that it defines, and all names in its code
    exports: set[str]
    defines: set[str]
    uses: set[str]


def assemble(
    root: str,
    read: Callable[[str], str],
    declarations: Mapping[str, str],
    numbers: Mapping[str, int],
    choices: Mapping[str, str] | None = None,
) -> str:
    """The text of `pieces` in one string."""
    return "".join(pieces(root, read, declarations, numbers, choices))


def pieces(
    root: str,
    read: Callable[[str], str],
    declarations: Mapping[str, str],
    numbers: Mapping[str, int],
    choices: Mapping[str, str] | None = None,
) -> list[str]:
    """The host's declarations that are imported, all modules that `root` imports, and `root`.

    Parameters
    ----------
    root : str
        A file's name, as `read` takes it.
    read : callable
        Gives a file's text by its name.
    declarations : mapping
        What the host declares: WGSL by name.
    numbers : mapping
        Values of the names in ``for`` and ``if``. ``if`` takes a missing name as zero.
    choices : mapping
        The file that each name with a ``*`` stands for.

    Raises
    ------
    ValueError
        Names the file whose imports are not met, or that has a directive that is unknown or has no end.
    """
    modules: dict[str, Module] = {}
    _collect(root, modules, read, numbers, choices or {})
    _check(modules, declarations)
    imported = {name for module in modules.values() for name in module.imports.get(HOST, ())}
    imported_texts = [text for name, text in declarations.items() if name in imported]
    return [*imported_texts, *(module.text for module in modules.values())]


def _collect(
    name: str,
    modules: dict[str, Module],
    read: Callable[[str], str],
    numbers: Mapping[str, int],
    choices: Mapping[str, str],
) -> None:
    """Add a file to `modules`, after all files that it imports."""
    module = _module(name, read(name), numbers, choices)
    for file in module.imports:
        if file != HOST and file not in modules:
            _collect(file, modules, read, numbers, choices)
    modules[name] = module


def _module(name: str, source: str, numbers: Mapping[str, int], choices: Mapping[str, str]) -> Module:
    text = expand(name, source, numbers)
    imports: dict[str, list[str]] = {}
    for file, names in IMPORT.findall(text):
        imports.setdefault(choices.get(file, file), []).extend(names.split(", "))
    code = COMMENT.sub("", text)
    defines = DEFINITION.findall(code)
    for twice in {name for name in defines if defines.count(name) > 1}:
        raise ValueError(f"{name} defines {twice} twice")
    exports = {name for names in EXPORT.findall(text) for name in names.split(", ")}
    return Module(text, imports, exports, set(defines), set(NAME.findall(code)))


def _check(modules: Mapping[str, Module], declarations: Mapping[str, str]) -> None:
    home = dict.fromkeys(declarations, HOST)
    for file, module in modules.items():
        for name in sorted(module.exports - module.defines):
            raise ValueError(f"{file} exports {name}, which it does not define")
        for name in sorted(module.defines & home.keys()):
            raise ValueError(f"{file} defines {name}, and so does {home[name]}")
        home.update(dict.fromkeys(module.defines, file))
    for file, module in modules.items():
        imported = {name: source for source, names in module.imports.items() for name in names}
        for name, source in imported.items():
            if name not in (declarations if source == HOST else modules[source].exports):
                raise ValueError(f"{file} imports {name} of {source}, which does not export it")
            if name not in module.uses:
                raise ValueError(f"{file} imports {name} of {source} and does not use it")
        for name in sorted((module.uses & home.keys()) - module.defines - imported.keys()):
            raise ValueError(f"{file} uses {name} of {home[name]} and does not import it")


def expand(name: str, source: str, numbers: Mapping[str, int]) -> str:
    """The text of a file with its directives expanded."""
    try:
        return "\n".join(_expanded(source.splitlines(), numbers)) + "\n"
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _expanded(lines: Lines, numbers: Mapping[str, int]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        verb, *words = _directive(lines[at])
        if not verb:
            yield lines[at]
            at += 1
        elif verb in ("for", "if"):
            end, middle = _block(lines, at)
            if verb == "for":
                if body := list(_expanded(lines[at + 1 : end], numbers)):
                    text, count = "\n".join(body), numbers[words[1]]
                    yield from (_numbered(text, words[0], number, count) for number in range(count))
            elif numbers.get(words[0]):
                yield from _expanded(lines[at + 1 : middle], numbers)
            else:
                yield from _expanded(lines[middle + 1 : end], numbers)
            at = end + 1
        else:
            raise ValueError(f"unknown directive: {lines[at]}")


def _directive(line: str) -> list[str]:
    """The words of a directive; a single empty word for any other line."""
    text = line.strip()
    return text.removeprefix(MARK).split() if text.startswith(MARK) else [""]


def _block(lines: Lines, begin: int) -> tuple[int, int]:
    """Index of the line that ends the block opened at `begin`, and of its ``else`` (the end, if it has none)."""
    depth, middle = 0, None
    for at in range(begin, len(lines)):
        verb = _directive(lines[at])[0]
        depth += (verb in ("for", "if")) - (verb == "end")
        if verb == "else" and depth == 1:
            middle = at
        if depth == 0:
            return at, at if middle is None else middle
    raise ValueError(f"no end: {lines[begin]}")


def _numbered(text: str, name: str, number: int, count: int) -> str:
    values: dict[str, int | str] = {}
    for suffix, row in ((".back", count - 1 - number), (".after", (number + 1) % count), ("", number)):
        values |= {f"{suffix}.quad": row // 4, f"{suffix}.axis": "xyzw"[row % 4]}
        values |= {f"{suffix}.byte": 8 * (number % 4), suffix: row}
    for suffix, value in values.items():
        text = text.replace(f"${name}{suffix}", str(value))
    return text
