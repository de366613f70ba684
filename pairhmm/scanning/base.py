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
        parts = []
        while True:
            part = self.scan_some(samples, threads)
            parts.append(part)
            if len(part.quality_totals) == len(samples):
                return Scanned.joined(parts)
            samples = samples.take(len(part.quality_totals), len(samples))

    def scan_some(self, samples: Samples, threads: int) -> Scanned:
        """As `scan`, of as many of the first segments as memory is meant for: at least one.

        A read of a repeat matches every signature that has the repeat, at every place of it. So what is found grows by
        the reads times the signatures, and is given in parts. By default, it is given at once.
        """
        return self.scan(samples, threads)
