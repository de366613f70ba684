"""How a batch is scored: choice of backend, long reads, chunks and the rescue. Written once, here only."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.batch import PairBatch, Scores
from pairhmm.chunks import cut
from pairhmm.errors import BackendUnavailable

log = logging.getLogger(__name__)


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
    batch: PairBatch, backend: str | Backend = "auto", threads: int = 1, chunk_cells: int | None = None
) -> Scores:
    """Score every pair of a batch.

    Parameters
    ----------
    batch : PairBatch
    backend : str or Backend
        A name, or what `choose` returned: callers with many batches choose once.
    threads : int
    chunk_cells : int, optional
        The backend gets at most this many cells at once, instead of what suits it; no score depends on it.

    Returns
    -------
    Scores
        No pair is -inf unless its likelihood is zero, and none is NaN.
    """
    chosen = choose(backend) if isinstance(backend, str) else backend
    parts = [_forward_chunk(chunk, chosen, threads) for chunk in cut(batch, chunk_cells or chosen.chunk_cells)]
    if not parts:
        return Scores(np.empty(0), np.empty(0, dtype=np.uint8))
    if len(parts) == 1:
        return parts[0]
    return Scores(np.concatenate([p.log10 for p in parts]), np.concatenate([p.precision for p in parts]))


def needs_rescue(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The pairs that the fast arithmetic did not hold: int64 indices into `scores`."""
    return np.flatnonzero(np.isnan(scores)).astype(np.int64)


def _forward_chunk(batch: PairBatch, backend: Backend, threads: int) -> Scores:
    is_long = np.diff(batch.read_offset) > backend.longest_fast_read
    scores = backend.forward(batch, is_long, threads)
    rescued = needs_rescue(scores.log10)
    if len(rescued):
        again = backend.forward_pairs(batch, rescued, threads)
        scores.log10[rescued], scores.precision[rescued] = again.log10, again.precision
    return scores
