"""Reads signatures from FASTA."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.io.files.byte_stream import ByteStream
from pairhmm.io.files.names import check_names
from pairhmm.io.samples.text_records import text_blocks
from pairhmm.scanning.batch import Signatures

log = logging.getLogger(__name__)

_CHUNK = 1 << 22


def read_signatures(path: str | Path) -> Signatures:
    """The signatures of a FASTA file, plain or gzipped; ``-`` is stdin. Qualities of a FASTQ file are not used.

    A name that occurs again is numbered, with a warning: ``x``, ``x.2``, ``x.3``.

    Raises
    ------
    InputError
        For a file without records, a record without letters, letters outside IUPAC, and damaged files. The message
        names file and record.
    """
    names: list[str] = []
    letters: list[NDArray[np.uint8]] = []
    with ByteStream(str(path), lambda _: None) as stream:
        for block in text_blocks(stream, _CHUNK, overlap=None):
            names += list(block.names)
            letters += np.split(block.samples.letters, block.samples.offset[1:-1])
    check_names(str(path), "record", names, "rename it")
    if not names:
        raise InputError(str(path), "", "no signature in it", "give a FASTA file with --signatures")
    for number, (name, sequence) in enumerate(zip(names, letters, strict=True), start=1):
        if not len(sequence):
            raise InputError(str(path), f"record {number} ({name})", "empty sequence", "remove the record")
    return Signatures.of(_numbered(names, str(path)), letters)


def _numbered(names: Sequence[str], path: str) -> list[str]:
    """The names, with a number added to each that occurred before."""
    seen: Counter[str] = Counter()
    taken, numbered = set(names), []
    for name in names:
        seen[name] += 1
        own = name if seen[name] == 1 else f"{name}.{seen[name]}"
        while seen[name] > 1 and own in taken:
            seen[name] += 1
            own = f"{name}.{seen[name]}"
        taken.add(own)
        numbered.append(own)
    again = sum(1 for count in seen.values() if count > 1)
    if again:
        first = next(name for name, count in seen.items() if count > 1)
        log.warning("%s: names that occur more than once are numbered: %s (of %d such names)", path, first, again)
    return numbered
