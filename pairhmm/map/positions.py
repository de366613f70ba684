"""Writes tables of samples' positions on the map."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from pairhmm.files.outputs import open_output
from pairhmm.map.sample_map import SampleMap

COLUMNS = ("sample", "x", "y", "exact_x", "exact_y", "cell_x", "cell_y", "neighbours")
NAME_SEPARATOR = ","
"""Stands between the names of neighbours."""
UNKNOWN = "."


def write_positions(destination: str | Path, drawn: SampleMap) -> None:
    """Write a table of positions (docs/map.md); ``-`` is stdout.

    Raises
    ------
    InputError
        Where the file can't be written.
    """
    with open_output(destination) as out:
        out.writelines(f"##pairhmmMap{key}={value}\n" for key, value in _header(drawn))
        groups = [f"{group}_{axis}" for group in drawn.groups for axis in "xy"]
        out.write("#" + "\t".join((*COLUMNS, *groups)) + "\n")
        out.writelines("\t".join(_row(drawn, sample)) + "\n" for sample in range(len(drawn.names)))


def trust_text(trust: float | None) -> str:
    """A trustworthiness as the table and the picture show it."""
    return UNKNOWN if trust is None else f"{trust:.3f}"


def _header(drawn: SampleMap) -> Iterable[tuple[str, object]]:
    weights = zip(drawn.groups, drawn.weights.tolist(), strict=True)
    yield "Seed", drawn.options.seed
    yield "Weights", NAME_SEPARATOR.join(f"{group}={weight:.6g}" for group, weight in weights)
    yield "Alpha", f"{drawn.options.alpha:g}"
    yield "Passes", drawn.options.passes
    yield "Neighbours", drawn.options.neighbours
    yield "Quantise", drawn.options.quantise
    yield "Trustworthiness", f"map:{trust_text(drawn.trust)},exact:{trust_text(drawn.exact_trust)}"


def _row(drawn: SampleMap, sample: int) -> list[str]:
    offsets = drawn.neighbours.offsets
    neighbours = drawn.neighbours.indices[offsets[sample] : offsets[sample + 1]].tolist()
    exact = (math.nan, math.nan) if drawn.exact is None else drawn.exact[sample].tolist()
    return [
        drawn.names[sample],
        *map(_number, drawn.positions[sample].tolist()),
        *map(_number, exact),
        *(map(str, drawn.cells[sample].tolist()) if drawn.is_above_chance else (UNKNOWN, UNKNOWN)),
        NAME_SEPARATOR.join(drawn.names[one] for one in neighbours) or UNKNOWN,
        *map(_number, drawn.projections[:, sample].reshape(-1).tolist()),
    ]


def _number(value: float) -> str:
    return UNKNOWN if math.isnan(value) else f"{value:.6g}"
