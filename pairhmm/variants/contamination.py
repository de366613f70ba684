"""The shares of another person's reads in samples, as `pairhmm map relate --sample-table` writes them."""

from __future__ import annotations

from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines

MOST_CONTAMINATION = 0.5
"""The highest share: beyond it, the other person would be the sample."""

_CURE = "give the table that 'pairhmm map relate --sample-table' wrote"


def read_contamination(path: str) -> dict[str, float]:
    """The contamination of each sample of a table. One that is not known is left out.

    Raises InputError for a file that can't be used; names the line.
    """
    lines = enumerate(read_lines(path), start=1)
    columns = next(lines, (1, ""))[1].removeprefix("#").split("\t")
    if not {"sample", "contamination"} <= set(columns):
        raise InputError(path, "line 1", "has no columns sample and contamination", _CURE)
    shares = {}
    for number, line in lines:
        row = dict(zip(columns, line.split("\t"), strict=False))
        share = row.get("contamination", "")
        if not line or share == ".":
            continue
        if not _is_share(share):
            rule = f"contamination {share!r} is not a number from 0 to {MOST_CONTAMINATION}"
            raise InputError(path, f"line {number}", rule, _CURE)
        shares[row["sample"]] = float(share)
    return shares


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= MOST_CONTAMINATION
    except ValueError:
        return False
