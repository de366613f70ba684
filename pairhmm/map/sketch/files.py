"""Sketch files (docs/formats.md): written sample by sample, read as a whole or in parts, one file or several."""

from __future__ import annotations

import io
import os
import struct
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.errors import InputError, OptionError
from pairhmm.files.bgzf import CUT_OFF, MAKE_AGAIN
from pairhmm.files.descriptors import STDIN, STDIN_FILE
from pairhmm.files.destinations import check_given_once
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.files.outputs import open_binary_output
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, SchemeName, Sketches

MAGIC: Final = b"PHMMSKCH"
END: Final = b"SKCHDONE"
VERSION: Final = 1

HEADER: Final = struct.Struct("<8sIIIIII")
"""`MAGIC`, version, scheme, k, slots, bits, 0."""

COUNTS: Final = struct.Struct("<QQ")
"""Samples, and bytes of their names."""

TAIL: Final = struct.Struct("<II8s")
"""CRC-32 of all bytes before it, 0, `END`."""

SCHEMES: Final[tuple[SchemeName, ...]] = ("permutation", "published")
"""The scheme of each number in the header."""

WORD: Final = "<u8"
KMERS: Final = "<f8"
LEAST_COUNT: Final = "<i4"
NAME_END: Final = b"\n"


class SketchWriter:
    """Writes sketches to an open file. The planes are written at once; the table of samples follows them at the end."""

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

        Raises InputError for a name that another sample has, and for one with control characters.
        """
        shape = (self._scheme.bits, self._scheme.slots // WORD_BITS)
        if planes.shape != shape:
            raise ValueError(f"planes of shape {planes.shape} in a scheme of {shape}")
        if name in self._names:
            raise InputError(self._path, f"sample {name!r}", "would be in the file twice", "give each its own name")
        check_names(self._path, "sample", [name], "choose another name")
        self._write(planes.astype(WORD, copy=False).tobytes())
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

    Raises InputError where the file can't be written.
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


_CHECKED_AT_ONCE = 1 << 20
_DAMAGED = "is damaged"


@dataclass(frozen=True, slots=True)
class SketchFile:
    """An open sketch file: its table of samples is in memory, and their planes are on disk."""

    path: str
    scheme: Scheme
    names: list[str]
    kmers: NDArray[np.float64]
    least_counts: NDArray[np.int32]
    _file: BinaryIO

    def __len__(self) -> int:
        return len(self.names)

    def part(self, begin: int, end: int) -> Sketches:
        """Read the sketches of the samples from `begin` to `end`. Raises InputError where the file can't be read."""
        names = self.names[begin:end]
        words = self.scheme.slots // WORD_BITS
        of_sample = self.scheme.bits * words * np.dtype(WORD).itemsize
        self._file.seek(HEADER.size + begin * of_sample)
        planes = _array(self.path, self._file, WORD, len(names) * self.scheme.bits * words)
        shaped = planes.reshape(len(names), self.scheme.bits, words)
        return Sketches(self.scheme, names, shaped, self.kmers[begin:end], self.least_counts[begin:end])


@contextmanager
def open_sketches(path: AnyPath) -> Iterator[SketchFile]:
    """Open a file of `pairhmm map sketch` and check it; ``-`` is stdin. A pipe is held in memory.

    Raises InputError for a file that can't be read, is no sketch file, is cut off or damaged, or has a sample twice.
    """
    path = path_of(path)
    opening(path)
    with ExitStack() as stack:
        try:
            file: BinaryIO = stack.enter_context(
                open(STDIN_FILE if path == STDIN else path, "rb", closefd=path != STDIN)
            )
            if not os.path.isfile(path):
                file = io.BytesIO(file.read())
            opened = _opened(path, file)
        except OSError as error:
            raise InputError(path, "", error.strerror or "can't be read", "check the path") from error
        yield opened


def read_sketches(paths: Paths) -> Sketches:
    """The sketches of one file or several, in their order.

    Raises InputError as `open_sketches` does; for files of different schemes, for a sample that two files have, and for
    a file that is given twice.
    """
    with open_collection(paths) as collection:
        return collection.part(0, len(collection))


def scheme_text(scheme: Scheme) -> str:
    """A scheme as messages show it."""
    return f"{scheme.name}, k {scheme.k}, {scheme.slots} slots of {scheme.bits} bits"


def check_one_scheme(paths: Sequence[str], files: Sequence[SketchFile]) -> None:
    """Raise InputError for files of different schemes."""
    for path, file in zip(paths, files, strict=True):
        if file.scheme != files[0].scheme:
            rule = f"{scheme_text(file.scheme)}, where {paths[0]} has {scheme_text(files[0].scheme)}"
            raise InputError(path, "", rule, "sketch both with the same options")


def _check_names_apart(paths: Sequence[str], files: Sequence[SketchFile]) -> None:
    home = dict[str, str]()
    for path, file in zip(paths, files, strict=True):
        for name in file.names:
            if name in home:
                rule = f"is in {home[name]} too"
                raise InputError(path, f"sample {name!r}", rule, "give each sample its own name")
            home[name] = path


def _opened(path: str, file: BinaryIO) -> SketchFile:
    size = file.seek(0, os.SEEK_END)
    scheme = _scheme(path, file, size)
    file.seek(size - TAIL.size - COUNTS.size)
    samples, name_bytes = COUNTS.unpack(file.read(COUNTS.size))
    before = HEADER.size + samples * scheme.bits * scheme.slots // 8
    of_sample = np.dtype(KMERS).itemsize + np.dtype(LEAST_COUNT).itemsize
    needed = before + samples * of_sample + name_bytes + COUNTS.size + TAIL.size
    if needed != size:
        raise InputError(path, "", f"{_DAMAGED}: {size} bytes where its table needs {needed}", MAKE_AGAIN)
    if not samples:
        raise InputError(path, "", "has no sample", MAKE_AGAIN)
    file.seek(before)
    kmers = _array(path, file, KMERS, samples)
    least_counts = _array(path, file, LEAST_COUNT, samples)
    return SketchFile(path, scheme, _names(path, file.read(name_bytes), samples), kmers, least_counts, file)


def _scheme(path: str, file: BinaryIO, size: int) -> Scheme:
    """The scheme of the header, once magic, version, end marker and checksum are right."""
    file.seek(0)
    header = file.read(HEADER.size)
    if not header.startswith(MAGIC):
        raise InputError(path, "", "is no sketch file", "make one with pairhmm map sketch")
    if size < HEADER.size + COUNTS.size + TAIL.size:
        raise InputError(path, "", CUT_OFF, MAKE_AGAIN)
    _, version, number, k, slots, bits, _ = HEADER.unpack(header)
    if version != VERSION:
        rule = f"has version {version} of the format, and this pairhmm reads version {VERSION}"
        raise InputError(path, "", rule, "make the file again, or update pairhmm")
    _check_whole(path, file, size - TAIL.size)
    try:
        return Scheme(SCHEMES[number], k, slots, bits)
    except (IndexError, OptionError) as error:
        raise InputError(path, "", f"{_DAMAGED}: its header has no scheme", MAKE_AGAIN) from error


def _check_whole(path: str, file: BinaryIO, end: int) -> None:
    file.seek(end)
    checksum, _, mark = TAIL.unpack(file.read(TAIL.size))
    if mark != END:
        raise InputError(path, "", f"{CUT_OFF}: its end marker is missing", MAKE_AGAIN)
    file.seek(0)
    computed = 0
    for at in range(0, end, _CHECKED_AT_ONCE):
        computed = zlib.crc32(file.read(min(end - at, _CHECKED_AT_ONCE)), computed)
    if computed != checksum:
        raise InputError(path, "", f"{_DAMAGED}: its checksum does not fit", MAKE_AGAIN)


def _array(path: str, file: BinaryIO, kind: str, count: int) -> NDArray[Any]:
    data = file.read(count * np.dtype(kind).itemsize)
    if len(data) < count * np.dtype(kind).itemsize:
        raise InputError(path, "", "has changed while it was read", MAKE_AGAIN)
    return np.frombuffer(data, dtype=kind)


def _names(path: str, text: bytes, samples: int) -> list[str]:
    try:
        names = text.decode().split(NAME_END.decode())
    except UnicodeDecodeError as error:
        raise InputError(path, "", f"{_DAMAGED}: a name is not UTF-8", MAKE_AGAIN) from error
    if names.pop() or len(names) != samples:
        raise InputError(path, "", f"{_DAMAGED}: {len(names)} names for {samples} samples", MAKE_AGAIN)
    check_names(path, "sample", names, MAKE_AGAIN)
    if len(set(names)) < samples:
        raise InputError(path, "", f"{_DAMAGED}: a sample is there twice", MAKE_AGAIN)
    return names


@dataclass(frozen=True, slots=True)
class SketchCollection:
    """Open sketch files, one after the other."""

    files: list[SketchFile]
    first: list[int]  # the number of each file's first sample; at the end, of all samples
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
        return Sketches.concatenate(read)


@contextmanager
def open_collection(paths: Paths) -> Iterator[SketchCollection]:
    """Open sketch files that are compared together. Raises InputError as `read_sketches` does."""
    named = some_paths_of(paths, "sketches")
    check_given_once(named)
    with ExitStack() as stack:
        files = [stack.enter_context(open_sketches(path)) for path in named]
        check_one_scheme(named, files)
        _check_names_apart(named, files)
        first = np.cumsum([0, *map(len, files)]).tolist()
        names = files[0].names if len(files) == 1 else [name for file in files for name in file.names]
        yield SketchCollection(files, first, names, np.concatenate([file.kmers for file in files]))
