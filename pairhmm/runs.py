"""A run over alignments: what `likelihoods` and `call` open, check and put together.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from pairhmm import engine
from pairhmm.blocks import ReadBlock
from pairhmm.candidates import CandidateFinder, CandidateOptions
from pairhmm.engine import Choice
from pairhmm.errors import InputError
from pairhmm.evidence import Evidence, EvidenceOptions, EvidenceStream
from pairhmm.given_haplotypes import describe_haplotypes
from pairhmm.haplotypes import Haplotype
from pairhmm.io.alignments import AlignmentReader
from pairhmm.io.candidates import CandidateReader
from pairhmm.io.fasta import Reference
from pairhmm.io.intervals import Interval, merge, parse_region, read_bed
from pairhmm.io.read_blocks import ReadSelection, read_blocks
from pairhmm.io.records import read_sequences
from pairhmm.models.gatk import GatkOptions
from pairhmm.reference_check import ReferenceCheck
from pairhmm.region_sources import DiscoveredRegions, GivenRegions
from pairhmm.regions import Region, RegionBuilder, RegionOptions
from pairhmm.scoring import GatkScorer
from pairhmm.sequences import decode
from pairhmm.variants import Variant

log = logging.getLogger(__name__)

# Unmapped, secondary, QC-fail, duplicate and supplementary: what GATK's HaplotypeCaller leaves out.
EXCLUDED_FLAGS = 0x4 | 0x100 | 0x200 | 0x400 | 0x800


@dataclass(frozen=True, slots=True)
class RunOptions:
    """All that can be set of a run; the defaults are the commands'.

    Attributes
    ----------
    reads : ReadSelection
        Which alignments are used.
    model : GatkOptions
        How reads are prepared for the pair-HMM.
    joining : RegionOptions
        How candidates are joined into regions.
    evidence : EvidenceOptions
        Limits on haplotypes and depth.
    discovery : CandidateOptions
        What makes an allele seen in reads a candidate.
    backend : str or Choice
        What computes: a backend's name, or that with its devices.
    threads : int
    chunk_size : int
        Reads held at once, about; changes no result.
    """

    reads: ReadSelection = field(default_factory=lambda: ReadSelection(EXCLUDED_FLAGS, 20))
    model: GatkOptions = field(default_factory=GatkOptions)
    joining: RegionOptions = field(default_factory=RegionOptions)
    evidence: EvidenceOptions = field(default_factory=EvidenceOptions)
    discovery: CandidateOptions = field(default_factory=CandidateOptions)
    backend: str | Choice = "auto"
    threads: int = 1
    chunk_size: int = 20_000


@dataclass(slots=True)
class Run:
    """An open run.

    Attributes
    ----------
    backend : str
        Labels of the devices that score.
    samples : list of str
    contigs : dict of str to int
    discovered : bool
        Candidates come from the reads themselves.
    stream : EvidenceStream
    blocks : iterator of ReadBlock
    """

    backend: str
    samples: list[str]
    contigs: dict[str, int]
    discovered: bool
    stream: EvidenceStream
    blocks: Iterator[ReadBlock]

    def evidence(self, watch: Callable[[Region], None] | None = None) -> Iterator[Evidence]:
        """The scored regions, in order; what was left out is announced at the end.

        Parameters
        ----------
        watch : callable, optional
            Told of each region as it is scored.
        """
        for evidence in self.stream.run(self.blocks):
            if watch is not None:
                watch(evidence.region)
            yield evidence
        counts = self.stream.counts
        if counts.capped_reads:
            log.warning(
                "%d reads left out of %d regions deeper than %d reads a sample (--max-depth)",
                counts.capped_reads,
                counts.capped_regions,
                self.stream.options.max_depth,
            )
        log.info("%d regions, %d reads, %d pairs", counts.regions, counts.reads, counts.pairs)


@contextmanager
def open_run(
    alignments: Sequence[str],
    reference: str,
    candidates: str | None = None,
    haplotypes: str | None = None,
    regions: Sequence[str] = (),
    regions_file: str | None = None,
    options: RunOptions | None = None,
) -> Iterator[Run]:
    """Open everything that a run needs.

    Parameters
    ----------
    alignments : sequence of str
        BAM or CRAM files, sorted by coordinate.
    reference : str
        FASTA.
    candidates : str, optional
        VCF or BCF of candidates; without it and without `haplotypes`, candidates are found in the reads.
    haplotypes : str, optional
        FASTA of the haplotypes of one region.
    regions : sequence of str
        ``chr:begin-end``, 1-based inclusive; all of the alignments without any.
    regions_file : str, optional
        BED.
    options : RunOptions, optional

    Raises
    ------
    InputError
        Naming file, record and cure.
    """
    options = options or RunOptions()
    backend = engine.choose(options.backend)
    with ExitStack() as stack:
        genome = stack.enter_context(Reference(reference))
        places = find_places(regions, regions_file, genome)
        reader = stack.enter_context(AlignmentReader(alignments, genome, places is not None, options.threads))
        contigs = contig_order(reader, genome)
        builder = RegionBuilder(genome.fetch, contigs, _limited(options))
        given: list[Haplotype] | None = None
        source: DiscoveredRegions | GivenRegions
        wanted: Iterable[tuple[str, int, int]] | None = None
        if haplotypes is not None:
            region, given = _given_region(haplotypes, places, genome)
            source = GivenRegions([region], list(contigs))
        elif candidates is not None:
            inside = Inside(places)
            listed = CandidateReader(candidates, contigs, genome.fetch, skip_unknown=places is not None)
            variants = (one for one in listed if inside(one.chrom, one.pos))
            source = GivenRegions(_joined(variants, builder), list(contigs))
            wanted = source.intervals()
        else:
            finder = CandidateFinder(genome.fetch, len(reader.samples), options.discovery)
            source = DiscoveredRegions(finder, builder, None if places is None else Inside(places))
        stream = EvidenceStream(
            genome.fetch, source, GatkScorer(options.model, backend, options.threads), options.evidence, given
        )
        blocks = read_blocks(reader.sources, list(contigs), options.reads, options.chunk_size, places, wanted)
        check = ReferenceCheck(genome.path, genome.fetch, genome.contigs, reader.checksums)
        blocks = check.watch(blocks)
        yield Run(backend.label, reader.samples, contigs, candidates is None and haplotypes is None, stream, blocks)


def _limited(options: RunOptions) -> RegionOptions:
    """No more alleles in a region than there may be haplotypes beside the reference."""
    most = min(options.joining.max_alleles, options.evidence.max_haplotypes - 1)
    return replace(options.joining, max_alleles=max(1, most))


def contig_order(reader: AlignmentReader, genome: Reference) -> dict[str, int]:
    """Contigs and their lengths in the order of the run: candidates may lie on some that no alignment file knows."""
    return reader.contigs | {name: size for name, size in genome.contigs.items() if name not in reader.contigs}


def find_places(regions: Sequence[str], regions_file: str | None, genome: Reference) -> list[Interval] | None:
    """Where the run looks; None for everywhere."""
    if not regions and regions_file is None:
        return None
    places = [parse_region(text, genome.contigs) for text in regions]
    if regions_file is not None:
        places += read_bed(regions_file, genome.contigs)
    return merge(places, list(genome.contigs))


class Inside:
    """Whether a position lies in one of some disjoint intervals; in None, every position does."""

    def __init__(self, places: Sequence[Interval] | None) -> None:
        self._everywhere = places is None
        self._starts: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        for chrom, start, end in places or ():
            self._starts.setdefault(chrom, []).append(start)
            self._ends.setdefault(chrom, []).append(end)

    def __call__(self, chrom: str, position: int) -> bool:
        if self._everywhere:
            return True
        index = bisect_right(self._starts.get(chrom, []), position) - 1
        return index >= 0 and position < self._ends[chrom][index]


def _joined(variants: Iterable[Variant], builder: RegionBuilder) -> Iterator[Region]:
    for variant in variants:
        yield from builder.push(variant)
    yield from builder.finish()


def _given_region(path: str, places: Sequence[Interval] | None, genome: Reference) -> tuple[Region, list[Haplotype]]:
    """The one region whose haplotypes are the records of a FASTA file."""
    if places is None or len(places) != 1:
        raise InputError("--haplotypes", path, "its records span one region", "give that region, and only it, with -r")
    chrom, start, end = places[0]
    records = [Haplotype(decode(record.codes), (), record.name) for record in read_sequences(path)]
    region = Region(chrom, start, end, start, end, start, end)
    return describe_haplotypes(region, genome.fetch(chrom, start, end), records)
