"""The table of hits that `pairhmm scan` writes: its columns, its rows, and the samples that it names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.files.names import decoded
from pairhmm.files.text_lines import read_rows

HIT_COLUMNS = (
    *("file", "record", "number", "signature", "start", "end", "strand", "sum", "mean"),
    *("matches", "informative", "mismatches"),
)
PLACE = "place"
"""The last column: where in its signature a match begins. Tables of whole signatures may lack it."""

_ENDINGS = (".gz", ".tsv", ".hits", ".scan")


@dataclass(frozen=True, slots=True)
class ReportedHit:
    """A row of a table of hits. `start` is 0-based. `total` and `mean` are None where the sample has no qualities.

    `place` is where the match begins in its signature, 0-based.
    """

    sample: str
    record: str
    number: int
    signature: str
    start: int
    end: int
    strand: str
    total: int | None
    mean: float | None
    matches: int
    informative: int
    mismatches: int
    place: int = 0


def file_label(path: str) -> str:
    """The name of a file's sample: the file name without folder, ``.gz`` and the format's extension."""
    name = "stdin" if path == "-" else Path(path).name
    for ending in (".gz", ".bgz"):
        name = name.removesuffix(ending)
    return decoded(Path(name).stem or name)


def table_label(path: str) -> str:
    """The sample's name from a table's file name: the name without ``.tsv``, ``.hits`` and ``.scan``."""
    name = Path(path).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name or Path(path).name


def read_hits(path: str, name_sample: Callable[[str, str], str]) -> Iterator[ReportedHit]:
    """The rows of a table of hits.

    Raises InputError for a file that is not a table of hits; names the line.

    `name_sample`: ``name_sample(file's label, table's label)`` gives the sample of a row.
    """
    table = table_label(path)
    for number, row in enumerate(read_rows(path, HIT_COLUMNS, "pairhmm scan", optional=(PLACE,)), start=2):
        file, record, at, signature, start, end, strand, total, mean, matches, informative, mismatches, *place = row
        try:
            yield ReportedHit(
                name_sample(file_label(file), table),
                record,
                count_of(at),
                signature,
                count_of(start),
                count_of(end),
                strand,
                count_of(total) if total else None,
                number_of(mean) if mean else None,
                count_of(matches),
                count_of(informative),
                count_of(mismatches),
                count_of(place[0]) if place else 0,
            )
        except ValueError:
            raise InputError(path, f"line {number}", "not a hit", "give a table that pairhmm scan wrote") from None


def count_of(text: str) -> int:
    """Parse a whole number of a hit. Raises ValueError for other text, and beyond 64 bits."""
    number = int(text)
    if not 0 <= number < 1 << 63:
        raise ValueError(text)
    return number


def number_of(text: str) -> float:
    """Parse a number that is not negative, such as a mean quality. Raises ValueError for other text."""
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(text)
    return number
