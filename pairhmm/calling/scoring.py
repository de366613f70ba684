"""Prepares reads as GATK does, and scores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends import cpu as cpu_backend
from pairhmm.backends.cpu import CpuBackend
from pairhmm.calling.cut_reads import CutReads
from pairhmm.calling.stream import FlatScores, HaplotypeLetters
from pairhmm.calling.timing import SCORING, StageClock
from pairhmm.engine import device_thread
from pairhmm.engine.device_pool import DevicePool, Devices, StoppableDevices
from pairhmm.engine.device_thread import DeviceThread, result_of
from pairhmm.models.batch import PairBatch, Profiles, Qualities, Scores, Start
from pairhmm.models.gatk import ERROR, LOWEST_USABLE_BASE_QUALITY, START, GatkOptions, pcr_quality
from pairhmm.models.profile import CALL_PROBABILITIES, ProfileModel
from pairhmm.models.str_model import TABLES
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS

if TYPE_CHECKING:
    from pairhmm._cpu import PreparedReads, ReadPreparation


class ModelReads(TypedDict):
    """Reads as one of the models takes them, under the names that they have in a `PairBatch`."""

    read_offset: NDArray[np.int64]
    start: Start
    qualities: NotRequired[Qualities]
    profiles: NotRequired[Profiles]


@dataclass(slots=True)
class ReadScorer:
    """Prepares cut reads as GATK does, and scores them with one of the two models.

    Attributes
    ----------
    profile : ProfileModel or None
        The parameters of the profile model; None for GATK's model.
    bases, lowered : int
        Number of bases scored so far, and how many of them had their quality lowered to 6.
    tagged : int
        Number of reads scored so far with indel qualities of their own, once for each region.
    clock : StageClock
        Its stage `SCORING` gets the time of preparing and scoring.
    """

    options: GatkOptions
    pool: Devices
    threads: int = 1
    profile: ProfileModel | None = None
    bases: int = 0
    lowered: int = 0
    tagged: int = 0
    clock: StageClock = field(default_factory=StageClock)
    _preparation: ReadPreparation = field(init=False, repr=False)
    _cpu: CpuBackend | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._preparation = preparation(self.options, self.profile)
        self._cpu = _cpu_of(self.pool)

    @property
    def ahead(self) -> int:
        """How many batches the devices begin ahead."""
        return self.pool.ahead

    def begin(self, reads: CutReads, reads_of: Sequence[int], haplotypes: HaplotypeLetters) -> Callable[[], FlatScores]:
        """Begin to score. The function that comes back waits for the scores."""
        with self.clock.stage(SCORING):
            scores = self._begin(self._prepared(reads), reads_of, haplotypes)
        return lambda: self._waited(scores)

    def _waited(self, scores: Callable[[], Scores]) -> FlatScores:
        with self.clock.stage(SCORING):
            scored = scores()
        return scored.log10, scored.precision

    def _prepared(self, reads: CutReads) -> PreparedReads:
        prepared = _prepare(self._preparation, reads)
        self.bases += prepared.cut_bases
        self.lowered += prepared.lowered
        self.tagged += prepared.tagged
        return prepared

    def _begin(
        self, prepared: PreparedReads, reads_of: Sequence[int], haplotypes: HaplotypeLetters
    ) -> Callable[[], Scores]:
        group_read = offsets(list(reads_of))
        if self._cpu is None:
            return self.pool.begin(self._batch(prepared, group_read, haplotypes), self.threads)
        on_the_cpu = partial(self._scored_here, self._cpu, prepared, group_read, haplotypes)
        if isinstance(self.pool, DeviceThread):
            cells = _cells(prepared, group_read, haplotypes)
            if cells >= device_thread.WORTH_A_CALL:
                answer = self.pool.submit(self._batch(prepared, group_read, haplotypes))
                return lambda: self._answered(answer, cells, on_the_cpu)
            self.pool.count(cells)
        scores = on_the_cpu()
        return lambda: scores

    def _answered(self, answer: Future[Scores], cells: int, on_the_cpu: Callable[[], Scores]) -> Scores:
        """The scores of a device, or those of the CPU where no device has begun."""
        if not answer.cancel():
            return result_of(answer)
        assert isinstance(self.pool, DeviceThread)
        self.pool.count(cells)
        return on_the_cpu()

    def _batch(self, prepared: PreparedReads, group_read: NDArray[np.int64], haplotypes: HaplotypeLetters) -> PairBatch:
        return PairBatch(
            group_read=group_read,
            group_haplotype=haplotypes.group,
            haplotype_offset=haplotypes.offset,
            haplotypes=haplotypes.letters,
            **_of_batch(prepared, self.profile),
        )

    def _scored_here(
        self, cpu: CpuBackend, prepared: PreparedReads, group_read: NDArray[np.int64], haplotypes: HaplotypeLetters
    ) -> Scores:
        pairs = offsets(np.diff(group_read) * np.diff(haplotypes.group))
        return Scores(
            *self._preparation.score(
                *(prepared, group_read, haplotypes.group, pairs, haplotypes.offset, haplotypes.letters),
                *(cpu.isa, cpu.longest_fast_read, self.threads),
            )
        )


def _cpu_of(pool: Devices) -> CpuBackend | None:
    """The CPU's SIMD backend, where it scores alone or beside devices: it takes prepared reads without a batch."""
    if isinstance(pool, DeviceThread):
        return cpu_backend.make() if cpu_backend.status().available else None
    pool = pool.pool if isinstance(pool, StoppableDevices) else pool
    devices = pool.devices if isinstance(pool, DevicePool) else []
    return devices[0] if len(devices) == 1 and type(devices[0]) is CpuBackend else None


def _cells(prepared: PreparedReads, group_read: NDArray[np.int64], haplotypes: HaplotypeLetters) -> int:
    """Cells of all matrices."""
    bases, letters = np.diff(prepared.read_offset[group_read]), np.diff(haplotypes.offset[haplotypes.group])
    return int(bases @ letters)


def preparation(options: GatkOptions, profile: ProfileModel | None) -> ReadPreparation:
    """What prepares reads for a model: GATK's, unless a profile model is given.

    The profile model takes base qualities alone: its transitions stand in place of indel qualities. Reads of a molecule
    are joined for it.
    """
    start = START if profile is None else profile.start
    insertion, deletion, gap = _tables_by_kind(options)
    made = native.ReadPreparation(
        *(options.cap_by_mapping_quality, options.base_quality_threshold, LOWEST_USABLE_BASE_QUALITY),
        *(options.insertion_quality, options.deletion_quality, options.gap_quality, MOST_REPEATS, LONGEST_REPEAT_UNIT),
        np.empty(0, dtype=np.uint8) if options.pcr_indel_model == "none" else pcr_quality(options.pcr_indel_model),
        *(insertion, deletion, gap),
        *(ERROR, start.match, start.deletion),
    )
    if profile is not None:
        made.set_profile(
            CALL_PROBABILITIES.ravel(), profile.match.ravel(), profile.insertion, profile.transitions_of_rows().ravel()
        )
    return made


def _tables_by_kind(options: GatkOptions) -> list[NDArray[np.uint8]]:
    """Insertion, deletion and gap qualities (uint8 each) by the unit and the copies of a repeat; empty without any."""
    if options.str_model is not None:
        tables = [getattr(options.str_model, name) for name in TABLES]
    elif options.indel_qualities is not None:
        tables = [options.indel_qualities.insertion * LONGEST_REPEAT_UNIT]
        tables += [options.indel_qualities.deletion * LONGEST_REPEAT_UNIT, ()]
    else:
        tables = [(), (), ()]
    return [np.array(table, dtype=np.uint8).ravel() for table in tables]


def _prepare(made: ReadPreparation, reads: CutReads) -> PreparedReads:
    own, joined = reads.indel_quals, reads.joined
    return made.prepare(
        *(reads.offset, reads.bases, reads.quals, reads.mapq),
        None if own is None else own.ravel(),
        None if joined is None else (joined.offset, joined.source_offset, joined.source),
    )


def prepared_base_quality(reads: CutReads, options: GatkOptions) -> NDArray[np.uint8]:
    """uint8[bases]: the base qualities of many reads as both models take them (`pairhmm.models.gatk`)."""
    return preparation(options, None).base_qualities(reads.offset, reads.quals, reads.mapq)


def model_reads(reads: CutReads, options: GatkOptions, profile: ProfileModel | None) -> ModelReads:
    """Many reads as a batch of the model takes them (`preparation`)."""
    return _of_batch(_prepare(preparation(options, profile), reads), profile)


def _of_batch(prepared: PreparedReads, profile: ProfileModel | None) -> ModelReads:
    offset = prepared.read_offset
    if profile is None:
        names = Qualities.__dataclass_fields__
        return {
            "read_offset": offset,
            "start": START,
            "qualities": Qualities(**{name: getattr(prepared, name) for name in names}),
        }
    return {"read_offset": offset, "start": profile.start, "profiles": profile.profiles_of(prepared.profiles)}
