"""Writes tables of measurements to stdout."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import rich_click as click

from pairhmm.bench.device import describe
from pairhmm.engine import Choice

log = logging.getLogger(__name__)


class Tables:
    """Writes tables of tab-separated rows, each row as soon as it is known, or one JSON object at the end."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._records: dict[str, list[dict[str, object]]] = {}
        self._current: list[dict[str, object]] = []

    def table(self, name: str, *columns: str) -> None:
        """Begin a table. The name is that of its records in JSON."""
        self._current = self._records[name] = []
        self._line(*columns)

    def row(self, record: dict[str, object], *values: object) -> None:
        """Add the record of a measurement, and its values as the table shows them."""
        self._current.append(record)
        self._line(*values)

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

    def _line(self, *values: object) -> None:
        if not self._as_json:
            click.echo("\t".join(map(str, values)))
