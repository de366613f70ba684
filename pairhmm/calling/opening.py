"""Opens and checks everything that a run needs. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pairhmm import engine
from pairhmm.alignments.molecules import require_tags
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.selection import LeftOut
from pairhmm.calling.circles import UnrolledReference, run_blocks
from pairhmm.calling.mates import Joiner
from pairhmm.calling.reference_check import ReferenceCheck
from pairhmm.calling.region_choice import ChosenRegions, choose_regions
from pairhmm.calling.run import Run
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.scoring import ReadScorer
from pairhmm.calling.stream import RegionStream
from pairhmm.calling.targets import Progress, contig_order, in_run_order, requested_intervals, run_progress
from pairhmm.calling.timing import READING, Timing
from pairhmm.engine.device_pool import Devices
from pairhmm.native import require_compiled
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval

if TYPE_CHECKING:
    from pairhmm._cpu import SlipRates, SourceRates


class OpenFiles(NamedTuple):
    """The open files of a run, and the rates of other sources in their reads, if these were looked at.

    `contigs` and `requested` are those of the unrolled reference. `slips` is how often reads slip in repeats, if
    some reads show it.
    """

    genome: UnrolledReference
    reader: AlignmentReader
    contigs: dict[str, int]
    requested: list[Interval] | None
    check: ReferenceCheck
    source_rates: SourceRates | None = None
    slips: SlipRates | None = None
    makes_genotypes: bool = True


@contextmanager
def open_files(inputs: RunInputs, options: RunOptions, threads: int | None = None) -> Iterator[OpenFiles]:
    """Open the reference and the alignments of a run, and check them, and what the options say of them.

    With 2 threads or more (by default those of the options), each alignment file is unpacked by threads of its own.
    """
    with Reference(inputs.reference) as genome:
        reads = options.reads
        unrolled = UnrolledReference(genome, reads.circular)
        if reads.primers is not None:
            reads.primers.check(genome.contigs)
        requested = requested_intervals(inputs, genome, options.padding, unrolled.circles)
        need_index = requested is not None or bool(reads.circular)
        threads = options.threads if threads is None else threads
        with AlignmentReader(inputs.alignments, genome, need_index, threads, reads.samples) as reader:
            contigs = contig_order(reader, genome)
            unrolled.check_aligned(reader.contigs, inputs.alignments)
            if reads.circular:
                requested = unrolled.second_turns(in_run_order(requested, contigs))
            check = reference_check(unrolled, reader)
            yield OpenFiles(unrolled, reader, unrolled.unrolled(contigs), requested, check)


def reference_check(genome: UnrolledReference, reader: AlignmentReader) -> ReferenceCheck:
    """A check that reads were aligned to the reference."""
    return ReferenceCheck(genome.path, genome.fetch, genome.lengths, reader.checksums)


@contextmanager
def open_run(inputs: RunInputs, options: RunOptions) -> Iterator[Run]:
    """Open a run.

    Raises
    ------
    InputError
        For a file that can't be used. The message names file, record and cure.
    BackendUnavailable
        Where a named backend does not run here.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reading alignments needs.
    """
    require_compiled("reading alignments")
    backend = engine.choose(options.backend)
    with open_files(inputs, options) as files:
        yield whole_run(inputs, options, backend, files)


def whole_run(inputs: RunInputs, options: RunOptions, devices: Devices, files: OpenFiles) -> Run:
    """A run over all requested intervals."""
    regions = choose_regions(inputs, options, files.genome, files.contigs, len(files.reader.samples), files.requested)
    places = None if regions.intervals is None else files.genome.rolled_up(regions.intervals)
    progress = run_progress(files.reader, files.contigs, places, inputs.candidates)
    return make_run(inputs, options, devices, files, regions, files.requested, progress)


def make_run(
    inputs: RunInputs,
    options: RunOptions,
    devices: Devices,
    files: OpenFiles,
    regions: ChosenRegions,
    requested: Sequence[Interval] | None,
    progress: Progress,
    left_out: LeftOut | None = None,
) -> Run:
    """A run, or a shard of one, over open files. `left_out` gets the reads that a shard leaves out."""
    reader = files.reader
    timing = Timing()
    scorer = ReadScorer(options.model, devices, options.threads, options.profile, clock=timing.clock)
    joiner = Joiner(options.molecules) if options.molecules.are_on else None
    families = options.molecules.families
    blocks = run_blocks(
        files.genome,
        reader.sources,
        list(files.contigs),
        options.reads,
        options.chunk_size,
        regions.intervals,
        left_out,
        wanted=regions.wanted,
        families=families,
        # The profile model has no use for indel qualities.
        indel_tags=options.model.indel_tags and options.profile is None,
        trims_ends=options.model.trims_ends,
    )
    if families == "MI":
        blocks = require_tags(blocks, ", ".join(inputs.alignments))
    return Run(
        inputs=inputs,
        options=options,
        samples=reader.samples,
        contigs=files.contigs,
        requested=requested,
        stream=RegionStream(
            regions.reference,
            regions.source,
            scorer,
            options.evidence,
            regions.haplotypes,
            joiner,
            options.discovery.errors is not None,
            files.makes_genotypes,
            files.genome.circles,
        ),
        blocks=timing.clock.items(READING, files.check.watch(blocks)),
        scorer=scorer,
        progress=progress,
        timing=timing,
        source_rates=files.source_rates,
        slips=files.slips,
    )
