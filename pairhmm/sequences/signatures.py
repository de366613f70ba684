"""Signatures: what a scan looks for, as arrays and from FASTA."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files import formats
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.names import check_names
from pairhmm.objects import short_repr
from pairhmm.sequences.arrays import joined, offsets
from pairhmm.sequences.fastx import NO_SEQUENCES, text_blocks
from pairhmm.sequences.letters import ANY

log = logging.getLogger(__name__)

_CHUNK = 1 << 22
_HEADER = re.compile(rb"\n>([^\n]*)(?=\n)")
_TAXID = re.compile(r"(?:\bkraken:taxid\||\btaxid[=:| ]|\bOX=)(\d+)", re.IGNORECASE)
"""The number of a taxon in a header, as Kraken's libraries, NCBI's tools and UniProt write it."""


@dataclass(frozen=True, slots=True)
class Signatures:
    """Signatures laid end to end.

    Attributes
    ----------
    letters : uint8[sum of lengths]
        Sets of bases.
    offset : int64[signatures + 1]
        No signature is empty.
    headers : list of str
        The header lines of a FASTA; empty without one.
    """

    names: list[str]
    letters: NDArray[np.uint8]
    offset: NDArray[np.int64]
    headers: list[str] = field(default_factory=list)

    __repr__ = short_repr

    @classmethod
    def of(cls, names: Sequence[str], sequences: Sequence[NDArray[np.uint8]]) -> Signatures:
        """Pack sequences of sets."""
        return cls(list(names), joined(sequences), offsets([len(sequence) for sequence in sequences]))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64[signatures]."""
        return np.diff(self.offset)

    @property
    def informative(self) -> NDArray[np.int64]:
        """Number of letters other than N in each signature, int64[signatures]."""
        # A sum over all letters at once would take eight bytes a letter.
        counts = [int(np.count_nonzero(self.sequence(index) != ANY)) for index in range(len(self))]
        return np.array(counts, dtype=np.int64)

    def title(self, index: int) -> str:
        """What the header says behind the name, such as the name of a virus; empty if that is nothing."""
        words = self.headers[index].split(None, 1) if self.headers else []
        return words[1] if len(words) > 1 else ""

    def taxid(self, index: int) -> int:
        """The number of its taxon that its header gives; 0 without one."""
        found = _TAXID.search(self.headers[index]) if self.headers else None
        return int(found[1]) if found else 0

    def sequence(self, index: int) -> NDArray[np.uint8]:
        """The sets of one signature."""
        return self.letters[self.offset[index] : self.offset[index + 1]]


def read_signatures(path: str | Path) -> Signatures:
    """The signatures of a FASTA file, plain or gzipped; ``-`` is stdin. Qualities of a FASTQ file are not used.

    A name that occurs again is numbered, with a warning: ``x``, ``x.2``, ``x.3``.

    Raises InputError for a file without records, a record without letters, letters outside IUPAC, and damaged files.
    The message names file and record.
    """
    names: list[str] = []
    letters: list[NDArray[np.uint8]] = []
    with _FastaStream(str(path)) as stream:
        if stream.head.startswith((formats.BAM, formats.CRAM)):
            raise InputError(str(path), "", *NO_SEQUENCES)
        for block in text_blocks(stream, _CHUNK, overlap=None):
            names += list(block.names)
            letters += np.split(block.samples.letters, block.samples.offset[1:-1])
    check_names(str(path), "record", names, "rename it")
    if not names:
        raise InputError(str(path), "", "no signature in it", "give a FASTA file with --signatures")
    for number, (name, sequence) in enumerate(zip(names, letters, strict=True), start=1):
        if not len(sequence):
            raise InputError(str(path), f"record {number} ({name})", "empty sequence", "remove the record")
    packed = Signatures.of(_numbered(names, str(path)), letters)
    return replace(packed, headers=stream.headers) if len(stream.headers) == len(names) else packed


class _FastaStream(ByteStream):
    """A file whose header lines are kept, if it is FASTA."""

    def __init__(self, path: str) -> None:
        super().__init__(path, lambda _: None)
        self.headers: list[str] = []
        self._rest = b"\n"  # what may become a header

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        size = super().fill(buffer)
        text = self._rest + buffer[:size].tobytes()
        self.headers += [line.decode("utf-8", "replace").strip() for line in _HEADER.findall(text)]
        line = text[text.rfind(b"\n") :]
        self._rest = line if line[:2] in (b"\n", b"\n>") else b""
        return size


def _numbered(names: Sequence[str], path: str) -> list[str]:
    """The names, with a number added to each that occurred before."""
    seen: Counter[str] = Counter()
    taken, numbered = set(names), []
    for name in names:
        seen[name] += 1
        unique = name if seen[name] == 1 else f"{name}.{seen[name]}"
        while seen[name] > 1 and unique in taken:
            seen[name] += 1
            unique = f"{name}.{seen[name]}"
        taken.add(unique)
        numbered.append(unique)
    again = sum(1 for count in seen.values() if count > 1)
    if again:
        first = next(name for name, count in seen.items() if count > 1)
        log.warning("%s: names that occur more than once are numbered: %s (of %d such names)", path, first, again)
    return numbered
