"""How often repeats stutter, from the reads over each: rates by unit and copies (cpu/calling/str_rates.hpp)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.calling.str_counts import Site
from pairhmm.models.str_parameters import LEAST_COPIES
from pairhmm.native import native
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StrRates:
    """Rates of a calibration, and the reads behind them.

    Attributes
    ----------
    gain, loss : float64[8, 20]
        P(a read's copy of a repeat has gained or lost units), by the bases of the unit and the copies.
    repeats, reads, changes : int64[8, 20]
        What the sample had of each: repeats, reads over them, and changes in these.
    """

    gain: Floats
    loss: Floats
    repeats: NDArray[np.int64]
    reads: NDArray[np.int64]
    changes: NDArray[np.int64]


def estimate_rates(sites: Counter[Site]) -> StrRates:
    """The rates that make the reads of all repeats likely, with priors for classes that have few.

    Parameters
    ----------
    sites : Counter
        From `pairhmm.calling.str_counts.count_changes`.
    """
    found = native.estimate_str_rates(list(sites.items()), LEAST_COPIES, MOST_REPEATS)
    return StrRates(*(np.reshape(each, (LONGEST_REPEAT_UNIT, MOST_REPEATS)) for each in found))
