"""Makes the sketch of a sample from its letters, a block at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch import published
from pairhmm.map.sketch.permutation import MOST_COUNTED
from pairhmm.map.sketch.planes import planes_of
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets


class SampleSketcher:
    """Sketches one sample after the other, each in blocks of letters. The order of the blocks changes nothing.

    Its memory does not grow with the sample: 0.1 MB, or 20 MB where k-mers are counted.

    Parameters
    ----------
    scheme : Scheme
    least_count : int
        How often a k-mer must be seen to count, 1 to 255.

    Attributes
    ----------
    scheme : Scheme
    least_count : int
    """

    def __init__(self, scheme: Scheme, least_count: int) -> None:
        self.scheme, self.least_count = scheme, least_count
        self._kmers: native.FrequentTokens | native.FrequentKmers | native.AllKmers
        if scheme.name == "published":
            factor, summand = int(published.FACTORS[0]), int(published.SUMMANDS[0])
            self._kmers = native.FrequentTokens(scheme.k, least_count, MOST_COUNTED, factor, summand)
        elif least_count > 1:
            self._kmers = native.FrequentKmers(scheme.k, least_count, MOST_COUNTED)
        else:
            self._kmers = native.AllKmers(scheme.k)

    @property
    def seen(self) -> int:
        """K-mers of the sample that were seen, each as often as it was."""
        return self._kmers.seen

    def add(self, letters: NDArray[np.uint8], offset: NDArray[np.int64]) -> None:
        """Take records, as sets of bases end to end. Parts of a longer record share ``k - 1`` letters."""
        self._kmers.add(letters, offset, 0, len(offset) - 1)

    def add_one(self, letters: NDArray[np.uint8]) -> None:
        """Take one record."""
        self.add(letters, offsets([len(letters)]))

    def finish(self) -> tuple[NDArray[np.uint64], float]:
        """End the sample: its planes, shape (bits, slots // 64), and its number of distinct k-mers.

        Where that is 0, there are no planes. The next sample begins then.
        """
        scheme, kmers = self.scheme, self._kmers
        if isinstance(kmers, native.FrequentTokens):
            planes, count = planes_of(published.signature(kmers.tokens())[np.newaxis], scheme.bits)[0], kmers.kmers
        else:
            flat, count = kmers.sketch(scheme.slots, scheme.bits)
            planes = flat.reshape(-1, scheme.slots // WORD_BITS)
        kmers.clear()
        return planes, count
