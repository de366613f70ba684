"""Writes alignments as SAM and BAM."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pysam
from numpy.typing import NDArray

from pairhmm.align.base import Alignments
from pairhmm.align.names import RECORD_NAMES, check_each, reference_name
from pairhmm.align.sequence_blocks import PairBlock, sequence_blocks
from pairhmm.align.tables import UNKNOWN_QUALITY, AlignmentSink, count_columns
from pairhmm.alignments.sam import DELETION
from pairhmm.errors import InputError
from pairhmm.files.names import printable
from pairhmm.files.outputs import output_errors, whole_files
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.letters import decode

UNMAPPED, SECONDARY = 0x4, 0x100


def read_targets(path: str) -> tuple[list[str], list[int]]:
    """Names and lengths of all sequences of a file, for a header of SAM.

    Raises InputError for what a header can't have: a name that SAM forbids, two sequences of one name, and an empty
    one.
    """
    names: list[str] = []
    lengths: list[int] = []
    for block in sequence_blocks(path):
        names += block.names
        lengths += block.sequences.lengths.tolist()
    check_each(path, names, reference_name, RECORD_NAMES.cure)
    seen: dict[str, int] = {}
    for number, (name, length) in enumerate(zip(names, lengths, strict=True), start=1):
        place = f"record {number} ({name})"
        if length == 0:
            raise InputError(path, place, "an empty sequence can't stand in SAM", "remove it, or write TSV or PAF")
        if seen.setdefault(name, number) != number:
            rule = f"has the name of record {seen[name]}, and SAM tells targets apart by their names"
            raise InputError(path, place, rule, "rename it, or write TSV or PAF")
    return names, lengths


@contextmanager
def open_records(
    destination: str | Path, names: Sequence[str], lengths: Sequence[int], provenance: Mapping[str, str]
) -> Iterator[AlignmentSink]:
    """Open a SAM file, or a BAM file by the name's ending, with the names and lengths of all targets.

    `provenance` are fields of the header's line @PG, such as VN and CL; without any, there is no such line.
    """
    program = {key: printable(value) for key, value in provenance.items()}
    header = {
        "HD": {"VN": "1.6", "SO": "unsorted"},
        "SQ": [{"SN": name, "LN": length} for name, length in zip(names, lengths, strict=True)],
        **({"PG": [{"ID": "pairhmm", "PN": "pairhmm", **program}]} if program else {}),
    }
    mode = "wb" if str(destination).endswith(".bam") else "w"
    with whole_files(destination) as scratch, output_errors(destination, scratch):
        with pysam.AlignmentFile(os.fsencode(scratch), mode, header=header) as out:
            yield _Records(out)


class _Records(AlignmentSink):
    def __init__(self, out: pysam.AlignmentFile) -> None:
        self._out = out

    def add(self, block: PairBlock, scores: NDArray[np.int32], alignments: Alignments | None) -> None:
        assert alignments is not None
        pairs = block.pairs
        counts = count_columns(pairs, alignments)
        is_aligned = counts.matches + counts.mismatches > 0
        differences = counts.mismatches + counts.inserted + counts.deleted
        names = [name or "*" for name in block.queries.names]
        # Aligned records go before unaligned ones.
        is_first = best_of_each(pairs.query_index, np.where(is_aligned, scores, np.iinfo(np.int32).min))
        for index, (query, target) in enumerate(
            zip(pairs.query_index.tolist(), pairs.target_index.tolist(), strict=True)
        ):
            if not (is_aligned[index] or is_first[index]):
                continue
            record = pysam.AlignedSegment(self._out.header)
            record.query_name = names[query]
            record.flag = 0 if is_first[index] else SECONDARY
            self._set_letters(record, block, query)
            if is_aligned[index]:
                words = alignments.cigars[alignments.offsets[index] : alignments.offsets[index + 1]].tolist()
                cigar = [(word & 15, word >> 4) for word in words]
                start, cigar, trimmed = without_outer_deletions(int(alignments.target_starts[index]), cigar)
                record.reference_id = block.first_target + target
                record.reference_start = start
                record.mapping_quality = UNKNOWN_QUALITY
                record.cigartuples = cigar
                record.set_tag("NM", int(differences[index]) - trimmed)
                record.set_tag("AS", int(scores[index]))
            else:
                record.flag = UNMAPPED
            self._out.write(record)

    @staticmethod
    def _set_letters(record: pysam.AlignedSegment, block: PairBlock, query: int) -> None:
        codes = block.queries.sequences[query]
        record.query_sequence = decode(codes)
        if block.queries.qualities is not None and len(codes):
            begin = int(block.queries.sequences.offsets[query])
            text = (block.queries.qualities[begin : begin + len(codes)] + 33).tobytes().decode("latin-1")
            record.query_qualities_str = text


def best_of_each(query: NDArray[np.int32], scores: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether a pair has the best score of its query's, the first of equal ones. A query's pairs are consecutive."""
    begins = np.flatnonzero(np.append(True, query[1:] != query[:-1])) if len(query) else np.empty(0, dtype=np.int64)
    group = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(query))))
    order = np.lexsort((np.arange(len(query)), -scores.astype(np.int64), group))
    best = np.zeros(len(query), dtype=bool)
    best[order[offsets(np.bincount(group, minlength=len(begins)))[:-1]]] = True
    return best


def without_outer_deletions(start: int, cigar: list[tuple[int, int]]) -> tuple[int, list[tuple[int, int]], int]:
    """An alignment without deletions at its ends, which programs that read SAM refuse; and the letters of those."""
    trimmed = 0
    if cigar[-1][0] == DELETION:
        trimmed += cigar[-1][1]
        cigar = cigar[:-1]
    if cigar[0][0] == DELETION:
        trimmed += cigar[0][1]
        start += cigar[0][1]
        cigar = cigar[1:]
    return start, cigar, trimmed
