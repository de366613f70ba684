"""STR models from rates and from files, and the built-in ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.gatk import DEFAULT_GAP_QUALITY, DEFAULT_INDEL_QUALITY, GatkOptions, pcr_quality
from pairhmm.models.parameter_file import KEYS, check_keys, qualities_of, read_table
from pairhmm.models.str_model import TABLES, StrModel, Table
from pairhmm.native import native
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS

if TYPE_CHECKING:
    from pairhmm._cpu import SlipRates

UNITS = tuple(f"unit_{bases}" for bases in range(1, LONGEST_REPEAT_UNIT + 1))
"""Keys of the rows of a table in a file."""

LOSS_SHARE = 0.7
"""Share of the changes that lose units, in the built-in models."""

HIGHEST_RATE = 0.4
"""The highest rate: beyond it, no length of a repeat is the sample's."""

LEAST_COPIES = (4, 3, 3, 3, 3, 3, 3, 3)
"""Copies from which on a repeat counts as one, by the bases of its unit from 1 on."""

LOWEST_QUALITY = 3
"""The lowest quality that a rate makes: with lower ones, gaps would be likelier than none."""

Rates = NDArray[np.float64]

LIBRARIES = ("pcr-free", "pcr")
"""Names of the built-in models."""

FIRST_RATES = (2e-4, 1.8e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4)
"""P(change) of the repeats with the fewest copies without PCR, by the bases of the unit from 1 on.

Units of 1 and 2 bases are as in 100 kb of NA12878 without PCR, in which 104 of 114,000 reads have changes. Longer units
have too few changes there for an estimate.
"""

GROWTHS = (1.65, 1.6, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5)
"""How many times as often a repeat changes with each further copy, likewise."""

HIGHEST_WITHOUT_PCR = 0.2
"""P(change) that no repeat exceeds without PCR: over the one run of 18 copies in 100 kb of NA12878, 5 of 35 reads have
changes."""

PCR_FACTOR = 5.0
"""How many times as often repeats change in a library with PCR: homopolymers of 7 to 14 bases in 12 kb of NA12878."""


def model_of_rates(
    gain: Rates, loss: Rates, name: str, quality: int = DEFAULT_INDEL_QUALITY, gap: int = DEFAULT_GAP_QUALITY
) -> StrModel:
    """The model of repeats that gain and lose a unit at these rates.

    The alignments of a read that has another number of units add up: there are about as many as the repeat has bases.
    Each takes its share of the rate. A read is looked up by its own copies, so that one that lost a unit has the rate
    of the repeat with one copy more.

    Parameters
    ----------
    gain, loss : float64[8, 20]
        P(a read's copy of a repeat has gained or lost a unit), by the bases of the unit and the copies in the sample.
    quality, gap : int
        Where there is no repeat, and at most.
    """
    shape = LONGEST_REPEAT_UNIT, MOST_REPEATS
    insertion, deletion = np.full(shape, quality), np.full(shape, quality)
    continuation = np.full(shape, gap)
    copies = np.arange(1, MOST_REPEATS + 1, dtype=np.int64)
    for row, least in enumerate(LEAST_COPIES):
        unit = row + 1
        further = max(1, round(gap / unit))
        through = _ways(unit, copies, 10 ** (-further / 10))
        before, behind = np.maximum(copies - 1, 1) - 1, np.minimum(copies + 1, MOST_REPEATS) - 1
        # Reads with fewer copies than the least are many, and few of them have lost a unit of a repeat.
        for table, rate, first in ((insertion, gain[row, before], least + 1), (deletion, loss[row, behind], least)):
            opening = -10 * np.log10(np.maximum(rate / through, 1e-12))
            used = copies >= first
            table[row, used] = np.clip(np.rint(opening[used]), LOWEST_QUALITY, quality)
        lowered = (insertion[row] < quality) | (deletion[row] < quality)
        continuation[row, lowered] = further
    of_insertion, of_deletion, of_gap = (
        tuple(tuple(row) for row in table.tolist()) for table in (insertion, deletion, continuation)
    )
    return StrModel(of_insertion, of_deletion, of_gap, name)


def _ways(unit: int, copies: NDArray[np.int64], continued: Rates | float) -> Rates:
    """How often the probability of opening a gap adds up for a read of so many copies that has changed by one unit."""
    # Bases at which a gap may open (cpu/calling/repeats.hpp).
    places = copies if unit == 1 else np.maximum(1, (copies - 2) * unit + 1)
    ways: Rates = np.asarray(places * continued ** (unit - 1) * (1 - continued), dtype=np.float64)
    return ways


def rates_of(model: StrModel) -> tuple[Rates, Rates]:
    """P(a read's copy of a repeat has gained, or lost, a unit) by a model: float64[8, 20] each, 0 where none is known.

    The opposite of `model_of_rates`.
    """
    rates = _slip_rates(model)
    gain, loss = (np.reshape(each, (LONGEST_REPEAT_UNIT, MOST_REPEATS)) for each in (rates.gain, rates.loss))
    return gain, loss


@lru_cache(maxsize=1)  # every shard of a run asks
def slip_rates_of(options: GatkOptions) -> SlipRates:
    """The same rates as genotypes take them, what likelihoods of reads have of both, and their spread.

    Without an STR model, they are those of a library without PCR, but no lower than those of the options' gaps.
    """
    if options.str_model:
        return _slip_rates(options.str_model)
    # Gaps of long reads are more frequent in repeats, too.
    gaps = options.insertion_quality, options.deletion_quality, options.gap_quality
    most = pcr_quality(options.pcr_indel_model).tolist()
    return _slip_rates(str_model_of(LIBRARIES[0]), (*gaps, most))


def _slip_rates(model: StrModel, everywhere: tuple[int, int, int, list[int]] | None = None) -> SlipRates:
    insertion, deletion, gap = (np.ravel(getattr(model, name)).tolist() for name in TABLES)
    return native.slip_rates(insertion, deletion, gap, LEAST_COPIES, model.spread, everywhere)


def str_model_of(name: str) -> StrModel:
    """The built-in model of a library (`LIBRARIES`), or that of a file."""
    if name not in LIBRARIES:
        return read_str_model(name)
    rates = np.zeros((LONGEST_REPEAT_UNIT, MOST_REPEATS))
    for row, least in enumerate(LEAST_COPIES):
        steps = np.arange(MOST_REPEATS - least + 1)
        rates[row, least - 1 :] = np.minimum(HIGHEST_WITHOUT_PCR, FIRST_RATES[row] * GROWTHS[row] ** steps)
    if name == "pcr":
        rates = np.minimum(HIGHEST_RATE, PCR_FACTOR * rates)
    return model_of_rates((1 - LOSS_SHARE) * rates, LOSS_SHARE * rates, name)


def read_str_model(path: str | Path) -> StrModel:
    """The model in a TOML file, as `pairhmm calibrate-str` writes it. InputError for wrong files, keys and values."""
    source = str(path)
    table = check_keys(read_table(path, "str"), KEYS["str"], "", source)
    insertion, deletion, gap = (_rows(table[name], name, source) for name in KEYS["str"])
    return StrModel(insertion, deletion, gap, source)


def _rows(table: object, name: str, source: str) -> Table:
    known: Mapping[str, Any] = check_keys(table, UNITS, f"{name}.", source)
    return tuple(qualities_of(known[unit], f"{name}.{unit}", source) for unit in UNITS)


def str_toml(model: StrModel, comments: Iterable[str]) -> str:
    """The model as TOML for `--str-model`, below lines of comment."""
    lines = [f"# {comment}" for comment in comments]
    lines += [f"# Phred qualities in a tandem repeat of 1 (no repeat), 2, ... {MOST_REPEATS} copies of a unit"]
    for key, name in zip(KEYS["str"], TABLES, strict=True):
        lines += ["", f"[{key}]"]
        rows = zip(UNITS, getattr(model, name), strict=True)
        lines += [f"{unit} = [{', '.join(map(str, row))}]" for unit, row in rows]
    return "\n".join(lines) + "\n"
