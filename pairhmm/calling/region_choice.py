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
from pairhmm.calling.shard_runs import Shard, ShardIntervals, wanted_intervals
from pairhmm.calling.targets import Inside, with_padding
from pairhmm.calling.unlisted_variants import UnlistedVariants
from pairhmm.errors import InputError
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.candidates import CandidateReader
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region, RegionBuilder, RegionOptions
from pairhmm.variants.variant import FetchBases, Variant, variant_extent


class ChosenRegions(NamedTuple):
    """The regions of a run, and where it reads alignments for them.

    Attributes
    ----------
    haplotypes : list of Haplotype or None
        The haplotypes of every region, if they were given.
    intervals : list of Interval or None
        Intervals in which alignments are read; None for everywhere.
    wanted : iterator of Interval or None
        Intervals inside `intervals` in which reads are needed; None for all of `intervals`.
    """

    source: RegionSource
    haplotypes: list[Haplotype] | None
    intervals: list[Interval] | None
    wanted: Iterator[Interval] | None


def choose_regions(
    inputs: RunInputs,
    options: RunOptions,
    genome: Reference,
    contigs: dict[str, int],
    n_samples: int,
    requested: list[Interval] | None,
) -> ChosenRegions:
    """Choose the regions of a run from its inputs. Haplotypes without exactly one region are an InputError."""
    if inputs.haplotypes is not None:
        region, haplotypes = _given_region(inputs.haplotypes, requested, genome)
        return ChosenRegions(GivenRegion(region, list(contigs)), haplotypes, requested, None)
    padded = with_padding(requested, genome)
    builder = RegionBuilder(genome.fetch, contigs, _limited(options))
    finder = CandidateFinder(genome.fetch, n_samples, options.discovery)
    inside, around = Inside(requested), Inside(padded)
    if inputs.candidates is None:
        return ChosenRegions(DiscoveredRegions(finder, builder, inside, around), None, padded, None)
    reader = CandidateReader(inputs.candidates, contigs, genome.fetch, skip_unknown=padded is not None)
    listed, ahead = tee(
        _with_extents((variant for variant in reader if around(variant.chrom, variant.pos)), genome.fetch)
    )
    source = ListedRegions(listed, builder, list(contigs), UnlistedVariants(finder, genome.fetch), inside)
    return ChosenRegions(source, None, padded, wanted_intervals(ahead, contigs, options.discovery.reach))


def shard_regions(
    shard: Shard,
    options: RunOptions,
    genome: Reference,
    contigs: dict[str, int],
    n_samples: int,
    intervals: ShardIntervals,
) -> ChosenRegions:
    """The regions of a shard of a run."""
    builder = RegionBuilder(genome.fetch, contigs, _limited(options))
    finder = CandidateFinder(genome.fetch, n_samples, options.discovery)
    padded = intervals.padded(shard)
    if shard.listed is None:
        discovered = DiscoveredRegions(finder, builder, Inside(intervals.requested(shard)), Inside(padded))
        return ChosenRegions(discovered, None, padded, None)
    listed, unlisted = _with_extents(shard.listed, genome.fetch), UnlistedVariants(finder, genome.fetch)
    source = ListedRegions(listed, builder, list(contigs), unlisted, Inside(intervals.all_requested))
    return ChosenRegions(source, None, padded, iter(shard.wanted))


def _with_extents(variants: Iterable[Variant], fetch: FetchBases) -> Iterator[tuple[Variant, tuple[int, int]]]:
    return ((variant, variant_extent(variant, fetch)) for variant in variants)


def _limited(options: RunOptions) -> RegionOptions:
    """The options for joining, with no more alleles in a region than haplotypes are allowed beside the reference."""
    limit = min(options.joining.max_alleles, options.evidence.max_haplotypes - 1)
    return replace(options.joining, max_alleles=max(1, limit))


def _given_region(path: str, intervals: Sequence[Interval] | None, genome: Reference) -> tuple[Region, list[Haplotype]]:
    """The one region whose haplotypes are the records of a FASTA file."""
    # Few runs need them, and all others start sooner without.
    from pairhmm.align.haplotypes import describe_haplotypes
    from pairhmm.sequences.fastx import read_sequences
    from pairhmm.sequences.letters import decode

    if intervals is None or len(intervals) != 1:
        raise InputError("--haplotypes", path, "its records span one region", "give that region, and only it, with -r")
    chrom, start, end = intervals[0]
    records = [Haplotype(decode(record.codes), (), record.name) for record in read_sequences(path)]
    region = Region(
        chrom=chrom, core_start=start, core_end=end, start=start, end=end, haplotype_start=start, haplotype_end=end
    )
    return describe_haplotypes(region, genome.fetch(chrom, start, end), records)
