"""Bgzipped text."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import pysam

# A .tbi holds positions up to here; a .csi holds longer contigs.
LONGEST_FOR_TBI = 2**29
_FAILED = "no more could be written: the disk may be full"


class BgzipText:
    """A bgzipped text file; a write that fails is an OSError."""

    def __init__(self, path: Path) -> None:
        # htslib says on stderr what is raised here.
        self._verbosity = pysam.set_verbosity(0)
        self._file = pysam.BGZFile(str(path), "wb", index=None)

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
            pysam.set_verbosity(self._verbosity)
