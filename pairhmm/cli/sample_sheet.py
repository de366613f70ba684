"""Checks the sample sheet of the workflow before any work begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.errors import InputError
from pairhmm.files.sample_sheet import SheetRow
from pairhmm.sequences.fasta import Reference


def check_files(sheet: str | Path, rows: Sequence[SheetRow], reference: str = "") -> None:
    """Check the files that a sample sheet names by opening them; only headers and indexes are read.

    A missing index of the reference is made.

    Parameters
    ----------
    sheet : path
        For messages.
    rows : sequence of SheetRow
        From `read_sheet`.
    reference : str
        FASTA; empty where no row has alignments.

    Raises
    ------
    InputError
        For a file that is missing; for alignments that have no index, were made with another reference, or are of
        another sample.
    """
    for row in rows:
        for path in (*row.alignments, *row.reads):
            if not os.path.isfile(path):
                raise InputError(str(sheet), f"{row.place} ({row.sample})", f"no such file: {path}", "check the path")
    if not reference:
        return
    with Reference(reference) as genome:
        for row in rows:
            for path in row.alignments:
                with AlignmentReader([path], genome, need_index=True) as reader:
                    if reader.samples != [row.sample]:
                        rule = f"{path} has {', '.join(map(repr, reader.samples))} in its read groups"
                        cure = "name the sample as its read groups do, or run samtools addreplacerg"
                        raise InputError(str(sheet), f"{row.place} ({row.sample})", rule, cure)
