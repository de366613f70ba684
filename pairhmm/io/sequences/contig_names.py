"""Lists of names, and contig names with and without ``chr``, for messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

_LISTED = 3
_PREFIX = "chr"


def listed(names: Collection[str]) -> str:
    """The first few names, for a message."""
    return ", ".join(islice(names, _LISTED)) + (", ..." if len(names) > _LISTED else "")


def same_contig(name: str, contigs: Iterable[str]) -> str | None:
    """The contig that a name means but for a `chr` at its start, which only one of the two has."""
    other = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else f"{_PREFIX}{name}"
    # The mitochondrion is MT in names without `chr`.
    wanted = {other, {"M": "MT", "chrMT": "chrM"}.get(other, other)}
    return next((contig for contig in contigs if contig in wanted), None)
