"""`forward_backward`: where each base of a read lies on a haplotype, as posterior probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm import backends
from pairhmm.forward.api import ModelRead, pack
from pairhmm.forward.posterior import Posterior, by_cpu, by_oracle
from pairhmm.models.batch import Read
from pairhmm.models.profile import ProfileModel
from pairhmm.options import check_whole
from pairhmm.sequences.letters import Letters


def forward_backward(
    reads: ModelRead | Sequence[Read] | Sequence[NDArray[np.float64]],
    haplotypes: Letters | Sequence[Letters],
    *,
    model: ProfileModel | None = None,
    backend: str = "auto",
    threads: int = 1,
) -> list[list[Posterior]]:
    """Posterior probabilities of match, insertion and deletion of every read with every haplotype.

    Parameters
    ----------
    reads, haplotypes, model, threads
        As for `forward`.
    backend : str
        "auto", "cpu" or "reference". "auto" is the CPU, or the oracle in log space if there is no compiled part.

    Returns
    -------
    list of list of Posterior
        Posteriors by ``[read][haplotype]``. `match`, `insertion` and `deletion` are float64[m, n]. The match and the
        insertion of a base sum to 1. All are zero if the likelihood is zero.

    Raises
    ------
    ValueError, TypeError
        As for `forward`.
    OptionError
        For another backend.
    BackendUnavailable
        Where ``cpu`` does not run here.

    Examples
    --------
    >>> read = pairhmm.make_read("ACGTACGTAC", base_quality=40)
    >>> ((found,),) = pairhmm.forward_backward(read, "TTACGTACGTACTT")
    >>> found.match[0, :4].round(2)  # the first base, beside the first letters
    array([0., 0., 1., 0.])
    """
    check_whole("threads", threads, 1)
    takes_oracle = backends.takes_oracle(backend, "forward_backward")
    batch = pack(reads, haplotypes, model)
    posteriors = by_oracle(batch) if takes_oracle else by_cpu(batch, threads)
    width = len(batch.haplotype_offset) - 1
    if not width:
        return [[]] * batch.reads
    return [posteriors[first : first + width] for first in range(0, len(posteriors), width)]
