"""A file or stdin as unpacked bytes, with what its first bytes say of it."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError

_DAMAGED: tuple[type[Exception], ...] = (gzip.BadGzipFile, zlib.error)
gunzip: ModuleType = gzip
try:
    from isal import igzip, isal_zlib
except ImportError:
    pass
else:
    # Twice as fast.
    gunzip = igzip
    _DAMAGED = (*_DAMAGED, isal_zlib.error)

STDIN = "-"
_HEAD_SIZE = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"
# SAM specification, section 4.1: the extra field that marks a BGZF block, and the empty block at the end.
_BGZF_MARK = slice(12, 14), b"BC"
_BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
CUT_OFF, MAKE_AGAIN = "is cut off", "copy or make it again"


class ByteStream:
    """The bytes of a file, gunzipped where it is gzipped; a context manager.

    Parameters
    ----------
    path : str
        ``-`` is stdin.
    watch : callable
        Told how many bytes, as they are in the file, were read.

    Attributes
    ----------
    path : str
    head : bytes
        The first bytes, unpacked; they are read again by `fill`.

    Raises
    ------
    InputError
        For a file that can't be read, or that is bgzipped and lacks its end.
    """

    def __init__(self, path: str, watch: Callable[[int], None]) -> None:
        self.path = path
        try:
            # Not sys.stdin: a thread that waits in it at the program's end would keep it from being closed.
            self._file: BinaryIO = open(0 if path == STDIN else path, "rb", closefd=path != STDIN)  # noqa: SIM115
        except OSError as error:
            raise InputError(path, "", error.strerror or "can't be opened", "check the path") from error
        try:
            self._look(watch)
        except BaseException:
            self.close()
            raise

    def _look(self, watch: Callable[[int], None]) -> None:
        """Read the first bytes, and see how to read the others."""
        try:
            packed = self._file.read(_HEAD_SIZE)
            self._check_end(packed)
        except OSError as error:
            raise InputError(self.path, "", error.strerror or "can't be read", "check the file") from error
        self.raw = io.BufferedReader(_Replayed(packed, self._file, watch), _HEAD_SIZE)
        self._unpacked: io.BufferedIOBase = self.raw
        self.head = packed
        if packed.startswith(_GZIP_MAGIC):
            self._unpacked = gunzip.GzipFile(fileobj=self.raw)
            try:
                self.head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, _HEAD_SIZE)
            except zlib.error as error:
                raise self._damaged(error) from error

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        """Read until the buffer is full or the file ends; returns how many bytes."""
        view, done = buffer.data, 0
        try:
            while done < len(view) and (count := self._unpacked.readinto(view[done:])):
                done += count
        except EOFError as error:
            raise InputError(self.path, "", f"{CUT_OFF}: its gzip stream has no end", MAKE_AGAIN) from error
        except _DAMAGED as error:
            raise self._damaged(error) from error
        except OSError as error:
            raise InputError(self.path, "", error.strerror or "can't be read", "check the file") from error
        return done

    def close(self) -> None:
        """Close the file; stdin stays open."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _check_end(self, packed: bytes) -> None:
        """A bgzipped file that was cut between two blocks looks whole but for the empty one at its end."""
        place, mark = _BGZF_MARK
        if not packed.startswith(_GZIP_MAGIC) or packed[place] != mark or not self._file.seekable():
            return
        here = self._file.tell()
        self._file.seek(-min(len(_BGZF_END), here), os.SEEK_END)
        end = self._file.read()
        self._file.seek(here)
        if end != _BGZF_END:
            raise InputError(self.path, "", f"{CUT_OFF}: its end marker is missing", MAKE_AGAIN)

    def _damaged(self, error: Exception) -> InputError:
        return InputError(self.path, "", f"is damaged: {error}", MAKE_AGAIN)


class _Replayed(io.RawIOBase):
    """Bytes that were read already and the file behind them; tells how many pass."""

    def __init__(self, head: bytes, file: BinaryIO, watch: Callable[[int], None]) -> None:
        self._head, self._file, self._watch = memoryview(head), file, watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._head:
            count = min(len(self._head), len(buffer))
            buffer[:count], self._head = self._head[:count], self._head[count:]
        else:
            count = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._watch(count)
        return count
