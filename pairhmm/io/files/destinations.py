"""Checks, before anything is opened, that no output would overwrite an input or another output."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pairhmm.errors import InputError
from pairhmm.io.files.endings import TABIX_INDICES
from pairhmm.io.files.standard_streams import STDIN_FILE, STDOUT, STDOUT_FILE

_APPENDED = (".bai", ".csi", ".crai", ".fai", ".gzi", ".tbi")
# The suffix of an alignment file's index may also replace the file's extension.
_REPLACING = (".bai", ".csi", ".crai")
_WRITTEN_INDICES = {".gz": TABIX_INDICES, ".bcf": TABIX_INDICES}

FilePath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Inode = tuple[int, int]


class _Output(NamedTuple):
    option: str
    path: str


def check_apart(inputs: Iterable[FilePath | None], outputs: Iterable[tuple[str, FilePath | None]]) -> None:
    """Require that no output is an input, the index of an input, or another output.

    Files are compared by name, and by device and inode.

    Parameters
    ----------
    inputs : iterable of path or None
        Files that are read; ``-`` is stdin. A table's companion is an input of its own.
    outputs : iterable of (str, path or None)
        Option and file of each output; ``-`` is stdout. A table's companion is an output of its own, under the same
        option.

    Raises
    ------
    InputError
        For an output that would destroy a file. The message names both, and the option to change.
    """
    written = _Written()
    for option, output in outputs:
        for path in () if output is None else _files_of(os.fsdecode(output)):
            written.add(_Output(option, path))
    for one in inputs:
        if one is not None:
            written.check_input(os.fsdecode(one))


def _files_of(output: str) -> Iterator[str]:
    """An output file, and the indices that are written or removed with it."""
    yield output
    for ending, indices in _WRITTEN_INDICES.items():
        if output.endswith(ending):
            yield from (output + index for index in indices)


class _Written:
    """The outputs, by name, and also by device and inode if they exist."""

    def __init__(self) -> None:
        self._named: dict[str, _Output] = {}
        self._known: dict[_Inode, _Output] = {}

    def add(self, output: _Output) -> None:
        names, inode = _identities(output.path, STDOUT_FILE)
        before = self._find(names, inode)
        if before is not None:
            rule = f"would be written by {output.option}, but is written by {before.option} too"
            raise InputError(output.path, "", rule, "give each its own name")
        self._named.update(dict.fromkeys(names, output))
        if inode is not None:
            self._known[inode] = output

    def check_input(self, given: str) -> None:
        names, inode = _identities(given, STDIN_FILE)
        found, what = self._find(names, inode), "the input"
        for index in () if found else (index for name in sorted(names) for index in _indices(name)):
            # If no output exists yet, no index can be one of them, and none needs to be looked for.
            found, what = self._find({index}, _inode(index) if self._known else None), "an index of the input"
            if found:
                break
        if found is not None:
            rule = f"would be written by {found.option}, but is {what} {given}"
            raise InputError(found.path, "", rule, f"choose another {found.option}")

    def _find(self, names: Iterable[str], inode: _Inode | None) -> _Output | None:
        named = (self._named[name] for name in names if name in self._named)
        return next(named, None) or (self._known.get(inode) if inode is not None else None)


def _indices(path: str) -> Iterator[str]:
    """The paths at which a file's indices may lie."""
    yield from (path + ending for ending in _APPENDED)
    yield from (os.path.splitext(path)[0] + ending for ending in _REPLACING)


def _identities(path: str, stream: int) -> tuple[set[str], _Inode | None]:
    """A file's names, and its device and inode. Nothing for pipes and devices, which can't be replaced.

    Parameters
    ----------
    path : str
    stream : int
        The descriptor that ``-`` stands for.
    """
    if path == STDOUT:
        return ({STDOUT} if stream == STDOUT_FILE else set()), _inode(stream)
    if os.path.exists(path) and not os.path.isfile(path):
        return set(), None
    folder, name = os.path.split(path)
    return {os.path.join(os.path.realpath(folder), name), os.path.realpath(path)}, _inode(path)


def _inode(file: str | int) -> _Inode | None:
    """Device and inode of a regular file; None if it is not a regular file or does not exist."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
