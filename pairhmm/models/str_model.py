"""Gap qualities by the unit and the copies of the tandem repeat at a base: STR tables.

The form is that of DRAGEN's STR tables: a quality of opening and one of continuing a gap for each unit and number of
copies. Repeats gain and lose whole units, so a further unit costs what a further base does elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from pairhmm.errors import OptionError
from pairhmm.options import check_whole
from pairhmm.sequences.letters import HIGHEST_QUALITY
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS

TABLES = ("insertion", "deletion", "gap")
"""The tables of a model: the qualities of opening either gap, and of continuing one."""

Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class StrModel:
    """Phred qualities of gaps by the tandem repeat at a base.

    Attributes
    ----------
    insertion, deletion, gap : tuple of tuple of int
        The qualities of opening an insertion or a deletion, and of continuing either: a row for each unit of 1 to 8
        bases, and in it a number for 1, 2, ... 20 copies. One copy of one base means no repeat.
        Gaps open more rarely at each base of longer repeats, which have more of them (docs/model.md).
    name : str
        Where they are from, for headers of outputs.
    spread : float
        Standard deviation of the log10 of the rates at which reads slip, among repeats of the same unit and copies.
    """

    insertion: Table
    deletion: Table
    gap: Table
    name: str = "STR model"
    spread: float = 0.15

    def __post_init__(self) -> None:
        for name in TABLES:
            table = getattr(self, name)
            if len(table) != LONGEST_REPEAT_UNIT or any(len(row) != MOST_REPEATS for row in table):
                raise OptionError(name, table, f"does not have {LONGEST_REPEAT_UNIT} rows of {MOST_REPEATS} values")
            for value in (value for row in table for value in row):
                check_whole(name, value, 0, HIGHEST_QUALITY)
