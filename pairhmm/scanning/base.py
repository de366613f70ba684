"""What a scanner is to its callers."""

from __future__ import annotations

from typing import Protocol

from pairhmm.scanning.batch import Samples, Scanned


class Scanner(Protocol):
    """Finds the signatures that it was made for.

    A module of this folder has ``make(patterns: Patterns, options: ScanOptions) -> Scanner``: what depends on the
    signatures only (an index, a device's copy of them) is made there, once. All scanners give the same hits, in the
    same order.

    Attributes
    ----------
    label : str
        What messages call it.
    """

    label: str

    def scan(self, samples: Samples, threads: int) -> Scanned:
        """The hits of the samples' segments.

        Parameters
        ----------
        samples : Samples
        threads : int
            CPU threads.

        Returns
        -------
        Scanned
        """
