"""Opens and checks everything that a run needs. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pairhmm import engine
from pairhmm.compiled import require_compiled
from pairhmm.evidence.extent import run_extent
from pairhmm.evidence.inputs import RunInputs, RunOptions
from pairhmm.evidence.joining import Joiner
from pairhmm.evidence.places import contig_order, find_places
from pairhmm.evidence.reference_check import ReferenceCheck
from pairhmm.evidence.region_choice import choose_regions
from pairhmm.evidence.run import Run
from pairhmm.evidence.scoring import ReadScorer
from pairhmm.evidence.stream import EvidenceStream
from pairhmm.evidence.tally import READING, Tally, TimedScorer
from pairhmm.io.alignments.molecules import require_tags
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.io.alignments.read_blocks import read_blocks
from pairhmm.io.sequences.fasta import Reference


@contextmanager
def open_run(inputs: RunInputs, options: RunOptions) -> Iterator[Run]:
    """Open a run.

    Parameters
    ----------
    inputs : RunInputs
    options : RunOptions

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
    with ExitStack() as stack:
        genome = stack.enter_context(Reference(inputs.reference))
        asked = find_places(inputs, genome)
        reader = stack.enter_context(AlignmentReader(inputs.alignments, genome, asked is not None, options.threads))
        contigs = contig_order(reader, genome)
        regions = choose_regions(inputs, options, genome, contigs, len(reader.samples), asked)
        tally = Tally()
        scorer = ReadScorer(options.model, backend, options.threads, options.profile)
        joiner = Joiner(options.molecules) if options.molecules.are_on else None
        timed = TimedScorer(scorer, tally.clock)
        selected = regions.places, regions.wanted
        families = options.molecules.families
        blocks = read_blocks(reader.sources, list(contigs), options.reads, options.chunk_size, *selected, families)
        if families == "MI":
            blocks = require_tags(blocks, ", ".join(inputs.alignments))
        blocks = ReferenceCheck(genome.path, genome.fetch, genome.contigs, reader.checksums).watch(blocks)
        yield Run(
            inputs,
            backend.label,
            reader.samples,
            contigs,
            EvidenceStream(genome.fetch, regions.source, timed, options.evidence, regions.haplotypes, joiner),
            tally.clock.items(READING, blocks),
            scorer,
            run_extent(reader, contigs, regions.places, inputs.candidates),
            tally,
        )
