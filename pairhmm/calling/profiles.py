"""`profiles`: whole reads as the profile model takes them, with mates and UMI families joined.

All coordinates are 0-based.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Unpack

import numpy as np

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.molecules import require_tags
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.sam import mate_of
from pairhmm.arguments import AnyPath, Paths, Regions, path_of
from pairhmm.calling.cut_reads import CutSlices, cut_bases, cut_slices
from pairhmm.calling.keywords import RunKeywords
from pairhmm.calling.mates import Joiner
from pairhmm.calling.opening import open_files
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.scoring import model_reads
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import PRESETS, ProfileModel, preset
from pairhmm.models.profile_writer import MadeProfile, open_profiles
from pairhmm.native import require_compiled
from pairhmm.options import with_keywords
from pairhmm.plurals import counted
from pairhmm.process import closed_at_exit
from pairhmm.sequences.arrays import Names

log = logging.getLogger(__name__)


def profiles(
    alignments: Paths,
    reference: AnyPath,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Iterator[MadeProfile]:
    """Make the profiles that the profile model scores: letter probabilities of reads, joined where that is asked for.

    Base qualities are prepared as for scoring. Reads are whole, where scoring cuts them to regions.

    Parameters
    ----------
    alignments, reference, regions, regions_file
        As for `call`.
    options : RunOptions, optional
        Which reads are used, how their qualities are prepared (`GatkOptions`), and which of them are joined
        (`MoleculeOptions`). The other options are about haplotypes and scores.
    **keywords
        Fields of `RunOptions` by name, such as ``join_mates=True`` or ``families="MI"``. They override those of
        `options`.

    Returns
    -------
    iterator of MadeProfile
        In the order of their positions; `MadeProfile.probabilities` is float64[m, 4]. Memory does not grow with the
        files.

    Raises
    ------
    InputError, OptionError, TypeError, CompiledPartMissing
        As for `call`.

    Examples
    --------
    >>> for one in pairhmm.profiles("sample.bam", "ref.fa", "chr1:10,001-10,100", join_mates=True):  # doctest: +SKIP
    ...     print(one.name, one.reads, one.probabilities.shape)
    """
    chosen = _with_model("profiles", options, keywords)
    inputs = RunInputs.of(alignments, reference, None, None, regions, regions_file)
    return closed_at_exit(make_profiles(inputs, chosen))


def _with_model(function: str, options: RunOptions | None, keywords: RunKeywords) -> RunOptions:
    """The options of a function. Joining needs a profile model, though its parameters have no part in a profile."""
    base = options or RunOptions()
    (chosen,) = with_keywords(function, keywords, replace(base, profile=base.profile or preset(PRESETS[0])))
    return chosen


@kept_apart()
def write_profiles(
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> int:
    """Write the profiles that `profiles` makes. The file appears when it is whole.

    Parameters
    ----------
    alignments, reference, regions, regions_file, options, **keywords
        As for `profiles`.
    output : path
        ``.profile`` or ``.tsv``, with ``.gz`` bgzipped; ``-`` is `.profile` to stdout.

    Returns
    -------
    int
        Profiles written.

    Raises
    ------
    InputError, OptionError, TypeError, CompiledPartMissing
        As for `profiles`; InputError also where the output can't be written or would replace an input.

    Examples
    --------
    >>> pairhmm.write_profiles("sample.bam", "ref.fa", "families.tsv.gz", families="MI")  # doctest: +SKIP
    """
    chosen, output = _with_model("write_profiles", options, keywords), path_of(output)
    inputs = RunInputs.of(alignments, reference, None, None, regions, regions_file)
    check_apart(inputs.files, [("-o", output)])
    count = reads = 0
    with open_profiles(output) as write:
        for one in make_profiles(inputs, chosen):
            write(one)
            count, reads = count + 1, reads + one.reads
    log.info("%s of %s", counted(count, "profile"), counted(reads, "read"))
    return count


# Beyond either end of every contig: BAM's positions have 32 bits.
_FAR = 1 << 32


def make_profiles(inputs: RunInputs, options: RunOptions) -> Generator[MadeProfile]:
    """Make profiles of all reads of the files, or of those that overlap the regions, in order of their positions.

    Reads are whole: they are not cut to the regions of candidates. Their base qualities are prepared as for scoring
    (``options.model``), and mates and families are joined as ``options.molecules`` says. Memory grows with the depth
    and not with the size of the files. Candidates, haplotypes and, unless reads are joined, ``options.profile`` are not
    used.
    """
    require_compiled("reading alignments")
    families = options.molecules.families
    with ExitStack() as stack:
        _, reader, contigs, requested, *_ = stack.enter_context(open_files(inputs, options))
        blocks = read_blocks(
            reader.sources, list(contigs), options.reads, options.chunk_size, requested, families=families
        )
        if families == "MI":
            blocks = require_tags(blocks, ", ".join(inputs.alignments))
        joiner, model = Joiner(options.molecules), options.profile or preset(PRESETS[0])
        for whole in _whole(blocks, joiner):
            yield from _made(whole, joiner, options.model, model, reader.samples)
        if options.molecules.are_on:
            joiner.counts.announce(options.molecules)


def _whole(blocks: Iterable[ReadBlock], joiner: Joiner) -> Iterator[ReadBlock]:
    """The reads of profiles that no later read can join, in the order in which the profiles begin."""
    buffered = ReadBlock.empty()
    for block in blocks:
        if block.chrom != buffered.chrom:
            if len(buffered):
                yield buffered
            buffered = ReadBlock.empty(block.chrom)
        buffered = ReadBlock.concatenate([buffered, block])
        joined, reads = joiner.join(buffered, _uncut(buffered), [len(buffered)])
        # No later read starts before the last of these. Profiles that begin behind an open one wait for it.
        is_open = np.flatnonzero(reads.end > block.start[-1])
        count = int(is_open[0]) if len(is_open) else len(joined.reads)
        ready = np.zeros(len(buffered), dtype=bool)
        ready[joined.member[: joined.member_offset[count]]] = True
        if count:
            yield buffered.take(np.flatnonzero(ready))
            buffered = buffered.take(np.flatnonzero(~ready))
    if len(buffered):
        yield buffered


def _uncut(buffered: ReadBlock) -> CutSlices:
    """Whole reads. Those without an aligned base have nothing left."""
    return cut_slices(buffered, np.arange(len(buffered)), -_FAR, 2 * _FAR, 0)


def _made(
    buffered: ReadBlock, joiner: Joiner, options: GatkOptions, model: ProfileModel, samples: Sequence[str]
) -> Iterator[MadeProfile]:
    slices = _uncut(buffered)
    cut = cut_bases(buffered, slices)
    cut.joined, reads = joiner.join(buffered, slices, [len(buffered)])
    joined = cut.joined
    # Which reads meet those that they don't agree with depends on the blocks, so that these are not counted.
    joiner.counts.add(joined.are_mates, joined.copies)
    rows = model_reads(cut, options, model)["profiles"].at_bases
    sizes = joined.reads
    for number, name in enumerate(Names(reads.names, reads.name_end)):
        probabilities = rows[joined.offset[number] : joined.offset[number + 1]]
        if not len(probabilities):
            continue
        yield MadeProfile(
            name=name,
            sample=samples[reads.sample[number]],
            chrom=buffered.chrom,
            position=int(reads.start[number]),
            reads=int(sizes[number]),
            mate=mate_of(int(reads.flag[number])),
            probabilities=probabilities,
        )
