"""The roofline of `pairhmm bench dp`: cells a second over the cells that a byte of device memory feeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pairhmm.bench.dp import OURS, WARPING, CellSpeed
from pairhmm.bench.dp_roofs import Roofs
from pairhmm.errors import InputError
from pairhmm.io.files.outputs import whole_files

__all__ = ["cells_of_a_byte", "need_matplotlib", "save_roofline"]

SUFFIXES = (".svg", ".png")
"""Formats that the figure is written in."""

STRIP = 1024
"""Rows after which our kernels hand a row on through memory."""

PUBLISHED_BYTES = 8
"""Bytes that a cell of the published design reads and writes in memory: what is above it, and itself."""

INSTRUCTIONS = {"two cells an instruction": 0.5, "2 instructions a cell": 2, "10 instructions a cell": 10}
"""Issue roofs that are drawn, by the instructions of a cell."""


def need_matplotlib() -> Any:
    """The module that draws.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        matplotlib = import_module("matplotlib")
    except ImportError:
        raise InputError(
            "--roofline", "", "matplotlib, which draws it, is not installed", "pip install 'pairhmm[plot]'"
        ) from None
    matplotlib.use("agg")
    return import_module("matplotlib.pyplot")


def cells_of_a_byte(speed: CellSpeed) -> float:
    """Cells that a design computes for each byte that it asks of device memory, by its layout.

    The published design asks `PUBLISHED_BYTES` a cell. Ours asks for letters (two bits each) or levels (two bytes), and
    for the row between two strips, written and read, which two pairs share.
    """
    if speed.design != OURS:
        return 1 / PUBLISHED_BYTES
    own = 2 * speed.length * (2 if speed.method == WARPING else 0.25)
    between = (-(-speed.length // STRIP) - 1) * speed.length * 4
    return speed.length**2 / (own + between)


def save_roofline(speeds: Sequence[CellSpeed], roofs: Roofs, device: str, path: Path) -> list[Path]:
    """Write the figure as SVG and PNG, at `path` with each of these endings.

    Returns
    -------
    list of Path
        The files.
    """
    pyplot = need_matplotlib()
    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    places = [cells_of_a_byte(speed) for speed in speeds]
    low, high = min([*places, 0.1]) / 2, max([*places, 100]) * 4
    highest = roofs.issue / min(INSTRUCTIONS.values())
    for _, bytes_a_second in _memories(roofs):
        end = min(high, highest / bytes_a_second)
        axes.plot([low, end], [low * bytes_a_second / 1e9, end * bytes_a_second / 1e9], color="0.35", linewidth=1)
    for name, count in INSTRUCTIONS.items():
        axes.axhline(roofs.issue / count / 1e9, color="0.35", linewidth=1, linestyle="--")
        axes.text(high, roofs.issue / count / 1e9, f"issue, {name}", fontsize=8, ha="right", va="bottom")
    for (method, design), marker in zip(
        dict.fromkeys((speed.method, speed.design) for speed in speeds), "osD^vPX*", strict=False
    ):
        own = [speed for speed in speeds if (speed.method, speed.design) == (method, design)]
        x, y = [cells_of_a_byte(speed) for speed in own], [speed.gcups for speed in own]
        axes.plot(x, y, marker=marker, linestyle="none", label=f"{method}, {design}")
        for speed, at, value in zip(own, x, y, strict=True):
            axes.annotate(f"{speed.length:,}", (at, value), fontsize=7, xytext=(4, 4), textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlim=(low, high), xlabel="cells a byte of device memory")
    axes.set(ylabel="GCUPS (10⁹ cells a second)", title=f"Alignment and time warping on {device}")
    axes.legend(loc="lower right", fontsize=8)
    _name_memories(figure, axes, low * 1.1, roofs)
    axes.grid(which="major", alpha=0.3)
    written = [path.with_name(path.name + suffix) for suffix in SUFFIXES]
    for one in written:
        with whole_files(one) as scratch:
            figure.savefig(scratch, dpi=150, metadata={"Date": None} if one.suffix == ".svg" else None)
    pyplot.close(figure)
    return written


def _name_memories(figure: Any, axes: Any, at: float, roofs: Roofs) -> None:
    """Write the names of the memories along their roofs, from `at` on, once the axes have their size."""
    figure.canvas.draw()
    (x, y), (farther, higher) = axes.transData.transform([(at, at), (2 * at, 2 * at)])
    angle = math.degrees(math.atan2(higher - y, farther - x))
    for name, bytes_a_second in _memories(roofs):
        label = f"{name}, {bytes_a_second / 1e12:.1f} TB/s"
        place = at, 1.06 * at * bytes_a_second / 1e9
        axes.text(*place, label, rotation=angle, rotation_mode="anchor", fontsize=8, va="bottom")


def _memories(roofs: Roofs) -> tuple[tuple[str, float], ...]:
    return ("DRAM", roofs.dram), ("L2", roofs.l2), ("shared memory", roofs.shared)
