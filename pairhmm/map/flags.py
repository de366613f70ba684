"""Flags of pairs and samples: what somebody should look at before anything is called."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.swaps import Matrix, contradictions, find_swaps
from pairhmm.variants.genealogy import IDENTICAL, PARENT_CHILD

SWAP, DUPLICATE, RELATIVE, CONTAMINATED = "swap?", "duplicate", "parent-child", "contaminated"
FLAGS = (SWAP, DUPLICATE, RELATIVE, CONTAMINATED)
"""In the order in which they are written."""

Flags = dict[str, NDArray[np.bool_]]


def pair_and_sample_flags(found: Matrix, expected: Matrix, contaminated: NDArray[np.bool_]) -> tuple[Flags, Flags]:
    """The flags of each two samples, and of each sample.

    Parameters
    ----------
    found, expected : int8 (samples, samples)
        Numbers of `pairhmm.variants.genealogy`, symmetric.
    contaminated : bool (samples,)

    Returns
    -------
    pairs : dict of str to bool (samples, samples)
        Symmetric. A pair is not flagged for the contamination of its samples.
    samples : dict of str to bool (samples,)
    """
    swaps = find_swaps(found, expected)
    relabelled = expected[np.ix_(swaps.labels, swaps.labels)]
    suspects = np.zeros(len(found), dtype=bool)
    suspects[list(swaps.suspects)] = True
    before, after = contradictions(found, expected), contradictions(found, relabelled)
    is_misplaced = np.zeros(len(found), dtype=bool)
    is_misplaced[swaps.misplaced] = True
    unexplained = after & (found < relabelled) & (is_misplaced[:, None] | is_misplaced)
    pairs: Flags = {SWAP: np.array((before & ~after) | unexplained)}
    samples: Flags = {SWAP: suspects}
    for flag, relation in ((DUPLICATE, IDENTICAL), (RELATIVE, PARENT_CHILD)):
        # What an exchange explains is no relation of its own. A sample is expected to be identical to itself.
        is_new = np.array((relabelled != relation) & (expected != relation) & ~pairs[SWAP])
        pairs[flag] = np.array((found == relation) & is_new)
        samples[flag] = np.asarray(pairs[flag].any(axis=1))
    samples[CONTAMINATED] = contaminated
    return pairs, samples
