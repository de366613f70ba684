"""Helps messages to list names, and to match contig names with and without ``chr``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

_LISTED = 3
_PREFIX = "chr"


def listed(names: Collection[str]) -> str:
    """The first few names, for a message."""
    return ", ".join(islice(names, _LISTED)) + (", ..." if len(names) > _LISTED else "")


def same_contig(name: str, contigs: Iterable[str]) -> str | None:
    """The contig that has the same name except for a `chr` at the start of one of the two."""
    other = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else f"{_PREFIX}{name}"
    # The mitochondrial contig is MT in names without `chr`, and chrM with it.
    wanted = {other, {"M": "MT", "chrMT": "chrM"}.get(other, other)}
    return next((contig for contig in contigs if contig in wanted), None)
