"""Outputs that are whole or not there: written beside their destination and renamed at the end."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TextIO

from pairhmm.errors import InputError

STDOUT = "-"
_listed: ContextVar[tuple[str, list[str]] | None] = ContextVar("listed", default=None)


class TextSink(Protocol):
    """What tables and call sets are written to: a file, or bgzipped text."""

    def write(self, text: str, /) -> object:
        """Append text."""


@contextmanager
def whole_files(destination: str | Path, *companions: str) -> Iterator[Path]:
    """A path to write to, renamed to `destination` when the block ends well; removed when it does not.

    What a killed process left half-written of the same destination is removed too.

    Parameters
    ----------
    destination : path
    companions : str
        Suffixes of files that the writer may leave beside its own, such as ``.tbi``; they are renamed or removed too,
        and those of an earlier run go, which would be indices of other content.

    Raises
    ------
    InputError
        Where the folder can't be written, the disk is full, or the destination is a folder.
    """
    target = Path(destination)
    # The whole name stays at the end: writers choose their format by it.
    scratch = target.with_name(f".{secrets.token_hex(4)}.{target.name}")
    ends = ("", *companions)
    held: int | None = None
    try:
        with output_errors(target):
            # Path forgets the slash of a folder that is not there.
            if target.is_dir() or str(destination).endswith(os.sep):
                raise InputError(str(target), "", "is a folder", "name a file")
            if not os.access(target.parent, os.W_OK | os.X_OK):
                why = "can't be written" if target.parent.exists() else "does not exist"
                raise InputError(str(target.parent), "", f"folder {why}", "choose another -o")
            _remove_abandoned(target)
            held = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
            _lock(held)
            yield scratch
            for end in reversed(ends):
                made = Path(f"{scratch}{end}")
                if made.exists():
                    os.replace(made, f"{target}{end}")
                elif end:
                    Path(f"{target}{end}").unlink(missing_ok=True)
    finally:
        for end in ends:
            Path(f"{scratch}{end}").unlink(missing_ok=True)
        if held is not None:
            os.close(held)


def _lock(descriptor: int) -> bool:
    """Mark a file as being written for as long as this process lives; False where another process has done so."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: nothing can be told of other processes there.
        return False
    return True


@contextmanager
def listed_once(folder: Path) -> Iterator[None]:
    """Within the block, look up what killed processes left in a folder once only.

    To list it for each of thousands of outputs takes longer than to write them.
    """
    token = _listed.set((os.path.realpath(folder), [name for name in os.listdir(folder) if name.startswith(".")]))
    try:
        yield
    finally:
        _listed.reset(token)


def _remove_abandoned(target: Path) -> None:
    """Remove the scratch files of a destination whose writers are gone."""
    scratch_name = re.compile(rf"\.[0-9a-f]{{8}}\.{re.escape(target.name)}")
    folder, listed = os.path.realpath(target.parent), _listed.get()
    for name in listed[1] if listed is not None and listed[0] == folder else os.listdir(folder):
        if not scratch_name.fullmatch(name):
            continue
        path = target.parent / name
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            # Removed since, or another user's.
            continue
        if _lock(descriptor):
            for left in target.parent.iterdir():
                if left.name.startswith(path.name):
                    left.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """A path beside another one, for text on its way to another format; what is there is removed at the end."""
    scratch = path.with_name(f"{path.name}.tmp")
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def output_errors(target: str | Path) -> Iterator[None]:
    """Turn what the system says of a failed write into an `InputError` that names `target`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None and str(error.filename) not in (str(target), ""):
            raise
        raise InputError(
            str(target), "", error.strerror or str(error), "free some space or choose another -o"
        ) from error


@contextmanager
def open_output(destination: str | Path) -> Iterator[TextIO]:
    """A text file that appears when the block ends well; ``-`` is stdout."""
    with _opened(destination, sys.stdout, "w", "utf-8") as handle:
        yield handle


@contextmanager
def open_binary_output(destination: str | Path) -> Iterator[BinaryIO]:
    """`open_output` for text that is bytes already."""
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
        # A full disk shows here at the latest, before the rename.
        handle.flush()
        os.fsync(handle.fileno())


def is_device(destination: str | Path) -> bool:
    """Whether the destination is there and no regular file (a pipe, /dev/null): it can't be renamed onto."""
    path = Path(destination)
    return path.exists() and not path.is_file() and not path.is_dir()
