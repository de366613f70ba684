"""Chooses the regions that a run scores, and where it reads alignments for them.

Regions come from a list of candidates, from candidates that the reads show, or from haplotypes that were given. All
coordinates are 0-based half-open.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee
from typing import TYPE_CHECKING, NamedTuple

from pairhmm.calling.circles import UnrolledReference
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.shard_runs import Shard, ShardIntervals, wanted_intervals
from pairhmm.calling.targets import Inside, with_padding
from pairhmm.errors import InputError
from pairhmm.native import native
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.candidates import CandidateReader
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.regions import Region, RegionOptions
from pairhmm.variants.variant import Variant

if TYPE_CHECKING:
    from pairhmm._cpu import ReferenceBases, RegionSource

log = logging.getLogger(__name__)


class ChosenRegions(NamedTuple):
    """The regions of a run, and where it reads alignments for them.

    Attributes
    ----------
    reference : ReferenceBases
        The reference that the source reads.
    haplotypes : list of Haplotype or None
        The haplotypes of every region, if they were given.
    intervals : list of Interval or None
        Intervals in which alignments are read; None for everywhere.
    wanted : iterator of Interval or None
        Intervals inside `intervals` in which reads are needed; None for all of `intervals`.
    """

    reference: ReferenceBases
    source: RegionSource
    haplotypes: list[Haplotype] | None
    intervals: list[Interval] | None
    wanted: Iterator[Interval] | None


def choose_regions(
    inputs: RunInputs,
    options: RunOptions,
    genome: UnrolledReference,
    contigs: dict[str, int],
    n_samples: int,
    requested: list[Interval] | None,
) -> ChosenRegions:
    """Choose the regions of a run from its inputs. Haplotypes without exactly one region are an InputError."""
    reference = native.ReferenceBases(genome.fetch)
    if inputs.haplotypes is not None:
        region, haplotypes = _given_region(inputs.haplotypes, requested, genome)
        return ChosenRegions(reference, native.GivenRegion(region, list(contigs.items())), haplotypes, requested, None)
    padded = with_padding(requested, genome)
    parts = reference, *_parts(options, contigs, n_samples)
    if inputs.candidates is None:
        return ChosenRegions(reference, native.DiscoveredRegions(*parts, requested, padded), None, padded, None)
    reader = listed_candidates(inputs.candidates, genome, contigs, skip_unknown=padded is not None)
    around = Inside(padded)
    listed, ahead = tee(variant for variant in reader if around(variant.chrom, variant.pos))
    source = native.ListedRegions(*parts, listed, requested)
    wanted = wanted_intervals(ahead, contigs, genome.fetch, options.discovery.reach)
    return ChosenRegions(reference, source, None, padded, wanted)


def listed_candidates(
    path: str, genome: UnrolledReference, contigs: Mapping[str, int], skip_unknown: bool
) -> Iterator[Variant]:
    """The candidates of a list, those of circles on every turn."""
    lengths = {name: genome.lengths[name] for name in contigs}
    return genome.all_turns(CandidateReader(path, lengths, genome.fetch, skip_unknown))


def shard_regions(
    shard: Shard,
    options: RunOptions,
    genome: UnrolledReference,
    contigs: dict[str, int],
    n_samples: int,
    intervals: ShardIntervals,
) -> ChosenRegions:
    """The regions of a shard of a run."""
    reference = native.ReferenceBases(genome.fetch)
    parts = reference, *_parts(options, contigs, n_samples)
    padded = intervals.padded(shard)
    if shard.listed is None:
        discovered = native.DiscoveredRegions(*parts, intervals.requested(shard), padded)
        return ChosenRegions(reference, discovered, None, padded, None)
    source = native.ListedRegions(*parts, iter(shard.listed), intervals.all_requested)
    return ChosenRegions(reference, source, None, padded, iter(shard.wanted))


def _parts(
    options: RunOptions, contigs: dict[str, int], n_samples: int
) -> tuple[list[tuple[str, int]], int, CandidateOptions, RegionOptions]:
    """What a source of regions is made of, beside the reference and its candidates.

    A region has no more alleles than haplotypes are allowed beside the reference.
    """
    limit = min(options.joining.max_alleles, options.evidence.max_haplotypes - 1)
    joining = replace(options.joining, max_alleles=max(1, limit))
    return list(contigs.items()), n_samples, options.discovery, joining


def _given_region(
    path: str, intervals: Sequence[Interval] | None, genome: UnrolledReference
) -> tuple[Region, list[Haplotype]]:
    """The one region whose haplotypes are the records of a FASTA file."""
    # Few runs need them, and all others start sooner without.
    from pairhmm.align.haplotypes import describe_haplotypes
    from pairhmm.sequences.fastx import read_sequences
    from pairhmm.sequences.letters import decode

    if intervals is None or len(intervals) != 1:
        cure = "give that region, and only it, with -r" + "; it can't go over an origin" * bool(genome.circles)
        raise InputError("--haplotypes", path, "its records span one region", cure)
    chrom, start, end = intervals[0]
    records = dict[str, Haplotype]()
    for record in read_sequences(path):
        if record.name in records:
            raise InputError(path, record.name, "two haplotypes have this name", "give each a name of its own")
        records[record.name] = Haplotype(decode(record.codes), (), record.name)
    region = Region(
        chrom=chrom, core_start=start, core_end=end, start=start, end=end, haplotype_start=start, haplotype_end=end
    )
    region, haplotypes = describe_haplotypes(region, genome.fetch(chrom, start, end), list(records.values()))
    if all(_has_indel_at_an_end(region, haplotype) for haplotype in haplotypes):
        log.warning(
            "%s: every haplotype has an insertion or a deletion at an end of %s:%d-%d: give the region that they span; "
            "-r is 1-based, and includes both ends",
            path,
            chrom,
            start + 1,
            end,
        )
    return region, haplotypes


def _has_indel_at_an_end(region: Region, haplotype: Haplotype) -> bool:
    """Whether a haplotype has an insertion or a deletion at the first or the last base of its region."""
    at_an_end = [site.pos == region.start or site.end == region.end for site in region.variants]
    resized = [
        len((site.ref, *site.alts)[allele]) != len(site.ref)
        for site, allele in zip(region.variants, haplotype.alleles, strict=True)
    ]
    return any(map(operator.and_, at_an_end, resized))
