"""Writes the map of samples: the table of positions, and the picture as SVG."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.files.outputs import open_output
from pairhmm.map.embedding import SampleMap

COLUMNS = ("sample", "x", "y", "exact_x", "exact_y", "cell_x", "cell_y", "neighbours")
NAME_SEPARATOR = ","
"""Stands between the names of neighbours."""
UNKNOWN = "."


def write_positions(destination: str | Path, drawn: SampleMap) -> None:
    """Write a table of positions (docs/map.md); ``-`` is stdout. Raises InputError where the file can't be written."""
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
        NAME_SEPARATOR.join(drawn.names[neighbour] for neighbour in neighbours) or UNKNOWN,
        *map(_number, drawn.projections[:, sample].reshape(-1).tolist()),
    ]


def _number(value: float) -> str:
    return UNKNOWN if math.isnan(value) else f"{value:.6g}"


_SIDE = 460
_GAP = 30
_TOP = 52
_PADDING = 26
_LEGEND_WIDTH = 190
_MOST_NAMED = 150
"""Samples whose names are drawn. Those of more samples are shown by the pointer."""
_LETTER = 5.6
_LINE = 11

_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8f8f8f")
"""Okabe and Ito's colours that are visible on white and on black."""
_SHAPES = (
    "M-1,0A1,1 0 1 0 1,0A1,1 0 1 0 -1,0Z",
    "M-.9,-.9H.9V.9H-.9Z",
    "M0,-1.2L1.1,.8H-1.1Z",
    "M0,-1.3L1.1,0L0,1.3L-1.1,0Z",
    "M0,1.2L1.1,-.8H-1.1Z",
    "M-.4,-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",
    "M-1.2,-.35H1.2V.35H-1.2Z",
)
"""Paths about the origin, a shape for each colour, so that the picture is clear without colour."""
_NOTHING = "No two samples are more alike than chance: nothing to draw."
_NO_VALUE = "(none)"
_OTHERS = "(others)"

_STYLE = """
text{font:11px system-ui,sans-serif;fill:#222}.title{font-size:13px;font-weight:600}.name{font-size:9.5px}
.ground{fill:#fff}.frame{fill:none;stroke:#bbb}path{stroke:#fff;stroke-width:.15}
@media (prefers-color-scheme:dark){text{fill:#ddd}.ground{fill:#16181c}.frame{stroke:#555}path{stroke:#16181c}}
"""


def write_picture(destination: str | Path, drawn: SampleMap) -> None:
    """Write the map as SVG, and beside it the exact scaling if there is one: first what can be trusted more.

    ``-`` is stdout.

    Raises InputError where the file can't be written.
    """
    panels = [("Map: projected and blended", drawn.trust, drawn.positions.astype(np.float64))]
    if drawn.exact is not None:
        panels.append(("Exact scaling of distances", drawn.exact_trust, drawn.exact))
    if drawn.is_exact_better:
        panels.reverse()
    kinds = _kinds(drawn)
    legend = list(dict.fromkeys(sorted(kinds, key=lambda kind: kind[0]))) if drawn.colours is not None else []
    width = _GAP + len(panels) * (_SIDE + _GAP) + (_LEGEND_WIDTH if legend else 0)
    height = _TOP + _SIDE + _GAP
    with open_output(destination) as out:
        out.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' role="img" aria-label="Map of {len(drawn.names)} samples"><style>{_STYLE}</style>'
            f'<rect class="ground" width="{width}" height="{height}"/>\n'
        )
        for number, (title, trust, positions) in enumerate(panels):
            left = _GAP + number * (_SIDE + _GAP)
            out.writelines(
                _panel(left, f"{title} (trustworthiness {trust_text(trust)})", positions, drawn.names, kinds)
            )
        for line, kind in enumerate(legend):
            out.write(_legend_line(_GAP + len(panels) * (_SIDE + _GAP), _TOP + 8 + 18 * line, kind))
        out.write("</svg>\n")


def _kinds(drawn: SampleMap) -> list[tuple[int, str]]:
    """The number of each sample's colour and shape, and what it stands for: the commonest values have their own."""
    if drawn.colours is None:
        return [(0, "")] * len(drawn.names)
    values = [value or _NO_VALUE for value in drawn.colours]
    counted = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    shown = len(_COLOURS) if len(counted) <= len(_COLOURS) else len(_COLOURS) - 1
    numbers = {value: number for number, (value, _) in enumerate(counted[:shown])}
    return [(numbers[value], value) if value in numbers else (shown, _OTHERS) for value in values]


def _panel(
    left: float, title: str, positions: NDArray[np.float64], names: Sequence[str], kinds: Sequence[tuple[int, str]]
) -> Iterator[str]:
    yield f'<text class="title" x="{left}" y="{_TOP - 14}">{escape(title)}</text>\n'
    yield f'<rect class="frame" x="{left}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}"/>\n'
    if np.isnan(positions).any():
        yield f'<text x="{left + _PADDING}" y="{_TOP + _SIDE // 2}">{_NOTHING}</text>\n'
        return
    places = _places(positions) + np.array((left, _TOP))
    size = 4.0 if len(names) <= 300 else 2.2
    fade = "" if len(names) <= 300 else ' fill-opacity=".75"'
    yield f"<g{fade}>\n"
    for name, (x, y), (number, value) in zip(names, places.tolist(), kinds, strict=True):
        tip = escape(f"{name}: {value}" if value else name)
        yield _mark(x, y, size, number, f"<title>{tip}</title>")
    yield "</g>\n"
    if len(names) <= _MOST_NAMED:
        yield from _names(places, names, size, left)


def _places(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions in a panel. Both axes have one scale, so that distances can be seen."""
    least, most = positions.min(axis=0), positions.max(axis=0)
    extent = float((most - least).max())
    scale = (_SIDE - 2 * _PADDING) / extent if extent > 0 else 0.0
    places: NDArray[np.float64] = (positions - (least + most) / 2) * (scale, -scale) + _SIDE / 2
    return places


def _mark(x: float, y: float, size: float, number: int, inside: str = "") -> str:
    transform = f"translate({x:.1f} {y:.1f}) scale({size:g})"
    return f'<path d="{_SHAPES[number]}" fill="{_COLOURS[number]}" transform="{transform}">{inside}</path>\n'


def _names(places: NDArray[np.float64], names: Sequence[str], size: float, left: float) -> Iterator[str]:
    """Names beside their points, where there is room for them."""
    taken = [(x - size, y - size, x + size, y + size) for x, y in places.tolist()]
    for name, (x, y) in zip(names, places.tolist(), strict=True):
        width = _LETTER * len(name)
        for dx, dy in ((size + 2, 3), (-size - 2 - width, 3), (-width / 2, -size - 3), (-width / 2, size + 10)):
            box = (x + dx, y + dy - _LINE + 3, x + dx + width, y + dy + 1)
            if box[0] < left or box[2] > left + _SIDE or box[1] < _TOP or box[3] > _TOP + _SIDE:
                continue
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield f'<text class="name" x="{x + dx:.1f}" y="{y + dy:.1f}">{escape(name)}</text>\n'
                break


def _overlap(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _legend_line(x: float, y: float, kind: tuple[int, str]) -> str:
    number, value = kind
    shown = value if len(value) <= 24 else value[:23] + "…"
    return _mark(x + 6, y, 4.5, number) + f'<text x="{x + 18}" y="{y + 4}">{escape(shown)}</text>\n'
