"""Tiles of an amplicon scheme, from a BED file of tiles or of their primers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from pairhmm.errors import InputError
from pairhmm.sequences.intervals import Interval, named_intervals

_PRIMER = re.compile(r"(?P<tile>.+?)_(?P<side>LEFT|RIGHT)(?:_.*)?")


class Tile(NamedTuple):
    """The bases between the primers of an amplicon, 0-based half-open."""

    chrom: str
    start: int
    end: int
    name: str


def read_tiles(path: str, contigs: Mapping[str, int], circles: Collection[str] = ()) -> list[Tile]:
    """Tiles in the order of the file. Primers of a tile have its name with ``_LEFT`` or ``_RIGHT``.

    Tiles over the origin of one of `circles` end behind the last base.

    Raises InputError for a line that can't be used, and for a tile that lacks a primer.
    """
    lines = named_intervals(path, contigs, circles)
    primers = [_PRIMER.fullmatch(name) for _, name in lines]
    if not any(primers):
        return [Tile(*interval, name or f"tile {number}") for number, (interval, name) in enumerate(lines, start=1)]
    sides: dict[tuple[str, str], dict[str, list[Interval]]] = defaultdict(lambda: defaultdict(list))
    for (interval, name), primer in zip(lines, primers, strict=True):
        if primer is None:
            rule = f"{name or interval} is no primer, but others are"
            raise InputError(path, "", rule, "names of primers end in _LEFT or _RIGHT")
        sides[interval.chrom, primer["tile"]][primer["side"]].append(interval)
    return [_between(path, *tile, sides[tile], contigs[tile[0]] if tile[0] in circles else 0) for tile in sides]


def _between(path: str, chrom: str, name: str, primers: Mapping[str, list[Interval]], circle: int) -> Tile:
    """The tile between its primers. Of alternative ones, the innermost count. `circle`: bases of a circular contig."""
    start = max((one.end for one in primers["LEFT"]), default=0)
    end = min((one.start for one in primers["RIGHT"]), default=0)
    if circle and primers["LEFT"] and primers["RIGHT"]:
        start %= circle
        end += circle * (start >= end)
    if start >= end:
        rule = f"tile {name} has no bases between a primer _LEFT and a primer _RIGHT"
        raise InputError(path, "", rule, "give both primers of each tile")
    return Tile(chrom, start, end, name)
