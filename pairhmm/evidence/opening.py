"""Opens and checks everything that a run needs. All coordinates are 0-based half-open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from pairhmm import engine
from pairhmm.compiled import require_compiled
from pairhmm.evidence.extent import run_extent
from pairhmm.evidence.inputs import RunInputs, RunOptions
from pairhmm.evidence.places import contig_order, find_places, with_context
from pairhmm.evidence.reference_check import ReferenceCheck
from pairhmm.evidence.region_choice import candidate_regions, given_region
from pairhmm.evidence.region_sources import GivenRegion, RegionSource
from pairhmm.evidence.run import Run
from pairhmm.evidence.scoring import GatkScorer
from pairhmm.evidence.stream import EvidenceStream
from pairhmm.evidence.tally import READING, Tally, TimedScorer
from pairhmm.genomics.haplotypes import Haplotype
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.io.alignments.read_blocks import read_blocks
from pairhmm.io.sequences.fasta import Reference
from pairhmm.io.sequences.intervals import Interval


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
        Naming file, record and cure.
    BackendUnavailable
        Where a named backend does not run here.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reading alignments needs.
    """
    require_compiled("reading alignments")
    backend = engine.choose(options.backend)
    with ExitStack() as stack:
        genome = stack.enter_context(Reference(inputs.reference))
        places = find_places(inputs, genome)
        reader = stack.enter_context(AlignmentReader(inputs.alignments, genome, places is not None, options.threads))
        contigs = contig_order(reader, genome)
        given: list[Haplotype] | None = None
        source: RegionSource
        wanted: Iterable[Interval] | None = None
        if inputs.haplotypes is not None:
            region, given = given_region(inputs.haplotypes, places, genome)
            source = GivenRegion(region, list(contigs))
        else:
            asked, places = places, with_context(places, genome)
            n_samples = len(reader.samples)
            source, wanted = candidate_regions(inputs.candidates, genome, contigs, n_samples, options, asked, places)
        tally = Tally()
        scorer = GatkScorer(options.model, backend, options.threads)
        timed = TimedScorer(scorer, tally.clock)
        blocks = read_blocks(reader.sources, list(contigs), options.reads, options.chunk_size, places, wanted)
        blocks = ReferenceCheck(genome.path, genome.fetch, genome.contigs, reader.checksums).watch(blocks)
        yield Run(
            inputs,
            backend.label,
            reader.samples,
            contigs,
            EvidenceStream(genome.fetch, source, timed, options.evidence, given),
            tally.clock.items(READING, blocks),
            scorer,
            run_extent(reader, contigs, places, inputs.candidates),
            tally,
        )
