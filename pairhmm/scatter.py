"""The verb `scatter`: regions of equal work, cut where no candidate can tell that there is a cut.

Candidates that are near each other are scored together, so that a cut between them would change what is called. A cut
is therefore moved on to the next stretch without candidates, inside what is asked for. There both sides are as they are
in a run over everything, because

* no candidate of one side can join those of the other, or bound the bases that their reads are cut to;
* every read that overlaps a region's candidates overlaps its piece.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from pairhmm.blocks import ReadBlock
from pairhmm.candidates import CandidateFinder
from pairhmm.io.alignments import AlignmentReader
from pairhmm.io.candidates import CandidateReader
from pairhmm.io.destinations import check_apart
from pairhmm.io.fasta import Reference
from pairhmm.io.intervals import Interval, write_bed
from pairhmm.io.read_blocks import read_blocks
from pairhmm.io.read_density import ReadDensity, read_densities
from pairhmm.regions import MAX_SHIFT, FetchBases, variant_extent
from pairhmm.runs import Inside, RunOptions, contig_order, find_places
from pairhmm.variants import Variant

# What a base costs that has no read, in reads: little, and enough for equal pieces where there are no reads at all.
_BASE_WORK = 1e-6
# Reads taken at once in search of a place to cut: it is mostly near.
_CHUNK_SIZE = 2000


def scatter(
    alignments: Sequence[str],
    reference: str,
    pieces: int,
    candidates: str | None = None,
    regions: Sequence[str] = (),
    regions_file: str | None = None,
    options: RunOptions | None = None,
) -> list[list[Interval]]:
    """Cut a run into pieces of about as many reads.

    `call` and `likelihoods` over the pieces, with the same alignments, candidates and options, give together what they
    give over everything: the same records in the same order.

    Parameters
    ----------
    alignments : sequence of str
        BAM or CRAM files with their indexes.
    reference : str
        FASTA.
    pieces : int
    candidates : str, optional
        VCF or BCF; without it, candidates are those that the reads show.
    regions : sequence of str
        ``chr:begin-end``, 1-based inclusive; everything without any.
    regions_file : str, optional
        BED.
    options : RunOptions, optional

    Returns
    -------
    list of list of Interval
        The pieces in order; some are empty where there are fewer places to cut.

    Raises
    ------
    InputError
        Naming file, record and cure.
    """
    options = options or RunOptions()
    with Reference(reference) as genome, AlignmentReader(alignments, genome, need_index=True) as reader:
        contigs = contig_order(reader, genome)
        asked = find_places(regions, regions_file, genome)
        places = [Interval(name, 0, length) for name, length in contigs.items()] if asked is None else asked
        rank = {name: number for number, name in enumerate(contigs)}
        places = sorted(places, key=lambda place: (rank[place.chrom], place.start))
        if not places:
            return [[] for _ in range(pieces)]
        work = _Work(places, [read_densities(source) for source in reader.sources])
        targets = [work.place_of(number / pieces) for number in range(1, pieces)]
        if candidates is not None:
            source = _given(targets, CandidateReader(candidates, contigs, genome.fetch))
        else:
            source = _discovered(targets, reader, genome, contigs, options)
        margin = max(options.joining.join_distance, options.joining.flank)
        cutter = _Cutter(places, genome.fetch, margin)
        cuts = [(rank[stretch.chrom], cut) for stretch in source for cut in cutter.cuts(stretch)]
        return _pieces(places, rank, cuts)


def write_scatter(
    alignments: Sequence[str],
    reference: str,
    output: str,
    pieces: int,
    candidates: str | None = None,
    regions: Sequence[str] = (),
    regions_file: str | None = None,
    options: RunOptions | None = None,
) -> None:
    """Write pieces as BED files ``1-of-N.bed`` to ``N-of-N.bed``; the parameters are those of `scatter`.

    Parameters
    ----------
    output : str
        Folder; made when missing.
    """
    paths = [Path(output) / f"{number}-of-{pieces}.bed" for number in range(1, pieces + 1)]
    check_apart((*alignments, reference, candidates, regions_file), (("-o", path) for path in paths))
    found = scatter(alignments, reference, pieces, candidates, regions, regions_file, options)
    for path, piece in zip(paths, found, strict=True):
        write_bed(path, piece)


class _Work:
    """The work in a list of places, and where a share of it is done."""

    def __init__(self, places: Sequence[Interval], densities: Sequence[Mapping[str, ReadDensity]]) -> None:
        self._places, self._densities = places, densities
        self._done = [0.0]
        for place in places:
            self._done.append(self._done[-1] + self._of(place.chrom, place.start, place.end))

    def _of(self, chrom: str, start: int, end: int) -> float:
        known = [density[chrom] for density in self._densities if chrom in density]
        return sum(one.upto(end) - one.upto(start) for one in known) + _BASE_WORK * (end - start)

    def place_of(self, share: float) -> tuple[str, int]:
        """The first position before which that share of all work lies."""
        goal = share * self._done[-1]
        index = min(bisect_right(self._done, goal), len(self._places)) - 1
        place = self._places[index]
        before, low, high = self._done[index], place.start, place.end
        while low < high:
            middle = (low + high) // 2
            if before + self._of(place.chrom, place.start, middle) < goal:
                low = middle + 1
            else:
                high = middle
        return place.chrom, low


class _Stretch(NamedTuple):
    """Targets on a contig, in order; candidates from some position on; and how far those before it may reach."""

    chrom: str
    targets: list[int]
    variants: Iterator[Variant]
    reach: int


def _given(targets: Sequence[tuple[str, int]], candidates: CandidateReader) -> Iterator[_Stretch]:
    """Each contig with targets, with all of its candidates."""
    on_contig = {chrom: [one for _, one in group] for chrom, group in groupby(targets, key=lambda target: target[0])}
    for chrom, variants in groupby(candidates, key=lambda variant: variant.chrom):
        if chrom in on_contig:
            yield _Stretch(chrom, on_contig.pop(chrom), variants, 0)
    for chrom, left in on_contig.items():
        yield _Stretch(chrom, left, iter(()), 0)


def _discovered(
    targets: Sequence[tuple[str, int]],
    reader: AlignmentReader,
    genome: Reference,
    contigs: Mapping[str, int],
    options: RunOptions,
) -> Iterator[_Stretch]:
    """Each target by itself, with the candidates that reads show from a little before it on."""
    lead = max(options.joining.join_distance, options.joining.flank) + MAX_SHIFT + 1
    for chrom, target in targets:
        start = max(0, target - lead)
        stretch = Interval(chrom, start, contigs[chrom])
        finder = CandidateFinder(genome.fetch, len(reader.samples), options.discovery)
        blocks = read_blocks(reader.sources, list(contigs), options.reads, _CHUNK_SIZE, [stretch])
        # Of candidates before `start` only a deletion reaches further, and its reads are among these.
        yield _Stretch(chrom, [target], _shown(finder, blocks), start + MAX_SHIFT + 1)


def _shown(finder: CandidateFinder, blocks: Iterator[ReadBlock]) -> Iterator[Variant]:
    for block in blocks:
        yield from finder.scan(block)
    yield from finder.finish()


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Finds where a contig may be cut.

    Attributes
    ----------
    places : sequence of Interval
        What is asked for, in order.
    fetch : callable
    margin : int
        Candidates that are further apart than this have nothing to do with each other.
    """

    places: Sequence[Interval]
    fetch: FetchBases
    margin: int

    def cuts(self, stretch: _Stretch) -> list[int]:
        """The first place for a cut at or after each target; the end of the contig's last place where there is none.

        No more candidates are taken than needed.
        """
        places = [place for place in self.places if place.chrom == stretch.chrom]
        inside = Inside(places)
        variants = (variant for variant in stretch.variants if inside(variant.chrom, variant.pos))
        ahead, reach = next(variants, None), stretch.reach
        cuts = []
        for target in stretch.targets:
            cut = _within(places, max(target, reach))
            while ahead is not None and cut < places[-1].end:
                # Later candidates begin at or after this one, and can be shifted back so far.
                if ahead.pos - MAX_SHIFT > max(cut, reach + self.margin):
                    break
                reach = max(reach, variant_extent(ahead, self.fetch)[1])
                cut = _within(places, max(target, reach))
                ahead = next(variants, None)
            cuts.append(cut)
        return cuts


def _within(places: Sequence[Interval], position: int) -> int:
    """The first position from there on with a base of one place on either side; the end of the last without any."""
    for place in places:
        if position < place.end and place.end - place.start > 1:
            return max(position, place.start + 1)
    return places[-1].end


def _pieces(
    places: Sequence[Interval], rank: Mapping[str, int], cuts: Sequence[tuple[int, int]]
) -> list[list[Interval]]:
    """Places cut at (contig, position)."""
    borders = [(-1, 0), *sorted(cuts), (len(rank), 0)]
    pieces = []
    for begin, end in pairwise(borders):
        piece = []
        for chrom, start, stop in places:
            number = rank[chrom]
            first = start if number > begin[0] else max(start, begin[1]) if number == begin[0] else stop
            last = stop if number < end[0] else min(stop, end[1]) if number == end[0] else start
            if first < last:
                piece.append(Interval(chrom, first, last))
        pieces.append(piece)
    return pieces
