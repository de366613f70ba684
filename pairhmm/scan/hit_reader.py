"""Reads tables of hits and of signatures, which `pairhmm.scan.hit_writer` writes."""

from __future__ import annotations

from collections.abc import Iterator

from pairhmm.errors import InputError
from pairhmm.files.hit_table import count_of, file_label, number_of
from pairhmm.files.text_lines import read_rows
from pairhmm.scan.hit_writer import MASKED, SEEN_COLUMNS
from pairhmm.scan.rollup import SignatureSeen


def read_seen(path: str, sample: str | None) -> Iterator[tuple[str, SignatureSeen]]:
    """The sample and the rest of each row of a summary ``PREFIX.signatures.tsv`` of a scan of tiles.

    Parameters
    ----------
    path : str
    sample : str or None
        The sample of all rows. None names it by the file that was scanned.

    Raises
    ------
    InputError
        For a file that is not such a table; names the line.
    """
    rows = read_rows(path, SEEN_COLUMNS, "pairhmm scan --tile --summary", optional=MASKED)
    for number, row in enumerate(rows, start=2):
        file, signature, call, reads, ambiguous, tiles, all_tiles, breadth, depth, *more = row
        quality, identity, expected, length, reason, *masked = more
        try:
            seen = SignatureSeen(
                signature=signature,
                length=count_of(length),
                reads=count_of(reads),
                ambiguous=number_of(ambiguous) if ambiguous else None,
                tiles=count_of(tiles),
                all_tiles=count_of(all_tiles),
                breadth=number_of(breadth),
                depth=number_of(depth),
                quality=number_of(quality) if quality else None,
                identity=number_of(identity) if identity else None,
                expected=number_of(expected),
                call=call,
                reason=reason,
                masked=count_of(masked[0]) if masked else 0,
            )
        except ValueError:
            cure = "give a table that pairhmm scan --tile wrote"
            raise InputError(path, f"line {number}", "not a signature", cure) from None
        yield sample or file_label(file), seen
