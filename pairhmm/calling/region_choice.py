"""Chooses the regions that a run scores, and where it reads alignments for them.

Regions come from a list of candidates, from candidates that the reads show, or from haplotypes that were given. All
coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee
from typing import NamedTuple

from pairhmm.calling.discovery import CandidateFinder
from pairhmm.calling.region_sources import DiscoveredRegions, GivenRegion, ListedRegions, RegionSource
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.shard_runs import GenomePiece, PiecePlaces, wanted_intervals
from pairhmm.calling.targets import Inside, with_context
from pairhmm.calling.unlisted_variants import Nuisances
from pairhmm.errors import InputError
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.fastx import read_sequences
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.candidates import CandidateReader
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region, RegionBuilder, RegionOptions
from pairhmm.variants.variant import FetchBases, Variant, variant_extent


class ChosenRegions(NamedTuple):
    """The regions of a run, and where it reads alignments for them.

    Attributes
    ----------
    source : RegionSource
    haplotypes : list of Haplotype or None
        The haplotypes of every region, if they were given.
    places : list of Interval or None
        Intervals in which alignments are read; None for everywhere.
    wanted : iterator of Interval or None
        Intervals inside `places` in which reads are needed; None for all of `places`.
    """

    source: RegionSource
    haplotypes: list[Haplotype] | None
    places: list[Interval] | None
    wanted: Iterator[Interval] | None


def choose_regions(
    inputs: RunInputs,
    options: RunOptions,
    genome: Reference,
    contigs: dict[str, int],
    n_samples: int,
    asked: list[Interval] | None,
) -> ChosenRegions:
    """Choose the regions of a run from its inputs.

    Parameters
    ----------
    inputs : RunInputs
    options : RunOptions
    genome : Reference
    contigs : dict of str to int
        Lengths, in the order of the run.
    n_samples : int
    asked : list of Interval or None
        Intervals in which genotypes are asked for; None for everywhere.

    Raises
    ------
    InputError
        Where haplotypes are given without exactly one region.
    """
    if inputs.haplotypes is not None:
        region, haplotypes = _given_region(inputs.haplotypes, asked, genome)
        return ChosenRegions(GivenRegion(region, list(contigs)), haplotypes, asked, None)
    known = with_context(asked, genome)
    builder = RegionBuilder(genome.fetch, contigs, _limited(options))
    finder = CandidateFinder(genome.fetch, n_samples, options.discovery)
    inside, around = Inside(asked), Inside(known)
    if inputs.candidates is None:
        return ChosenRegions(DiscoveredRegions(finder, builder, inside, around), None, known, None)
    reader = CandidateReader(inputs.candidates, contigs, genome.fetch, skip_unknown=known is not None)
    listed, ahead = tee(_with_extents((one for one in reader if around(one.chrom, one.pos)), genome.fetch))
    source = ListedRegions(listed, builder, list(contigs), Nuisances(finder, genome.fetch), inside)
    return ChosenRegions(source, None, known, wanted_intervals(ahead, contigs, options.discovery.reach))


def piece_regions(
    piece: GenomePiece,
    options: RunOptions,
    genome: Reference,
    contigs: dict[str, int],
    n_samples: int,
    places: PiecePlaces,
) -> ChosenRegions:
    """The regions of a piece of a run.

    Parameters
    ----------
    piece : GenomePiece
    options : RunOptions
    genome : Reference
    contigs : dict of str to int
        Lengths, in the order of the run.
    n_samples : int
    places : PiecePlaces
    """
    builder = RegionBuilder(genome.fetch, contigs, _limited(options))
    finder = CandidateFinder(genome.fetch, n_samples, options.discovery)
    known = places.known(piece)
    if piece.listed is None:
        found = DiscoveredRegions(finder, builder, Inside(places.asked(piece)), Inside(known))
        return ChosenRegions(found, None, known, None)
    nuisances = Nuisances(finder, genome.fetch)
    listed = _with_extents(piece.listed, genome.fetch)
    source = ListedRegions(listed, builder, list(contigs), nuisances, Inside(places.all_asked))
    return ChosenRegions(source, None, known, iter(piece.wanted))


def _with_extents(variants: Iterable[Variant], fetch: FetchBases) -> Iterator[tuple[Variant, tuple[int, int]]]:
    return ((one, variant_extent(one, fetch)) for one in variants)


def _limited(options: RunOptions) -> RegionOptions:
    """The options for joining, with no more alleles in a region than haplotypes are allowed beside the reference."""
    most = min(options.joining.max_alleles, options.evidence.max_haplotypes - 1)
    return replace(options.joining, max_alleles=max(1, most))


def _given_region(path: str, places: Sequence[Interval] | None, genome: Reference) -> tuple[Region, list[Haplotype]]:
    """The one region whose haplotypes are the records of a FASTA file."""
    # Few runs need them, and all others start sooner without.
    from pairhmm.align.haplotypes import describe_haplotypes
    from pairhmm.sequences.letters import decode

    if places is None or len(places) != 1:
        raise InputError("--haplotypes", path, "its records span one region", "give that region, and only it, with -r")
    chrom, start, end = places[0]
    records = [Haplotype(decode(record.codes), (), record.name) for record in read_sequences(path)]
    region = Region(
        chrom=chrom, core_start=start, core_end=end, start=start, end=end, haplotype_start=start, haplotype_end=end
    )
    return describe_haplotypes(region, genome.fetch(chrom, start, end), records)
