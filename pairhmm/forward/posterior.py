"""Forward-backward: posterior probabilities of match, insertion and deletion, by the CPU or the oracle."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import cpu
from pairhmm.forward import posterior_reference as oracle
from pairhmm.models.batch import PairBatch
from pairhmm.models.profile import rows_of
from pairhmm.native import native
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import offsets

log = logging.getLogger(__name__)

_INSERTED = 1.0
"""Emission of an inserted letter in a general row, whose mi and ii already include it."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """Posterior probabilities of where a read's bases lie on a haplotype.

    Attributes
    ----------
    log10 : float
        log10 P(read | haplotype).
    match : float64[m, n]
        P(base i is emitted beside letter j).
    insertion : float64[m, n]
        P(base i is inserted behind letter j).
    deletion : float64[m, n]
        P(letter j is deleted behind base i).
    """

    log10: float
    match: NDArray[np.float64]
    insertion: NDArray[np.float64]
    deletion: NDArray[np.float64]

    __repr__ = short_repr

    @property
    def base_match(self) -> NDArray[np.float64]:
        """float64[m]: P(base i is beside some letter); with `base_insertion` it sums to 1."""
        sums: NDArray[np.float64] = self.match.sum(axis=1)
        return sums

    @property
    def base_insertion(self) -> NDArray[np.float64]:
        """float64[m]: P(base i is inserted)."""
        sums: NDArray[np.float64] = self.insertion.sum(axis=1)
        return sums

    @property
    def letter_match(self) -> NDArray[np.float64]:
        """float64[n]: P(some base is beside letter j)."""
        sums: NDArray[np.float64] = self.match.sum(axis=0)
        return sums

    @property
    def letter_deletion(self) -> NDArray[np.float64]:
        """float64[n]: P(letter j is deleted within the read)."""
        sums: NDArray[np.float64] = self.deletion.sum(axis=0)
        return sums


def by_oracle(batch: PairBatch) -> list[Posterior]:
    """The posteriors of a batch's pairs in log space."""
    return [_by_oracle(batch, pair) for pair in range(batch.pairs)]


def by_cpu(batch: PairBatch, threads: int) -> list[Posterior]:
    """The posteriors of a batch's pairs from the compiled kernel. The oracle computes pairs that float64 can't hold."""
    log10, cells = cells_by_cpu(batch, cpu.chosen_isa(), threads)
    beyond = int(np.isnan(log10).sum())
    if beyond:
        log.warning("%d of %d pairs in log space, slowly: their range is beyond float64's", beyond, batch.pairs)
    return [
        Posterior(float(log10[pair]), *cells[pair]) if np.isfinite(log10[pair]) else _by_oracle(batch, pair)
        for pair in range(batch.pairs)
    ]


def cells_by_cpu(
    batch: PairBatch, isa: str, threads: int
) -> tuple[NDArray[np.float64], list[list[NDArray[np.float64]]]]:
    """Run the compiled kernel of an instruction set.

    Returns
    -------
    log10 : float64[pairs]
        NaN for pairs whose range float64 does not hold.
    cells : list of [match, insertion, deletion]
        float64[m, n] arrays for each pair. They are meaningless where `log10` is not finite.
    """
    read, haplotype = (np.ascontiguousarray(each) for each in batch.pair_indices(np.arange(batch.pairs)))
    lengths, widths = np.diff(batch.read_offset)[read], np.diff(batch.haplotype_offset)[haplotype]
    at = offsets(lengths * widths)
    log10 = np.empty(batch.pairs)
    match, insertion, deletion = states = tuple(np.zeros(at[-1]) for _ in range(3))
    rows = rows_of(batch)
    emission = np.concatenate([rows[:, :5], np.full((len(rows), 1), _INSERTED)], axis=1)
    each = np.arange(len(rows), dtype=np.int32)
    pairs = native.PairSet(
        read,
        haplotype,
        batch.read_offset,
        batch.haplotype_offset,
        np.ascontiguousarray(batch.haplotypes),
        each,
        each,
        emission.reshape(-1),
        np.ascontiguousarray(rows[:, 5:]).reshape(-1),
        batch.start.match,
        batch.start.deletion,
    )
    native.posteriors(isa, pairs, at[:-1].copy(), threads, match, insertion, deletion, log10)
    cells = [
        [values[begin : begin + m * n].reshape(m, n) for values in states]
        for begin, m, n in zip(at[:-1].tolist(), lengths.tolist(), widths.tolist(), strict=True)
    ]
    return log10, cells


def _by_oracle(batch: PairBatch, pair: int) -> Posterior:
    (read,), (haplotype,) = batch.pair_indices(np.array([pair]))
    rows = rows_of(batch)[batch.read_offset[read] : batch.read_offset[read + 1]]
    letters = batch.haplotypes[batch.haplotype_offset[haplotype] : batch.haplotype_offset[haplotype + 1]]
    return Posterior(*oracle.posteriors(rows, letters, batch.start))
