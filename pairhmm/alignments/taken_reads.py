"""Reads as the compiled part takes them from records, and their molecules. All coordinates are 0-based half-open."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.molecules import TAG_OF, AlignedTemplate, Families, molecule_by_position, without_strand
from pairhmm.alignments.sources import OpenAlignments

_IN_ARRAYS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "f": "f"}
_ALONE = {**_IN_ARRAYS, "d": "d"}
_HEAD = 6  # of an array: its types and its length


class Taken(NamedTuple):
    """A block as the compiled part gives it. Texts are laid end to end, with the end of each."""

    contig: int
    names: bytes
    name_end: NDArray[np.int64]
    sample: NDArray[np.int32]
    flag: NDArray[np.uint16]
    mapq: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    bases: NDArray[np.uint8]
    quals: NDArray[np.uint8]
    cigar_offset: NDArray[np.int64]
    cigar: NDArray[np.uint32]
    odd: NDArray[np.int64]
    groups: bytes
    group_end: NDArray[np.int64]
    tags: bytes
    tag_end: NDArray[np.int64]
    mate_contig: NDArray[np.int32]
    mate_start: NDArray[np.int32]
    template_length: NDArray[np.int32]
    insertion: NDArray[np.uint8]
    deletion: NDArray[np.uint8]


def molecules_of(
    source: OpenAlignments, order: int, families: Families, contig: int, block: ReadBlock, taken: Taken
) -> Iterator[str]:
    """The molecule of each read; empty where that is not known.

    Parameters
    ----------
    source : OpenAlignments
    order : int
        Its place among the inputs. Tags MI of different inputs are different molecules.
    families : {"MI", "position"}
    contig : int
        Number of the block's contig in the file.
    block : ReadBlock
    taken : Taken
        The same reads.

    Raises
    ------
    InputError
        For a tag that is not text.
    """
    by_tag, at = families == "MI", block.cigar_offset.tolist()
    for read, value in enumerate(pieces(taken.tags, taken.tag_end)):
        try:
            text = tag_text(value)
        except ValueError as error:
            raise source.tag_is_no_text(TAG_OF[families], block.names[read]) from error
        if by_tag:
            yield f"{order}:{molecule}" if (molecule := without_strand(text)) else ""
            continue
        cigar = [(packed & 15, packed >> 4) for packed in block.cigar[at[read] : at[read + 1]].tolist()]
        template = AlignedTemplate(
            int(block.flag[read]),
            int(block.start[read]),
            int(block.end[read]),
            cigar,
            contig,
            int(taken.mate_contig[read]),
            int(taken.mate_start[read]),
            int(taken.template_length[read]),
            text if value else None,
        )
        yield molecule_by_position(template)


def pieces(text: bytes, end: NDArray[np.int64]) -> list[bytes]:
    """Texts that are laid end to end, by the end of each."""
    ends = end.tolist()
    if not ends:
        return []
    return [text[begin:stop] for begin, stop in zip([0, *ends[:-1]], ends, strict=True)]


def tag_text(value: bytes) -> str:
    """The text of a tag's type and value (SAM specification, section 4.2.4); empty where there is none.

    Raises
    ------
    ValueError
        For a text that is not UTF-8, a character that is not ASCII, and an array of what is no number of BAM.
    """
    if not value:
        return ""
    kind, data = chr(value[0]), value[1:]
    if kind in "ZH":
        return data.split(b"\0")[0].decode()
    if kind == "A":
        return data.decode("ascii")
    if kind == "B":
        if (each := chr(data[0])) not in _IN_ARRAYS:
            raise ValueError(f"an array of type {each}")
        numbers = array(_IN_ARRAYS[each])
        numbers.frombytes(value[_HEAD:])
        return str(numbers)
    return str(struct.unpack(f"<{_ALONE[kind]}", data)[0])
