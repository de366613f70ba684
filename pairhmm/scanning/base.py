"""The protocol of scanners."""

from __future__ import annotations

from typing import Protocol

from pairhmm.scanning.batch import Samples, Scanned


class Scanner(Protocol):
    """Finds signatures in samples. All scanners give the same hits, in the same order.

    A module of this folder has ``make(patterns: Patterns, options: ScanOptions) -> Scanner``. It prepares, once,
    whatever depends on the signatures alone: an index, or a device's copy of them.

    Attributes
    ----------
    label : str
        Name of the scanner in messages.
    """

    label: str

    def scan(self, samples: Samples, threads: int) -> Scanned:
        """Find the hits in each segment of the samples.

        Parameters
        ----------
        samples : Samples
        threads : int
            CPU threads.

        Returns
        -------
        Scanned
        """
