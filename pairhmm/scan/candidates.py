"""Writes the reads that match, each with the part of its signature that it may come from: the input of `align`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from pairhmm.files.outputs import named_after, tell_of_left_out
from pairhmm.scan.base import REVERSE
from pairhmm.scan.tables import Searched
from pairhmm.sequences.fastx import WriteRecord, open_sequences
from pairhmm.sequences.letters import reverse_complement
from pairhmm.sequences.records import RecordBlock

LEAST_MARGIN = 20
"""The least margin, in letters of the signature on both sides of a read that is placed without gaps."""

MARGIN_SHARE = 0.1
"""The least margin, as a share of the read."""

_CANDIDATES = ".reads.fq", ".parts.fa"


def candidate_paths(prefix: str) -> tuple[str, ...]:
    """The paths of the reads and of the parts of signatures."""
    return named_after(prefix, *_CANDIDATES)


@contextmanager
def open_candidates(prefix: str, searched: Searched) -> Iterator[CandidateWriter]:
    """Open ``PREFIX.reads.fq`` and ``PREFIX.parts.fa``, which have as many records."""
    reads, parts = candidate_paths(prefix)
    tell_of_left_out(prefix, *_CANDIDATES[1:])
    with open_sequences(parts) as write_part, open_sequences(reads) as write_read:
        yield CandidateWriter(write_read, write_part, searched)


class CandidateWriter:
    """Writes each read with a hit once, in the direction of the signature that has most of its matches."""

    def __init__(self, write_read: WriteRecord, write_part: WriteRecord, searched: Searched) -> None:
        self._write_read, self._write_part, self._searched = write_read, write_part, searched

    def add(self, block: RecordBlock, hits: NDArray[np.void]) -> None:
        """Add the reads of a block of whole records."""
        order = np.lexsort((-hits["total"], -hits["matches"], hits["segment"]))
        segments = hits["segment"][order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = segments[1:] != segments[:-1]
        for hit in hits[order[first]]:
            self._add(block, hit)

    def _add(self, block: RecordBlock, hit: np.void) -> None:
        samples, segment, signature = block.samples, int(hit["segment"]), int(hit["signature"])
        begin, end = (int(at) for at in samples.offset[segment : segment + 2])
        letters = samples.letters[begin:end]
        qualities = None if samples.qualities is None else samples.qualities[begin:end]
        start = int(hit["start"])
        if hit["strand"] == REVERSE:
            letters, qualities = reverse_complement(letters), None if qualities is None else qualities[::-1]
            start = len(letters) - start - int(self._searched.lengths[signature])
        margin = max(LEAST_MARGIN, round(MARGIN_SHARE * len(letters)))
        whole = self._searched.signatures.sequence(signature)
        expected = int(hit["place"]) - start
        first, last = max(0, expected - margin), min(len(whole), expected + len(letters) + margin)
        self._write_read(block.names[segment], letters, qualities)
        self._write_part(f"{self._searched.signatures.names[signature]}:{first + 1}-{last}", whole[first:last], None)
