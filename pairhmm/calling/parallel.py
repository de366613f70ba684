"""Runs the shards of a run in threads. The results come in order, and are those of one thread.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Generic, NamedTuple, TypeVar

from pairhmm import engine
from pairhmm.alignments.index import find_index, how_to_index
from pairhmm.alignments.selection import LeftOut
from pairhmm.alignments.sources import count_unread
from pairhmm.calling.circles import run_blocks
from pairhmm.calling.opening import OpenFiles, make_run, open_files, reference_check, whole_run
from pairhmm.calling.region_choice import listed_candidates, shard_regions
from pairhmm.calling.run import Refine, Use, Watch
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.shard_runs import NumberedShards, Shard, ShardIntervals, listed_shards
from pairhmm.calling.shards import DiscoveredCuts, Work, context, margin, work_of
from pairhmm.calling.stutter import seen
from pairhmm.calling.summary import RunCounts
from pairhmm.calling.targets import PADDING, Inside, Locus, Progress, in_run_order, run_progress, with_padding
from pairhmm.engine.choice import Choice
from pairhmm.engine.device_pool import Devices
from pairhmm.engine.device_thread import DeviceThread
from pairhmm.engine.task_threads import TaskThreads, checked
from pairhmm.files.descriptors import STDIN
from pairhmm.native import require_compiled
from pairhmm.process import usable_cores
from pairhmm.variants.regions import REPEAT_REACH, Region

log = logging.getLogger(__name__)

Result = TypeVar("Result")

WORTH_THREADS = 10_000
"""Below this many reads, dividing a run costs more than it saves."""

# Guided scheduling: a shard gets 1 / (1.5 * threads) of the remaining reads, at least 5,000 and at most 100,000. Each
# costs some milliseconds, and its results are held until those before it are written. Where there are many reads, none
# is smaller than 1 / (32 * threads) of all.
_SHARDS_AHEAD = 1.5
_FEWEST_READS, _MOST_READS = 5_000, 100_000
_LAST_SHARDS = 32
# Reads that all threads hold together, about: blocks of 10,000 for each of 16 threads take no more CPU time than larger
# ones, and a thread takes 24 MB for 41.
_READS_HELD = 160_000
# Each shard begins to read every input: for so many inputs, that takes as long as for WORTH_THREADS reads.
_INPUTS = 100
# Bases of the windows that an index knows (SAM specification, section 5.1.1).
_WINDOW = 1 << 14
# Threads that make batches for each CPU thread that prepares these for a device.
_THREADS_FOR_A_PACKER = 4


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
        """Labels of the devices that score."""
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
    makes_genotypes: bool = True,
    makes_blocks: bool = False,
) -> Iterator[OpenResults[Result]]:
    """Open a run. Each thread works on shards of it, if it can be divided.

    Otherwise threads only unpack and score. A message says so where the input is the cause.

    Parameters
    ----------
    use : callable
        ``use(regions, run)`` makes results of scored regions. It is called for each shard, in the thread that runs it,
        or once for the whole run. Few large results are better than one a region.
    watch, refine, filters_reads
        As for `Run.regions`.
    makes_genotypes : bool
        Whether to see what tells that reads are of another source, which only genotypes use.
    makes_blocks : bool
        Whether sites at the end of a circle are made before its beginning, too: a gVCF has no block under deletions.

    Raises
    ------
    InputError, BackendUnavailable, CompiledPartMissing
        As for `pairhmm.calling.opening.open_run`.
    """
    require_compiled("reading alignments")
    plan = _Plan(inputs, options, use, watch, refine, filters_reads)
    pool = None
    if engine.names_devices(options.backend):
        engine.require_installed(options.backend)
    else:
        pool = engine.choose(options.backend)
    is_divisible = _is_divisible(inputs, options)
    with ExitStack() as stack:
        files = stack.enter_context(open_files(inputs, options, 1 if is_divisible else None))
        files, seen_options = seen(files._replace(makes_genotypes=makes_genotypes), options)
        plan = replace(plan, options=seen_options)
        if makes_blocks and files.requested is not None:
            files = files._replace(requested=files.genome.with_ends(files.requested, PADDING))
        work = _work(files) if is_divisible else None
        count = 1 if work is None else _thread_count(work, options.threads, len(files.reader.sources))
        stop = threading.Event()
        devices: Devices
        if pool is not None:
            devices = pool.until(stop)
        else:
            packers = options.threads if count == 1 else max(1, options.threads // _THREADS_FOR_A_PACKER)
            devices = stack.enter_context(_device_thread(options.backend, packers, stop))
        if work is None or count == 1:
            run = whole_run(inputs, plan.options, devices, files)
            results = use(run.regions(watch, refine, filters_reads), run)
        else:
            targets = _targets(work, plan.options, files) if inputs.candidates is None else []
            known_cuts: dict[Locus, Locus] = {}
            begin = partial(_ShardRunner[Result], plan, files, devices, targets, known_cuts, stop)
            threads = stack.enter_context(TaskThreads(begin, count, stop))
            shards = range(len(targets) + 1) if inputs.candidates is None else _listed_shards(plan, files)
            results = _gathered(plan, files, threads.results(shards))
        if isinstance(devices, DeviceThread):
            results = _concluded(results, devices)
        contigs = {name: files.genome.lengths[name] for name in files.contigs}
        yield OpenResults(plan.options, devices, files.reader.samples, contigs, results)


def _device_thread(backend: str | Choice, packers: int, stop: threading.Event) -> DeviceThread:
    """Devices of a named backend start beside the run; those of "auto" are looked for first."""
    choice = Choice(backend) if isinstance(backend, str) else backend
    if choice.backend == "auto":
        pool = engine.choose(choice)
        return DeviceThread(pool.label, lambda: pool, packers, stop)
    label = ", ".join(f"{choice.backend}:{device}" for device in choice.devices or (0,))
    check = partial(engine.check_devices, choice)
    return DeviceThread(label, partial(engine.choose, choice), packers, stop, check)


def _concluded(results: Iterator[Result], devices: DeviceThread) -> Iterator[Result]:
    yield from results
    devices.conclude()


def _is_divisible(inputs: RunInputs, options: RunOptions) -> bool:
    """Whether shards of a run can be run side by side, as far as is known before files are opened."""
    if options.threads == 1 or inputs.haplotypes is not None:
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
    return work_of(files.reader.sources, files.genome.rolled_up(in_run_order(files.requested, files.contigs)))


def _gathered(plan: _Plan[Result], files: OpenFiles, results: Iterator[Result | _ShardEnd]) -> Iterator[Result]:
    """The results of all shards, in order. Counters are added, and announced at the end."""
    inputs = plan.inputs
    counts, left_out = RunCounts.none(files.reader.samples, plan.options), LeftOut()
    padded = with_padding(files.requested, files.genome)
    places = None if padded is None else files.genome.rolled_up(padded)
    progress = run_progress(files.reader, files.contigs, places, inputs.candidates)
    for result in results:
        if not isinstance(result, _ShardEnd):
            yield result
            continue
        if plan.watch is not None:
            for region in result.watched:
                plan.watch(region, progress.share(region.chrom, region.end))
        counts.add(result.counts)
        left_out.add(result.left_out)
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
    reader = listed_candidates(plan.inputs.candidates, files.genome, files.contigs, padded is not None)
    variants = (variant for variant in reader if around(variant.chrom, variant.pos))
    first = list(islice(variants, 1))
    options, fetch = plan.options, files.genome.fetch
    # A shard knows no candidate of another one.
    apart = margin(options) + REPEAT_REACH
    return listed_shards(chain(first, variants), files.contigs, fetch, apart, options.threads, options.discovery.reach)


def _targets(work: Work, options: RunOptions, files: OpenFiles) -> list[Locus]:
    """Where the run is to be cut, or behind: rank of the contig, and position."""
    rank = {name: number for number, name in enumerate(files.contigs)}
    found = [work.locus_at(share) for share in _shares(work.total, options.threads)]
    loci = [(chrom, at + files.genome.on_contig(chrom)) for chrom, at in found]
    # Reading begins a little before a target. An index leads to the first read of a window, so let it begin there.
    before = context(options)
    return list(dict.fromkeys((rank[chrom], at // _WINDOW * _WINDOW + before) for chrom, at in loci))


def _thread_count(work: Work, threads: int, inputs: int) -> int:
    """How many threads work. More than there are cores would take memory and no less time."""
    if work.total < WORTH_THREADS * (1 + inputs / _INPUTS):
        return 1
    return min(threads, usable_cores(), 1 + sum(1 for _ in _shares(work.total, threads)))


def _shares(reads: float, threads: int) -> Iterator[float]:
    """The shares of the work (0 to 1) between which shards lie. The sizes of shards fall, so that all end together."""
    fewest = min(max(_FEWEST_READS, reads / (_LAST_SHARDS * threads)), _MOST_READS)
    done = 0.0
    while (left := reads - done) >= 1.5 * fewest:
        done += min(max(left / (_SHARDS_AHEAD * threads), fewest), _MOST_READS)
        yield done / reads


class _ShardEnd(NamedTuple):
    """What follows the results of a shard: its counters, and its regions if they are watched."""

    watched: list[Region]
    counts: RunCounts
    left_out: LeftOut


class _ShardRunner(Generic[Result]):
    """Runs shards in one thread, between cuts at `targets` where candidates are discovered.

    `known_cuts`: those that any thread has found.
    """

    def __init__(
        self,
        plan: _Plan[Result],
        files: OpenFiles,
        devices: Devices,
        targets: list[Locus],
        known_cuts: dict[Locus, Locus],
        stop: threading.Event,
    ) -> None:
        self._plan, self._devices, self._stop = plan, devices, stop
        held = max(_FEWEST_READS, _READS_HELD // plan.options.threads)
        self._options = options = replace(plan.options, threads=1, chunk_size=min(plan.options.chunk_size, held))
        # A check follows the reads of a contig, so each thread has its own.
        self._files = files = files._replace(check=reference_check(files.genome, files.reader))
        self._intervals = ShardIntervals(files.requested, files.genome, files.contigs, options)
        cuts = DiscoveredCuts(
            self._intervals.all_intervals, files.reader, files.genome, files.contigs, options, known_cuts
        )
        # The thread on either side of a border may find it, so that none waits for another.
        self._numbered = NumberedShards(targets, cuts.at, len(files.contigs))

    def __call__(self, task: Shard | int) -> Iterator[Result | _ShardEnd]:
        """Run a shard, or that of a number. Nothing comes where the shard has no base."""
        shard = self._numbered[task] if isinstance(task, int) else task
        return iter(()) if shard is None else self._run(shard)

    def _run(self, shard: Shard) -> Iterator[Result | _ShardEnd]:
        plan, files, options, left_out = self._plan, self._files, self._options, LeftOut()
        samples = len(files.reader.samples)
        regions = shard_regions(shard, options, files.genome, files.contigs, samples, self._intervals)
        requested = self._intervals.requested(shard)
        run = make_run(plan.inputs, options, self._devices, files, regions, requested, Progress(()), left_out)
        run.blocks = checked(run.blocks, self._stop)
        watched: list[Region] = []
        watch = None if plan.watch is None else lambda region, share: watched.append(region)
        yield from plan.use(run.counted(watch, plan.refine), run)
        self._count_once(shard, left_out)
        yield _ShardEnd(watched, run.counts(), left_out)

    def _count_once(self, shard: Shard, left_out: LeftOut) -> None:
        """Take away the reads that the shard before has left out, too."""
        shared = self._intervals.shared(shard)
        if not shared or not (left_out.counts or left_out.begun):
            return
        files, options, twice = self._files, self._options, LeftOut()
        contigs = list(files.contigs)
        for _ in run_blocks(
            files.genome, files.reader.sources, contigs, options.reads, options.chunk_size, shared, twice
        ):
            pass
        left_out.subtract(twice)
