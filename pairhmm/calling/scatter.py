"""`scatter`: shards of equal work for runs side by side."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Unpack

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.arguments import AnyPath, Paths, Regions, path_of
from pairhmm.calling.circles import UnrolledReference
from pairhmm.calling.keywords import RunKeywords
from pairhmm.calling.region_choice import listed_candidates
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.shards import Cutter, discovered_stretches, listed_stretches, margin, window_end, work_of
from pairhmm.calling.targets import SortedIntervals, contig_order, in_run_order, requested_intervals
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.native import require_compiled
from pairhmm.options import check_whole, with_keywords
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval, write_beds

MOST_PIECES = 100_000
"""`gather` takes the outputs of all shards on one command line, and the system takes about 2 MB of one."""


def scatter(
    alignments: Paths,
    reference: AnyPath,
    pieces: int,
    candidates: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> list[list[Interval]]:
    """Divide a run into shards with about as many reads each.

    `call` and `likelihoods` over the shards, with the same alignments, candidates and options, give together what they
    give over everything: the same records in the same order.

    Parameters
    ----------
    alignments, reference, candidates, regions, regions_file
        As for `call`. All alignments need an index.
    pieces : int
        How many, 1 to 100,000.
    options : RunOptions, optional
        The options of the runs over the shards.
    **keywords
        Fields of `RunOptions` by name, such as ``min_mapq=30``. They override those of `options`.

    Returns
    -------
    list of list of Interval
        The shards in order, each a list of (chrom, start, end), 0-based half-open. Some are empty where there are
        fewer loci to cut.

    Raises
    ------
    InputError, OptionError, TypeError, CompiledPartMissing
        As for `call`.

    Examples
    --------
    >>> for piece in pairhmm.scatter("sample.bam", "ref.fa", 8):  # doctest: +SKIP
    ...     print(piece)
    """
    (chosen,) = with_keywords("scatter", keywords, options or RunOptions())
    inputs = RunInputs.of(alignments, reference, candidates, None, regions, regions_file)
    return _scattered(inputs, chosen, pieces)


@kept_apart()
def write_scatter(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    pieces: int,
    candidates: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> None:
    """Divide a run as `scatter` does, and write BED files ``1-of-N.bed`` to ``N-of-N.bed``.

    Parameters
    ----------
    alignments, reference, candidates, regions, regions_file, pieces
        As for `scatter`.
    output : path
        Folder; made when missing.
    options, **keywords
        As for `scatter`.

    Raises
    ------
    InputError, OptionError, TypeError, CompiledPartMissing
        As for `scatter`; InputError also where an output can't be written or would replace an input.
    """
    (chosen,) = with_keywords("write_scatter", keywords, options or RunOptions())
    inputs = RunInputs.of(alignments, reference, candidates, None, regions, regions_file)
    folder = path_of(output)
    check_whole("pieces", pieces, 1, MOST_PIECES)
    names = [f"{number}-of-{pieces}.bed" for number in range(1, pieces + 1)]
    check_apart(inputs.files, (("-o", os.path.join(folder, name)) for name in names))
    write_beds(folder, dict(zip(names, _scattered(inputs, chosen, pieces), strict=True)))


def _scattered(inputs: RunInputs, options: RunOptions, pieces: int) -> list[list[Interval]]:
    require_compiled("scatter")
    check_whole("pieces", pieces, 1, MOST_PIECES)
    with Reference(inputs.reference) as genome, AlignmentReader(inputs.alignments, genome, need_index=True) as reader:
        contigs = contig_order(reader, genome)
        unrolled = UnrolledReference(genome, options.reads.circular)
        requested = requested_intervals(inputs, genome, options.padding, unrolled.circles)
        intervals = unrolled.second_turns(in_run_order(requested, contigs))
        rank = {name: number for number, name in enumerate(contigs)}
        if not intervals:
            return [[] for _ in range(pieces)]
        work = work_of(reader.sources, unrolled.rolled_up(intervals))
        found = [work.locus_at(number / pieces) for number in range(1, pieces)]
        targets = [(chrom, at + unrolled.on_contig(chrom)) for chrom, at in found]
        if options.joining.window:  # candidates of two windows are never scored together
            cuts = [(rank[chrom], window_end(at, options.joining.window)) for chrom, at in targets]
        else:
            if inputs.candidates is not None:
                candidates = listed_candidates(inputs.candidates, unrolled, contigs, requested is not None)
                source = listed_stretches(targets, candidates)
            else:
                source = discovered_stretches(targets, reader, unrolled, unrolled.unrolled(contigs), options)
            cutter = Cutter(intervals, unrolled.fetch, margin(options))
            cuts = [(rank[stretch.chrom], cut) for stretch in source for cut in cutter.cuts(stretch)]
        borders = [(0, 0), *sorted(cuts), (len(rank), 0)]
        shards = SortedIntervals(intervals, rank)
        return [unrolled.rolled_up(shards.between(begin, end)) for begin, end in pairwise(borders)]
