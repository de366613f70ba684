"""GATK's PCR indel model in plain Python: repeats, and the qualities that they cap."""

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.gatk import PcrModel, pcr_quality
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS


def _count_copies(bases: bytes, unit: bytes, at: int, step: int) -> int:
    """Copies of `unit` that follow each other from `at`: forward (`step` is the unit's length) or back (minus it)."""
    count = 0
    while 0 <= at <= len(bases) - len(unit) and bases[at : at + len(unit)] == unit:
        count += 1
        at += step
    return count


def tandem_repeats(bases: NDArray[np.uint8], position: int) -> int:
    """Copies of the tandem repeat around the gap after `position`, at most 20.

    Finds the shortest unit (1 to 8 bases) that repeats before the gap, and the shortest one that repeats after it.
    Counts the copies of the second one on both sides (TandemRepeat / findTandemRepeatUnits in GATK).
    """
    text = bases.tobytes()
    before, copies_before = text[position : position + 1], 0
    for size in range(1, LONGEST_REPEAT_UNIT + 1):
        begin = position + 1 - size
        if begin < 0:
            break
        unit = text[begin : position + 1]
        copies_before = _count_copies(text[: position + 1], unit, begin, -size)
        if copies_before > 1:
            before = unit
            break
    if position >= len(text) - 1:
        return min(copies_before, MOST_REPEATS)
    after, copies_after = text[position + 1 : position + 2], 0
    for size in range(1, LONGEST_REPEAT_UNIT + 1):
        if position + size + 1 > len(text):
            break
        unit = text[position + 1 : position + 1 + size]
        copies_after = _count_copies(text, unit, position + 1, size)
        if copies_after > 1:
            after = unit
            break
    if after != before:
        copies_before = _count_copies(text[: position + 1], after, position + 1 - len(after), -len(after))
    return min(copies_before + copies_after, MOST_REPEATS)


def indel_quality_caps(bases: NDArray[np.uint8], model: PcrModel) -> NDArray[np.uint8]:
    """uint8[m]: the highest insertion and deletion quality at each position of a read; the last position has no cap."""
    caps = np.full(len(bases), 255, dtype=np.uint8)
    if model != "none":
        table = pcr_quality(model)
        for position in range(len(bases) - 1):
            caps[position] = table[tandem_repeats(bases, position)]
    return caps
