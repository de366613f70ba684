"""TOML files of parameters: reading and checking them, and the options of GATK's model in one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pairhmm.errors import InputError, OptionError, parsing
from pairhmm.models.gatk import MOST_REPEATS, GatkOptions, IndelQualities, pcr_quality
from pairhmm.options import rules_of
from pairhmm.sequences.letters import HIGHEST_QUALITY

KEYS = {
    "profile": ("start", "match", "insertion", "transitions"),
    "gatk": ("insertion_quality", "deletion_quality", "gap_quality", "pcr_indel_model"),
    "str": ("insertion_opening", "deletion_opening", "gap_continuation"),
}
"""Top-level keys of the parameters of each model."""

BY_COPIES = "by_copies"
"""The optional table of rates by the copies of a tandem repeat."""

FORMAT = "see docs/model.md for the format"

# More than any parameters have. Python can't show a value of tens of thousands.
_MOST_LEVELS = 20
# The time that tomllib takes for a key grows with the square of its parts.
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*){{{_MOST_LEVELS}}}")


def read_table(path: str | Path, model: str) -> dict[str, Any]:
    """The content of a TOML file with the parameters of a model: "profile", "gatk" or "str".

    InputError for a file that can't be read, is not TOML, is empty, or has the parameters of another model.
    """
    import tomllib

    source = str(path)
    try:
        # Python raises ValueError for a path with a zero byte, too.
        with parsing(source, "not a TOML file", FORMAT):
            text = Path(path).read_bytes().decode("utf-8-sig")
            if _LONG_KEY.search(text):
                raise ValueError(f"a key of more than {_MOST_LEVELS} parts")
            table = tomllib.loads(text)
    except OSError as error:
        raise InputError(source, "", error.strerror or "can't be read", "check the path") from error
    if _levels(table) > _MOST_LEVELS:
        raise InputError(source, "", f"has tables or lists within each other, more than {_MOST_LEVELS} deep", FORMAT)
    if not table:
        raise InputError(source, "", "holds no parameters", FORMAT)
    for other, keys in KEYS.items():
        if other != model and table.keys() & set(keys):
            cure = "give it to --str-model" if other == "str" else f"give --model {other}"
            raise InputError(source, "", f"has the parameters of the model {other!r}", cure)
    return table


def _levels(table: object) -> int:
    """How many tables and lists are within each other, as far as it matters."""
    inner, levels = [table], 0
    while inner and levels <= _MOST_LEVELS:
        inner = [item for value in inner for item in _inside(value)]
        levels += 1
    return levels


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def check_keys(
    table: object, expected: Sequence[str], prefix: str, source: str, optional: Sequence[str] = ()
) -> Mapping[str, Any]:
    """Return `table` if it is a TOML table with the expected keys, and no others but the optional ones.

    InputError names a key behind `prefix`, which is the name of the table and a dot.
    """
    if not isinstance(table, Mapping):
        raise InputError(source, prefix.rstrip("."), "not a table", FORMAT)
    known = [*expected, *optional]
    for key in table:
        if key not in known:
            raise InputError(source, f"{prefix}{key}", "unknown key", f"keys here are {', '.join(known)}")
    for key in expected:
        if key not in table:
            raise InputError(source, f"{prefix}{key}", "missing", f"give all of {', '.join(expected)}")
    return table


def is_number_within(value: object, least: float, most: float) -> bool:
    """Whether a TOML value is a number from `least` to `most`. True and NaN are none."""
    return not isinstance(value, bool) and isinstance(value, int | float) and least <= value <= most


def qualities_of(values: object, place: str, source: str) -> tuple[int, ...]:
    """The Phred qualities of a TOML list, one for each number of copies of a repeat, as whole numbers."""
    if not isinstance(values, list) or len(values) != MOST_REPEATS:
        raise InputError(source, place, f"must have {MOST_REPEATS} values", "one for each number of copies from 1")
    for value in values:
        if not is_number_within(value, 0, HIGHEST_QUALITY):
            cure = f"use Phred qualities from 0 to {HIGHEST_QUALITY}"
            raise InputError(source, place, f"{value!r} is not a quality", cure)
    return tuple(round(value) for value in values)


_DEFAULTS = GatkOptions()


def read_options(path: str | Path, options: GatkOptions = _DEFAULTS) -> GatkOptions:
    """Options of GATK's model, with the qualities of a TOML file in place of those of `options`.

    Qualities by copies are rounded to whole numbers, as qualities of reads are. A file without them has the table that
    its options make. InputError for wrong files, keys and values.
    """
    source = str(path)
    table = check_keys(read_table(path, "gatk"), KEYS["gatk"], "", source, optional=(BY_COPIES,))
    for key in KEYS["gatk"]:
        try:
            rules_of(GatkOptions)[key].check(key, table[key])
        except OptionError as error:
            raise InputError(source, "", str(error), "") from error
    named = replace(options, **{key: table[key] for key in KEYS["gatk"]})
    by_copies = _by_copies(table[BY_COPIES], source) if BY_COPIES in table else _of_options(named, source)
    return replace(named, indel_qualities=by_copies)


def _of_options(options: GatkOptions, source: str) -> IndelQualities:
    cap = pcr_quality(options.pcr_indel_model)[1:].tolist()
    qualities = (
        [min(quality, most) for most in cap] for quality in (options.insertion_quality, options.deletion_quality)
    )
    insertion, deletion = map(tuple, qualities)
    return IndelQualities(insertion, deletion, source)


def _by_copies(table: object, source: str) -> IndelQualities:
    known = check_keys(table, ("insertion", "deletion"), f"{BY_COPIES}.", source)
    insertion, deletion = (qualities_of(known[key], f"{BY_COPIES}.{key}", source) for key in ("insertion", "deletion"))
    return IndelQualities(insertion, deletion, source)
