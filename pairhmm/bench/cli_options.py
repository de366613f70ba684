"""Options and tables that the commands of `pairhmm bench` share."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import rich_click as click

from pairhmm.bench.device import describe
from pairhmm.cli.fields import Decorator, option
from pairhmm.cli.help_style import COMPUTE, MEASUREMENT, OUTPUT
from pairhmm.cli.param_types import Whole
from pairhmm.engine import Choice

log = logging.getLogger(__name__)


class Lengths(click.ParamType):  # type: ignore[type-arg]
    """Whole numbers with commas between them."""

    name = "lengths"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            lengths = tuple(int(word.replace("_", "")) for word in value.split(","))
        except ValueError:
            lengths = ()
        if not lengths or min(lengths) < 1:
            self.fail(f"{value!r} is not a list of lengths such as 100,1000", param, ctx)
        return lengths

    @staticmethod
    def text(lengths: tuple[int, ...]) -> str:
        return ",".join(map(str, lengths))


def repetitions_option(owner: object, what_counts: str) -> Decorator:
    """`--repetitions`, with the default of the function that measures."""
    return option(
        owner,
        "repetitions",
        least=1,
        metavar="N",
        panel=MEASUREMENT,
        help=f"The number of repetitions of each measurement. {what_counts}",
    )


json_option = click.option(
    "--json", "as_json", is_flag=True, panel=OUTPUT, help="Write one JSON object in place of tables."
)

GPUS = ("cuda", "webgpu")
"""Backends that are compared with the CPU."""

gpu_option = click.option(
    "--backend",
    type=click.Choice(GPUS),
    default=GPUS[0],
    show_default=True,
    metavar="NAME",
    panel=COMPUTE,
    help=f"The GPU backend to measure: {' or '.join(GPUS)}.",
)

device_option = click.option(
    "--device",
    type=Whole(0),
    metavar="N",
    panel=COMPUTE,
    help="The GPU, by its number in 'pairhmm devices'. By default, the first GPU.",
)


class Tables:
    """Writes tables of tab-separated rows, each row as soon as it is known, or one JSON object at the end."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._records: dict[str, list[dict[str, object]]] = {}
        self._current: list[dict[str, object]] = []
        self._columns: dict[str, str] = {}

    def table(self, name: str, **columns: str) -> None:
        """Begin a table, with its name in JSON, and the format of each column."""
        self._current, self._columns = self._records.setdefault(name, []), columns
        self._line(*columns)

    def rows(self, measured: Iterable[Any], **more: object) -> None:
        """Add measurements: data classes, whose fields and properties are in JSON. Columns are these, or `more`."""
        for one in measured:
            properties = [name for name, kind in vars(type(one)).items() if isinstance(kind, property)]
            self._current.append(asdict(one) | {name: getattr(one, name) for name in properties})
            values = {name: more[name] if name in more else getattr(one, name) for name in self._columns}
            self._line(*(_text(value, self._columns[name]) for name, value in values.items()))

    def devices(self, choices: Sequence[Choice]) -> None:
        """Name the devices that the tables are measured on."""
        self._records["devices"] = []
        for choice in choices:
            about = describe(choice)
            self._records["devices"].append(dict(about))
            log.info("%s", ", ".join(f"{name} {value}" for name, value in about.items() if value))

    def finish(self) -> None:
        """Write the JSON object, if that was asked for."""
        if self._as_json:
            click.echo(json.dumps(self._records, indent=1))

    def _line(self, *texts: str) -> None:
        if not self._as_json:
            click.echo("\t".join(texts))


def _text(value: object, form: str) -> str:
    """A value of a table: of repetitions the median."""
    if isinstance(value, list):
        value = median(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else format(value, form)
