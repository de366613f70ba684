"""A batch: the reads and haplotypes that a backend scores, as flat arrays with offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import joined, offsets
from pairhmm.sequences.letters import CODE_OF_N, HIGHEST_QUALITY, LOWER_CASE, Letters, codes_of, encode, encode_case

ROW_SIZE = 12
"""Count of float64 numbers in a row: five emissions beside A C G T N, then the transitions mm im dm mi ii md dd."""

FLOAT32, FLOAT64, SCALED_FLOAT32, UNSCORED = 0, 1, 2, 255
"""Codes in `Scores.precision`: the arithmetic that a score was computed in. `UNSCORED` marks a pair without a score."""

PRECISIONS = ("float32", "float64", "scaled float32")
"""Names of the first three codes, by code. Scaled float32 keeps an exponent for each block of rows."""


@dataclass(frozen=True, slots=True)
class Start:
    """Row 0 of the recurrence: `match` is M[0,0], `deletion` is n D[0,0]. D[0,j] is 1/n for every j >= 1."""

    match: float
    deletion: float


@dataclass(frozen=True, slots=True)
class Qualities:
    """Reads as GATK's model takes them, one read or many end to end, as five bytes for each base.

    Attributes
    ----------
    bases : uint8[m]
        Letters as codes (`pairhmm.sequences.letters.encode`).
    base_quality, insertion_quality, deletion_quality, gap_quality : uint8[m]
        Phred qualities, one for each base. `gap_quality` is GATK's gap continuation penalty.
    """

    bases: NDArray[np.uint8]
    base_quality: NDArray[np.uint8]
    insertion_quality: NDArray[np.uint8]
    deletion_quality: NDArray[np.uint8]
    gap_quality: NDArray[np.uint8]

    __repr__ = short_repr

    def sliced(self, bases: slice) -> Qualities:
        """The qualities of these bases."""
        return Qualities(*(getattr(self, name)[bases] for name in Qualities.__dataclass_fields__))


QUALITY_NAMES = tuple(name for name in Qualities.__dataclass_fields__ if name != "bases")
"""The four fields of `Qualities` that hold Phred qualities."""


class Read(Qualities):
    """A read, as GATK's model takes it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Profiles:
    """Reads as a profile model takes them, one read or many end to end, and the model's constants."""

    # float64[k, 4]: probabilities of A C G T: at each position of a read, or each distinct row once
    probabilities: NDArray[np.float64]
    match: NDArray[np.float64]  # float64[4, 5]: emission of each read letter beside each haplotype letter A C G T N
    insertion: NDArray[np.float64]  # float64[4]: emission of each inserted letter
    # float64[7] or float64[k, 7]: mm im dm mi ii md dd: of all positions, or of each row of `probabilities`. Rows
    # differ only in mm, mi and md.
    transitions: NDArray[np.float64]
    # uint16[m] or None: the row of `probabilities` at each position of a read: reads of base calls have few distinct
    # rows, and two bytes a base are sooner sent and read than four numbers. None where `probabilities` has a row a
    # position.
    kinds: NDArray[np.uint16] | None = None

    __repr__ = short_repr

    @property
    def bases(self) -> int:
        """Positions of all reads."""
        return len(self.probabilities) if self.kinds is None else len(self.kinds)

    @property
    def at_bases(self) -> NDArray[np.float64]:
        """float64[m, 4]: the probabilities at each position of a read."""
        return self.probabilities if self.kinds is None else self.probabilities[self.kinds]

    @property
    def have_repeats(self) -> bool:
        """Whether rows have transitions of their own."""
        return self.transitions.ndim == 2

    @property
    def shared_transitions(self) -> NDArray[np.float64]:
        """float64[7]: those of all rows. Where rows have transitions of their own, mm, mi and md here are no row's."""
        return self.transitions.max(axis=0, initial=0.0) if self.have_repeats else self.transitions

    def sliced(self, bases: slice) -> Profiles:
        """The profiles of these positions."""
        if self.kinds is None:
            transitions = self.transitions[bases] if self.have_repeats else self.transitions
            return replace(self, probabilities=self.probabilities[bases], transitions=transitions)
        return replace(self, kinds=self.kinds[bases])


@dataclass(frozen=True, slots=True)
class Group:
    """Reads and haplotypes (letters or codes). Every read is scored against every haplotype, as in one region."""

    reads: Sequence[Read]
    haplotypes: Sequence[Letters]
    flags: Sequence[NDArray[np.uint8]] | None = None  # Of each letter of partially determined haplotypes

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a batch, in the batch's pair order.

    Attributes
    ----------
    log10 : float64[pairs]
        log10 P(read | haplotype).
    precision : uint8[pairs]
        The arithmetic of each score: `FLOAT32`, `FLOAT64` or `SCALED_FLOAT32`. A backend may also return `UNSCORED`,
        where `log10` is NaN.
    are_all_scored : bool
        Whether who made them knows that no pair is unscored. Otherwise some may be.
    """

    log10: NDArray[np.float64]
    precision: NDArray[np.uint8]
    are_all_scored: bool = False

    __repr__ = short_repr

    @classmethod
    def none(cls, pairs: int) -> Scores:
        """Scores for `pairs` pairs, all of them unscored."""
        return cls(np.full(pairs, np.nan), np.full(pairs, UNSCORED, dtype=np.uint8))

    def unscored(self) -> NDArray[np.int64]:
        """Indices (int64) of the unscored pairs."""
        # As nearly always; sooner found than a list of none.
        if self.are_all_scored or self.precision.max(initial=0) < UNSCORED:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.precision == UNSCORED).astype(np.int64)

    def put(self, pairs: NDArray[np.int64], scores: Scores) -> None:
        """Set the scores of these pairs."""
        self.log10[pairs], self.precision[pairs] = scores.log10, scores.precision


@dataclass(frozen=True)
class PairBatch:
    """Groups of reads and haplotypes. Each read of a group is scored against each haplotype of the group.

    Scores come group after group, in row-major order (read, haplotype) within a group.

    Attributes
    ----------
    group_read, group_haplotype : int64[groups + 1]
        First read and first haplotype of each group.
    read_offset, haplotype_offset : int64[reads + 1], int64[haplotypes + 1]
        First base of each read in `qualities`, `profiles` or `rows`; first letter of each haplotype in `haplotypes`.
    haplotypes : uint8[letters]
        Letters as codes (`pairhmm.sequences.letters.encode`).
    start : Start
        Row 0 of the model.
    qualities : Qualities or None
        Reads of GATK's model. Exactly one of `qualities`, `rows` and `profiles` is given.
    rows : float64[bases, 12] or None
        Rows of any model.
    profiles : Profiles or None
        Reads of a profile model (`pairhmm.models.profile.ProfileModel.profiles`).
    flags : uint8[letters] or None
        Flags of partially determined haplotypes (`pairhmm.models.partially_determined`), whose reads are `qualities`.
        Letters of both have their case then (`pairhmm.sequences.letters.encode_case`).

    Raises
    ------
    ValueError
        For offsets, lengths, dtypes or values that do not fit together. A batch is checked here, and nowhere else.
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
    flags: NDArray[np.uint8] | None = None

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
        letter = CODE_OF_N
        if self.flags is not None:
            if self.qualities is None or self.flags.dtype != np.uint8 or self.flags.shape != self.haplotypes.shape:
                raise ValueError("flags must be uint8, one a letter of haplotypes, beside reads with qualities")
            letter += LOWER_CASE
        _check_codes("haplotypes", self.haplotypes, letter)
        if self.qualities is not None:
            for name in Qualities.__dataclass_fields__:
                values = getattr(self.qualities, name)
                if len(values) != self.bases:
                    raise ValueError(f"{name} has {len(values)} values for {self.bases} bases")
                _check_codes(name, values, letter if name == "bases" else HIGHEST_QUALITY)
            # Every chunk of the batch asks for this. Finding it is cheapest now, while the arrays are in the cache.
            _ = self.quality_ranges
        if self.rows is not None:
            if self.rows.dtype != np.float64 or self.rows.shape != (self.bases, ROW_SIZE):
                raise ValueError(f"rows must be float64 of shape (bases, {ROW_SIZE})")
            if not bool((np.isfinite(self.rows) & (self.rows >= 0)).all()):
                raise ValueError("rows must be finite and not negative")
        if self.profiles is not None:
            _check_profiles(self.profiles)

    @classmethod
    def from_groups(cls, groups: Sequence[Group], start: Start | None = None) -> PairBatch:
        """Pack reads of GATK's model; `start` defaults to GATK's (`models.gatk.START`)."""
        reads = [read for group in groups for read in group.reads]
        flags = [each for group in groups for each in group.flags or ()]
        of_group = [codes_of(group.haplotypes, encode_case if flags else encode) for group in groups]
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
            flags=joined(flags) if flags else None,
        )

    @property
    def bases(self) -> int:
        """Bases of all reads."""
        if self.qualities is not None:
            return len(self.qualities.bases)
        if self.profiles is not None:
            return self.profiles.bases
        assert self.rows is not None
        return len(self.rows)

    @cached_property
    def quality_ranges(self) -> dict[str, tuple[int, int]]:
        """Least and greatest value of each array of `qualities`, by its name. A chunk has those of its whole batch."""
        if self.qualities is None or not self.bases:
            return {}
        arrays = {name: getattr(self.qualities, name) for name in Qualities.__dataclass_fields__}
        return {name: (int(values.min()), int(values.max())) for name, values in arrays.items()}

    @property
    def constant_qualities(self) -> dict[str, int]:
        """The arrays of `qualities` that hold one number throughout: name and number."""
        return {name: least for name, (least, greatest) in self.quality_ranges.items() if least == greatest}

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

    @cached_property
    def longest_read(self) -> int:
        """Bases of the longest read; 0 where there is none. A chunk has that of its whole batch."""
        return int(np.diff(self.read_offset).max(initial=0))

    @property
    def group_letters(self) -> NDArray[np.int64]:
        """int64[groups]: letters of all haplotypes of each group."""
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
        """The reads `first` to ``end - 1`` as a batch of their own, each with the haplotypes of its group.

        Its pairs are consecutive pairs of this batch, in the same order. Its arrays are views of this batch's.
        """
        # Groups without reads have no pairs: those at either end are left out.
        group = int(np.searchsorted(self.group_read, first, side="right")) - 1
        group_end = max(group, int(np.searchsorted(self.group_read, end, side="left")))
        group_haplotype = self.group_haplotype[group : group_end + 1]
        haplotype_offset = self.haplotype_offset[group_haplotype[0] : group_haplotype[-1] + 1]
        read_offset = self.read_offset[first : end + 1]
        bases = slice(read_offset[0], read_offset[-1])
        letters = slice(haplotype_offset[0], haplotype_offset[-1])
        qualities, profiles = self.qualities, self.profiles
        taken = object.__new__(PairBatch)  # Reads of a checked batch are not checked again.
        vars(taken).update(
            group_read=np.clip(self.group_read[group : group_end + 1], first, end) - first,
            group_haplotype=group_haplotype - group_haplotype[0],
            read_offset=read_offset - read_offset[0],
            haplotype_offset=haplotype_offset - haplotype_offset[0],
            haplotypes=self.haplotypes[letters],
            flags=None if self.flags is None else self.flags[letters],
            start=self.start,
            qualities=None if qualities is None else qualities.sliced(bases),
            rows=None if self.rows is None else self.rows[bases],
            profiles=None if profiles is None else profiles.sliced(bases),
            quality_ranges=self.quality_ranges,
            longest_read=self.longest_read,
        )
        return taken


def joined_reads(reads: Sequence[Read]) -> tuple[NDArray[np.int64], Qualities]:
    """Offsets of reads laid end to end (int64[reads + 1]), and the reads.

    Raises
    ------
    ValueError
        For a read that does not have one quality for each base. Laid end to end, it would take its neighbour's.
    """
    columns = {name: [getattr(read, name) for read in reads] for name in Qualities.__dataclass_fields__}
    lengths = list(map(len, columns["bases"]))
    for name in QUALITY_NAMES:
        sizes = list(map(len, columns[name]))
        if sizes != lengths:
            at = next(i for i, (size, length) in enumerate(zip(sizes, lengths, strict=True)) if size != length)
            raise ValueError(f"reads[{at}]: {name} has {sizes[at]} values for {lengths[at]} bases")
    return offsets(lengths), Qualities(*map(joined, columns.values()))


_SEQUENCES = {"read_offset": "reads", "haplotype_offset": "haplotypes"}


def _check_offsets(name: str, values: NDArray[np.int64], end: int, smallest: int) -> None:
    if values.dtype != np.int64 or values.ndim != 1 or len(values) == 0 or values[0] != 0 or values[-1] != end:
        raise ValueError(f"{name} must be int64 from 0 to {end}")
    if len(values) > 1 and int(np.diff(values).min()) < smallest:
        at = int(np.diff(values).argmin())
        if name in _SEQUENCES and values[at] == values[at + 1]:
            raise ValueError(f"{_SEQUENCES[name]}[{at}] is empty")
        raise ValueError(f"{name}: item {at} has length {int(values[at + 1] - values[at])}, less than {smallest}")


def _check_profiles(profiles: Profiles) -> None:
    if profiles.probabilities.dtype != np.float64 or profiles.probabilities.shape[1:] != (4,):
        raise ValueError("probabilities must be float64 of shape (rows, 4)")
    for name in ("probabilities", "match", "insertion", "transitions"):
        values = getattr(profiles, name)
        if not bool((np.isfinite(values) & (values >= 0)).all()):
            raise ValueError(f"{name} must be finite and not negative")
    if profiles.transitions.shape not in ((7,), (len(profiles.probabilities), 7)):
        raise ValueError("transitions must be of shape (7,) or (rows, 7)")
    # Kernels take these four from one place for all rows. mm, mi and md alone follow the repeats.
    shared = profiles.transitions.reshape(-1, 7)[:, [1, 2, 4, 6]]
    if len(shared) and not bool((shared == shared[0]).all()):
        raise ValueError("transitions: im, dm, ii and dd must be the same in all rows")
    kinds = profiles.kinds
    if kinds is None:
        return
    if kinds.dtype != np.uint16 or kinds.ndim != 1:
        raise ValueError("kinds must be uint16 of one dimension")
    if len(kinds) and int(kinds.max()) >= len(profiles.probabilities):
        raise ValueError(f"kinds has a value of {int(kinds.max())}, but there are {len(profiles.probabilities)} rows")


def _check_codes(name: str, values: NDArray[np.uint8], highest: int) -> None:
    if values.dtype != np.uint8 or values.ndim != 1:
        raise ValueError(f"{name} must be uint8 of one dimension")
    if len(values) and int(values.max()) > highest:
        raise ValueError(f"{name} has a value of {int(values.max())}, more than {highest}")
