"""A scored region: its haplotypes, its reads, and their likelihoods. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.sam import mate_of
from pairhmm.sequences.arrays import Names
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region

if TYPE_CHECKING:
    from pandas import DataFrame

    from pairhmm._cpu import ScoredRegion


@dataclass(slots=True)
class Evidence:
    """A scored region: its haplotypes, its reads, and the likelihood of each read given each haplotype.

    Attributes
    ----------
    region : Region
    haplotypes : list of Haplotype
        The reference first, unless haplotypes were given.
    names : sequence of str
        Read names, packed (`Names`).
    sample : int32 (reads,)
    flag : uint16 (reads,)
        SAM flags.
    mapq : uint8 (reads,)
        Mapping qualities.
    start, end : int64 (reads,)
        Where each read is aligned.
    length : int64 (reads,)
        Bases of each read before it was cut.
    from_end : int32 (reads, candidates)
        Bases between a candidate and the nearer end of the read, or -1 where the alignment does not reach it.
    log10 : float64 (reads, haplotypes)
        log10 P(read | haplotype).
    precision : uint8 (reads, haplotypes)
        The arithmetic of each score: an index into `pairhmm.models.batch.PRECISIONS`.
    set_aside : bool (reads,)
        Reads that fit none of the haplotypes; genotypes are made without them.
    unfit : bool (reads,) or None
        Reads that fit none of the haplotypes, where genotypes use some of them all the same; None where they are those
        that are set aside.
    samples : sequence of str
        Names of the run's samples. `sample` has indices into it.
    reads : int64 (reads,) or None
        Where reads were joined: each row is a profile, and this is the number of its reads.
    fragment : int64 (reads,) or None
        Where reads were joined: a number that the profiles of one molecule share. Otherwise mates share a name.
    """

    region: Region
    haplotypes: list[Haplotype]
    names: Names
    sample: NDArray[np.int32]
    flag: NDArray[np.uint16]
    mapq: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    length: NDArray[np.int64]
    from_end: NDArray[np.int32]
    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]
    set_aside: NDArray[np.bool_]
    unfit: NDArray[np.bool_] | None = None
    samples: Sequence[str] = ()
    reads: NDArray[np.int64] | None = None
    fragment: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, scored: ScoredRegion, samples: Sequence[str], is_joined: bool) -> Evidence:
        """A scored region of native code. Its arrays are views of that."""
        return cls(
            region=scored.region,
            haplotypes=scored.haplotypes,
            names=Names(scored.names, scored.name_end),
            sample=scored.sample,
            flag=scored.flag,
            mapq=scored.mapq,
            start=scored.start,
            end=scored.end,
            length=scored.length,
            from_end=scored.from_end,
            log10=scored.log10,
            precision=scored.precision,
            set_aside=scored.set_aside,
            samples=samples,
            reads=scored.reads if is_joined else None,
            fragment=scored.fragment if is_joined else None,
        )

    @property
    def sample_names(self) -> list[str]:
        """The sample of each read, by name."""
        return [self.samples[index] for index in self.sample.tolist()]

    @property
    def read_names(self) -> list[str]:
        """The name of each read, with ``/1`` or ``/2`` behind that of a mate."""
        mates = map(mate_of, self.flag.tolist())
        return [f"{name}/{mate}" if mate else name for name, mate in zip(self.names, mates, strict=True)]

    @property
    def haplotype_names(self) -> list[str]:
        """The name of each haplotype, as tables have it: its own, or ``chrom:begin-end/number``."""
        region = self.region
        place = f"{region.chrom}:{region.haplotype_start + 1}-{region.haplotype_end}"
        return [one.name or f"{place}/{number}" for number, one in enumerate(self.haplotypes)]

    @property
    def matrix(self) -> DataFrame:
        """`log10` as a pandas table: rows are `read_names`, columns `haplotype_names`. Values are not copied."""
        from pairhmm.calling.exports import import_pandas

        table: DataFrame = import_pandas().DataFrame(self.log10, self.read_names, self.haplotype_names, copy=False)
        return table

    def to_pandas(self) -> DataFrame:
        """The region as a likelihood table, as `pairhmm.likelihoods_to_pandas` gives it."""
        from pairhmm.calling.exports import likelihoods_to_pandas

        return likelihoods_to_pandas(self)

    def __repr__(self) -> str:
        place = f"{self.region.chrom}:{self.region.start + 1}-{self.region.end}"
        return f"Evidence({place}, {len(self.names)} reads, {len(self.haplotypes)} haplotypes)"
