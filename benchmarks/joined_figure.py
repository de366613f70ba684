"""Draws docs/images/joined.svg from the results of mates.py and families.py.

    python benchmarks/joined_figure.py

Left: false SNVs against the share of true SNVs found, with and without `--join-mates`. Right: precision against recall
of the molecules that carry an allele, by their family's profile and by their best read. A line is a seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
MATES, FAMILIES = HERE / "results" / "mates.json", HERE / "results" / "families.json"
FIGURE = HERE.parent / "docs" / "images" / "joined.svg"
BLUE, ORANGE, GREY = "#08488c", "#b35806", "#777777"
WIDTH, HEIGHT = 760, 330
PLOT_WIDTH, PLOT_HEIGHT, TOP = 290, 230, 40

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot's place, ranges and labels. `ticks` are those of x and of y."""

    left: int
    title: str
    labels: tuple[str, str]
    ticks: tuple[Sequence[float], Sequence[float]]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point in the figure."""
        (x0, *_, x1), (y0, *_, y1) = self.ticks
        return self.left + PLOT_WIDTH * (x - x0) / (x1 - x0), TOP + PLOT_HEIGHT * (1 - (y - y0) / (y1 - y0))

    def axes(self) -> Iterable[str]:
        """The frame, the ticks and the labels."""
        yield f'<rect x="{self.left}" y="{TOP}" width="{PLOT_WIDTH}" height="{PLOT_HEIGHT}" class="frame"/>'
        middle, bottom = self.left + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT
        yield text(middle, TOP - 14, self.title, "middle", "title")
        yield text(middle, bottom + 38, self.labels[0], "middle")
        yield (
            f'<text transform="translate({self.left - 44} {TOP + PLOT_HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.labels[1])}</text>"
        )
        for tick in self.ticks[0]:
            yield text(self.at(tick, 0)[0], bottom + 18, f"{tick:g}", "middle")
        for tick in self.ticks[1]:
            yield text(self.left - 6, self.at(self.ticks[0][0], tick)[1] + 4, f"{tick:g}", "end")

    def line(self, points: Points, colour: str) -> str:
        """A line through points; what lies beyond the ranges is not drawn."""
        (x0, *_, x1), (y0, *_, y1) = self.ticks
        inside = [self.at(x, y) for x, y in points if x0 <= x <= x1 and y0 <= y <= y1]
        return f'<polyline stroke="{colour}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in inside)}"/>'

    def legend(self, row: int, name: str, colour: str) -> Iterable[str]:
        """A name and its colour."""
        x, y = self.left + 14, TOP + 20 + 18 * row
        yield f'<polyline stroke="{colour}" points="{x},{y} {x + 22},{y}"/>'
        yield text(x + 28, y + 4, name, "start")


def main() -> None:
    """Write the figure."""
    parts = [*mates(Plot(60, "mates joined", ("recall of SNVs", "false SNVs"), (MATES_X, MATES_Y)))]
    parts += families(Plot(440, "families joined", ("recall of molecules", "precision"), (FAMILIES_X, FAMILIES_Y)))
    style = (
        "text{font:12px sans-serif;fill:#222}.title{font-weight:bold}"
        ".frame{fill:none;stroke:#999}polyline{fill:none;stroke-width:1.5}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
    lines = [head, f"<style>{style}</style>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *parts]
    FIGURE.write_text("\n".join([*lines, "</svg>"]) + "\n")


COVERAGE, QUALITIES = 15, "promise the errors"
MATES_X, MATES_Y = (0.8, 0.85, 0.9, 0.95, 1.0), (0, 2, 4, 6, 8, 10)
FAMILIES_X, FAMILIES_Y = (0.0, 0.25, 0.5, 0.75, 1.0), (0.94, 0.96, 0.98, 1.0)


def mates(plot: Plot) -> Iterable[str]:
    """False SNVs against recall."""
    yield from plot.axes()
    names = {"identity": ("each read alone", ORANGE), "identity, joined": ("--join-mates", BLUE)}
    for row in json.loads(MATES.read_text())["results"]:
        if row["way"] in names and row["coverage"] == COVERAGE and row["qualities"] == QUALITIES:
            points = [(true / row["true"], false) for true, false in row["curve"]]
            yield plot.line(points, names[row["way"]][1])
    for row, (name, colour) in enumerate(names.values()):
        yield from plot.legend(row, name, colour)


def families(plot: Plot) -> Iterable[str]:
    """Precision against recall."""
    yield from plot.axes()
    names = {
        "decided": ("best read, the most decided one", GREY),
        "likelihood": ("best read, by likelihood", ORANGE),
        "family": ("--families MI", BLUE),
    }
    for row in json.loads(FAMILIES.read_text())["results"]:
        if row["way"] in names:
            yield plot.line([(0.0, row["curve"][0][1]), *row["curve"]], names[row["way"]][1])
    for row, (name, colour) in enumerate(names.values()):
        yield from plot.legend(row + 8, name, colour)


def text(x: float, y: float, words: str, anchor: str, kind: str = "") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


if __name__ == "__main__":
    main()
