"""Runs the shards of a run in worker processes. The results come in order, and are those of one process.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

from pairhmm import engine
from pairhmm.alignments.index import find_index, how_to_index
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import LeftOut
from pairhmm.alignments.sources import count_unread
from pairhmm.calling.opening import OpenFiles, make_run, open_files, whole_run
from pairhmm.calling.region_choice import shard_regions
from pairhmm.calling.run import Refine, Use, Watch
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.shard_runs import NumberedShards, Shard, ShardIntervals, listed_shards
from pairhmm.calling.shards import DiscoveredCuts, Work, context, margin, work_of
from pairhmm.calling.stutter import with_stutter
from pairhmm.calling.summary import RunCounts
from pairhmm.calling.targets import Inside, Locus, Progress, in_run_order, run_progress, with_padding
from pairhmm.engine.device_pool import DevicePool, Devices
from pairhmm.engine.device_thread import DeviceThread
from pairhmm.engine.workers import Workers, can_start_workers
from pairhmm.files.descriptors import STDIN
from pairhmm.native import require_compiled
from pairhmm.process import usable_cores
from pairhmm.variants.candidates import CandidateReader
from pairhmm.variants.regions import REPEAT_REACH, Region

if TYPE_CHECKING:  # a run on the CPU starts sooner without the imports
    from pairhmm.engine.shared_devices import DeviceAddress

log = logging.getLogger(__name__)

Result = TypeVar("Result")

WORTH_PROCESSES = 30_000
"""Below this many reads, starting workers costs more than it saves."""

# Guided scheduling: a shard gets 1 / (1.5 * workers) of the remaining reads, at least 5,000 and at most 100,000. Each
# costs some milliseconds, and its results are held until those before it are written. Where there are many reads, none
# is smaller than 1 / (32 * workers) of all.
_SHARDS_AHEAD = 1.5
_FEWEST_READS, _MOST_READS = 5_000, 100_000
_LAST_SHARDS = 32
# Each worker opens every input: for so many inputs, that takes as long as for WORTH_PROCESSES reads.
_INPUTS = 100
# Bases of the windows that an index knows (SAM specification, section 5.1.1).
_WINDOW = 1 << 14
# Seconds after which a worker sends what it has made of a shard, so that little is left to be sent at its end.
_PART_SECONDS = 0.05
# Workers for each CPU thread that prepares their batches for a device.
_WORKERS_FOR_A_PACKER = 4


class OpenResults(NamedTuple, Generic[Result]):
    """An open run, and the results of its regions, in order. Messages at the end say what was left out.

    `options` are those of the run with the STR model that its reads ask for.
    """

    options: RunOptions
    devices: Devices
    samples: list[str]
    contigs: dict[str, int]
    results: Iterator[Result]

    @property
    def backend(self) -> str:
        """Labels of the devices that score, once they have started."""
        return self.devices.label


@dataclass(frozen=True, slots=True)
class _Plan(Generic[Result]):
    """The arguments of `open_results`."""

    inputs: RunInputs
    options: RunOptions
    use: Use[Result]
    watch: Watch | None
    refine: Refine | None
    filters_reads: bool


@contextmanager
def open_results(
    inputs: RunInputs,
    options: RunOptions,
    use: Use[Result],
    watch: Watch | None = None,
    refine: Refine | None = None,
    filters_reads: bool = True,
) -> Iterator[OpenResults[Result]]:
    """Open a run. It works in a process for each thread if it can be divided into shards.

    Otherwise one process works, whose threads unpack and score. A message says so where the input is the cause.

    Parameters
    ----------
    use : callable
        ``use(regions, run)`` makes results of scored regions. It is called for each shard, or once for the whole run.
        It has to be picklable, and so do its results. Sending a result to another process takes time: few large
        results are better than one a region.
    watch, refine, filters_reads
        As for `Run.regions`.

    Raises
    ------
    InputError, BackendUnavailable, CompiledPartMissing
        As for `pairhmm.calling.opening.open_run`.
    """
    require_compiled("reading alignments")
    plan = _Plan(inputs, options, use, watch, refine, filters_reads)
    # A device starts after the workers were forked: its library has threads and memory that a fork can't use.
    pool = None if engine.names_devices(options.backend) else engine.choose(options.backend)
    is_divisible = _is_divisible(inputs, options) and (pool is None or pool.is_on_the_cpu)
    with ExitStack() as stack:
        files = stack.enter_context(open_files(inputs, 1 if is_divisible else options.threads))
        plan = replace(plan, options=with_stutter(files, options))
        work = _work(files) if is_divisible else None
        count = 1 if work is None else _worker_count(work, options.threads, len(files.reader.sources))
        if work is None or count == 1:
            devices, results = _in_this_process(stack, plan, files, pool)
        else:
            devices, results = _in_workers(stack, plan, files, pool, work, count)
        results = _with_devices(results, devices)
        yield OpenResults(plan.options, devices, files.reader.samples, files.contigs, results)


def _in_this_process(
    stack: ExitStack, plan: _Plan[Result], files: OpenFiles, pool: Devices | None
) -> tuple[Devices, Iterator[Result]]:
    devices = pool or stack.enter_context(_device_thread(plan.options, plan.options.threads))
    run = whole_run(plan.inputs, plan.options, devices, files)
    return devices, plan.use(run.regions(plan.watch, plan.refine, plan.filters_reads), run)


def _in_workers(
    stack: ExitStack, plan: _Plan[Result], files: OpenFiles, pool: DevicePool | None, work: Work, count: int
) -> tuple[Devices, Iterator[Result]]:
    options, address = plan.options, None
    if pool is not None:
        options = replace(options, backend=pool.name)
    else:  # a run on the CPU starts sooner without the import
        from pairhmm.engine.shared_devices import SharedDevices, device_address

        address = stack.enter_context(device_address())
    targets = _targets(work, options, files) if plan.inputs.candidates is None else []
    job = _ShardJob.of(replace(plan, options=options), files, targets, address)
    # Workers are forked before outputs are opened, which they must not hold, and before this process has threads.
    workers = stack.enter_context(Workers(job, count))
    devices: Devices
    if pool is not None:
        devices = pool
    else:
        own = stack.enter_context(_device_thread(options, max(1, options.threads // _WORKERS_FOR_A_PACKER)))
        assert address is not None
        devices = stack.enter_context(SharedDevices(own, address)).devices
    shards = range(len(targets) + 1) if plan.inputs.candidates is None else _listed_shards(plan, files)
    return devices, _gathered(plan, files, workers.results(shards, are_last=True))


def _device_thread(options: RunOptions, threads: int) -> DeviceThread:
    return DeviceThread(partial(engine.choose, options.backend), threads)


def _with_devices(results: Iterator[Result], devices: Devices) -> Iterator[Result]:
    """The results. If devices did not start, that is raised at the end, although nothing was to be scored."""
    yield from results
    _ = devices.label


def _is_divisible(inputs: RunInputs, options: RunOptions) -> bool:
    """Whether shards of a run can be run side by side, as far as is known before files are opened."""
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
    """Where the reads of the requested intervals are."""
    return work_of(files.reader.sources, in_run_order(files.requested, files.contigs))


def _gathered(plan: _Plan[Result], files: OpenFiles, shards: Iterator[Sequence[Any]]) -> Iterator[Result]:
    """The results of all shards, in order. Counters are added, and announced at the end."""
    inputs = plan.inputs
    counts, left_out = RunCounts.none(files.reader.samples, plan.options), LeftOut()
    progress = run_progress(files.reader, files.contigs, with_padding(files.requested, files.genome), inputs.candidates)
    for parts in shards:
        if not parts:
            continue
        *lists, last = parts
        if plan.watch is not None:
            for coordinates in last.watched:
                region = Region(*coordinates)
                plan.watch(region, progress.share(region.chrom, region.end))
        for results in (*lists, last.results):
            yield from results
        counts.add(last.counts)
        left_out.add(last.left_out)
    is_whole = files.requested is None and inputs.candidates is None
    if is_whole:
        for source in files.reader.sources:
            count_unread(source, left_out)
    left_out.conclude(", ".join(inputs.alignments), is_whole)
    counts.announce(inputs, plan.options, plan.filters_reads)


def _listed_shards(plan: _Plan[Result], files: OpenFiles) -> Iterator[Shard]:
    """The shards of a run over listed candidates. The first candidate is read at once, to refuse a wrong file early."""
    assert plan.inputs.candidates is not None
    padded = with_padding(files.requested, files.genome)
    around = Inside(padded)
    reader = CandidateReader(plan.inputs.candidates, files.contigs, files.genome.fetch, padded is not None)
    variants = (variant for variant in reader if around(variant.chrom, variant.pos))
    first = list(islice(variants, 1))
    options, fetch = plan.options, files.genome.fetch
    # A shard knows no candidate of another one.
    apart = margin(options) + REPEAT_REACH
    return listed_shards(chain(first, variants), files.contigs, fetch, apart, options.threads, options.discovery.reach)


def _targets(work: Work, options: RunOptions, files: OpenFiles) -> list[Locus]:
    """Where the run is to be cut, or behind: rank of the contig, and position."""
    rank = {name: number for number, name in enumerate(files.contigs)}
    loci = [work.locus_at(share) for share in _shares(work.total, options.threads)]
    # Reading begins a little before a target. An index leads to the first read of a window, so let it begin there.
    before = context(options)
    return list(dict.fromkeys((rank[chrom], at // _WINDOW * _WINDOW + before) for chrom, at in loci))


def _worker_count(work: Work, threads: int, inputs: int) -> int:
    """How many processes work. More than there are cores would take memory and no less time."""
    if work.total < WORTH_PROCESSES * (1 + inputs / _INPUTS):
        return 1
    return min(threads, usable_cores(), 1 + sum(1 for _ in _shares(work.total, threads)))


def _shares(reads: float, threads: int) -> Iterator[float]:
    """The shares of the work (0 to 1) between which shards lie. The sizes of shards fall, so that all end together."""
    fewest = min(max(_FEWEST_READS, reads / (_LAST_SHARDS * threads)), _MOST_READS)
    done = 0.0
    while (left := reads - done) >= 1.5 * fewest:
        done += min(max(left / (_SHARDS_AHEAD * threads), fewest), _MOST_READS)
        yield done / reads


class _ShardResults(NamedTuple, Generic[Result]):
    """A shard's last results, and its counters. `watched` has the coordinates of each region if it is watched."""

    results: list[Result]
    watched: list[tuple[str, int, int, int, int, int, int]]
    counts: RunCounts
    left_out: LeftOut


class _ShardJob(NamedTuple):
    """The job of a worker: it runs shards, between cuts at `targets` where candidates are discovered.

    `address` leads to devices of another process.
    """

    inputs: RunInputs
    reference_name: str
    options: RunOptions
    address: DeviceAddress | None
    targets: Sequence[Locus]
    use: Use[Any]
    refine: Refine | None
    is_watched: bool

    @classmethod
    def of(cls, plan: _Plan[Any], files: OpenFiles, targets: Sequence[Locus], address: DeviceAddress | None) -> Self:
        """The job of workers whose run is open here."""
        # Workers open the file for which this process has found or made an index, and take the intervals that it read.
        intervals = None if files.requested is None else tuple(files.requested)
        return cls(
            inputs=replace(plan.inputs, reference=files.genome.indexed_path, candidates=None, intervals=intervals),
            reference_name=files.genome.path,
            options=replace(plan.options, threads=1),
            address=address,
            targets=targets,
            use=plan.use,
            refine=plan.refine,
            is_watched=plan.watch is not None,
        )

    @contextmanager
    def open(self) -> Iterator[Callable[[Shard | int], Iterator[list[Any] | _ShardResults[Any]]]]:
        """Open the files of the run."""
        with open_files(self.inputs, 1, need_index=True) as files:
            files.genome.path = self.reference_name
            yield _ShardWorker(self, files).results


def _devices(job: _ShardJob) -> Devices:
    """The devices of a worker."""
    if job.address is None:
        return engine.choose(job.options.backend)
    from pairhmm.engine.shared_devices import RemoteDevices

    return RemoteDevices(job.address)


class _ShardWorker:
    def __init__(self, job: _ShardJob, files: OpenFiles) -> None:
        self._job, self._files = job, files
        self._devices = _devices(job)
        self._intervals = ShardIntervals(files.requested, files.genome, files.contigs, job.options)
        cuts = DiscoveredCuts(self._intervals.all_intervals, files.reader, files.genome, files.contigs, job.options)
        # Both workers beside a border find it, so that no worker waits for the process that started them.
        self._numbered = NumberedShards(job.targets, cuts.at, len(files.contigs))

    def results(self, task: Shard | int) -> Iterator[list[Any] | _ShardResults[Any]]:
        """Run a shard, or that of a number. Its results come in parts, the last of them with the counters.

        Nothing comes where the shard has no base.
        """
        shard = self._numbered[task] if isinstance(task, int) else task
        return iter(()) if shard is None else self._run(shard)

    def _run(self, shard: Shard) -> Iterator[list[Any] | _ShardResults[Any]]:
        job, files, left_out = self._job, self._files, LeftOut()
        samples = len(files.reader.samples)
        regions = shard_regions(shard, job.options, files.genome, files.contigs, samples, self._intervals)
        requested = self._intervals.requested(shard)
        run = make_run(job.inputs, job.options, self._devices, files, regions, requested, Progress(()), left_out)
        watched: list[tuple[str, int, int, int, int, int, int]] = []

        def watch(region: Region, share: float) -> None:
            # A region is pickled with all its candidates, which takes longer than all else here.
            core, inner = (region.core_start, region.core_end), (region.start, region.end)
            watched.append((region.chrom, *core, *inner, region.haplotype_start, region.haplotype_end))

        results: list[Any] = []
        since = time.monotonic()
        for result in job.use(run.counted(watch if job.is_watched else None, job.refine), run):
            results.append(result)
            if (now := time.monotonic()) - since > _PART_SECONDS:
                yield results
                results, since = [], now
        self._count_once(shard, left_out)
        yield _ShardResults(results, watched, run.counts(), left_out)

    def _count_once(self, shard: Shard, left_out: LeftOut) -> None:
        """Take away the reads that the shard before has left out, too."""
        shared = self._intervals.shared(shard)
        if not shared or not left_out.counts:
            return
        files, twice = self._files, LeftOut()
        order, selection = list(files.contigs), self._job.options.reads
        for _ in read_blocks(files.reader.sources, order, selection, regions=shared, left_out=twice):
            pass
        left_out.counts.subtract(twice.counts)
