"""Writes tables of distances of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.outputs import open_binary_output
from pairhmm.map.sketch.distances import distances, jaccard, mash_distance
from pairhmm.map.sketch.pairing import ComparedPairs, SketchSource
from pairhmm.map.sketch.sketches import Scheme
from pairhmm.native import native, require_compiled

COLUMNS = ("sample_1", "sample_2", "jaccard", "mash_distance", "containment", "ani")

_Texts = tuple[bytes, NDArray[np.int64]]


class DistanceTable:
    """A table that is being written.

    Parameters
    ----------
    out : binary file
    queries, targets : SketchSource
        What the pairs refer to.
    threads : int

    Attributes
    ----------
    pairs : int
        Rows so far.
    """

    def __init__(self, out: BinaryIO, queries: SketchSource, targets: SketchSource, threads: int) -> None:
        self._out, self._threads, self.pairs = out, threads, 0
        self._queries, self._targets = queries, targets
        self._names = _joined(queries.names), _joined(targets.names)
        self._heads = _joined(_heads(queries.scheme))
        out.write(("#" + "\t".join(COLUMNS) + "\n").encode())

    def add(self, block: ComparedPairs) -> None:
        """Write a row for each pair."""
        kmers, others = self._queries.kmers[block.query], self._targets.kmers[block.target]
        found = distances(block.equal, kmers, others, self._queries.scheme)
        names, other_names = self._names
        self._out.writelines(
            native.distance_lines(
                *(*names, *other_names, block.query, block.target, block.equal, *self._heads),
                *(found.containment, found.ani, self._threads),
            )
        )
        self.pairs += len(block.equal)

    def add_unknown(self, block: ComparedPairs) -> None:
        """Write a row without figures for each pair."""
        queries, targets = self._queries.names, self._targets.names
        rows = zip(block.query.tolist(), block.target.tolist(), strict=True)
        self._out.writelines(f"{queries[one]}\t{targets[other]}\t.\t.\t.\t.\n".encode() for one, other in rows)
        self.pairs += len(block.equal)


@contextmanager
def open_distances(
    destination: str | Path, queries: SketchSource, targets: SketchSource, threads: int
) -> Iterator[DistanceTable]:
    """Open a table of distances (TSV); ``-`` is stdout."""
    require_ending(destination, "tables of distances", TEXT_TABLE)
    require_compiled("map distances")
    with open_binary_output(destination) as out:
        yield DistanceTable(out, queries, targets, threads)


def _heads(scheme: Scheme) -> list[str]:
    """The columns jaccard and mash_distance for each number of equal slots, with six digits as Mash has them."""
    index = jaccard(np.arange(scheme.slots + 1), scheme)
    both = zip(index.tolist(), mash_distance(index, scheme.k).tolist(), strict=True)
    return [f"{alike:.6g}\t{distance:.6g}" for alike, distance in both]


def _joined(texts: Sequence[str]) -> _Texts:
    """Texts end to end, and where each ends."""
    parts = [text.encode() for text in texts]
    return b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.int64)
