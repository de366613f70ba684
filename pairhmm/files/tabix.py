"""Indexes a bgzipped table while it is written, as ``tabix`` does when it reads it again (tabix specification)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pairhmm.files.bgzip import LONGEST_FOR_TBI, BgzipText, index_table
from pairhmm.files.outputs import has_companions

_ZERO_BASED = 0x10000
_WINDOW_BITS = 14
# The bins of one size begin at these numbers; each is 2**shift bases long (SAM specification, section 5.3).
_BINS = ((4681, 14), (585, 17), (73, 20), (9, 23), (1, 26))
# The number of the bin that holds counts in place of rows.
_COUNTS = 37450


@dataclass(slots=True)
class _Contig:
    """Where a contig's rows are in the text: of each bin the stretches, of each window of 16 kb the first."""

    bins: dict[int, list[list[int]]] = field(default_factory=dict)
    windows: list[int] = field(default_factory=list)
    rows: int = 0

    def add(self, start: int, end: int, rows: int, first: int, last: int) -> None:
        stretches = self.bins.setdefault(_bin_of(start, end), [])
        if stretches and stretches[-1][1] == first:
            stretches[-1][1] = last
        else:
            stretches.append([first, last])
        # Windows before this one that have no row begin where it does: no row of theirs comes later.
        reached = (max(end, start + 1) - 1 >> _WINDOW_BITS) + 1
        self.windows += [first] * (reached - len(self.windows))
        self.rows += rows

    def packed(self, text: BgzipText) -> Iterator[bytes]:
        yield struct.pack("<i", len(self.bins) + 1)
        for number, stretches in self.bins.items():
            yield struct.pack("<Ii", number, len(stretches))
            yield from (
                struct.pack("<QQ", text.virtual_offset(first), text.virtual_offset(last)) for first, last in stretches
            )
        stretches = [offset for some in self.bins.values() for offset in some]
        first, last = min(offset for offset, _ in stretches), max(offset for _, offset in stretches)
        yield struct.pack("<IiQQQQ", _COUNTS, 2, text.virtual_offset(first), text.virtual_offset(last), self.rows, 0)
        yield struct.pack("<i", len(self.windows))
        yield from (struct.pack("<Q", text.virtual_offset(first)) for first in self.windows)


def _bin_of(start: int, end: int) -> int:
    """The smallest bin that holds an interval."""
    last = max(end, start + 1) - 1
    if start >> _WINDOW_BITS == last >> _WINDOW_BITS:
        return _BINS[0][0] + (start >> _WINDOW_BITS)
    return next((first + (start >> shift) for first, shift in _BINS if start >> shift == last >> shift), 0)


class TableIndex:
    """The index of a table with many rows of each interval. Intervals come in order, those of a contig together.

    Parameters
    ----------
    text : BgzipText
        The table. It is written to, between calls of `add`.
    first : int
        The number of the column of contigs; start and end (0-based half-open) follow it.
    """

    def __init__(self, text: BgzipText, first: int) -> None:
        self._text, self._first = text, first
        self._contigs: dict[str, _Contig] = {}
        self._furthest = 0

    def add(self, *spans: tuple[str, int, int, int, int]) -> None:
        """Take the contig, start, end, rows and bytes of intervals, which are the last of the text so far."""
        first = self._text.size - sum(span[-1] for span in spans)
        for chrom, start, end, rows, size in spans:
            self._furthest = max(self._furthest, end)
            if rows and self._furthest <= LONGEST_FOR_TBI:
                if chrom not in self._contigs:
                    self._contigs[chrom] = _Contig()
                self._contigs[chrom].add(start, end, rows, first, first + size)
            first += size

    def write(self, path: Path) -> None:
        """Write the index of the table `path`, which is closed: ``.tbi``, or ``.csi`` for contigs too long for it.

        A table that is a pipe or a device gets none.
        """
        if not has_companions(path):
            return
        if self._furthest > LONGEST_FOR_TBI:
            index_table(path, self._first, self._furthest)
            return
        names = b"".join(name.encode() + b"\0" for name in self._contigs)
        columns = (self._first + 1, self._first + 2, self._first + 3)
        with BgzipText(Path(f"{path}.tbi")) as out:
            head = (len(self._contigs), _ZERO_BASED, *columns, ord("#"), 0, len(names))
            out.write(b"TBI\1" + struct.pack("<8i", *head) + names)
            for contig in self._contigs.values():
                out.write(b"".join(contig.packed(self._text)))
            out.write(struct.pack("<Q", 0))
