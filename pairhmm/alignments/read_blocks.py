"""Reads the alignments of all inputs in blocks of flat arrays, in coordinate order.

All coordinates are 0-based half-open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import tee

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.molecules import Families
from pairhmm.alignments.native_reader import native_blocks
from pairhmm.alignments.selection import LeftOut, ReadRequest, ReadSelection
from pairhmm.alignments.sources import OpenAlignments
from pairhmm.sequences.intervals import Interval

# Blocks of the size that is asked for whose reads may be held at once, and the fewest reads of a smaller block.
_BLOCKS_HELD, _FEWEST = 2, 40


def read_blocks(
    inputs: Sequence[OpenAlignments],
    contigs: Sequence[str],
    selection: ReadSelection,
    chunk_size: int = 20_000,
    regions: Sequence[Interval] | None = None,
    wanted: Iterable[Interval] | None = None,
    families: Families = "none",
    left_out: LeftOut | None = None,
    indel_tags: bool = False,
    trims_ends: bool = False,
) -> Iterator[ReadBlock]:
    """Blocks of reads of all inputs, merged in coordinate order.

    Raises InputError for inputs that are not sorted or are cut short, and reads whose parts do not fit each other.

    Parameters
    ----------
    inputs : sequence of OpenAlignments
        Each sorted by coordinate.
    contigs : sequence of str
        Contigs in the order of the inputs; reads on others are left out.
    chunk_size : int
        Reads a block.
    regions : sequence of (chrom, start, end), optional
        Disjoint. Only reads that overlap one are read, through the index.
    wanted : iterable of (chrom, start, end), optional
        Disjoint and in order. Reads that overlap none of these are skipped before they are decoded.
    families : {"none", "MI", "position"}
        How the molecule of each read is found. Tags MI of different inputs are different molecules.
    left_out : LeftOut, optional
        Gets the reads that were left out of a part of a run. They are not announced then.
    indel_tags : bool
        Whether the tags BI and BD are read.
    trims_ends : bool
        Whether ends that say nothing of the sample become N of quality 0.
    """
    rank = {name: index for index, name in enumerate(contigs)}
    if regions is not None:
        regions = sorted((one for one in regions if one[0] in rank), key=lambda one: (rank[one[0]], one[1]))
    # A block of each input is held. Of many inputs, blocks are smaller.
    size = min(chunk_size, max(_FEWEST, _BLOCKS_HELD * chunk_size // len(inputs)))
    request = ReadRequest(contigs, rank, selection, size, regions, families, indel_tags, trims_ends)
    copies = tee(wanted, len(inputs)) if wanted is not None else [None] * len(inputs)
    found = LeftOut()
    streams = [
        native_blocks(source, order, request, intervals, found)
        for order, (source, intervals) in enumerate(zip(inputs, copies, strict=True))
    ]
    paths = ", ".join(source.path for source in inputs)
    for block in streams[0] if len(streams) == 1 else _merged(streams, rank, chunk_size):
        found.has_used = True
        yield block
    if left_out is None:
        found.conclude(paths, is_whole=regions is None and wanted is None)
    else:
        left_out.add(found)


def _merged(streams: Sequence[Iterator[ReadBlock]], rank: dict[str, int], chunk_size: int) -> Iterator[ReadBlock]:
    from pairhmm.alignments.merged_blocks import merged_blocks

    return merged_blocks(streams, rank, chunk_size)
