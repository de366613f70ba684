"""What the benchmarks write: tab-separated tables, below lines that say how and on what they were measured.

Every benchmark writes its tables to stdout, or with `--output` to a file. Those in results/ are where the figures of
the documents come from.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pairhmm

Row = Mapping[str, Any]


def parser(document: str, workdir: str = "", rounds: int = 0) -> argparse.ArgumentParser:
    """Options of a benchmark: `--output`, and those for which a default is given."""
    made = argparse.ArgumentParser(
        description=document, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    made.add_argument("-o", "--output", type=Path, help="file for the tables (default: stdout)")
    if workdir:
        made.add_argument(
            "--workdir", type=Path, default=Path(workdir), help="made data are kept (default: %(default)s)"
        )
    if rounds:
        made.add_argument("--rounds", type=int, default=rounds, help="the best counts (default: %(default)s)")
    return made


def write(output: Path | None, tables: Mapping[str, Sequence[Row]], device: str = "", **about: object) -> None:
    """Write tables, each below its name.

    Parameters
    ----------
    output : Path or None
        None for stdout.
    tables : dict
        Rows by the name of the table. A value that is a dict has a column for each of its keys.
    device : str
        What was measured; by default the processor.
    **about
        Further lines of the head.
    """
    command = f"python benchmarks/{Path(sys.argv[0]).name} {' '.join(sys.argv[1:])}".rstrip()
    head = {"command": command, "device": device or processor(), "date": datetime.date.today().isoformat()}
    head |= {"version": f"pairhmm {pairhmm.__version__}, Python {platform.python_version()}"} | about
    lines = [f"# {name}: {value}" for name, value in head.items()]
    for name, rows in tables.items():
        lines += ["", f"# {name}", *_lines([dict(_flat(row)) for row in rows])]
    text = "\n".join(lines) + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)


def _lines(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    yield "\t".join(columns)
    for row in rows:
        yield "\t".join(row.get(column, "") for column in columns)


def _flat(row: Row, above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key} ")
        else:
            yield f"{above}{key}", _text(value)


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "/".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.5g}" if abs(value) < 1000 else f"{value:.0f}"
    return "" if value is None else str(value)


def processor() -> str:
    """The processor's name, as the kernel of the operating system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
