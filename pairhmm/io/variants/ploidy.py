"""Reads ploidy files in bcftools' format: the copies of each chromosome by sex."""

from __future__ import annotations

from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.genomics.ploidy import MOST_COPIES, PloidyRule
from pairhmm.io.files.inputs import opening
from pairhmm.io.sequences.intervals import MOST_DIGITS


def read_ploidy(path: str | Path) -> list[PloidyRule]:
    """The rules of a file: lines ``CHROM FROM TO SEX PLOIDY``, 1-based inclusive; ``* * * SEX PLOIDY`` for the rest.

    Parameters
    ----------
    path : path

    Raises
    ------
    InputError
        For a line that can't be used; names it.
    """
    rules = []
    opening(path)
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip() and not line.startswith("#"):
                    rules.append(_rule(str(path), number, line.split()))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), "", "can't be read as text", "check the path") from error
    return rules


def _rule(path: str, number: int, cells: list[str]) -> PloidyRule:
    cure = "write CHROM FROM TO SEX PLOIDY, 1-based, or * * * SEX PLOIDY"
    if len(cells) != 5 or not cells[4].isdecimal() or len(cells[4]) > MOST_DIGITS or int(cells[4]) > MOST_COPIES:
        raise InputError(path, f"line {number}", f"not five cells with a ploidy up to {MOST_COPIES}", cure)
    chrom, begin, end, sex, ploidy = cells
    if chrom == "*":
        return PloidyRule(chrom, 0, 0, sex, int(ploidy))
    if not (_is_position(begin) and _is_position(end) and 1 <= int(begin) <= int(end)):
        raise InputError(path, f"line {number}", f"{begin}-{end} is no interval", cure)
    return PloidyRule(chrom, int(begin) - 1, int(end), sex, int(ploidy))


def _is_position(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_DIGITS
