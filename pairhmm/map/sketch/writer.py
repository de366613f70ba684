"""Writes sketch files, sample by sample."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.names import check_names
from pairhmm.files.outputs import open_binary_output
from pairhmm.map.sketch.layout import COUNTS, END, HEADER, KMERS, LEAST_COUNT, MAGIC, NAME_END, SCHEMES, TAIL, VERSION
from pairhmm.map.sketch.layout import WORD as WORD_TYPE
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches


class SketchWriter:
    """Writes sketches to an open file. The planes are written at once; the table of samples follows them at the end.

    Parameters
    ----------
    path : str
        Name of the file in messages.
    file : binary file
    scheme : Scheme
    """

    def __init__(self, path: str, file: BinaryIO, scheme: Scheme) -> None:
        self._path, self._file, self._scheme = path, file, scheme
        self._checksum = 0
        self._names: dict[str, None] = {}
        self._kmers, self._least_counts = array("d"), array("i")
        self._write(HEADER.pack(MAGIC, VERSION, SCHEMES.index(scheme.name), scheme.k, scheme.slots, scheme.bits, 0))

    def __len__(self) -> int:
        """Number of samples that were written."""
        return len(self._names)

    def add(self, name: str, planes: NDArray[np.uint64], kmers: float, least_count: int) -> None:
        """Write the sketch of a sample; `planes` has the shape (bits, slots // 64).

        Raises
        ------
        InputError
            For a name that another sample has, and for one with control characters.
        """
        shape = (self._scheme.bits, self._scheme.slots // WORD_BITS)
        if planes.shape != shape:
            raise ValueError(f"planes of shape {planes.shape} in a scheme of {shape}")
        if name in self._names:
            raise InputError(self._path, f"sample {name!r}", "would be in the file twice", "give each its own name")
        check_names(self._path, "sample", [name], "choose another name")
        self._write(planes.astype(WORD_TYPE, copy=False).tobytes())
        self._names[name] = None
        self._kmers.append(kmers)
        self._least_counts.append(least_count)

    def finish(self) -> None:
        """Write the table of samples and the end marker."""
        names = b"".join(name.encode() + NAME_END for name in self._names)
        self._write(np.asarray(self._kmers).astype(KMERS).tobytes())
        self._write(np.asarray(self._least_counts).astype(LEAST_COUNT).tobytes())
        self._write(names)
        self._write(COUNTS.pack(len(self._names), len(names)))
        self._file.write(TAIL.pack(self._checksum, 0, END))

    def _write(self, data: bytes) -> None:
        self._checksum = zlib.crc32(data, self._checksum)
        self._file.write(data)


@contextmanager
def create_sketches(destination: str | Path, scheme: Scheme) -> Iterator[SketchWriter]:
    """A writer of a sketch file that appears when the block ends well; ``-`` is stdout.

    Raises
    ------
    InputError
        Where the file can't be written.
    """
    with open_binary_output(destination) as file:
        writer = SketchWriter(str(destination), file, scheme)
        yield writer
        writer.finish()


def write_sketches(destination: str | Path, sketches: Sketches) -> None:
    """Write a sketch file; errors as in `create_sketches` and `SketchWriter.add`."""
    with create_sketches(destination, sketches.scheme) as writer:
        for index, name in enumerate(sketches.names):
            kmers, least_count = float(sketches.kmers[index]), int(sketches.least_counts[index])
            writer.add(name, sketches.planes[index], kmers, least_count)
