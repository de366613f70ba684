"""Writes warpings: of pairs of signals, and of reads onto signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.outputs import open_output
from pairhmm.warp.base import NO_PATH, Warpings
from pairhmm.warp.places import STRANDS, Placements

PAIR_COLUMNS = ("query", "target", "cost", "start", "end")
PLACE_COLUMNS = (
    *("file", "read", "signature", "strand", "start", "end"),
    *("cost", "levels", "distance", "next_cost", "ratio"),
)
NONE = "."


def check_warpings(destination: str | Path) -> None:
    """Require a name of a table of warpings."""
    require_ending(destination, "tables of warpings", TEXT_TABLE)


@contextmanager
def open_warpings(destination: str | Path, columns: Sequence[str], settings: Mapping[str, object]) -> Iterator[TextIO]:
    """Open a table (TSV); ``-`` is stdout. Its first line has the scale and the other settings that costs depend on."""
    check_warpings(destination)
    with open_output(destination) as out:
        out.write("##" + " ".join(f"{name}={value}" for name, value in settings.items()) + "\n")
        out.write("#" + "\t".join(columns) + "\n")
        yield out


def pair_lines(queries: Sequence[str], targets: Sequence[str], warpings: Warpings) -> str:
    """A row for each pair; a pair without a path has points."""
    rows = zip(queries, targets, warpings.costs.tolist(), warpings.starts.tolist(), warpings.ends.tolist(), strict=True)
    return "".join(
        f"{query}\t{target}\t{NONE}\t{NONE}\t{NONE}\n"
        if cost == NO_PATH
        else f"{query}\t{target}\t{cost}\t{start}\t{end}\n"
        for query, target, cost, start, end in rows
    )


def place_lines(
    file: str,
    reads: Sequence[str],
    levels: NDArray[np.int64],
    signatures: Sequence[str],
    places: Placements,
    scale: float,
    *,
    every_signature: bool,
) -> str:
    """A row for each read with its best signature, or for each read and signature.

    `levels` are how many of each read were warped, and `scale` are units of a level.
    """
    lines = []
    best, next_costs = places.best().tolist(), places.next_costs()
    for number, (read, count) in enumerate(zip(reads, levels.tolist(), strict=True)):
        for at in range(len(signatures)) if every_signature else (best[number],):
            cost, other = int(places.costs[number, at]), int(next_costs[number, at])
            fields = (
                *(file, read, signatures[at], STRANDS[int(places.reverse[number, at])]),
                *(places.starts[number, at], places.ends[number, at], cost, count, f"{cost / count / scale:.4f}"),
                *(other, f"{other / cost:.3f}" if cost else NONE),
            )
            lines.append("\t".join(map(str, fields)) + "\n")
    return "".join(lines)
