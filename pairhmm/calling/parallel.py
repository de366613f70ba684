"""Runs pieces of a run side by side in processes. The results come in order, and are those of one process.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

from pairhmm import engine
from pairhmm.alignments.index import find_index, how_to_index
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.read_density import read_densities
from pairhmm.alignments.selection import LeftOut
from pairhmm.alignments.sources import count_unread
from pairhmm.calling.opening import OpenFiles, make_run, open_files, whole_run
from pairhmm.calling.region_choice import piece_regions
from pairhmm.calling.region_sources import Place
from pairhmm.calling.run import Run, RunCounts, Use, UseOfReads, Watch, opened_use
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.scored_region import Evidence
from pairhmm.calling.shard_runs import GenomePiece, PiecePlaces, PiecesByNumber, listed_pieces
from pairhmm.calling.shards import DiscoveredCuts, Work, context, margin
from pairhmm.calling.targets import Extent, Inside, with_context
from pairhmm.engine.device_pool import Devices
from pairhmm.engine.device_thread import DeviceThread
from pairhmm.engine.workers import Workers, can_start_workers
from pairhmm.files.descriptors import STDIN
from pairhmm.native import require_compiled
from pairhmm.process import usable_cores
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.candidates import CandidateReader
from pairhmm.variants.regions import Region

if TYPE_CHECKING:  # a run on the CPU starts sooner without the imports
    from pairhmm.engine.shared_devices import DeviceAddress, SharedDevices

log = logging.getLogger(__name__)

Result = TypeVar("Result")

WORTH_PROCESSES = 30_000
"""Reads from which on pieces are run side by side: for fewer, starting processes takes longer than it saves."""

# Each piece gets a share of the reads that are left: one in so many for each process. No piece has fewer or more reads
# than these: each costs some milliseconds, and its results are held until those before it are written. Where there are
# many reads, none is smaller than one in so many for each process.
_NEXT_PIECES = 1.5
_FEWEST_READS, _MOST_READS = 5_000, 100_000
_LAST_PIECES = 32
# Each piece opens every input: for each so many, that takes as long as these reads.
_INPUTS = 100
# Bases of the windows that an index knows (SAM specification, section 5.1.1).
_WINDOW = 1 << 14
# Bytes of a read in CRAM, whose index counts bytes.
_CRAM_BYTES = 40
# Seconds after which a worker sends what it has made of a piece, so that little is left to be sent at its end.
_PART_SECONDS = 0.05
# Workers for each CPU thread that prepares their batches for a device.
_WORKERS_FOR_A_PACKER = 4


class OpenResults(NamedTuple, Generic[Result]):
    """A run that is open, and what is made of it.

    Attributes
    ----------
    devices : Devices
    samples : list of str
    contigs : dict of str to int
    made : iterator
        What was made of the regions, in order. Messages at the end say what was left out.
    """

    devices: Devices
    samples: list[str]
    contigs: dict[str, int]
    made: Iterator[Result]

    @property
    def backend(self) -> str:
        """Labels of the devices that score, once they have started."""
        return self.devices.label


@contextmanager
def open_results(
    inputs: RunInputs,
    options: RunOptions,
    use: Use[Result] | UseOfReads[Result],
    watch: Watch | None = None,
    refined: Callable[[Evidence], Evidence] | None = None,
    without_set_aside: bool = True,
) -> Iterator[OpenResults[Result]]:
    """Open a run that works in as many processes as threads were asked for, where it can be divided.

    Otherwise one process works, whose threads unpack and score. A message says so where the input is the cause.

    Parameters
    ----------
    inputs : RunInputs
    options : RunOptions
    use : callable
        ``use(evidence)`` gets an iterator of the evidence of regions, and gives an iterator of what it makes of them.
        It is called for each piece of the run, or once for the whole run. It has to be picklable, and so do its
        results. Sending a result to another process takes time: few large results are better than one a region. A
        `pairhmm.calling.run.UseOfReads` is opened with the run first.
    watch, refined, without_set_aside
        Those of `Run.evidence`.

    Raises
    ------
    InputError, BackendUnavailable, CompiledPartMissing
        As for `pairhmm.calling.opening.open_run`.
    """
    require_compiled("reading alignments")
    # Forks are made before a device is ready: its library has threads and memory that a fork can't use.
    pool = None if engine.names_devices(options.backend) else engine.choose(options.backend)
    is_divisible = _is_divisible(inputs, options) and (pool is None or pool.is_on_the_cpu)
    with ExitStack() as stack:
        files = stack.enter_context(open_files(inputs, 1 if is_divisible else options.threads))
        work = _work(files) if is_divisible else None
        count = 1 if work is None else _processes(work, options.threads, len(files.reader.sources))
        devices: Devices
        if work is None or count == 1:
            devices = pool or stack.enter_context(_started(options, options.threads))
            run = whole_run(inputs, options, devices, files)
            made = opened_use(use, run, files.asked)(run.evidence(watch, refined, without_set_aside))
        else:
            address = stack.enter_context(_device_address()) if pool is None else None
            chosen = options if pool is None else replace(options, backend=pool.name)
            targets = _targets(work, chosen, files) if inputs.candidates is None else []
            job = _PieceJob.of(
                inputs, chosen, address, files, targets, use=use, refined=refined, is_watched=watch is not None
            )
            # Here, before outputs are opened: a worker must not hold them, nor be forked from a process with threads.
            workers = stack.enter_context(Workers(job, count))
            if address is None:
                assert pool is not None
                devices = pool
            else:
                own = stack.enter_context(_started(options, max(1, options.threads // _WORKERS_FOR_A_PACKER)))
                devices = stack.enter_context(_shared(own, address)).devices
            run = whole_run(inputs, options, devices, files)
            made = _Pieces(run, options, files, len(targets) + 1, workers).results(watch, without_set_aside)
        yield OpenResults(devices, run.samples, run.contigs, _with_devices(made, devices))


def _device_address() -> AbstractContextManager[DeviceAddress]:
    from pairhmm.engine.shared_devices import device_address

    return device_address()


def _shared(devices: DeviceThread, address: DeviceAddress) -> SharedDevices:
    from pairhmm.engine.shared_devices import SharedDevices

    return SharedDevices(devices, address)


def _started(options: RunOptions, threads: int) -> DeviceThread:
    return DeviceThread(partial(engine.choose, options.backend), threads)


def _with_devices(made: Iterator[Result], devices: Devices) -> Iterator[Result]:
    """What was made. If devices did not start, that is raised at the end, although nothing was to be scored."""
    yield from made
    _ = devices.label


def _is_divisible(inputs: RunInputs, options: RunOptions) -> bool:
    """Whether pieces of a run can be run side by side, as far as is known before files are opened."""
    if options.threads == 1 or inputs.haplotypes is not None or not can_start_workers():
        return False
    slow = "threads help only to unpack and to score"
    if options.molecules.families == "MI":
        log.info("--families MI looks at all reads together, so that %s", slow)
        return False
    for path in inputs.alignments:
        if find_index(path) is None:
            cure = "give an indexed file" if path == STDIN else how_to_index(path)
            log.info("%s has no index, so that %s; %s", "stdin" if path == STDIN else path, slow, cure)
            return False
    return True


def _work(files: OpenFiles) -> Work:
    """How many reads are asked for, and where they are."""
    rank = {name: number for number, name in enumerate(files.contigs)}
    whole = [Interval(name, 0, length) for name, length in files.contigs.items()]
    places = sorted(whole if files.asked is None else files.asked, key=lambda one: (rank[one.chrom], one.start))
    densities = []
    for source in files.reader.sources:
        share = 1 / _CRAM_BYTES if source.kind == "CRAM" else 1.0
        found = read_densities(source)
        densities.append({name: replace(one, before=one.before * share) for name, one in found.items()})
    return Work(places, densities)


class _Pieces(NamedTuple):
    """A run whose pieces workers run. The run, whose blocks are not read, gets the counts of the pieces.

    `n_pieces` is how many there are where candidates are discovered.
    """

    run: Run
    options: RunOptions
    files: OpenFiles
    n_pieces: int
    workers: Workers

    def results(self, watch: Watch | None, without_set_aside: bool) -> Iterator[Any]:
        """What was made of the regions."""
        files, run, left_out = self.files, self.run, LeftOut()
        for parts in self.workers.results(self._pieces(), are_last=True):
            if not parts:
                continue
            *parts, piece = parts
            if watch is not None:
                for place in piece.watched:
                    region = Region(*place)
                    watch(region, run.extent.share(region.chrom, region.end))
            for made in (*parts, piece.made):
                yield from made
            run.add_counts(piece.counts)
            left_out.add(piece.left_out)
        is_whole = files.asked is None and run.inputs.candidates is None
        if is_whole:
            for source in files.reader.sources:
                count_unread(source, left_out)
        left_out.conclude(", ".join(run.inputs.alignments), is_whole)
        run.announce(without_set_aside)

    def _pieces(self) -> Iterable[GenomePiece | int]:
        """The pieces, or the numbers of pieces that workers find."""
        files, options, candidates = self.files, self.options, self.run.inputs.candidates
        if candidates is None:
            return range(self.n_pieces)
        known = with_context(files.asked, files.genome)
        around = Inside(known)
        reader = CandidateReader(candidates, files.contigs, files.genome.fetch, known is not None)
        listed = (one for one in reader if around(one.chrom, one.pos))
        reach = options.discovery.reach
        return listed_pieces(listed, files.contigs, files.genome.fetch, margin(options), options.threads, reach)


def _targets(work: Work, options: RunOptions, files: OpenFiles) -> list[Place]:
    """Where the run is to be cut, or behind: rank of the contig, and position."""
    rank = {name: number for number, name in enumerate(files.contigs)}
    places = [work.place_of(share) for share in _shares(work.total, options.threads)]
    # Reading begins a little before a target. An index leads to the first read of a window, so let it begin there.
    before = context(options)
    return list(dict.fromkeys((rank[chrom], at // _WINDOW * _WINDOW + before) for chrom, at in places))


def _processes(work: Work, threads: int, inputs: int) -> int:
    """How many processes work. More than there are cores would take memory and no less time."""
    if work.total < WORTH_PROCESSES * (1 + inputs / _INPUTS):
        return 1
    return min(threads, usable_cores(), 1 + sum(1 for _ in _shares(work.total, threads)))


def _shares(reads: float, threads: int) -> Iterator[float]:
    """The shares of the work (0 to 1) between which pieces lie. The sizes of pieces fall, so that all end together."""
    fewest = min(max(_FEWEST_READS, reads / (_LAST_PIECES * threads)), _MOST_READS)
    done = 0.0
    while (left := reads - done) >= 1.5 * fewest:
        done += min(max(left / (_NEXT_PIECES * threads), fewest), _MOST_READS)
        yield done / reads


class _PieceResults(NamedTuple):
    """The last that was made of a piece, and what was counted.

    `watched` has the coordinates of each region if it is watched.
    """

    made: list[Any]
    watched: list[tuple[str, int, int, int, int, int, int]]
    counts: RunCounts
    left_out: LeftOut


class _PieceJob(NamedTuple):
    """What a worker does: it runs pieces, between cuts at `targets` where candidates are discovered.

    `address` leads to devices of another process.
    """

    inputs: RunInputs
    reference_name: str
    options: RunOptions
    address: DeviceAddress | None
    targets: Sequence[Place]
    use: Use[Any] | UseOfReads[Any]
    refined: Callable[[Evidence], Evidence] | None
    is_watched: bool

    @classmethod
    def of(
        cls,
        inputs: RunInputs,
        options: RunOptions,
        address: DeviceAddress | None,
        files: OpenFiles,
        targets: Sequence[Place],
        use: Use[Any] | UseOfReads[Any],
        refined: Callable[[Evidence], Evidence] | None,
        is_watched: bool,
    ) -> Self:
        """The job of workers whose run is open here."""
        # Workers open the file for which this process has found or made an index, and take the intervals that it read.
        places = None if files.asked is None else tuple(files.asked)
        inputs = replace(inputs, reference=files.genome.indexed_path, candidates=None, places=places)
        options = replace(options, threads=1)
        return cls(
            inputs=inputs,
            reference_name=files.genome.path,
            options=options,
            address=address,
            targets=targets,
            use=use,
            refined=refined,
            is_watched=is_watched,
        )

    @contextmanager
    def open(self) -> Iterator[Callable[[GenomePiece | int], Iterator[Any]]]:
        """Open the files of the run."""
        with open_files(self.inputs, 1, need_index=True) as files:
            files.genome.path = self.reference_name
            yield _PieceWorker(self, files).results


def _devices(job: _PieceJob) -> Devices:
    """The devices of a worker."""
    if job.address is None:
        return engine.choose(job.options.backend)
    from pairhmm.engine.shared_devices import RemoteDevices

    return RemoteDevices(job.address)


class _PieceWorker:
    def __init__(self, job: _PieceJob, files: OpenFiles) -> None:
        self._job, self._files = job, files
        self._devices = _devices(job)
        self._places = PiecePlaces(files.asked, files.genome, files.contigs, job.options)
        cuts = DiscoveredCuts(self._places.all_places, files.reader, files.genome, files.contigs, job.options)
        # Both workers beside a border find it, so that no worker waits for the process that started them.
        self._numbered = PiecesByNumber(job.targets, cuts.at, len(files.contigs))

    def results(self, given: GenomePiece | int) -> Iterator[list[Any] | _PieceResults]:
        """Run a piece, or that of a number. What was made of it comes in parts, then the rest with the counts.

        Nothing comes where the piece has no base.
        """
        piece = self._numbered[given] if isinstance(given, int) else given
        return iter(()) if piece is None else self._run(piece)

    def _run(self, piece: GenomePiece) -> Iterator[list[Any] | _PieceResults]:
        job, files, left_out = self._job, self._files, LeftOut()
        contigs, samples = files.contigs, len(files.reader.samples)
        regions = piece_regions(piece, job.options, files.genome, contigs, samples, self._places)
        run = make_run(job.inputs, job.options, self._devices, files, regions, extent=Extent(()), left_out=left_out)
        watched: list[tuple[str, int, int, int, int, int, int]] = []

        def watch(one: Region, share: float) -> None:
            # A region is pickled with all its candidates, which takes longer than all else here.
            begin_end = one.core_start, one.core_end, one.start, one.end, one.haplotype_start, one.haplotype_end
            watched.append((one.chrom, *begin_end))

        use = opened_use(job.use, run, self._places.asked(piece))
        made: list[Any] = []
        since = time.monotonic()
        for one in use(run.counted(watch if job.is_watched else None, job.refined)):
            made.append(one)
            if (now := time.monotonic()) - since > _PART_SECONDS:
                yield made
                made, since = [], now
        self._count_once(piece, left_out)
        yield _PieceResults(made, watched, run.counts(), left_out)

    def _count_once(self, piece: GenomePiece, left_out: LeftOut) -> None:
        """Take away the reads that the piece before has left out, too."""
        shared = self._places.shared(piece)
        if not shared or not left_out.counts:
            return
        files, twice = self._files, LeftOut()
        order, selection = list(files.contigs), self._job.options.reads
        for _ in read_blocks(files.reader.sources, order, selection, regions=shared, left_out=twice):
            pass
        left_out.counts.subtract(twice.counts)
