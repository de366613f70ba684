"""Options that the commands of `pairhmm bench` share."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import Decorator, option
from pairhmm.cli.help_style import MEASUREMENT, OUTPUT


class Lengths(click.ParamType):  # type: ignore[type-arg]
    """Whole numbers with commas between them."""

    name = "lengths"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """The numbers; each is at least 1."""
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
        """Numbers as they are given."""
        return ",".join(map(str, lengths))


def repetitions_option(owner: object, what_counts: str) -> Decorator:
    """`--repetitions`, with the default of the function that measures."""
    return option(
        owner,
        "repetitions",
        least=1,
        metavar="N",
        panel=MEASUREMENT,
        help=f"Each measurement is done this many times. {what_counts}",
    )


json_option = click.option(
    "--json", "as_json", is_flag=True, panel=OUTPUT, help="One JSON object is written in place of tables."
)
