"""Reads sketch files. The planes of one file stay on disk, as a memory map."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError, OptionError
from pairhmm.interface.arguments import Paths, some_paths_of
from pairhmm.io.files.end_markers import CUT_OFF, MAKE_AGAIN
from pairhmm.io.files.names import check_names
from pairhmm.io.files.standard_streams import STDIN, STDIN_FILE
from pairhmm.io.sketches.layout import COUNTS, END, HEADER, KMERS, LEAST_COUNT, MAGIC, NAME_END, SCHEMES, TAIL, VERSION
from pairhmm.io.sketches.layout import WORD as WORD_TYPE
from pairhmm.sketching.sketches import WORD_BITS, Scheme, Sketches

_CHECKED_AT_ONCE = 1 << 20
_DAMAGED = "is damaged"


def read_sketches(paths: Paths) -> Sketches:
    """The sketches of one file or several, in their order.

    Parameters
    ----------
    paths : path or sequence of paths
        Files of `pairhmm map sketch`; ``-`` is stdin. The planes of a single file are a memory map.

    Returns
    -------
    Sketches

    Raises
    ------
    InputError
        For a file that can't be read, is no sketch file, or is cut off or damaged; for files of different schemes; for
        a sample that is there twice, and a file that is given twice.
    """
    named = some_paths_of(paths, "sketches")
    _check_given_once(named)
    read = [_read(path) for path in named]
    _check_one_scheme(named, read)
    _check_names_once(named, read)
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


def _check_given_once(paths: Sequence[str]) -> None:
    seen = set[str]()
    for path in paths:
        place = path if path == STDIN else os.path.realpath(path)
        if place in seen:
            raise InputError(path, "", "is given twice", "name each file once")
        seen.add(place)


def _check_one_scheme(paths: Sequence[str], read: Sequence[Sketches]) -> None:
    for path, one in zip(paths, read, strict=True):
        if one.scheme != read[0].scheme:
            rule = f"{scheme_text(one.scheme)}, where {paths[0]} has {scheme_text(read[0].scheme)}"
            raise InputError(path, "", rule, "sketch both with the same options")


def _check_names_once(paths: Sequence[str], read: Sequence[Sketches]) -> None:
    home = dict[str, str]()
    for path, one in zip(paths, read, strict=True):
        for name in one.names:
            if name in home:
                place = "twice in the file" if home[name] == path else f"in {home[name]} too"
                raise InputError(path, f"sample {name!r}", f"is {place}", "give each sample its own name")
            home[name] = path


@contextmanager
def _bytes_of(path: str) -> Iterator[memoryview]:
    """The bytes of a file: a memory map, which arrays keep alive; in memory for a pipe."""
    try:
        with open(STDIN_FILE if path == STDIN else path, "rb", closefd=path != STDIN) as file:
            if os.path.isfile(path) and os.fstat(file.fileno()).st_size:
                yield memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            else:
                yield memoryview(file.read())
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be read", "check the path") from error


def _read(path: str) -> Sketches:
    with _bytes_of(path) as data:
        scheme = _scheme(path, data)
        samples, name_bytes = _counts(path, data, scheme)
        words = scheme.bits * scheme.slots // WORD_BITS
        at = HEADER.size
        planes, at = _array(data, at, WORD_TYPE, samples * words)
        kmers, at = _array(data, at, KMERS, samples)
        least_counts, at = _array(data, at, LEAST_COUNT, samples)
        names = _names(path, bytes(data[at : at + name_bytes]), samples)
    if not samples:
        raise InputError(path, "", "has no sample", MAKE_AGAIN)
    shaped = planes.reshape(samples, scheme.bits, scheme.slots // WORD_BITS)
    return Sketches(scheme, names, shaped, kmers.copy(), least_counts.copy())


def _scheme(path: str, data: memoryview) -> Scheme:
    """The scheme of the header, once magic, version, end marker and checksum are right."""
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise InputError(path, "", "is no sketch file", "make one with pairhmm map sketch")
    if len(data) < HEADER.size:
        raise InputError(path, "", CUT_OFF, MAKE_AGAIN)
    _, version, number, k, slots, bits, _ = HEADER.unpack_from(data)
    if version != VERSION:
        rule = f"has version {version} of the format, and this pairhmm reads version {VERSION}"
        raise InputError(path, "", rule, "make the file again, or update pairhmm")
    _check_whole(path, data)
    try:
        return Scheme(SCHEMES[number], k, slots, bits)
    except (IndexError, OptionError) as error:
        raise InputError(path, "", f"{_DAMAGED}: its header has no scheme", MAKE_AGAIN) from error


def _check_whole(path: str, data: memoryview) -> None:
    end = len(data) - TAIL.size
    if end < HEADER.size + COUNTS.size:
        raise InputError(path, "", CUT_OFF, MAKE_AGAIN)
    checksum, _, mark = TAIL.unpack_from(data, end)
    if mark != END:
        raise InputError(path, "", f"{CUT_OFF}: its end marker is missing", MAKE_AGAIN)
    found = 0
    for at in range(0, end, _CHECKED_AT_ONCE):
        found = zlib.crc32(data[at : min(end, at + _CHECKED_AT_ONCE)], found)
    if found != checksum:
        raise InputError(path, "", f"{_DAMAGED}: its checksum does not fit", MAKE_AGAIN)


def _counts(path: str, data: memoryview, scheme: Scheme) -> tuple[int, int]:
    """The numbers of samples and of bytes of their names."""
    samples, name_bytes = COUNTS.unpack_from(data, len(data) - TAIL.size - COUNTS.size)
    of_sample = scheme.bits * scheme.slots // 8 + np.dtype(KMERS).itemsize + np.dtype(LEAST_COUNT).itemsize
    size = HEADER.size + samples * of_sample + name_bytes + COUNTS.size + TAIL.size
    if size != len(data):
        raise InputError(path, "", f"{_DAMAGED}: {len(data)} bytes where its table needs {size}", MAKE_AGAIN)
    return samples, name_bytes


def _array(data: memoryview, at: int, kind: str, count: int) -> tuple[NDArray[Any], int]:
    found = np.frombuffer(data, dtype=kind, count=count, offset=at)
    return found, at + found.nbytes


def _names(path: str, text: bytes, samples: int) -> list[str]:
    try:
        names = text.decode().split(NAME_END.decode())
    except UnicodeDecodeError as error:
        raise InputError(path, "", f"{_DAMAGED}: a name is not UTF-8", MAKE_AGAIN) from error
    if names.pop() or len(names) != samples:
        raise InputError(path, "", f"{_DAMAGED}: {len(names)} names for {samples} samples", MAKE_AGAIN)
    check_names(path, "sample", names, MAKE_AGAIN)
    return names
