"""A file or stdin as unpacked bytes; its first bytes show its format."""

from __future__ import annotations

import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable
from types import ModuleType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import (
    BGZF_END,
    CUT_OFF,
    LONGEST,
    MAKE_AGAIN,
    BlockFollower,
    check_end,
    check_tail,
    end_marker,
)
from pairhmm.files.descriptors import STDIN, STDIN_FILE
from pairhmm.files.inputs import check_packing, opening

_DAMAGED: tuple[type[Exception], ...] = (gzip.BadGzipFile, zlib.error)
gunzip: ModuleType = gzip
try:
    from isal import igzip, isal_zlib
except ImportError:
    pass
else:
    # isal unpacks twice as fast.
    gunzip = igzip
    _DAMAGED = (*_DAMAGED, isal_zlib.error)

_HEAD_SIZE = 1 << 16


class ByteStream:
    """The bytes of a file, unpacked if it is gzipped; a context manager.

    Raises InputError for a file that can't be read, or that lacks the marker at its end. The end of a stream is checked
    once it was read.

    A byte order mark at the beginning, as editors of Windows write it, is left out.

    `path` may be ``-`` for stdin. `watch` is called with the number of bytes that were read, counted as they are in the
    file. `head` has the first bytes, unpacked; `fill` gives them again.
    """

    def __init__(self, path: str, watch: Callable[[int], None]) -> None:
        self.path = path
        opening(path)
        try:
            # sys.stdin is not used: it could not be closed at the program's end while a thread waits in it.
            self._file: BinaryIO = open(STDIN_FILE if path == STDIN else path, "rb", closefd=path != STDIN)  # noqa: SIM115
        except OSError as error:
            raise InputError(path, "", error.strerror or "can't be opened", "check the path") from error
        try:
            self._look(watch)
        except BaseException:
            self.close()
            raise

    def _look(self, watch: Callable[[int], None]) -> None:
        """Read the first bytes, which show how to read the rest."""
        try:
            check_end(self.path, self._file.fileno())
            packed = self._file.read(_HEAD_SIZE)
        except OSError as error:
            raise InputError(self.path, "", error.strerror or "can't be read", "check the file") from error
        check_packing(self.path, packed)
        self._replayed = _Replayed(packed, self._file, watch)
        self.raw = io.BufferedReader(self._replayed, _HEAD_SIZE)
        self._unpacked: io.BufferedIOBase = self.raw
        self.head = packed
        if packed.startswith(formats.GZIP):
            self._unpacked = gunzip.GzipFile(fileobj=self.raw)
            try:
                self.head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, _HEAD_SIZE)
            except zlib.error as error:
                raise self._damaged(error) from error
        if self.head.startswith(BOM_UTF8):
            self.head = self.head.removeprefix(BOM_UTF8)
            self._unpacked.read(len(BOM_UTF8))

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        """Read until the buffer is full or the file ends. Returns the number of bytes."""
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
        except (ArithmeticError, LookupError, RuntimeError, SystemError, TypeError, ValueError) as error:
            # Libraries that unpack do not expect this.
            raise self._damaged(error) from error
        if done < len(view):
            self.check_end()
        return done

    def check_end(self) -> None:
        """Require that a stream that was read to its end had its format's end marker."""
        check_tail(self.path, self._replayed.marker, self._replayed.tail)

    def close(self) -> None:
        """Close the file; stdin stays open."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _damaged(self, error: Exception) -> InputError:
        return InputError(self.path, "", f"is damaged: {error}", MAKE_AGAIN)


class _Replayed(io.RawIOBase):
    """The first bytes and the rest of the file as one stream. Counts the bytes that pass, and keeps the last ones."""

    def __init__(self, head: bytes, file: BinaryIO, watch: Callable[[int], None]) -> None:
        self._head, self._file, self._watch = memoryview(head), file, watch
        self.marker, self.tail = end_marker(head), b""
        self._follower, self._address = BlockFollower(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._head:
            count = min(len(self._head), len(buffer))
            buffer[:count], self._head = self._head[:count], self._head[count:]
        else:
            count = self._file.readinto(buffer)  # type: ignore[attr-defined]
        if self.marker:
            if self.marker == BGZF_END:
                self._follower.follow(self._address, bytes(buffer[:count]))
                self._address += count
                if not self._follower.is_in_blocks:
                    # Plain gzip follows the blocks, and has no marker.
                    self.marker = b""
            self.tail = (self.tail + bytes(buffer[max(0, count - LONGEST) : count]))[-LONGEST:]
        self._watch(count)
        return count
