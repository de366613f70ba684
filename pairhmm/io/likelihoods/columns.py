"""The columns of likelihood tables in Parquet, made of the arrays of many regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.arrays import distinct, offsets
from pairhmm.genomics.names import Names
from pairhmm.interface.objects import by_fields
from pairhmm.io.files.arrow_arrays import Coded, Coder
from pairhmm.io.files.parquet_pages import PagedColumn
from pairhmm.io.files.runs import Cycles, Runs
from pairhmm.io.likelihoods.table import LikelihoodRows
from pairhmm.models.batch import PRECISIONS, UNSCORED

Column = NDArray[Any] | Names | Coded
Counts = NDArray[np.int64]

_MATES = np.arange(3, dtype=np.int8)
_PRECISIONS = Names.of(list(PRECISIONS))


@dataclass(frozen=True, slots=True)
class Places:
    """Intervals of regions.

    Attributes
    ----------
    chrom : list of str
    start, end : int64 (regions,)
        0-based half-open.
    """

    chrom: list[str]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    __reduce__ = by_fields

    @classmethod
    def of(cls, regions: Sequence[LikelihoodRows]) -> Places:
        """The intervals of some regions."""
        edges = np.array([(one.start, one.end) for one in regions], dtype=np.int64).reshape(-1, 2)
        return cls([one.chrom for one in regions], edges[:, 0].copy(), edges[:, 1].copy())

    @classmethod
    def concatenate(cls, parts: Sequence[Places]) -> Places:
        """The intervals of several, one after the other."""
        chrom = [name for part in parts for name in part.chrom]
        return cls(chrom, _joined(part.start for part in parts), _joined(part.end for part in parts))

    def take(self, first: int, end: int) -> Places:
        """The regions [first, end)."""
        return Places(self.chrom[first:end], self.start[first:end], self.end[first:end])

    def runs(self, rows: Counts) -> list[Runs]:
        """The columns of contig, start and end, where each region has so many rows."""
        contigs = Coder()
        codes = contigs.codes(self.chrom)
        edges = [Runs.of(values, rows) for values in (self.start, self.end)]
        return [Runs.of(Names.of(contigs.names), rows, codes), *edges]

    def columns(self, rows: Counts) -> list[Column]:
        """The same as `runs`, with a value for each row."""
        contigs = Coder()
        codes = contigs.codes([name for name, count in zip(self.chrom, rows.tolist(), strict=True) if count])
        repeated = np.repeat(codes, rows[rows > 0])
        return [Coded(repeated, contigs.names), np.repeat(self.start, rows), np.repeat(self.end, rows)]


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """The scores of some regions, as arrays that lie end to end.

    Attributes
    ----------
    places : Places
    reads, haplotypes : int64 (regions,)
        How many each region has.
    names : list of str
        Of all haplotypes.
    samples : sequence of str
    sample : int32 (reads,)
        Index into `samples`.
    read_names : Names
    mates : uint8 (reads,)
    log10 : float64 (pairs,)
    precision : uint8 (pairs,)
    joined : int64 (reads,) or None
    """

    places: Places
    reads: Counts
    haplotypes: Counts
    names: list[str]
    samples: Sequence[str]
    sample: NDArray[np.int32]
    read_names: Names
    mates: NDArray[np.uint8]
    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]
    joined: NDArray[np.int64] | None

    __reduce__ = by_fields

    @classmethod
    def of(cls, regions: Sequence[LikelihoodRows]) -> ScoreColumns:
        """The scores of some regions, one at least."""
        return cls(
            Places.of(regions),
            np.array([len(one.read_names) for one in regions], dtype=np.int64),
            np.array([len(one.haplotypes) for one in regions], dtype=np.int64),
            [name for one in regions for name in one.haplotypes],
            regions[0].samples,
            _joined(one.sample for one in regions),
            Names.concatenate([one.read_names for one in regions]),
            _joined(one.mates for one in regions),
            _joined(one.log10.reshape(-1) for one in regions),
            _joined(one.precision.reshape(-1) for one in regions),
            None if regions[0].reads is None else _joined(one.reads for one in regions if one.reads is not None),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[ScoreColumns]) -> ScoreColumns:
        """The scores of several, one after the other."""
        return cls(
            Places.concatenate([part.places for part in parts]),
            _joined(part.reads for part in parts),
            _joined(part.haplotypes for part in parts),
            [name for part in parts for name in part.names],
            parts[0].samples,
            _joined(part.sample for part in parts),
            Names.concatenate([part.read_names for part in parts]),
            _joined(part.mates for part in parts),
            _joined(part.log10 for part in parts),
            _joined(part.precision for part in parts),
            None if parts[0].joined is None else _joined(part.joined for part in parts if part.joined is not None),
        )

    @property
    def rows(self) -> Counts:
        """The rows of each region: int64 (regions,)."""
        return self.reads * self.haplotypes

    def take(self, first: int, end: int) -> ScoreColumns:
        """The regions [first, end)."""
        reads, names, pairs = (
            slice(*offsets(counts)[[first, end]].tolist()) for counts in (self.reads, self.haplotypes, self.rows)
        )
        return ScoreColumns(
            self.places.take(first, end),
            self.reads[first:end],
            self.haplotypes[first:end],
            self.names[names],
            self.samples,
            self.sample[reads],
            self.read_names.take(reads.start, reads.stop),
            self.mates[reads],
            self.log10[pairs],
            self.precision[pairs],
            None if self.joined is None else self.joined[reads],
        )

    def columns(self) -> list[PagedColumn]:
        """The columns of the pairs, in the order of `pairhmm.io.likelihoods.table.COLUMNS`."""
        # Each read has all haplotypes of its region, in order.
        pairs_of, rows = np.repeat(self.haplotypes, self.reads), self.rows
        changes = np.flatnonzero(np.diff(self.precision, prepend=UNSCORED))
        columns: list[PagedColumn] = [
            Runs.of(Names.of(list(self.samples)), pairs_of, self.sample),
            *self.places.runs(rows),
            Runs.of(self.read_names, pairs_of),
            Runs.of(_MATES, pairs_of, self.mates),
            Cycles.of(self.names, self.haplotypes, self.reads),
            self.log10,
            Runs.of(_PRECISIONS, np.diff(changes, append=len(self.precision)), self.precision[changes]),
        ]
        if self.joined is not None:
            numbers = distinct(self.joined)
            columns.append(Runs.of(numbers.astype(np.int32), pairs_of, np.searchsorted(numbers, self.joined)))
        return columns


@dataclass(frozen=True, slots=True)
class Described:
    """The haplotypes of some regions, as arrays that lie end to end.

    Attributes
    ----------
    places : Places
    rows : int64 (regions,)
        The haplotypes of each region.
    texts : tuple of Names
        Their names, sequences, alleles and variants.
    nuisance : int8 (haplotypes,)
    """

    places: Places
    rows: Counts
    texts: tuple[Names, ...]
    nuisance: NDArray[np.int8]

    __reduce__ = by_fields

    @classmethod
    def of(cls, regions: Sequence[LikelihoodRows]) -> Described:
        """The haplotypes of some regions."""
        texts = (
            [name for one in regions for name in one.haplotypes],
            [sequence for one in regions for sequence in one.sequences],
            [alleles for one in regions for alleles in one.alleles],
            [one.variants for one in regions for _ in one.haplotypes],
        )
        return cls(
            Places.of(regions),
            np.array([len(one.haplotypes) for one in regions], dtype=np.int64),
            tuple(map(Names.of, texts)),
            np.array([is_nuisance for one in regions for is_nuisance in one.nuisances], dtype=np.int8),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Described]) -> Described:
        """The haplotypes of several, one after the other."""
        return cls(
            Places.concatenate([part.places for part in parts]),
            _joined(part.rows for part in parts),
            tuple(Names.concatenate(texts) for texts in zip(*(part.texts for part in parts), strict=True)),
            _joined(part.nuisance for part in parts),
        )

    def take(self, first: int, end: int) -> Described:
        """The regions [first, end)."""
        begin, stop = offsets(self.rows)[[first, end]].tolist()
        texts = tuple(names.take(begin, stop) for names in self.texts)
        return Described(self.places.take(first, end), self.rows[first:end], texts, self.nuisance[begin:stop])

    def columns(self) -> list[Column]:
        """The columns, in the order of `HAPLOTYPE_COLUMNS`."""
        return [*self.places.columns(self.rows), *self.texts, self.nuisance]


def _joined(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(list(parts))
