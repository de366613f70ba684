"""Which regions a run scores, and where it wants reads for them.

Regions come from a list of candidates, from candidates that the reads show, or from haplotypes that were given. All
coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee

from pairhmm.errors import InputError
from pairhmm.evidence.given_haplotypes import describe_haplotypes
from pairhmm.evidence.inputs import RunOptions
from pairhmm.evidence.places import Inside
from pairhmm.evidence.region_sources import DiscoveredRegions, ListedRegions, RegionSource
from pairhmm.genomics.discovery import CandidateFinder
from pairhmm.genomics.haplotypes import Haplotype
from pairhmm.genomics.nuisances import Nuisances
from pairhmm.genomics.regions import MAX_SHIFT, FetchBases, Region, RegionBuilder, RegionOptions, variant_extent
from pairhmm.genomics.sequences import decode
from pairhmm.genomics.variants import Variant
from pairhmm.io.sequences.fasta import Reference
from pairhmm.io.sequences.intervals import Interval
from pairhmm.io.sequences.reader import read_sequences
from pairhmm.io.variants.candidates import CandidateReader


def candidate_regions(
    path: str | None,
    genome: Reference,
    contigs: dict[str, int],
    n_samples: int,
    options: RunOptions,
    asked: Sequence[Interval] | None,
    known: Sequence[Interval] | None,
) -> tuple[RegionSource, Iterator[Interval] | None]:
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


def wanted_intervals(listed: Iterable[Variant], fetch: FetchBases) -> Iterator[Interval]:
    """Where listed candidates want reads: disjoint, in the order of the list."""
    current: Interval | None = None
    for variant in listed:
        start, end = variant_extent(variant, fetch)
        # Extents begin up to MAX_SHIFT before their records, so that later ones can begin before earlier ones.
        if current is not None and (variant.chrom != current.chrom or start > current.end + 2 * MAX_SHIFT):
            yield current
            current = None
        if current is None:
            current = Interval(variant.chrom, start, end)
        else:
            current = Interval(variant.chrom, min(current.start, start), max(current.end, end))
    if current is not None:
        yield current


def _limited(options: RunOptions) -> RegionOptions:
    """No more alleles in a region than there may be haplotypes beside the reference."""
    most = min(options.joining.max_alleles, options.evidence.max_haplotypes - 1)
    return replace(options.joining, max_alleles=max(1, most))


def given_region(path: str, places: Sequence[Interval] | None, genome: Reference) -> tuple[Region, list[Haplotype]]:
    """The one region whose haplotypes are the records of a FASTA file."""
    if places is None or len(places) != 1:
        raise InputError("--haplotypes", path, "its records span one region", "give that region, and only it, with -r")
    chrom, start, end = places[0]
    records = [Haplotype(decode(record.codes), (), record.name) for record in read_sequences(path)]
    region = Region(chrom, start, end, start, end, start, end)
    return describe_haplotypes(region, genome.fetch(chrom, start, end), records)
