"""Whole reads as the profile model takes them, with mates and families joined. All coordinates are 0-based."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.molecules import require_tags
from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.read_blocks import read_blocks
from pairhmm.alignments.sam import mate_of
from pairhmm.calling.mates import CutSlices, Joiner, joined_reads
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.scoring import prepared_base_quality
from pairhmm.calling.stream import cut_bases, cut_slices
from pairhmm.calling.targets import contig_order, find_places
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import PRESETS, ProfileModel, preset
from pairhmm.native import require_compiled
from pairhmm.objects import short_repr
from pairhmm.sequences.fasta import Reference

# Beyond either end of every contig: BAM's positions have 32 bits.
_FAR = 1 << 32


@dataclass(frozen=True, slots=True)
class MadeProfile:
    """A profile that was made of one read or of several.

    Attributes
    ----------
    name : str
        The first of its reads' names, in alphabetical order. Mates and the two ends of a family share it.
    sample : str
    chrom : str
    position : int
        0-based position of the first aligned base. Soft-clipped bases lie before it.
    reads : int
        The number of reads that it was made of.
    mate : int
        1 or 2 for the first or second read of a pair; 0 for a read without a mate, and for mates that were joined.
    probabilities : float64[m, 4]
        Probabilities of A C G T. Each row sums to 1.
    """

    name: str
    sample: str
    chrom: str
    position: int
    reads: int
    mate: int
    probabilities: NDArray[np.float64]

    __repr__ = short_repr


def made_profiles(inputs: RunInputs, options: RunOptions) -> Generator[MadeProfile]:
    """The profiles of all reads of the files, or of those that overlap the regions, in order of their positions.

    Reads are whole: they are not cut to the regions of candidates. Their base qualities are prepared as for scoring
    (``options.model``), and mates and families are joined as ``options.molecules`` says. Memory grows with the depth
    and not with the size of the files.

    Parameters
    ----------
    inputs : RunInputs
        Alignments, reference, and regions if only a part is asked for. Candidates and haplotypes are not used.
    options : RunOptions
        `profile` is not used: it may be None unless reads are joined.

    Raises
    ------
    InputError
        For files that can't be used, and for families by MI where no read has the tag.
    CompiledPartMissing
        Where the package was installed without its compiled part, which reads alignments.
    """
    require_compiled("reading alignments")
    families = options.molecules.families
    with ExitStack() as stack:
        genome = stack.enter_context(Reference(inputs.reference))
        asked = find_places(inputs, genome)
        reader = stack.enter_context(AlignmentReader(inputs.alignments, genome, asked is not None, options.threads))
        contigs = list(contig_order(reader, genome))
        blocks = read_blocks(reader.sources, contigs, options.reads, options.chunk_size, asked, families=families)
        if families == "MI":
            blocks = require_tags(blocks, ", ".join(inputs.alignments))
        joiner, model = Joiner(options.molecules), options.profile or preset(PRESETS[0])
        for whole in _whole(blocks, joiner):
            yield from _made(whole, joiner, options.model, model, reader.samples)
        if options.molecules.are_on:
            joiner.counts.announce(options.molecules)


def _whole(blocks: Iterable[ReadBlock], joiner: Joiner) -> Iterator[ReadBlock]:
    """The reads of profiles that no later read can join, in the order in which the profiles begin."""
    held = ReadBlock.empty()
    for block in blocks:
        if block.chrom != held.chrom:
            if len(held):
                yield held
            held = ReadBlock.empty(block.chrom)
        held = ReadBlock.concatenate([held, block])
        joined = joiner.join(held, _uncut(held), [len(held)])
        reads = joined_reads(held, np.arange(len(held)), joined)
        # No later read starts before the last of these. Profiles that begin behind an open one wait for it.
        is_open = np.flatnonzero(reads.end > block.start[-1])
        count = int(is_open[0]) if len(is_open) else len(joined.reads)
        ready = np.zeros(len(held), dtype=bool)
        ready[joined.member[: joined.member_offset[count]]] = True
        if count:
            yield held.take(np.flatnonzero(ready))
            held = held.take(np.flatnonzero(~ready))
    if len(held):
        yield held


def _uncut(held: ReadBlock) -> CutSlices:
    """Whole reads. Those without an aligned base have nothing left."""
    return cut_slices(held, np.arange(len(held)), -_FAR, 2 * _FAR, 0)


def _made(
    held: ReadBlock, joiner: Joiner, options: GatkOptions, model: ProfileModel, samples: Sequence[str]
) -> Iterator[MadeProfile]:
    slices = _uncut(held)
    cut = cut_bases(held, slices)
    joined = joiner.join(held, slices, [len(held)])
    # Which reads meet those that they don't agree with depends on the blocks, so that these are not counted.
    joiner.counts.add(joined.are_mates, joined.copies)
    rows = joined.joined(model.base_calls(cut.bases, prepared_base_quality(cut, options))).at_bases
    sizes = joined.reads
    reads = joined_reads(held, slices.read, joined)
    for number, name in enumerate(reads.names):
        probabilities = rows[joined.offset[number] : joined.offset[number + 1]]
        if not len(probabilities):
            continue
        yield MadeProfile(
            name=name,
            sample=samples[reads.sample[number]],
            chrom=held.chrom,
            position=int(reads.start[number]),
            reads=int(sizes[number]),
            mate=mate_of(int(reads.flag[number])),
            probabilities=probabilities,
        )
