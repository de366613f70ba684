"""Writes the reads of each signature in the format of Kraken's reports, which Pavian, Krona and MultiQC read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import numpy as np

from pairhmm.files.outputs import open_output
from pairhmm.scan.collect import SampleHits
from pairhmm.scan.rollup import TaxonReads
from pairhmm.scan.tables import Sink
from pairhmm.sequences.signatures import Signatures

UNCLASSIFIED, ROOT, SPECIES = "U", "R", "S"
"""Codes of ranks. Signatures stand for species: their files say nothing of other ranks."""


@contextmanager
def open_kreport(destination: str | Path, signatures: Signatures) -> Iterator[Sink]:
    """Open the report of all files as one sample; ``-`` is stdout."""
    with open_output(destination) as out:
        taxa = _Taxa(signatures)
        yield taxa
        taxa.write(out)


class _Taxa(Sink):
    """Adds up the reads of all files."""

    def __init__(self, signatures: Signatures) -> None:
        self._signatures = signatures
        self._own = np.zeros(len(signatures), dtype=np.int64)
        self._shared = self._unmatched = 0

    def add(self, sample_hits: SampleHits) -> None:
        """Hits add nothing to what `add_taxa` gets."""

    def add_taxa(self, reads: TaxonReads) -> None:
        self._own += reads.own
        self._shared += reads.shared
        self._unmatched += reads.unmatched

    def write(self, out: TextIO) -> None:
        """Write reads without a match, those of several taxa, and each taxon that has reads, the most first."""
        matched = int(self._own.sum()) + self._shared
        total = matched + self._unmatched

        def line(clade: int, direct: int, rank: str, taxid: int, name: str) -> None:
            share = 100 * clade / total if total else 0.0
            out.write(f"{share:6.2f}\t{clade}\t{direct}\t{rank}\t{taxid}\t{name}\n")

        if self._unmatched:
            line(self._unmatched, self._unmatched, UNCLASSIFIED, 0, "unclassified")
        if matched:
            line(matched, self._shared, ROOT, 1, "root")
        for index in np.argsort(-self._own, kind="stable").tolist():
            if reads := int(self._own[index]):
                name = self._signatures.title(index) or self._signatures.names[index]
                line(reads, reads, SPECIES, self._signatures.taxid(index), f"  {name}")
