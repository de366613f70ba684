"""Bgzipped text."""

from __future__ import annotations

from pathlib import Path

import pysam


class BgzipText:
    """A bgzipped text file; a write that fails is an OSError."""

    def __init__(self, path: Path) -> None:
        self._file = pysam.BGZFile(str(path), "wb", index=None)

    def write(self, text: str) -> None:
        """Append text."""
        if self._file.write(text.encode()) < 0:
            raise OSError("write failed")

    def __enter__(self) -> BgzipText:
        return self

    def __exit__(self, *unused: object) -> None:
        self._file.close()
