"""Chooses the aligners of a run."""

from __future__ import annotations

import logging
from functools import partial

from pairhmm import aligning
from pairhmm.aligning.pool import AlignerPool
from pairhmm.aligning.scoring import Scoring
from pairhmm.backends.fastest import chosen, on_the_cpu

log = logging.getLogger(__name__)

WORTH_A_DEVICE = {"edit": 200_000_000_000, "linear": 50_000_000_000, "affine": 30_000_000_000}
"""Cells for each CPU thread, by the form of the scoring, from which "auto" starts a GPU. A thread with AVX-512 computes
about as many in the second that the start takes: 141, 46 and 28 GCUPS were measured for pairs of 250 bases, and 682, 56
and 32 for 1,000."""

CIGAR_FACTOR = 2
"""Cells take the CPU this much longer with a traceback (2.3 to 3.2 were measured)."""


def choose(
    backend: str,
    devices: tuple[int, ...] | None,
    scoring: Scoring,
    cells: int,
    threads: int,
    with_cigars: bool,
) -> AlignerPool:
    """The aligners of that name; for "auto", of the backend that is expected to finish first, which a message names.

    Parameters
    ----------
    backend : str
        "auto", or a name of `pairhmm.aligning.names`.
    devices : tuple of int, optional
        Indices of the devices that share the work. With "auto", they mean that a GPU is wanted.
    scoring : Scoring
    cells : int
        Approximate number of cells of the whole work.
    threads : int
    with_cigars : bool
        Whether alignments are wanted, or scores alone.

    Raises
    ------
    BackendUnavailable, InputError
        As `pairhmm.aligning.load`.
    """
    worth = WORTH_A_DEVICE[scoring.form] * threads // (CIGAR_FACTOR if with_cigars else 1)
    name = chosen(aligning, backend, devices, cells >= worth)
    pool = AlignerPool(
        [aligning.load(name, device) for device in devices or (None,)], partial(on_the_cpu, aligning, name)
    )
    log.info("backend %s", pool.label)
    return pool
