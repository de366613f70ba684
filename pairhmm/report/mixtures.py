"""Mixtures in a report: the depth along the genome, the fractions of alleles, and tiles without enough depth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.selection import ReadSelection
from pairhmm.calling.run_options import EXCLUDED_FLAGS, MIN_MAPQ
from pairhmm.consensus.depth import contig_depths, depth_over, sample_number
from pairhmm.consensus.sequence import ConsensusOptions
from pairhmm.errors import InputError
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import Column, ReportPart, Value, rounded
from pairhmm.report.tiles import Tile, read_tiles
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.call_reader import CalledSites
from pairhmm.variants.sites import ReportedSite

BINS = 800
"""Bins that the depth of a contig is drawn in; of a shorter contig, each position is one."""
_COLUMNS: Mapping[str, Column] = {
    "median_depth": ("Median depth", "Median depth of the contigs that have reads", "{:,.0f}"),
    "covered": ("Covered", "Percentage of their positions with the depth of --min-depth", "{:,.1f}"),
    "dropouts": ("Dropouts", "Tiles with a median depth below --min-depth", "{:,.0f}"),
}


@dataclass(slots=True)
class Track:
    """A contig of a sample: its depth, its tiles with their median depths, and alleles with their fractions."""

    sample: str
    chrom: str
    length: int
    depth: NDArray[np.uint32] | None = None
    tiles: list[tuple[Tile, float]] = field(default_factory=list)
    alleles: list[list[Any]] = field(default_factory=list)

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        return {
            "sample": samples[self.sample],
            "contig": self.chrom,
            "length": self.length,
            "depth": None if self.depth is None else _binned(self.depth),
            "tiles": [[tile.name, tile.start, tile.end, median] for tile, median in self.tiles],
            "alleles": self.alleles,
        }


def _binned(depth: NDArray[np.uint32]) -> dict[str, list[float]]:
    """The lowest, the median and the highest depth of each bin."""
    edges = np.linspace(0, len(depth), min(BINS, len(depth)) + 1).astype(np.int64)
    bins = np.split(depth, edges[1:-1])
    return {
        "low": [int(one.min()) for one in bins],
        "median": [float(np.median(one)) for one in bins],
        "high": [int(one.max()) for one in bins],
    }


@dataclass(slots=True)
class Mixtures(ReportPart):
    """The samples of calls that have fractions."""

    min_depth: int
    tracks: list[Track] = field(default_factory=list)

    @property
    def columns(self) -> Mapping[str, Column]:
        known = [name for name in _COLUMNS if any(name in self.figures(track.sample) for track in self.tracks)]
        return {name: _COLUMNS[name] for name in known}

    def figures(self, sample: str) -> Mapping[str, Value]:
        own = [track for track in self.tracks if track.sample == sample]
        depths = [track.depth for track in own if track.depth is not None]
        if not depths:
            return {}
        depth = np.concatenate(depths)
        figures: dict[str, Value] = {
            "median_depth": float(np.median(depth)),
            "covered": 100 * float((depth >= self.min_depth).mean()),
        }
        medians = [median for track in own for _, median in track.tiles]
        return figures | ({"dropouts": sum(median < self.min_depth for median in medians)} if medians else {})

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        tracks = [track.for_page(samples) for track in self.tracks]
        return {"mixtures": {"minDepth": self.min_depth, "tracks": tracks} if tracks else None}


def read_mixtures(inputs: ReportInputs, notes: list[str], min_depth: int) -> Mixtures:
    """Read alleles and depth of calls that have fractions; without such calls, nothing."""
    shown = Mixtures(min_depth)
    tracks: dict[tuple[str, str], Track] = {}
    samples: Sequence[str] = ()
    if inputs.calls is not None:
        with CalledSites(inputs.calls) as sites:
            if sites.has_fractions:
                samples = sites.samples
                for site in sites:
                    _add_alleles(tracks, site, samples, sites.contigs.get(site.chrom) or 0)
    if inputs.alignments and inputs.reference is not None and samples:
        _add_depths(tracks, inputs, inputs.reference, samples)
    elif inputs.alignments and not inputs.likelihoods and inputs.targets is None:
        rule = "tell of the reads of likelihood tables or of mixtures; these calls have no fractions (CIAF)"
        raise InputError(
            "--alignments", "", rule, "give those with --likelihoods or --targets, or calls of call --mixture"
        )
    # In the order of the samples, and of the contigs in the calls or the alignments.
    shown.tracks = [track for name in samples for track in tracks.values() if track.sample == name]
    return shown


def _add_alleles(tracks: dict[tuple[str, str], Track], site: ReportedSite, samples: Sequence[str], length: int) -> None:
    for name, call in zip(samples, site.calls, strict=True):
        if len(call.fractions) != len(site.alts):
            continue
        track = tracks.setdefault((name, site.chrom), Track(name, site.chrom, length))
        track.length = max(track.length, site.pos + 1)
        intervals = call.intervals if len(call.intervals) == 2 * len(site.alts) else (None,) * (2 * len(site.alts))
        for number, (alt, fraction) in enumerate(zip(site.alts, call.fractions, strict=True)):
            if number + 1 in call.alleles:
                interval = intervals[2 * number : 2 * number + 2]
                row = [site.pos + 1, site.ref, alt, fraction, *interval, call.depth, rounded(site.quality)]
                track.alleles.append([*row, site.filters])


def _add_depths(
    tracks: dict[tuple[str, str], Track], inputs: ReportInputs, reference: str, samples: Sequence[str]
) -> None:
    """Add the depth of the contigs that have alleles or tiles; without any of these, of all."""
    options, selection = ConsensusOptions(), ReadSelection(EXCLUDED_FLAGS, MIN_MAPQ, circular=inputs.circular)
    with Reference(reference) as genome, AlignmentReader(inputs.alignments, genome, need_index=True) as reader:
        tiles: dict[str, list[Tile]] = defaultdict(list)
        for tile in [] if inputs.tiles is None else read_tiles(inputs.tiles, genome.contigs, inputs.circular):
            tiles[tile.chrom].append(tile)
        chosen = {chrom for _, chrom in tracks}.union(tiles) or set(reader.contigs)
        regions = [Interval(chrom, 0, length) for chrom, length in genome.contigs.items() if chrom in chosen]
        for name in samples:
            number = sample_number(reader, name, str(inputs.calls))
            depths = {chrom: np.zeros(genome.contigs[chrom], dtype=np.uint32) for chrom in tiles}
            read = contig_depths(reader, [number], genome, selection, options.min_base_quality, regions)
            depths |= ((chrom, depth) for chrom, (depth,) in read)
            for chrom, depth in depths.items():
                track = tracks.setdefault((name, chrom), Track(name, chrom, len(depth)))
                track.length, track.depth = len(depth), depth
                track.tiles = list(_medians(tiles[chrom], depth))


def _medians(tiles: Sequence[Tile], depth: NDArray[np.uint32]) -> Iterator[tuple[Tile, float]]:
    return ((tile, float(np.median(depth_over(depth, tile.start, tile.end)))) for tile in tiles)
