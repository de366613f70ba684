"""Keeps the outputs of a run from overwriting its inputs and each other.

Inputs are told of where they are opened, and where the command line takes them; outputs likewise, before anything is
truncated or renamed. So no option can be forgotten, whichever comes first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDIN, STDIN_FILE, STDOUT, STDOUT_FILE

_APPENDED = (".bai", ".csi", ".crai", ".fai", ".gzi", ".tbi")
# The suffix of an alignment file's index may also replace the file's extension.
_REPLACING = (".bai", ".csi", ".crai")
_WRITTEN_INDICES = {".gz": (".tbi", ".csi"), ".bcf": (".tbi", ".csi")}

FilePath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Inode = tuple[int, int]


class _Output(NamedTuple):
    option: str
    path: str


class _Input(NamedTuple):
    path: str
    what: str
    """Role of a clashing file: the input, or an index of it."""


@contextmanager
def kept_apart() -> Iterator[None]:
    """A run: within the block, no output overwrites an input or another output. Also a decorator.

    A run within another one knows the files of the outer one, and takes its own with it when it ends.
    """
    outer = _run.get()
    token = _run.set(_Files() if outer is None else outer.copy())
    try:
        yield
    finally:
        _run.reset(token)


def check_apart(inputs: Iterable[FilePath | None], outputs: Iterable[tuple[str, FilePath | None]]) -> None:
    """Require at the beginning of a run, before anything is opened, that no output is an input or another output.

    Files are compared by name, and by device and inode.

    Raises InputError for an output that would destroy a file. The message names both, and the option to change.

    Parameters
    ----------
    inputs : iterable of path or None
        Files that will be read; ``-`` is stdin. A table's companion is an input of its own.
    outputs : iterable of (str, path or None)
        Option and file of each output; ``-`` is stdout. A table's companion is an output of its own, under the same
        option.
    """
    files = _run.get() or _Files()
    for option, output in outputs:
        if output is not None:
            files.add_output(option, os.fsdecode(output))
    for path in inputs:
        if path is not None:
            files.add_input(os.fsdecode(path))


def check_given_once(paths: Iterable[str]) -> None:
    """Require that no file is given twice, even by two names: what it holds would count double."""
    seen = dict[_Inode, str]()
    for path in paths:
        try:
            status = os.stat(STDIN_FILE if path == STDIN else path)
        except OSError:
            # Opening the file says what is wrong.
            continue
        identity = status.st_dev, status.st_ino
        if identity in seen:
            other = "" if seen[identity] == path else f", as {seen[identity]} too"
            raise InputError(path, "", f"is given twice{other}", "name each file once")
        seen[identity] = path


def note_input(path: str) -> None:
    """Tell of a file that is about to be read; ``-`` is stdin.

    Raises InputError where it is an output of this run.
    """
    files = _run.get()
    if files is not None:
        files.add_input(path)


def note_pipe(path: str, pipe: tuple[int, int]) -> None:
    """Tell of a pipe (its device and inode) that is about to be read.

    Raises InputError where this run has read it already: its bytes came once.
    """
    files = _run.get()
    if files is None:
        return
    if pipe in files.pipes:
        named = "stdin" if path == STDIN else "a pipe"
        raise InputError(path, "", f"is {named}, and is read more than once", "write it to a file first")
    files.pipes.add(pipe)


def note_output(option: str, path: str) -> None:
    """Tell of a file that will be written; ``-`` is stdout.

    Raises InputError where it is an input of this run, the index of one, or another output.
    """
    check_apart((), [(option, path)])


@contextmanager
def being_written(path: str, *companions: str) -> Iterator[None]:
    """Within the block, a file and its companions (suffixes) are outputs of the run.

    Raises InputError as from `note_output`, before the block is entered.
    """
    files = _run.get()
    added = [] if files is None else [files.add_opened(f"{path}{end}") for end in ("", *companions)]
    try:
        yield
    finally:
        for output in added:
            if files is not None and output is not None:
                files.drop(output)


class _Files:
    """The outputs and the inputs of a run, by name, and also by device and inode if they exist."""

    def __init__(self) -> None:
        self._written: dict[str, _Output] = {}
        self._written_inodes: dict[_Inode, _Output] = {}
        self._read: dict[str, _Input] = {}
        self._read_inodes: dict[_Inode, _Input] = {}
        self._given: set[str] = set()
        # Names of indices whose inodes were not looked up: while no output exists, none needs to be.
        self._unseen: dict[str, _Input] = {}
        self.pipes: set[_Inode] = set()
        """Pipes that were read."""

    def copy(self) -> _Files:
        """A copy, to which other files can be added."""
        copied = _Files()
        for name, value in vars(self).items():
            setattr(copied, name, value.copy())
        return copied

    def add_output(self, option: str, name: str) -> None:
        """Take an output of an option, and the indices that are written or removed with it."""
        for path in _files_of(name):
            output = _Output(option, path)
            names, inode = _identities(path, STDOUT_FILE)
            before = self._writer(names, inode)
            if before is None:
                self._check_output(output, names, inode)
                self._keep(output, names, inode)
            elif before.option != option:
                rule = f"would be written by {option}, but is written by {before.option} too"
                raise InputError(path, "", rule, "give each its own name")

    def add_opened(self, path: str) -> _Output | None:
        """Take a file that is opened to be written. Returns None for an output of an option, which is known."""
        output = _Output("-o", path)
        names, inode = _identities(path, STDOUT_FILE)
        if self._writer(names, inode) is not None:
            return None
        self._check_output(output, names, inode)
        self._keep(output, names, inode)
        return output

    def drop(self, output: _Output) -> None:
        """Forget what `add_opened` took: the run may read what it has written."""
        self._written = {name: other for name, other in self._written.items() if other is not output}
        self._written_inodes = {inode: other for inode, other in self._written_inodes.items() if other is not output}

    def add_input(self, path: str) -> None:
        """Take an input, and the indices that may be beside it."""
        if path in self._given or "\0" in path:
            return
        names, inode = _identities(path, STDIN_FILE)
        kept = _Input(path, f"the input {path}")
        of_index = _Input(path, f"an index of the input {path}")
        indices = [index for name in sorted(names) for index in _indices(name)]
        writer = self._writer(names, inode)
        if writer is not None:
            raise _clash(writer, kept)
        for index in indices:
            writer = self._writer({index}, _inode(index) if self._written_inodes else None)
            if writer is not None:
                raise _clash(writer, of_index)
        self._given.add(path)
        self._read.update(dict.fromkeys(names, kept))
        for index in indices:
            self._read.setdefault(index, of_index)
        self._unseen.update(dict.fromkeys(indices, of_index))
        if inode is not None:
            self._read_inodes[inode] = kept

    def _check_output(self, output: _Output, names: Iterable[str], inode: _Inode | None) -> None:
        reader = next((self._read[name] for name in names if name in self._read), None)
        if reader is None and inode is not None:
            for index, of_index in self._unseen.items():
                seen = _inode(index)
                if seen is not None:
                    self._read_inodes.setdefault(seen, of_index)
            self._unseen.clear()
            reader = self._read_inodes.get(inode)
        if reader is not None:
            raise _clash(output, reader)

    def _keep(self, output: _Output, names: Iterable[str], inode: _Inode | None) -> None:
        self._written.update(dict.fromkeys(names, output))
        if inode is not None:
            self._written_inodes[inode] = output

    def _writer(self, names: Iterable[str], inode: _Inode | None) -> _Output | None:
        named = (self._written[name] for name in names if name in self._written)
        return next(named, None) or (self._written_inodes.get(inode) if inode is not None else None)


_run: ContextVar[_Files | None] = ContextVar("run", default=None)


def _clash(output: _Output, file: _Input) -> InputError:
    rule = f"would be written by {output.option}, but is {file.what}"
    return InputError(output.path, "", rule, f"choose another {output.option}")


def _files_of(output: str) -> Iterator[str]:
    """An output file, and the indices that are written or removed with it."""
    yield output
    for ending, indices in _WRITTEN_INDICES.items():
        if output.endswith(ending):
            yield from (output + index for index in indices)


def _indices(path: str) -> Iterator[str]:
    """The paths at which a file's indices may lie."""
    yield from (path + ending for ending in _APPENDED)
    yield from (os.path.splitext(path)[0] + ending for ending in _REPLACING)


def _identities(path: str, stream: int) -> tuple[set[str], _Inode | None]:
    """A file's names, and its device and inode. Nothing for pipes and devices, which can't be replaced.

    `stream`: the descriptor that ``-`` stands for.
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
        status = os.stat(file)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
