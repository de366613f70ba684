"""Primers of a tiling scheme, from the BED that primalscheme writes and iVar takes. 0-based half-open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.sequences.intervals import Interval, bed_interval, check_inside, is_bed_record

# Where the name and the strand of a primer stand, and the endings that tell the strand of one without.
_NAME, _STRAND = 3, 5
_ENDINGS = {"LEFT": False, "F": False, "FWD": False, "RIGHT": True, "R": True, "REV": True}


class Primer(NamedTuple):
    """A primer: where it lies, whether it is on the reverse strand, and its line in the file."""

    interval: Interval
    is_reverse: bool
    line: int


@dataclass(frozen=True, slots=True)
class Primers:
    """The primers of a scheme. `path` names their file."""

    path: str
    primers: tuple[Primer, ...]

    def check(self, contigs: Mapping[str, int]) -> None:
        """Raise InputError for a primer that is not inside a contig; names its line."""
        for primer in self.primers:
            check_inside(primer.interval, self.path, f"line {primer.line}", contigs)


def read_primers(path: str) -> Primers:
    """Read a BED of primers: chrom, start, end, name, pool or score, strand. Without a strand, names tell it.

    Raises InputError for a line that can't be used; names it.
    """
    primers = []
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split()
        if is_bed_record(line, cells):
            primers.append(Primer(bed_interval(path, number, cells), _is_reverse(path, number, cells), number))
    if not primers:
        cure = "give the BED of the scheme: chrom, start, end, name, pool, strand"
        raise InputError(path, "", "no primer in it", cure)
    return Primers(path, tuple(primers))


def _is_reverse(path: str, number: int, cells: Sequence[str]) -> bool:
    if len(cells) > _STRAND and cells[_STRAND] in ("+", "-"):
        return cells[_STRAND] == "-"
    parts = cells[_NAME].upper().split("_") if len(cells) > _NAME else []
    ending = next((_ENDINGS[part] for part in reversed(parts) if part in _ENDINGS), None)
    if ending is None:
        rule = "a primer without a strand, and whose name has neither LEFT nor RIGHT"
        raise InputError(path, f"line {number}", rule, "write + or - into the sixth column")
    return ending
