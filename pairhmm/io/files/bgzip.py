"""Writes bgzipped text, and its index."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pysam

from pairhmm.io.files.htslib import quiet

# The highest position that a .tbi can hold. Longer contigs need a .csi.
LONGEST_FOR_TBI = 2**29
_FAILED = "no more could be written: the disk may be full"


class BgzipText:
    """A bgzipped text file. A failed write raises OSError."""

    def __init__(self, path: Path) -> None:
        with ExitStack() as stack:
            stack.enter_context(quiet())
            self._file = pysam.BGZFile(str(path), "wb", index=None)
            self._quiet = stack.pop_all()

    def write(self, text: str | bytes) -> None:
        """Append text."""
        try:
            self._file.write(text.encode() if isinstance(text, str) else text)
        except OSError as error:
            raise OSError(_FAILED) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *unused: object) -> None:
        try:
            self._file.close()
        except OSError as error:
            # The exception that ended the block makes a better message than this one.
            if kind is None:
                raise OSError(_FAILED) from error
        finally:
            self._quiet.close()


def index_table(path: Path, first: int, furthest: int) -> None:
    """Index a table whose columns `first` to ``first + 2`` are contig, start and end, 0-based half-open."""
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
