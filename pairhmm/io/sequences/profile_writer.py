"""Writes profiles: reads as probability matrices, and where they lie.

All coordinates are 0-based half-open; files have 1-based ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.interface.display import short_repr
from pairhmm.io.files.bgzip import BgzipText
from pairhmm.io.files.endings import require_ending
from pairhmm.io.files.outputs import TextSink, is_device, open_output, output_errors, whole_files
from pairhmm.io.files.standard_streams import STDOUT
from pairhmm.io.sequences.profiles import COLUMNS, COUNT, ENDINGS

PLACE_COLUMNS = ("sample", "mate", "reads", "chrom", "reference_position")
"""The columns of a table behind those that reading needs."""

_KINDS_AT_ONCE = 1 << 16
_TAB = "\t"


@dataclass(frozen=True, slots=True)
class PlacedProfile:
    """A profile, and the reads that it was made of.

    Attributes
    ----------
    name : str
    probabilities : float64[m, 4]
        Probabilities of A C G T.
    sample : str
    mate : int
        1 or 2; 0 for a read without a mate, and for a profile of both mates.
    reads : int
        How many reads are in it.
    chrom : str
    reference : int64[m]
        The reference base that each position is aligned to; -1 for inserted and clipped ones.
    """

    name: str
    probabilities: NDArray[np.float64]
    sample: str
    mate: int
    reads: int
    chrom: str
    reference: NDArray[np.int64]

    __repr__ = short_repr


WriteProfile = Callable[[PlacedProfile], None]


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
    if path == STDOUT or is_device(path) or not path.endswith(".gz"):
        with open_output(path) as text:
            yield _writer(text, path, is_table)
        return
    with whole_files(path) as scratch, output_errors(path), BgzipText(scratch) as zipped:
        yield _writer(zipped, path, is_table)


def _writer(text: TextSink, path: str, is_table: bool) -> WriteProfile:
    if is_table:
        text.write("\t".join((*COLUMNS, *PLACE_COLUMNS)) + "\n")
        return lambda one: _write_rows(text, one)
    return lambda one: _write_record(text, path, one)


def _write_record(text: TextSink, path: str, one: PlacedProfile) -> None:
    if len(one.name.split()) != 1:
        raise InputError(path, f"read {one.name!r}", "white space in its name", "write a table (.tsv)")
    lines = [f">{one.name} mate={one.mate} reads={one.reads} {COUNT}{len(one.probabilities)}{_place(one)}\n"]
    lines += [f"{_numbers(row, ' ')}\n" for row in _rows(one)]
    text.write("".join(lines))


def _place(one: PlacedProfile) -> str:
    aligned = one.reference[one.reference >= 0]
    return f" place={one.chrom}:{aligned[0] + 1}-{aligned[-1] + 1}" if len(aligned) else ""


def _write_rows(text: TextSink, one: PlacedProfile) -> None:
    behind = f"{one.sample}\t{one.mate}\t{one.reads}\t{one.chrom}"
    places = ("." if place < 0 else str(place + 1) for place in one.reference.tolist())
    rows = enumerate(zip(_rows(one), places, strict=True), start=1)
    text.write("".join(f"{one.name}\t{at}\t{_numbers(row, _TAB)}\t{behind}\t{place}\n" for at, (row, place) in rows))


def _rows(one: PlacedProfile) -> list[tuple[float, ...]]:
    return list(map(tuple, one.probabilities.tolist()))


@lru_cache(_KINDS_AT_ONCE)
def _numbers(row: tuple[float, ...], between: str) -> str:
    """A row as text. Reads have few distinct rows, and making their digits takes most of the time of writing."""
    return between.join(map(repr, row))
