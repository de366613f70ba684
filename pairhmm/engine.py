"""How a batch is scored: choice of backend, long reads, chunks and the rescue. Written once, here only."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.batch import FLOAT32, FLOAT64, PairBatch, Scores
from pairhmm.errors import BackendUnavailable

log = logging.getLogger(__name__)

LONGEST_FAST_READ = 500
"""Reads beyond this go to the float64 path: float32's rounding grows with the read and its range ends."""

CHUNK_CELLS = 4_000_000_000
"""Cells handed to a backend at once: about half a second of one core, so that a run can be interrupted."""


def choose(name: str) -> Backend:
    """The backend `name`; "auto" takes the fastest that runs here and says what it took and why.

    Raises
    ------
    BackendUnavailable
        Where a named backend does not run here. Only "auto" falls back.
    """
    if name != "auto":
        return backends.load(name)
    refused: list[str] = []
    for candidate in backends.names():
        found = backends.status(candidate)
        if not found.available:
            refused.append(f"{candidate}: {found.reason}; {found.cure}")
            continue
        if refused:
            log.warning("backend %s, a slower one (%s)", candidate, "; ".join(refused))
        else:
            log.info("backend %s (%s), the fastest here", candidate, found.detail)
        return backends.load(candidate)
    raise BackendUnavailable("auto", "; ".join(refused), "see pairhmm devices")


def forward(
    batch: PairBatch, backend: str | Backend = "auto", threads: int = 1, chunk_cells: int = CHUNK_CELLS
) -> Scores:
    """Score every pair of a batch.

    Parameters
    ----------
    batch : PairBatch
    backend : str or Backend
        A name, or what `choose` returned: callers with many batches choose once.
    threads : int
    chunk_cells : int
        Groups are handed to the backend in chunks of about this many cells; no score depends on it.

    Returns
    -------
    Scores
        No pair is -inf unless its likelihood is zero, and none is NaN.
    """
    chosen = choose(backend) if isinstance(backend, str) else backend
    parts = [_forward_chunk(chunk, chosen, threads) for chunk in chunks(batch, chunk_cells)]
    if not parts:
        return Scores(np.empty(0), np.empty(0, dtype=np.uint8))
    if len(parts) == 1:
        return parts[0]
    return Scores(np.concatenate([p.log10 for p in parts]), np.concatenate([p.precision for p in parts]))


def chunks(batch: PairBatch, cells: int) -> Iterator[PairBatch]:
    """The batch cut between groups into pieces of at most `cells` cells, or of one group."""
    if batch.cells <= cells:
        yield batch
        return
    first, total = 0, 0
    for group, size in enumerate(batch.group_cells.tolist()):
        if group > first and total + size > cells:
            yield batch.take_groups(first, group)
            first, total = group, 0
        total += size
    yield batch.take_groups(first, batch.groups)


def needs_rescue(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The pairs that the fast arithmetic did not hold: int64 indices into `scores`."""
    return np.flatnonzero(np.isnan(scores)).astype(np.int64)


def _forward_chunk(batch: PairBatch, backend: Backend, threads: int) -> Scores:
    is_long = np.diff(batch.read_offset) > LONGEST_FAST_READ
    scores = backend.forward(batch, is_long, threads)
    precision = np.full(batch.pairs, FLOAT32, dtype=np.uint8)
    rescued = needs_rescue(scores)
    if len(rescued):
        scores[rescued] = backend.forward_pairs(batch, rescued, threads)
        precision[rescued] = FLOAT64
    return Scores(scores, precision)
