"""A run over alignments: what `likelihoods` and `call` open, check and put together.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import tee
from typing import Annotated

from pairhmm import engine
from pairhmm.compiled import require_compiled
from pairhmm.engine import Choice, check_backend
from pairhmm.errors import InputError
from pairhmm.evidence.extent import Extent, run_extent
from pairhmm.evidence.given_haplotypes import describe_haplotypes
from pairhmm.evidence.reference_check import ReferenceCheck
from pairhmm.evidence.region_sources import DiscoveredRegions, GivenRegion, ListedRegions, RegionSource
from pairhmm.evidence.scoring import GatkScorer
from pairhmm.evidence.set_aside import SetAside
from pairhmm.evidence.stream import Evidence, EvidenceOptions, EvidenceStream
from pairhmm.evidence.tally import JOINING, READING, USING, Tally, TimedScorer
from pairhmm.genomics.blocks import ReadBlock
from pairhmm.genomics.discovery import CandidateFinder, CandidateOptions
from pairhmm.genomics.haplotypes import Haplotype
from pairhmm.genomics.nuisances import Nuisances
from pairhmm.genomics.regions import MAX_SHIFT, FetchBases, Region, RegionBuilder, RegionOptions, variant_extent
from pairhmm.genomics.sequences import decode
from pairhmm.genomics.variants import Variant
from pairhmm.interface.arguments import AnyPath, Paths, Texts, path_of, some_paths_of, texts_of
from pairhmm.interface.options import Within, check_fields
from pairhmm.io.alignments.opening import AlignmentReader
from pairhmm.io.alignments.read_blocks import ReadSelection, read_blocks
from pairhmm.io.sequences.fasta import Reference
from pairhmm.io.sequences.intervals import Interval, merge, parse_region, read_bed
from pairhmm.io.sequences.records import read_sequences
from pairhmm.io.variants.candidates import CandidateReader
from pairhmm.models.gatk import GatkOptions

log = logging.getLogger(__name__)

# Unmapped, secondary, QC-fail, duplicate and supplementary: what GATK's HaplotypeCaller leaves out.
EXCLUDED_FLAGS = 0x4 | 0x100 | 0x200 | 0x400 | 0x800
# Candidates are sought in so many bases on either side of what is asked for, too. Those inside are then joined as in a
# run over everything, unless the candidates beside them leave no gap in as many bases.
CONTEXT = 1000


Watch = Callable[[Region, float], None]
"""Told of a region that is scored, and of the share of the run (0 to 1) that is done then."""


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
    threads: Annotated[int, Within(1)] = 1
    chunk_size: Annotated[int, Within(1)] = 20_000

    def __post_init__(self) -> None:
        check_backend(self.backend)
        check_fields(self)


@dataclass(slots=True)
class Run:
    """An open run.

    Attributes
    ----------
    backend : str
        Labels of the devices that score.
    samples : list of str
    contigs : dict of str to int
    discovered, listed : bool
        Candidates come from the reads themselves, or from a list; neither where haplotypes were given.
    stream : EvidenceStream
    blocks : iterator of ReadBlock
    scorer : GatkScorer
    extent : Extent
    tally : Tally
    """

    backend: str
    samples: list[str]
    contigs: dict[str, int]
    discovered: bool
    listed: bool
    stream: EvidenceStream
    blocks: Iterator[ReadBlock]
    scorer: GatkScorer
    extent: Extent
    tally: Tally

    def evidence(
        self,
        watch: Watch | None = None,
        refined: Callable[[Evidence], Evidence] | None = None,
        without_set_aside: bool = True,
    ) -> Iterator[Evidence]:
        """The scored regions, in order; what was left out is announced at the end.

        Parameters
        ----------
        watch : callable, optional
            Told of each region as it is scored, and of the share of the run that is done then.
        refined : callable, optional
            What is made of the evidence before it is counted and given.
        without_set_aside : bool
            Reads that fit no haplotype are not used: they are announced as left out.
        """
        fitting = SetAside(self.samples, haplotypes_given=self.stream.given is not None)
        with self.tally.clock.stage(JOINING):
            for found in self.stream.run(self.blocks):
                evidence = found if refined is None else refined(found)
                evidence.samples = self.samples
                if watch is not None:
                    watch(evidence.region, self.extent.share(evidence.region.chrom, evidence.region.end))
                self.tally.add(evidence)
                fitting.add(evidence)
                with self.tally.clock.stage(USING):
                    yield evidence
        counts = self.stream.counts
        if counts.capped_reads:
            log.warning(
                "%d reads left out of %d regions deeper than %d reads a sample (--max-depth)",
                counts.capped_reads,
                counts.capped_regions,
                self.stream.options.max_depth,
            )
        fitting.announce_poor()
        if without_set_aside:
            fitting.announce(self.scorer)
        self.tally.tell()
        aside = f" ({fitting.set_aside} {'set aside' if without_set_aside else 'fit no haplotype'})"
        log.info("%d regions, %d reads%s, %d pairs", counts.regions, counts.reads, aside, counts.pairs)


@contextmanager
def open_run(
    alignments: Paths,
    reference: AnyPath,
    candidates: AnyPath | None = None,
    haplotypes: AnyPath | None = None,
    regions: Texts = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
) -> Iterator[Run]:
    """Open everything that a run needs.

    Parameters
    ----------
    alignments : path or sequence of paths
        BAM or CRAM files, sorted by coordinate.
    reference : path
        FASTA.
    candidates : path, optional
        VCF or BCF of candidates; without it and without `haplotypes`, candidates are found in the reads.
    haplotypes : path, optional
        FASTA of the haplotypes of one region.
    regions : str or sequence of str
        ``chr:begin-end``, 1-based inclusive; all of the alignments without any.
    regions_file : path, optional
        BED.
    options : RunOptions, optional

    Raises
    ------
    InputError
        Naming file, record and cure.
    """
    require_compiled("reading alignments")
    alignments, reference, regions = some_paths_of(alignments, "alignments"), path_of(reference), texts_of(regions)
    candidates, haplotypes, regions_file = path_of(candidates), path_of(haplotypes), path_of(regions_file)
    options = options or RunOptions()
    backend = engine.choose(options.backend)
    with ExitStack() as stack:
        genome = stack.enter_context(Reference(reference))
        places = find_places(regions, regions_file, genome)
        reader = stack.enter_context(AlignmentReader(alignments, genome, places is not None, options.threads))
        contigs = contig_order(reader, genome)
        scorer = GatkScorer(options.model, backend, options.threads)
        given: list[Haplotype] | None = None
        source: RegionSource
        wanted: Iterable[tuple[str, int, int]] | None = None
        if haplotypes is not None:
            region, given = _given_region(haplotypes, places, genome)
            source = GivenRegion(region, list(contigs))
        else:
            asked, places = places, with_context(places, genome)
            source, wanted = candidate_regions(candidates, genome, contigs, len(reader.samples), options, asked, places)
        tally = Tally()
        timed = TimedScorer(scorer, tally.clock)
        stream = EvidenceStream(genome.fetch, source, timed, options.evidence, given)
        blocks = read_blocks(reader.sources, list(contigs), options.reads, options.chunk_size, places, wanted)
        blocks = ReferenceCheck(genome.path, genome.fetch, genome.contigs, reader.checksums).watch(blocks)
        yield Run(
            backend.label,
            reader.samples,
            contigs,
            haplotypes is None and candidates is None,
            haplotypes is None and candidates is not None,
            stream,
            tally.clock.items(READING, blocks),
            scorer,
            run_extent(reader, contigs, places, candidates),
            tally,
        )


def candidate_regions(
    path: str | None,
    genome: Reference,
    contigs: dict[str, int],
    n_samples: int,
    options: RunOptions,
    asked: Sequence[Interval] | None,
    known: Sequence[Interval] | None,
) -> tuple[RegionSource, Iterator[tuple[str, int, int]] | None]:
    """The regions of a run's candidates, and where reads are wanted for them: None for everywhere that is read at all.

    Parameters
    ----------
    path : str or None
        VCF or BCF; without it, candidates are what the reads show.
    genome : Reference
    contigs : dict of str to int
        In the order of the run.
    n_samples : int
    options : RunOptions
    asked, known : sequence of Interval or None
        Where genotypes are asked for, and where candidates are known, which is further; None for everywhere.
    """
    builder = RegionBuilder(genome.fetch, contigs, _limited(options))
    inside, around = Inside(asked), Inside(known)
    if path is None:
        finder = CandidateFinder(genome.fetch, n_samples, options.discovery)
        return DiscoveredRegions(finder, builder, inside, around), None
    reader = CandidateReader(path, contigs, genome.fetch, skip_unknown=known is not None)
    listed, ahead = tee(one for one in reader if around(one.chrom, one.pos))
    nuisances = Nuisances(CandidateFinder(genome.fetch, n_samples, options.discovery), genome.fetch)
    return ListedRegions(listed, builder, list(contigs), nuisances, inside), wanted_intervals(ahead, genome.fetch)


def wanted_intervals(listed: Iterable[Variant], fetch: FetchBases) -> Iterator[tuple[str, int, int]]:
    """Where listed candidates want reads: disjoint intervals (chrom, start, end) in the order of the list."""
    current: tuple[str, int, int] | None = None
    for variant in listed:
        start, end = variant_extent(variant, fetch)
        # Extents begin up to MAX_SHIFT before their records, so that later ones can begin before earlier ones.
        if current is not None and (variant.chrom != current[0] or start > current[2] + 2 * MAX_SHIFT):
            yield current
            current = None
        if current is None:
            current = variant.chrom, start, end
        else:
            current = variant.chrom, min(current[1], start), max(current[2], end)
    if current is not None:
        yield current


def with_context(places: Sequence[Interval] | None, genome: Reference) -> list[Interval] | None:
    """Places with the bases around them in which candidates decide how those inside are joined."""
    if places is None:
        return None
    widened = [
        Interval(chrom, max(0, start - CONTEXT), min(genome.contigs[chrom], end + CONTEXT))
        for chrom, start, end in places
    ]
    return merge(widened, list(genome.contigs))


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


def _given_region(path: str, places: Sequence[Interval] | None, genome: Reference) -> tuple[Region, list[Haplotype]]:
    """The one region whose haplotypes are the records of a FASTA file."""
    if places is None or len(places) != 1:
        raise InputError("--haplotypes", path, "its records span one region", "give that region, and only it, with -r")
    chrom, start, end = places[0]
    records = [Haplotype(decode(record.codes), (), record.name) for record in read_sequences(path)]
    region = Region(chrom, start, end, start, end, start, end)
    return describe_haplotypes(region, genome.fetch(chrom, start, end), records)
