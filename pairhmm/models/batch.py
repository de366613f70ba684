"""The packed arrays that cross into a backend: offsets and flat arrays, no objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.arrays import joined, offsets
from pairhmm.genomics.qualities import HIGHEST_QUALITY
from pairhmm.genomics.sequences import Letters, codes_of
from pairhmm.interface.display import short_repr

ROW_SIZE = 12
"""Doubles of a general row: emission of A C G T N, then mm im dm mi ii md dd."""

FLOAT32, FLOAT64, SCALED_FLOAT32, UNSCORED = 0, 1, 2, 255
PRECISIONS = ("float32", "float64", "scaled float32")
"""Names of the codes in `Scores.precision`; scaled float32 has an exponent of its own for each block of rows.
`UNSCORED` has none: a backend leaves it to others."""


@dataclass(frozen=True, slots=True)
class Start:
    """Row 0 of the recurrence: M[0,0], and D[0,0] in units of 1/n. D[0,j] is 1/n for every j >= 1."""

    match: float
    deletion: float


@dataclass(frozen=True, slots=True)
class Qualities:
    """Bases as GATK's model sees them, of one read or of many end to end: five bytes a base.

    Attributes
    ----------
    bases : uint8[m]
        Codes of `pairhmm.genomics.sequences.encode`.
    base_quality, insertion_quality, deletion_quality, gap_quality : uint8[m]
        Phred. `gap_quality` is GATK's gap continuation penalty, at every position.
    """

    bases: NDArray[np.uint8]
    base_quality: NDArray[np.uint8]
    insertion_quality: NDArray[np.uint8]
    deletion_quality: NDArray[np.uint8]
    gap_quality: NDArray[np.uint8]

    __repr__ = short_repr


QUALITY_NAMES = tuple(name for name in Qualities.__dataclass_fields__ if name != "bases")


class Read(Qualities):
    """One read."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Profiles:
    """Reads of a profile model, one or many end to end, and the model's constants.

    Attributes
    ----------
    probabilities : float64[m, 4]
        Of A C G T at each position.
    match : float64[4, 5]
        Emission of a read letter beside a haplotype letter A C G T N.
    insertion : float64[4]
        Emission of an inserted letter.
    transitions : float64[7]
        mm im dm mi ii md dd.
    """

    probabilities: NDArray[np.float64]
    match: NDArray[np.float64]
    insertion: NDArray[np.float64]
    transitions: NDArray[np.float64]

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Group:
    """Reads that are each scored against each of some haplotypes (letters or codes): one region of a sample."""

    reads: Sequence[Read]
    haplotypes: Sequence[Letters]

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a batch, in the batch's pair order.

    Attributes
    ----------
    log10 : float64[pairs]
        log10 P(read | haplotype).
    precision : uint8[pairs]
        `FLOAT32`, `FLOAT64` or `SCALED_FLOAT32`: what the score was computed in. Of a backend's scores also `UNSCORED`,
        where `log10` is NaN.
    """

    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]

    __repr__ = short_repr

    @classmethod
    def none(cls, pairs: int) -> Scores:
        """Scores of so many pairs, none of which is scored yet."""
        return cls(np.full(pairs, np.nan), np.full(pairs, UNSCORED, dtype=np.uint8))

    def unscored(self) -> NDArray[np.int64]:
        """The pairs that are not scored: int64 indices."""
        return np.flatnonzero(self.precision == UNSCORED).astype(np.int64)

    def put(self, pairs: NDArray[np.int64], scores: Scores) -> None:
        """Set the scores of these pairs."""
        self.log10[pairs], self.precision[pairs] = scores.log10, scores.precision


@dataclass(frozen=True)
class PairBatch:
    """Groups of reads and haplotypes, each read of a group against each of its haplotypes.

    Scores stand in row-major order (read, haplotype) group after group.

    Attributes
    ----------
    group_read, group_haplotype : int64[groups + 1]
        First read and first haplotype of each group.
    read_offset, haplotype_offset : int64[reads + 1], int64[haplotypes + 1]
        First base of each read in `qualities`, `profiles` or `rows`, first letter of each haplotype in `haplotypes`.
    haplotypes : uint8[letters]
        Codes of `pairhmm.genomics.sequences.encode`.
    start : Start
    qualities : Qualities or None
        GATK reads, or
    rows : float64[bases, 12] or None
        rows of any model, or
    profiles : Profiles or None
        reads of a profile model (`pairhmm.models.profile.ProfileModel.profiles`). Exactly one of the three is given.

    Raises
    ------
    ValueError
        For offsets, lengths, dtypes or values that do not fit each other; all checks happen here, once.
    """

    group_read: NDArray[np.int64]
    group_haplotype: NDArray[np.int64]
    read_offset: NDArray[np.int64]
    haplotype_offset: NDArray[np.int64]
    haplotypes: NDArray[np.uint8]
    start: Start
    qualities: Qualities | None = None
    rows: NDArray[np.float64] | None = None
    profiles: Profiles | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.qualities, self.rows, self.profiles)) != 1:
            raise ValueError("a batch has either qualities or rows or profiles")
        if len(self.group_read) != len(self.group_haplotype):
            raise ValueError("group_read and group_haplotype differ in length")
        _check_offsets("group_read", self.group_read, len(self.read_offset) - 1, smallest=0)
        _check_offsets("group_haplotype", self.group_haplotype, len(self.haplotype_offset) - 1, smallest=0)
        _check_offsets("read_offset", self.read_offset, self.bases, smallest=1)
        _check_offsets("haplotype_offset", self.haplotype_offset, len(self.haplotypes), smallest=1)
        _check_codes("haplotypes", self.haplotypes, 4)
        if self.qualities is not None:
            for name in Qualities.__dataclass_fields__:
                values = getattr(self.qualities, name)
                if len(values) != self.bases:
                    raise ValueError(f"{name} has {len(values)} values for {self.bases} bases")
                _check_codes(name, values, 4 if name == "bases" else HIGHEST_QUALITY)
            # Asked for by each part of the batch, and cheapest while the arrays are in the cache.
            _ = self.constant_qualities
        if self.rows is not None:
            if self.rows.dtype != np.float64 or self.rows.shape != (self.bases, ROW_SIZE):
                raise ValueError(f"rows must be float64 of shape (bases, {ROW_SIZE})")
            if not bool((np.isfinite(self.rows) & (self.rows >= 0)).all()):
                raise ValueError("rows must be finite and not negative")
        if self.profiles is not None:
            if self.profiles.probabilities.dtype != np.float64 or self.profiles.probabilities.shape != (self.bases, 4):
                raise ValueError("probabilities must be float64 of shape (bases, 4)")
            for name in Profiles.__dataclass_fields__:
                values = getattr(self.profiles, name)
                if not bool((np.isfinite(values) & (values >= 0)).all()):
                    raise ValueError(f"{name} must be finite and not negative")

    @classmethod
    def from_groups(cls, groups: Sequence[Group], start: Start | None = None) -> PairBatch:
        """Pack GATK reads; `start` defaults to GATK's (`models.gatk.START`)."""
        reads = [read for group in groups for read in group.reads]
        of_group = [codes_of(group.haplotypes) for group in groups]
        haplotypes = [haplotype for group in of_group for haplotype in group]
        read_offset, qualities = joined_reads(reads)
        return cls(
            group_read=offsets([len(group.reads) for group in groups]),
            group_haplotype=offsets(list(map(len, of_group))),
            read_offset=read_offset,
            haplotype_offset=offsets([len(haplotype) for haplotype in haplotypes]),
            haplotypes=joined(haplotypes),
            start=Start(match=0.0, deletion=1.0) if start is None else start,
            qualities=qualities,
        )

    @property
    def bases(self) -> int:
        """Read positions in the batch."""
        if self.qualities is not None:
            return len(self.qualities.bases)
        if self.profiles is not None:
            return len(self.profiles.probabilities)
        assert self.rows is not None
        return len(self.rows)

    @cached_property
    def constant_qualities(self) -> dict[str, int]:
        """Arrays of `qualities` that hold one number all over, by name; a part has its whole batch's."""
        if self.qualities is None or not self.bases:
            return {}
        arrays = {name: getattr(self.qualities, name) for name in Qualities.__dataclass_fields__}
        return {name: int(values[0]) for name, values in arrays.items() if values.min() == values.max()}

    @property
    def groups(self) -> int:
        return len(self.group_read) - 1

    @cached_property
    def group_pair(self) -> NDArray[np.int64]:
        """int64[groups + 1]: first score of each group."""
        return offsets(np.diff(self.group_read) * np.diff(self.group_haplotype))

    @property
    def pairs(self) -> int:
        return int(self.group_pair[-1])

    @property
    def reads(self) -> int:
        return len(self.read_offset) - 1

    @property
    def group_letters(self) -> NDArray[np.int64]:
        """int64[groups]: letters of each group's haplotypes."""
        return np.diff(self.haplotype_offset[self.group_haplotype])

    @cached_property
    def group_cells(self) -> NDArray[np.int64]:
        """int64[groups + 1]: cells of the recurrence (read bases times haplotype letters) before each group."""
        return offsets(np.diff(self.read_offset[self.group_read]) * self.group_letters)

    @property
    def cells(self) -> int:
        return int(self.group_cells[-1])

    @cached_property
    def widest(self) -> int:
        """Letters of the longest haplotype; 0 where there is none."""
        return int(np.diff(self.haplotype_offset).max(initial=0))

    def pair_indices(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The read and the haplotype of each pair, as indices into the batch (int64 each)."""
        group = np.searchsorted(self.group_pair, pairs, side="right") - 1
        within = pairs - self.group_pair[group]
        width = np.diff(self.group_haplotype)[group]
        return self.group_read[group] + within // width, self.group_haplotype[group] + within % width

    def take_reads(self, first: int, end: int) -> PairBatch:
        """Reads first..end-1, each against the haplotypes of its group, as a batch of their own.

        Its pairs are a run of this batch's pairs, in the same order. The arrays are views.
        """
        # Groups without reads have no pairs: those at the borders stay behind.
        group = int(np.searchsorted(self.group_read, first, side="right")) - 1
        group_end = max(group, int(np.searchsorted(self.group_read, end, side="left")))
        group_haplotype = self.group_haplotype[group : group_end + 1]
        haplotype_offset = self.haplotype_offset[group_haplotype[0] : group_haplotype[-1] + 1]
        read_offset = self.read_offset[first : end + 1]
        bases = slice(read_offset[0], read_offset[-1])
        qualities, profiles = self.qualities, self.profiles
        part = object.__new__(PairBatch)  # Parts of a checked batch are not scanned again.
        vars(part).update(
            group_read=np.clip(self.group_read[group : group_end + 1], first, end) - first,
            group_haplotype=group_haplotype - group_haplotype[0],
            read_offset=read_offset - read_offset[0],
            haplotype_offset=haplotype_offset - haplotype_offset[0],
            haplotypes=self.haplotypes[haplotype_offset[0] : haplotype_offset[-1]],
            start=self.start,
            qualities=None
            if qualities is None
            else Qualities(*(getattr(qualities, name)[bases] for name in Qualities.__dataclass_fields__)),
            rows=None if self.rows is None else self.rows[bases],
            profiles=None if profiles is None else replace(profiles, probabilities=profiles.probabilities[bases]),
            constant_qualities=self.constant_qualities,
        )
        return part


def joined_reads(reads: Sequence[Read]) -> tuple[NDArray[np.int64], Qualities]:
    """Reads end to end, and where each begins (int64[reads + 1]).

    Raises
    ------
    ValueError
        For a read whose qualities are not one a base: end to end with others they would be those of its neighbours.
    """
    columns = {name: [getattr(read, name) for read in reads] for name in Qualities.__dataclass_fields__}
    lengths = list(map(len, columns["bases"]))
    for name in QUALITY_NAMES:
        sizes = list(map(len, columns[name]))
        if sizes != lengths:
            at = next(i for i, (size, length) in enumerate(zip(sizes, lengths, strict=True)) if size != length)
            raise ValueError(f"reads[{at}]: {name} has {sizes[at]} values for {lengths[at]} bases")
    return offsets(lengths), Qualities(*map(joined, columns.values()))


def _check_offsets(name: str, values: NDArray[np.int64], end: int, smallest: int) -> None:
    if values.dtype != np.int64 or values.ndim != 1 or len(values) == 0 or values[0] != 0 or values[-1] != end:
        raise ValueError(f"{name} must be int64 from 0 to {end}")
    if len(values) > 1 and int(np.diff(values).min()) < smallest:
        at = int(np.diff(values).argmin())
        raise ValueError(f"{name}: item {at} has length {int(values[at + 1] - values[at])}, less than {smallest}")


def _check_codes(name: str, values: NDArray[np.uint8], highest: int) -> None:
    if values.dtype != np.uint8 or values.ndim != 1:
        raise ValueError(f"{name} must be uint8 of one dimension")
    if len(values) and int(values.max()) > highest:
        raise ValueError(f"{name} has a value of {int(values.max())}, more than {highest}")
