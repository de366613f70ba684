"""Writes profiles: reads as probability matrices, and where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.bgzip import BgzipText
from pairhmm.files.formats import require_ending
from pairhmm.files.names import check_row_names
from pairhmm.files.outputs import TextSink, open_output, output_errors, whole_files
from pairhmm.models.profile_reader import COLUMNS, COUNT, ENDINGS
from pairhmm.objects import short_repr

ORIGIN_COLUMNS = ("sample", "mate", "reads", "place")
"""Columns of a table that readers do not need, behind the others."""

_KINDS_AT_ONCE = 1 << 16
_TAB = "\t"


@dataclass(frozen=True, slots=True)
class MadeProfile:
    """A profile that was made of one read or of several.

    Attributes
    ----------
    name : str
        The first of its reads' names, in alphabetical order. Mates and the two ends of a family share it.
    sample : str
    chrom : str
    position : int
        0-based position of the first aligned base. Soft-clipped bases lie before it.
    reads : int
        The number of reads that it was made of.
    mate : int
        1 or 2 for the first or second read of a pair; 0 for a read without a mate, and for mates that were joined.
    probabilities : float64[m, 4]
        Probabilities of A C G T. Each row sums to 1.
    """

    name: str
    sample: str
    chrom: str
    position: int
    reads: int
    mate: int
    probabilities: NDArray[np.float64]

    __repr__ = short_repr


WriteProfile = Callable[[MadeProfile], None]


@contextmanager
def open_profiles(destination: str | Path) -> Iterator[WriteProfile]:
    """Open a file, and give the function that writes a profile to it.

    ``.tsv`` is a table, ``.profile`` and all else are records; each is bgzipped if ``.gz`` follows. ``-`` is stdout.
    Numbers are written so that reading gives the same ones. The file appears when the block ends well.

    Raises
    ------
    InputError
        Where the destination can't be written or has another ending, and for a name that the format can't hold.
    """
    path = str(destination)
    require_ending(path, "profiles", ENDINGS)
    is_table = path.removesuffix(".gz").endswith(".tsv")
    if not path.endswith(".gz"):
        with open_output(path) as text:
            yield _writer(text, path, is_table)
        return
    with whole_files(path) as scratch, output_errors(path), BgzipText(scratch) as zipped:
        yield _writer(zipped, path, is_table)


def _writer(text: TextSink, path: str, is_table: bool) -> WriteProfile:
    if is_table:
        text.write("#" + "\t".join((*COLUMNS, *ORIGIN_COLUMNS)) + "\n")
        return lambda profile: _write_rows(text, path, profile)
    return lambda profile: _write_record(text, path, profile)


def _write_record(text: TextSink, path: str, profile: MadeProfile) -> None:
    if len(profile.name.split()) != 1:
        raise InputError(path, f"read {profile.name!r}", "white space in its name", "write a table (.tsv)")
    about = f"mate={profile.mate} reads={profile.reads} {COUNT}{len(profile.probabilities)} place={_place(profile)}"
    text.write("".join([f">{profile.name} {about}\n", *(f"{_numbers(row, ' ')}\n" for row in _rows(profile))]))


def _write_rows(text: TextSink, path: str, profile: MadeProfile) -> None:
    check_row_names(path, "read", [profile.name], "write another format (.profile)")
    behind = f"{profile.sample}\t{profile.mate}\t{profile.reads}\t{_place(profile)}"
    rows = enumerate(_rows(profile), start=1)
    text.write("".join(f"{profile.name}\t{at}\t{_numbers(row, _TAB)}\t{behind}\n" for at, row in rows))


def _place(profile: MadeProfile) -> str:
    return f"{profile.chrom}:{profile.position + 1}"


def _rows(profile: MadeProfile) -> list[tuple[float, ...]]:
    return list(map(tuple, profile.probabilities.tolist()))


@lru_cache(_KINDS_AT_ONCE)
def _numbers(row: tuple[float, ...], between: str) -> str:
    """A row as text. Reads have few distinct rows, and making their digits takes most of the time of writing."""
    return between.join(map(repr, row))
