"""Options that several commands share."""

from __future__ import annotations

import rich_click as click

BACKENDS = ("auto", "cpu", "reference")

backend_option = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default="auto",
    show_default=True,
    help="What computes; auto takes the fastest that runs here and says which.",
)

threads_option = click.option(
    "-@", "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads that compute."
)
