"""The input of a fit: reads, each with the haplotype that it is assumed to come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pairhmm.models.gatk import copies_of
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import as_n


@dataclass(frozen=True)
class FitPairs:
    """Pairs of a read and a haplotype, as flat arrays."""

    # int64[pairs + 1]: first base of each read and first letter of its haplotype
    read_offset: NDArray[np.int64]
    haplotype_offset: NDArray[np.int64]
    # uint8[bases]: codes 0..4 (a fit takes every ambiguous letter for N), and Phred qualities as the model takes them
    bases: NDArray[np.uint8]
    quality: NDArray[np.uint8]
    letters: NDArray[np.uint8]  # uint8[letters]: codes of the haplotypes

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.read_offset) - 1

    @classmethod
    def of(
        cls,
        bases: Sequence[NDArray[np.uint8]],
        quality: Sequence[NDArray[np.uint8]],
        haplotypes: Sequence[NDArray[np.uint8]],
    ) -> FitPairs:
        """Pack pairs, each of a read's codes, its Phred qualities, and a haplotype's codes."""
        nothing = [np.empty(0, dtype=np.uint8)]
        return cls(
            offsets([len(each) for each in bases]),
            offsets([len(each) for each in haplotypes]),
            as_n(np.concatenate([*bases, *nothing])),
            np.concatenate([*quality, *nothing]),
            np.concatenate([*haplotypes, *nothing]),
        )

    @classmethod
    def joined(cls, parts: Sequence[FitPairs]) -> FitPairs:
        """The pairs of all parts, in order."""
        return cls(
            offsets(np.concatenate([np.diff(part.read_offset) for part in parts])),
            offsets(np.concatenate([np.diff(part.haplotype_offset) for part in parts])),
            np.concatenate([part.bases for part in parts]),
            np.concatenate([part.quality for part in parts]),
            np.concatenate([part.letters for part in parts]),
        )

    def take(self, pairs: NDArray[np.int64]) -> FitPairs:
        """These pairs, in this order."""
        base = [slice(a, b) for a, b in zip(self.read_offset[pairs], self.read_offset[pairs + 1], strict=True)]
        letter = [
            slice(a, b) for a, b in zip(self.haplotype_offset[pairs], self.haplotype_offset[pairs + 1], strict=True)
        ]
        return FitPairs.of(
            [self.bases[part] for part in base],
            [self.quality[part] for part in base],
            [self.letters[part] for part in letter],
        )

    @cached_property
    def copies(self) -> NDArray[np.uint8]:
        """uint8[bases]: copies of the tandem repeat at each base, 1 to 20, as GATK's PCR indel model counts them."""
        return copies_of(self.read_offset, self.bases)
