"""Sees from some of a run's reads what the library's errors are: how often repeats stutter, and strands err together.

The reads are the same whatever the regions, the candidates and the threads of the run.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.index import find_index
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.selection import LeftOut
from pairhmm.calling.opening import OpenFiles
from pairhmm.calling.run_options import PRESETS, RunOptions
from pairhmm.calling.shards import Work, work_of
from pairhmm.calling.str_counts import Site, count_changes
from pairhmm.calling.str_rates import estimate_rates
from pairhmm.engine.task_threads import TaskThreads
from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDIN
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.str_model import StrModel
from pairhmm.models.str_parameters import LIBRARIES, model_of_rates, rates_of, slip_rates_of, str_model_of
from pairhmm.native import native
from pairhmm.sequences.intervals import Interval
from pairhmm.sequences.tandem_repeats import MOST_REPEATS

log = logging.getLogger(__name__)

# Reads that are taken: this share of all, between these limits, and from so many windows. Without an index, they are
# as few as they may be.
SHARE, FEWEST, MOST = 0.03, 4_000, 30_000
WINDOWS, OF_WINDOW = 32, 4_000
# Reads of a mixture that are taken, and of them at once: errors are told from alleles place by place.
OF_MIXTURE, AT_ONCE = 300_000, 20_000
# Bases of a file's reads that suffice, and reads that are taken at once. Long reads are few.
BASES, _CHUNK = 8_000_000, 250
# Bases of a window, at most; indexes know where the reads of so many bases begin (SAM specification, section 5.1.1).
SPAN, INDEXED = 10_000_000, 1 << 14
# Bases of a read, on average, from which on reads are long.
LONG = 1_000
# How many times as often as without PCR repeats of other libraries change, at least: the middle between those without
# PCR and those with it.
EXCESS = 5**0.5
# The lowest and the highest base quality, at least, where an offset of 64 is taken for one of 33: old Illumina programs
# wrote such files.
OFFSET_64 = 31, 60
# The standard deviation of the log10 of rates among repeats of long reads, whose errors depend on what is near.
SPREAD_OF_LONG = 0.25


def seen(files: OpenFiles, options: RunOptions) -> tuple[OpenFiles, RunOptions]:
    """The files with the rates of other sources and of slips that some reads show, and the options with the STR model.

    Only genotypes use these rates.
    """
    sees_gaps = options.profile is None and _is_preset(options.model)  # otherwise, options say what gaps are like
    if not options.stutter or not (sees_gaps or files.makes_genotypes):
        return files, options
    of_mixture = options.discovery.errors is not None
    finder = native.ErrorRateFinder(options.discovery.min_base_quality) if of_mixture else native.SourceRateFinder()
    reference = native.ReferenceBases(files.genome.fetch)
    bases = reads = 0
    lowest, highest = 255, 0

    def looked_at() -> Iterator[ReadBlock]:
        nonlocal bases, reads, lowest, highest
        for block in _some_reads(files, options):
            bases, reads = bases + len(block.bases), reads + len(block)
            lowest, highest = min(lowest, int(block.quals.min())), max(highest, int(block.quals.max()))
            if files.makes_genotypes:
                finder.add(block.chrom, block.aligned, reference)
            yield block

    sites = Counter[Site]()
    try:
        if sees_gaps or of_mixture:
            sites = count_changes(looked_at(), files.genome.fetch)
        else:
            for _ in looked_at():
                pass
    except InputError:  # The run itself says what is wrong, if it comes there.
        return files, options
    if lowest >= OFFSET_64[0] and highest > OFFSET_64[1]:
        log.warning("base qualities are %d to %d: they seem to be Phred+64, read as Phred+33", lowest, highest)
    if isinstance(finder, native.ErrorRateFinder):
        slips = estimate_rates(sites)
        errors = finder.rates(reference, slips.gain.ravel().tolist(), slips.loss.ravel().tolist())
        options = replace(options, discovery=replace(options.discovery, errors=errors))
    else:
        files = files._replace(source_rates=finder.rates())
    return _with_repeats(sites, bases >= LONG * reads, files, options) if sees_gaps else (files, options)


def _with_repeats(
    sites: Counter[Site], is_long: bool, files: OpenFiles, options: RunOptions
) -> tuple[OpenFiles, RunOptions]:
    """The files with how often reads slip in repeats, and the options with the STR model that these ask for."""
    model = options.model
    excess = excess_of(sites)
    if excess >= EXCESS:
        found = _estimated(sites, model) if is_long else str_model_of(LIBRARIES[1])
        log.info("repeats stutter %.1f times as often as without PCR: STR model %s", excess, found.name)
        model = replace(model, str_model=found)
        if is_long:  # its rates are those of the reads
            return files, replace(options, model=model)
    slips = native.seen_slips(slip_rates_of(model), list(sites.items()))
    return files._replace(slips=slips), replace(options, model=model)


def _is_preset(model: GatkOptions) -> bool:
    """Whether the qualities of gaps are those of a preset."""
    names = "insertion_quality", "deletion_quality", "gap_quality", "pcr_indel_model"
    gaps = [getattr(model, name) for name in names]
    default = GatkOptions()
    return (
        model.str_model is None
        and model.indel_qualities is None
        and any(gaps == [preset.get(name, getattr(default, name)) for name in names] for preset in PRESETS.values())
    )


def excess_of(sites: Counter[Site]) -> float:
    """How many times as often as in a library without PCR reads over runs of one base have gained or lost some."""
    gain, loss = rates_of(str_model_of(LIBRARIES[0]))
    return native.stutter_excess(list(sites.items()), gain.ravel().tolist(), loss.ravel().tolist(), MOST_REPEATS)


def _estimated(sites: Counter[Site], model: GatkOptions) -> StrModel:
    rates = estimate_rates(sites)
    quality = min(model.insertion_quality, model.deletion_quality)
    found = model_of_rates(rates.gain, rates.loss, "estimated", quality, model.gap_quality)
    return replace(found, spread=SPREAD_OF_LONG)


def _some_reads(files: OpenFiles, options: RunOptions) -> Iterator[ReadBlock]:
    """Reads from places that are spread over the files; without an index, the first ones. None of a pipe."""
    sources, contigs = files.reader.sources, list(files.contigs)
    if pipes := [source.path for source in sources if not os.path.isfile(source.path)]:
        rule = "is read once, so that no reads are looked at first for the errors of the library"
        log.info("%s %s; give a file", "stdin" if pipes[0] == STDIN else pipes[0], rule)
        return
    of_mixture = options.discovery.errors is not None
    most, fewest = (OF_MIXTURE, OF_MIXTURE) if of_mixture else (MOST, FEWEST)
    reads_wanted, places = fewest, list[list[Interval] | None]([None])
    if all(find_index(source.path) for source in sources):
        work = work_of(sources, [Interval(name, 0, length) for name, length in files.contigs.items()])
        reads_wanted = int(min(most, max(fewest, SHARE * work.total)))
        windows = _windows(work, files.contigs, reads_wanted)
        places = [[window] for window in windows] or [None]
        if windows and (crams := [source.path for source in sources if source.kind == "CRAM"]):
            rule = "its index counts bytes, so that errors of the library are looked at in other reads than in a BAM"
            log.info("%s: %s; last digits of records may differ", crams[0], rule)

    def is_enough(reads: int, bases: int) -> bool:
        share = reads / reads_wanted
        return max(share, 0 if of_mixture else bases / BASES / len(sources)) * len(places) >= 1

    def read(place: list[Interval] | None) -> Iterator[ReadBlock]:
        taken: list[ReadBlock] = []
        reads, bases = 0, 0
        families = options.molecules.families
        for block in read_blocks(sources, contigs, options.reads, _CHUNK, place, families=families, left_out=LeftOut()):
            if taken and block.chrom != taken[0].chrom:
                yield ReadBlock.concatenate(taken)
                taken = []
            taken.append(block)
            reads, bases = reads + len(block), bases + len(block.bases)
            if is_enough(reads, bases):
                break
            if of_mixture and sum(map(len, taken)) >= AT_ONCE:
                yield ReadBlock.concatenate(taken)
                taken = []
        if taken:  # together they are counted in less time
            yield ReadBlock.concatenate(taken)

    count = 1 if of_mixture else min(options.threads, len(places))
    if count == 1:
        yield from chain.from_iterable(map(read, places))
        return
    with TaskThreads(lambda: read, count, threading.Event()) as threads:
        yield from threads.results(places)


def _windows(work: Work, contigs: Mapping[str, int], reads: int) -> list[Interval]:
    """Windows that begin where equal parts of the reads do; none where nearly all reads are wanted.

    Reads of a small or deep file begin in a few parts of its index, and so do its windows.
    """
    if work.total <= 2 * reads:
        return []
    count = max(WINDOWS, reads // OF_WINDOW)
    starts = [work.locus_at((number + 0.5) / count) for number in range(count)]
    begins = list(dict.fromkeys((chrom, start // INDEXED * INDEXED) for chrom, start in starts))
    # The index of a CRAM counts bytes in place of reads: a window may have fewer reads than are wanted of it.
    ends = [begin if chrom == before else contigs[before] for (before, _), (chrom, begin) in pairwise(begins)]
    ends.append(contigs[begins[-1][0]])
    return [Interval(*begin, min(end, begin[1] + SPAN)) for begin, end in zip(begins, ends, strict=True)]
