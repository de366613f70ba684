"""Reads tables of hits and of signatures, which `pairhmm.io.samples.hit_writer` writes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.io.files.text_lines import read_rows
from pairhmm.io.samples.hit_writer import HIT_COLUMNS, MASKED, PLACE, SEEN_COLUMNS, file_label
from pairhmm.reporting.hits import ReportedHit
from pairhmm.scanning.rollup import SignatureSeen

_ENDINGS = (".gz", ".tsv", ".hits", ".scan")


def table_label(path: str) -> str:
    """The sample's name from a table's file name: the name without ``.tsv``, ``.hits`` and ``.scan``."""
    name = Path(path).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name or Path(path).name


def read_hits(path: str, name_sample: Callable[[str, str], str]) -> Iterator[ReportedHit]:
    """The rows of a table of hits.

    Parameters
    ----------
    path : str
    name_sample : callable
        ``name_sample(file's label, table's label)`` gives the sample of a row.

    Raises
    ------
    InputError
        For a file that is not a table of hits; names the line.
    """
    table = table_label(path)
    for number, row in enumerate(read_rows(path, HIT_COLUMNS, "pairhmm scan", optional=PLACE), start=2):
        file, record, at, signature, start, end, strand, total, mean, matches, informative, mismatches, *place = row
        try:
            yield ReportedHit(
                name_sample(file_label(file), table),
                record,
                _count(at),
                signature,
                _count(start),
                _count(end),
                strand,
                _count(total) if total else None,
                _number(mean) if mean else None,
                _count(matches),
                _count(informative),
                _count(mismatches),
                _count(place[0]) if place else None,
            )
        except ValueError:
            raise InputError(path, f"line {number}", "not a hit", "give a table that pairhmm scan wrote") from None


def read_seen(path: str, sample: str | None) -> Iterator[tuple[str, SignatureSeen]]:
    """The sample and the rest of each row of a summary ``PREFIX.signatures.tsv`` of a scan of tiles.

    Parameters
    ----------
    path : str
    sample : str or None
        The sample of all rows. None names it by the file that was scanned.

    Raises
    ------
    InputError
        For a file that is not such a table; names the line.
    """
    rows = read_rows(path, SEEN_COLUMNS, "pairhmm scan --tile --summary", optional=MASKED)
    for number, row in enumerate(rows, start=2):
        file, signature, call, reads, ambiguous, tiles, all_tiles, breadth, depth, *more = row
        quality, identity, expected, length, reason, *masked = more
        try:
            seen = SignatureSeen(
                signature=signature,
                length=_count(length),
                reads=_count(reads),
                ambiguous=_number(ambiguous) if ambiguous else None,
                tiles=_count(tiles),
                all_tiles=_count(all_tiles),
                breadth=_number(breadth),
                depth=_number(depth),
                quality=_number(quality) if quality else None,
                identity=_number(identity) if identity else None,
                expected=_number(expected),
                call=call,
                reason=reason,
                masked=_count(masked[0]) if masked else 0,
            )
        except ValueError:
            cure = "give a table that pairhmm scan --tile wrote"
            raise InputError(path, f"line {number}", "not a signature", cure) from None
        yield sample or file_label(file), seen


def _count(text: str) -> int:
    """Parse a whole number of a hit. Raises ValueError for other text, and beyond 64 bits."""
    number = int(text)
    if not 0 <= number < 1 << 63:
        raise ValueError(text)
    return number


def _number(text: str) -> float:
    """Parse a number that is not negative, such as a mean quality. Raises ValueError for other text."""
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(text)
    return number
