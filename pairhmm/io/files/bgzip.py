"""Bgzipped text, and its index."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pysam

from pairhmm.io.files.htslib import quiet

# A .tbi holds positions up to here; a .csi holds longer contigs.
LONGEST_FOR_TBI = 2**29
_FAILED = "no more could be written: the disk may be full"


class BgzipText:
    """A bgzipped text file; a write that fails is an OSError."""

    def __init__(self, path: Path) -> None:
        with ExitStack() as stack:
            stack.enter_context(quiet())
            self._file = pysam.BGZFile(str(path), "wb", index=None)
            self._quiet = stack.pop_all()

    def write(self, text: str) -> None:
        """Append text."""
        try:
            self._file.write(text.encode())
        except OSError as error:
            raise OSError(_FAILED) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *unused: object) -> None:
        try:
            self._file.close()
        except OSError as error:
            # What ended the block is the better message.
            if kind is None:
                raise OSError(_FAILED) from error
        finally:
            self._quiet.close()


def index_table(path: Path, first: int, furthest: int) -> None:
    """Index a table whose columns first, first + 1 and first + 2 are an interval, 0-based half-open."""
    csi = furthest > LONGEST_FOR_TBI
    pysam.tabix_index(
        str(path),
        force=True,
        seq_col=first,
        start_col=first + 1,
        end_col=first + 2,
        zerobased=True,
        meta_char="#",
        csi=csi,
    )
