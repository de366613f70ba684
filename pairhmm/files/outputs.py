"""Writes outputs that are either whole or absent: beside their destination first, and renamed at the end."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TextIO

from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDOUT, is_device
from pairhmm.files.destinations import being_written

log = logging.getLogger(__name__)

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
# Bytes left of the 255 that a name may have: ten go to the mark of a scratch file, four to the suffix of its index.
_LONGEST_TAIL = 241
# The end of the name is kept, because writers choose their format by it.
_KEPT_OF_NAME = 30


class TextSink(Protocol):
    """Something that text of tables and call sets can be written to: a plain file, or a bgzipped one."""

    def write(self, text: str, /) -> object:
        """Append text."""


class ByteSink(Protocol):
    """Like `TextSink`, for text that is already encoded."""

    def write(self, text: bytes, /) -> object:
        """Append text."""


@contextmanager
def whole_files(destination: str | Path, *companions: str, of_input: bool = False) -> Iterator[Path]:
    """A path to write to. It is renamed to `destination` when the block ends well, and removed when it does not.

    Half-written files that a killed process left of the same destination are removed, too. A link stays a link: its
    target is written. Pipes and devices are written directly, and have no companions: where `has_companions` is false
    for the path, the writer leaves none.

    Raises InputError where the destination is an input of the run, a folder or read-only, where the folder can't be
    written, and where the disk is full.

    Parameters
    ----------
    companions : str
        Suffixes of files that the writer may leave beside its own, such as ``.tbi``. They are renamed or removed, too.
        Those of an earlier run are removed, since they index other content.
    of_input : bool
        Whether the file is an index of an input, which is made where it is missing.
    """
    if is_device(destination):
        if companions:
            log.warning("%s is not a regular file: it gets no index", destination)
        with output_errors(destination):
            yield Path(destination)
        return
    with nullcontext() if of_input else being_written(str(destination), *companions):
        with _renamed(destination, companions) as scratch:
            yield scratch


def named_after(prefix: str, first: str, *others: str) -> tuple[str, ...]:
    """The paths of files whose names begin with `prefix`.

    Where that is a pipe or a device, it is written in place of the first one, and the others are written nowhere.
    """
    if is_device(prefix):
        return (prefix, *(os.devnull for _ in others))
    return tuple(f"{prefix}{end}" for end in (first, *others))


def tell_of_left_out(prefix: str, *others: str) -> None:
    """Say which files `named_after` leaves out, if any."""
    if is_device(prefix):
        files = ", ".join(f"{prefix}{end}" for end in others)
        log.warning("%s is not a regular file: %s is not written", prefix, files)


def has_companions(path: Path) -> bool:
    """Whether the writer of a path from `whole_files` may leave companions beside it."""
    return not is_device(path)


@contextmanager
def _renamed(destination: str | Path, companions: Sequence[str]) -> Iterator[Path]:
    target = Path(os.path.realpath(destination))
    scratch = target.with_name(f".{os.urandom(4).hex()}.{_scratch_tail(target.name)}")
    # Another run that cleans up takes a file without a lock for abandoned: it gets its name once it is locked.
    unlocked = scratch.with_name(f".{scratch.name}")
    ends = ("", *companions)
    locked: int | None = None
    try:
        with output_errors(destination, scratch, unlocked):
            check_writable(destination, *(f"{destination}{end}" for end in companions))
            _remove_abandoned(target)
            locked = os.open(unlocked, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
            lock(locked)
            os.rename(unlocked, scratch)
            yield scratch
            for end in reversed(ends):
                written = Path(f"{scratch}{end}")
                # This holds for links, too: programs look for an index beside the link, not beside its target.
                final = Path(os.path.realpath(f"{destination}{end}"))
                if written.exists():
                    put_in_place(written, final)
                elif end and not is_device(final):
                    final.unlink(missing_ok=True)
    finally:
        for path in (unlocked, *(Path(f"{scratch}{end}") for end in ends)):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        if locked is not None:
            os.close(locked)


def check_writable(destination: str | Path, *others: str | Path) -> None:
    """Require that a file and the others can be put in their places.

    Raises InputError for a folder that is missing or can't be written, and for files that are folders or read-only.
    """
    is_link = os.path.islink(destination)
    folder = Path(os.path.realpath(destination) if is_link else destination).parent
    # Path drops a trailing slash, which means a folder.
    if os.path.isdir(destination) or str(destination).endswith(os.sep):
        raise InputError(str(destination), "", "is a folder", "name a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        why = "can't be written" if folder.exists() else "does not exist"
        raise InputError(str(folder), "", f"folder {why}", "choose another -o")
    for path in map(Path, (destination, *others)):
        if is_protected(path):
            raise InputError(str(path), "", "is read-only", "choose another -o, or make it writable (chmod u+w)")


def is_protected(path: str | Path) -> bool:
    """Whether a file is read-only. Its owner wants to keep it, although renaming or root could replace it."""
    return os.path.exists(path) and not (os.access(path, os.W_OK) and os.stat(path).st_mode & _ANY_WRITE)


def _scratch_tail(name: str) -> str:
    """The end of the names of a destination's scratch files: its own name, cut to the room that there is."""
    if len(os.fsencode(name)) <= _LONGEST_TAIL:
        return name
    import hashlib

    return hashlib.blake2s(os.fsencode(name), digest_size=16).hexdigest() + name[-_KEPT_OF_NAME:]


def put_in_place(path: Path, final: Path) -> None:
    """Rename a file, or copy it if a link leads to another file system. A pipe or device is written, and stays."""
    if is_device(final):
        with open(path, "rb") as source, open(final, "wb") as out:
            shutil.copyfileobj(source, out)
        return
    try:
        os.replace(path, final)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copyfile(path, final)


def lock(descriptor: int) -> bool:
    """Lock a file or folder as being written for as long as this process lives; False if another one holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Also on a file system without locks, where other processes can't be detected.
        return False
    return True


def is_abandoned(path: Path) -> bool:
    """Whether the writer of a scratch file or folder is gone: nobody holds its lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        # Another process has removed it meanwhile, or it belongs to another user.
        return False
    try:
        return lock(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(target: Path) -> None:
    """Remove a destination's scratch files whose writers are gone."""
    scratch_name = re.compile(rf"\.[0-9a-f]{{8}}\.{re.escape(_scratch_tail(target.name))}")
    for name in os.listdir(target.parent):
        if not scratch_name.fullmatch(name):
            continue
        if is_abandoned(target.parent / name):
            for left in target.parent.iterdir():
                if left.name.startswith(name):
                    left.unlink(missing_ok=True)


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """A path beside another one, for text that is then converted to another format. The file is removed at the end.

    For a pipe or a device, it is in the folder for temporary files.
    """
    if is_device(path):
        with tempfile.TemporaryDirectory(prefix="pairhmm-") as folder:
            yield Path(folder) / path.name
        return
    scratch = path.with_name(f"{path.name}.tmp")
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def output_errors(target: str | Path, *scratch: Path) -> Iterator[None]:
    """Turn system errors of writing to `target`, or to its scratch files, into an `InputError`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        named = "" if error.filename is None else os.fspath(error.filename)
        ours = (f"{target}.", *map(str, scratch))
        if named and named != str(target) and not str(named).startswith(ours):
            raise
        cure = "free some space or choose another -o" if error.errno in _NO_ROOM else "choose another -o"
        raise InputError(str(target), "", error.strerror or str(error), cure) from error


@contextmanager
def open_output(destination: str | Path) -> Iterator[TextIO]:
    """A text file that appears when the block ends well; ``-`` is stdout."""
    with _opened(destination, sys.stdout, "w", "utf-8") as handle:
        yield handle


@contextmanager
def open_binary_output(destination: str | Path) -> Iterator[BinaryIO]:
    """Like `open_output`, for text that is already encoded."""
    with _opened(destination, sys.stdout.buffer, "wb", None) as handle:
        yield handle


@contextmanager
def _opened(destination: str | Path, stdout: IO[Any], mode: str, encoding: str | None) -> Iterator[Any]:
    if str(destination) == STDOUT:
        with output_errors("stdout"):
            yield stdout
            stdout.flush()
        return
    if is_device(destination):
        with output_errors(destination), open(destination, mode, encoding=encoding) as handle:
            yield handle
        return
    with whole_files(destination) as scratch, open(scratch, mode, encoding=encoding) as handle:
        yield handle
        # A full disk shows here at the latest, which is before the rename.
        handle.flush()
        os.fsync(handle.fileno())
