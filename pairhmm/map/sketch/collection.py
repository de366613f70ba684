"""Several sketch files as one collection, whose planes stay on disk."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import Paths, some_paths_of
from pairhmm.map.sketch.reader import SketchFile, check_given_once, check_together, open_sketches
from pairhmm.map.sketch.sketches import Scheme, Sketches


@dataclass(frozen=True, slots=True)
class SketchCollection:
    """Open sketch files, one after the other.

    Attributes
    ----------
    files : list of SketchFile
    first : list of int
        The number of each file's first sample; at the end, of all samples.
    names : list of str
    kmers : ndarray, shape (samples,), float64
    """

    files: list[SketchFile]
    first: list[int]
    names: list[str]
    kmers: NDArray[np.float64]

    @property
    def scheme(self) -> Scheme:
        """The scheme of all files."""
        return self.files[0].scheme

    def __len__(self) -> int:
        return len(self.names)

    def part(self, begin: int, end: int) -> Sketches:
        """Read the sketches of the samples from `begin` to `end`."""
        read: list[Sketches] = []
        number = bisect_right(self.first, begin) - 1
        while not read or self.first[number] < end:
            file, first = self.files[number], self.first[number]
            read.append(file.part(max(begin - first, 0), min(end - first, len(file))))
            number += 1
        if len(read) == 1:
            return read[0]
        return Sketches(
            self.scheme,
            self.names[begin:end],
            np.concatenate([one.planes for one in read]),
            self.kmers[begin:end],
            np.concatenate([one.least_counts for one in read]),
        )


@contextmanager
def open_collection(paths: Paths) -> Iterator[SketchCollection]:
    """Open sketch files that are compared together.

    Raises
    ------
    InputError
        As `pairhmm.map.sketch.reader.read_sketches`.
    """
    named = some_paths_of(paths, "sketches")
    check_given_once(named)
    with ExitStack() as stack:
        files = [stack.enter_context(open_sketches(path)) for path in named]
        check_together(named, files)
        first = np.cumsum([0, *map(len, files)]).tolist()
        names = files[0].names if len(files) == 1 else [name for file in files for name in file.names]
        yield SketchCollection(files, first, names, np.concatenate([file.kmers for file in files]))
