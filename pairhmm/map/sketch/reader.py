"""Reads sketch files, as a whole or some samples at a time."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.errors import InputError, OptionError
from pairhmm.files.bgzf import CUT_OFF, MAKE_AGAIN
from pairhmm.files.descriptors import STDIN, STDIN_FILE
from pairhmm.files.inputs import opening
from pairhmm.files.names import check_names
from pairhmm.map.sketch.layout import COUNTS, END, HEADER, KMERS, LEAST_COUNT, MAGIC, NAME_END, SCHEMES, TAIL, VERSION
from pairhmm.map.sketch.layout import WORD as WORD_TYPE
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches

_CHECKED_AT_ONCE = 1 << 20
_DAMAGED = "is damaged"


@dataclass(frozen=True, slots=True)
class SketchFile:
    """An open sketch file: its table of samples is in memory, and their planes are on disk.

    Attributes
    ----------
    path : str
    scheme : Scheme
    names : list of str
    kmers : ndarray, shape (samples,), float64
    least_counts : ndarray, shape (samples,), int32
    """

    path: str
    scheme: Scheme
    names: list[str]
    kmers: NDArray[np.float64]
    least_counts: NDArray[np.int32]
    _file: BinaryIO

    def __len__(self) -> int:
        return len(self.names)

    def part(self, begin: int, end: int) -> Sketches:
        """Read the sketches of the samples from `begin` to `end`.

        Raises
        ------
        InputError
            Where the file can't be read any more.
        """
        names = self.names[begin:end]
        words = self.scheme.slots // WORD_BITS
        of_sample = self.scheme.bits * words * np.dtype(WORD_TYPE).itemsize
        self._file.seek(HEADER.size + begin * of_sample)
        planes = _array(self.path, self._file, WORD_TYPE, len(names) * self.scheme.bits * words)
        shaped = planes.reshape(len(names), self.scheme.bits, words)
        return Sketches(self.scheme, names, shaped, self.kmers[begin:end], self.least_counts[begin:end])


@contextmanager
def open_sketches(path: AnyPath) -> Iterator[SketchFile]:
    """Open a sketch file and check it.

    Parameters
    ----------
    path : path
        A file of `pairhmm map sketch`; ``-`` is stdin. A pipe is held in memory.

    Raises
    ------
    InputError
        For a file that can't be read, is no sketch file, is cut off or damaged, or has a sample twice.
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

    Raises
    ------
    InputError
        As in `open_sketches`; for files of different schemes, for a sample that two files have, and for a file that is
        given twice.
    """
    named = some_paths_of(paths, "sketches")
    check_given_once(named)
    read = []
    for path in named:
        with open_sketches(path) as file:
            read.append(file.part(0, len(file)))
    check_together(named, read)
    if len(read) == 1:
        return read[0]
    return Sketches(
        read[0].scheme,
        [name for one in read for name in one.names],
        np.concatenate([one.planes for one in read]),
        np.concatenate([one.kmers for one in read]),
        np.concatenate([one.least_counts for one in read]),
    )


def scheme_text(scheme: Scheme) -> str:
    """A scheme as messages show it."""
    return f"{scheme.name}, k {scheme.k}, {scheme.slots} slots of {scheme.bits} bits"


def check_given_once(paths: Sequence[str]) -> None:
    """Raise InputError for a file that is named twice."""
    seen = set[str]()
    for path in paths:
        place = path if path == STDIN else os.path.realpath(path)
        if place in seen:
            raise InputError(path, "", "is given twice", "name each file once")
        seen.add(place)


def check_together(paths: Sequence[str], read: Sequence[Sketches | SketchFile]) -> None:
    """Raise InputError for files of different schemes, and for a sample that two files have."""
    check_one_scheme(paths, read)
    _check_names_apart(paths, read)


def check_one_scheme(paths: Sequence[str], read: Sequence[Sketches | SketchFile]) -> None:
    """Raise InputError for files of different schemes."""
    for path, one in zip(paths, read, strict=True):
        if one.scheme != read[0].scheme:
            rule = f"{scheme_text(one.scheme)}, where {paths[0]} has {scheme_text(read[0].scheme)}"
            raise InputError(path, "", rule, "sketch both with the same options")


def _check_names_apart(paths: Sequence[str], read: Sequence[Sketches | SketchFile]) -> None:
    home = dict[str, str]()
    for path, one in zip(paths, read, strict=True):
        for name in one.names:
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
    found = 0
    for at in range(0, end, _CHECKED_AT_ONCE):
        found = zlib.crc32(file.read(min(end - at, _CHECKED_AT_ONCE)), found)
    if found != checksum:
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
