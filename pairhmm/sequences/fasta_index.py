"""Checks and makes the index of a FASTA file (samtools' .fai and .gzi).

samtools compares times alone. Here records are looked up as well: an index that was copied beside another FASTA, or cut
off, is newer than its FASTA, and would give the bases of other places with no error.
"""

from __future__ import annotations

import logging
import os
import shlex
import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pysam

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.bgzf import DamagedBlockError, blocks_from, end_marker
from pairhmm.files.inputs import has_byte_order_mark
from pairhmm.files.outputs import is_protected, whole_files

log = logging.getLogger(__name__)

_FAI, _GZI = ".fai", ".gzi"
# The most records that are looked up in a plain file and in a packed one, so that an assembly of a million contigs
# takes no longer.
_MOST_IN_PLAIN, _MOST_IN_PACKED = 5000, 200
# The most bytes of a line end, and those between a record's last base and the end of the next name line.
_LONGEST_LINE_END, _NAME_LINE, _LONGEST_NAME_LINE = 64, 1 << 10, 1 << 16
# Bases of a line that are looked at. A line may hold a chromosome.
_LINE_PART = 1 << 12
# The most bytes behind the last block that a .gzi names: one more block, and the empty one at the end.
_LONGEST_REST = 1 << 18
# The most bytes of a block, and the most blocks that are unpacked to be compared with a .gzi.
_LARGEST_BLOCK, _MOST_BLOCKS = 1 << 16, 32
# A probe of the room on the disk. An index is written in steps of at least this size.
_PROBE = bytes(1 << 16)


class _Record(NamedTuple):
    """A line of a .fai. Lengths are in bases and in bytes, offsets in unpacked bytes."""

    name: bytes
    length: int
    offset: int
    line_bases: int
    line_bytes: int

    @property
    def line_end(self) -> int:
        """The bytes of a line end."""
        return self.line_bytes - self.line_bases

    @property
    def line_starts(self) -> list[int]:
        """The offsets of its first, second and last line, as far as it has them."""
        last = (self.length - 1) // self.line_bases if self.length else 0
        return [self.offset + line * self.line_bytes for line in sorted({0, min(1, last), last})]

    @property
    def end(self) -> int:
        """The offset behind its last base."""
        return self.line_starts[-1] + ((self.length - 1) % self.line_bases + 1 if self.length else 0)


def is_bgzipped(path: str) -> bool:
    """Whether a file is bgzipped, so that it needs a .gzi as well."""
    with open(path, "rb") as file:
        return bool(end_marker(file.read(formats.BGZF_HEAD_SIZE)))


def why_unfit(path: str) -> str | None:
    """Why the index beside a FASTA file can't be used; None if it can. A name that comes twice is announced."""
    index = Path(path + _FAI)
    if not index.exists():
        return f"{path} has no index"
    if os.path.getmtime(index) < os.path.getmtime(path):
        return f"{index} is older than its FASTA"
    is_packed = is_bgzipped(path)
    if is_packed and not os.path.exists(path + _GZI):
        return f"{path} has no {_GZI} index"
    try:
        with open(path, "rb") as file:
            source = _Packed(file, Path(path + _GZI)) if is_packed else _Plain(file)
            again = set[bytes]()
            fits = _fits(source, _records(index), again)
    except (ValueError, TypeError, IndexError, ZeroDivisionError, struct.error, DamagedBlockError):
        fits = False
    if not fits:
        return f"{index} does not fit its FASTA (it may be cut off)"
    if again:
        log.warning("%s: %s: more than one contig of this name: the first is used", path, min(again).decode())
    return None


def can_be_indexed(path: str) -> bool:
    """Whether an index can be written beside a FASTA file."""
    folder = os.path.dirname(path) or "."
    return os.access(folder, os.W_OK) and not any(map(is_protected, (path + _FAI, path + _GZI)))


def make_index(path: str) -> None:
    """Make the index of a FASTA file beside it. The index appears when it is whole.

    Raises InputError for a file that is not FASTA, and where the index can't be written.
    """
    with ExitStack() as stack:
        fai = stack.enter_context(whole_files(path + _FAI, of_input=True))
        options = ["--fai-idx", str(fai)]
        if is_bgzipped(path):
            options += ["--gzi-idx", str(stack.enter_context(whole_files(path + _GZI, of_input=True)))]
        try:
            # Paths go as bytes, since a name may not be UTF-8.
            pysam.faidx(*map(os.fsencode, (path, *options)), catch_stdout=False)  # type: ignore[arg-type]
        except (pysam.utils.SamtoolsError, OSError) as error:
            _require_room(fai, path + _FAI)
            raise _no_fasta(path) from error


def _no_fasta(path: str) -> InputError:
    """The error for a FASTA that can't be indexed: empty, gzipped, damaged, or of lines of different lengths."""
    if not os.path.getsize(path):
        return InputError(path, "", "is empty", "give the reference FASTA with -f")
    name = shlex.quote(path)
    with open(path, "rb") as file:
        is_gzipped = file.read(len(formats.GZIP)) == formats.GZIP
    if is_bgzipped(path):
        cure = "is it damaged? are its lines of one length?"
    elif is_gzipped:
        cure = f"run gunzip -c {name} | bgzip -c > bgzipped.fa.gz"
    elif has_byte_order_mark(path):
        cure = f"it begins with a byte order mark: run tail -c +4 {name} > plain.fa"
    else:
        joined = """/^>/ {if (n++) print ""; print; next} {printf "%s", $0} END {print ""}"""
        cure = f"if its lines have different lengths, run awk '{joined}' {name} > even.fa"
    return InputError(path, "", "can't be indexed as FASTA", cure)


def _require_room(scratch: Path, index: str) -> None:
    """Require room for an index. When samtools fails, it does not say whether reading or writing was the cause."""
    try:
        scratch.write_bytes(_PROBE)
    except OSError as error:
        rule = f"can't be written: {error.strerror or error}"
        raise InputError(index, "", rule, "free some space, or link the FASTA into another folder") from error


def _records(index: Path) -> list[_Record]:
    """The records of a .fai in order of offset. A bad line raises ValueError or TypeError."""
    *lines, rest = index.read_bytes().split(b"\n")
    records = [_record(line) for line in lines]
    if rest or not records:
        raise ValueError
    return sorted(records, key=lambda one: one.offset)


def _record(line: bytes) -> _Record:
    name, *numbers = line.rstrip().split(b"\t")
    if not all(number.isdigit() for number in numbers):
        raise ValueError
    record = _Record(name, *map(int, numbers))
    if record.length and not 0 < record.line_bases < record.line_bytes <= record.line_bases + _LONGEST_LINE_END:
        raise ValueError
    return record


class _Plain:
    """The bytes of a FASTA file."""

    most_checked = _MOST_IN_PLAIN

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size = file, os.fstat(file.fileno()).st_size

    def read(self, offset: int, count: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(count)


class _Packed:
    """The unpacked bytes of a bgzipped FASTA file, found by its .gzi."""

    most_checked = _MOST_IN_PACKED

    def __init__(self, file: BinaryIO, index: Path) -> None:
        self._file, self._end = file, os.fstat(file.fileno()).st_size
        (count,) = struct.unpack_from("<Q", index.read_bytes())
        numbers = struct.unpack(f"<{2 * count}Q", index.read_bytes()[8:])
        self._addresses, self._offsets = [0, *numbers[::2]], [0, *numbers[1::2]]
        if self._end - self._addresses[-1] > _LONGEST_REST:
            raise ValueError
        self._check_steps()
        self.size = self._offsets[-1] + len(self._unpacked(self._addresses[-1], self._end))

    def _check_steps(self) -> None:
        """Require steps of a block each. Nearly all unpack to one size; some of those that do not are looked up."""
        steps = [
            (place, behind - place, stop - start)
            for (place, behind), (start, stop) in zip(pairwise(self._addresses), pairwise(self._offsets), strict=True)
        ]
        if any(not (0 < packed <= _LARGEST_BLOCK and 0 <= size <= _LARGEST_BLOCK) for _, packed, size in steps):
            raise ValueError
        usual = Counter(size for *_, size in steps).most_common(1)
        odd = [step for step in steps if step[2] not in (0, usual[0][0])]
        for place, _, size in odd[:: 1 + len(odd) // _MOST_BLOCKS]:
            if len(self._unpacked(place, 1)) != size:
                raise ValueError

    def read(self, offset: int, count: int) -> bytes:
        index = bisect_right(self._offsets, offset) - 1
        begin = offset - self._offsets[index]
        return self._unpacked(self._addresses[index], begin + count)[begin : begin + count]

    def _unpacked(self, address: int, count: int) -> bytes:
        """Unpack blocks from an address in the file on, until there are at least `count` bytes or the file ends."""
        data = b""
        file = self._file.fileno()
        for batch in blocks_from(lambda at, size: os.pread(file, size, at), address, address):
            data += b"".join(block.data for block in batch)
            if len(data) >= count:
                break
        return data


def _fits(source: _Plain | _Packed, records: Sequence[_Record], again: set[bytes]) -> bool:
    """Whether records have their lines where the index says, each behind its name, and none is left out.

    `again` takes names that come twice, where such records are seen.
    """
    names = {record.name for record in records}
    if not _leads_to(source, 0, records[0], names, again):
        return False
    step = max(1, len(records) // source.most_checked)
    for number in {*range(0, len(records), step), len(records) - 1}:
        following = records[number + 1] if number + 1 < len(records) else None
        if not _has_lines(source, records[number]):
            return False
        if not _leads_to(source, records[number].end, following, names, again):
            return False
    return True


def _has_lines(source: _Plain | _Packed, record: _Record) -> bool:
    """Whether the first and the last line of a record are lines of bases, and a line end stands before the others."""
    if record.end > source.size:
        return False
    first, *others = record.line_starts
    for start in (first, *others):
        bases = source.read(start, min(record.line_bases, record.end - start, _LINE_PART))
        if len(bases.split()) > 1 or bases.strip() != bases:
            return False
    for start in others:
        before = source.read(start - record.line_end - 1, record.line_end + 1)
        if before[:1].isspace() or before[1:].strip() or before.find(b"\n") != record.line_end:
            return False
    return not source.read(record.end - 1, 1).isspace() if record.length else True


def _leads_to(
    source: _Plain | _Packed, place: int, following: _Record | None, names: Collection[bytes], again: set[bytes]
) -> bool:
    """Whether a record's name line comes next behind the bases that end at a place; without a record, the end."""
    text = source.read(place, _NAME_LINE)
    if b"\n" not in text.lstrip():
        text = source.read(place, _LONGEST_NAME_LINE)
    at = len(text) - len(text.lstrip())
    while at < len(text):
        if text[at : at + 1] != b">":
            return False
        line, _, behind = text[at:].partition(b"\n")
        name, offset = (line[1:].split() or [b""])[0], place + at + len(line) + 1
        if following is not None and (following.offset == offset or not following.length):
            return name == following.name
        # The index leaves out records without bases, and those whose name comes twice.
        if behind[:1] != b">":
            again.update({name}.intersection(names))
            return name in names and (following is None or (name != following.name and following.offset > offset))
        at += len(line) + 1
    return following is None and place + len(text) == source.size
