"""Reads POD5 through the library pod5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pairhmm.errors import InputError
from pairhmm.files.bgzf import MAKE_AGAIN
from pairhmm.warp.signal_records import SignalRecord, checked, library

ENDINGS = (".pod5",)


def read_pod5(path: str) -> Iterator[SignalRecord]:
    """The reads of a POD5 file, in pA.

    Raises
    ------
    InputError
        For a file that is cut off or damaged, and where the library is missing.
    """
    pod5 = library("pod5", path, "a POD5 file")
    number = 0
    info: Any = None
    run: Mapping[str, str] = {}
    try:
        with pod5.Reader(path) as reader:
            for number, read in enumerate(reader.reads(), start=1):  # noqa: B007
                name = str(read.read_id)
                if read.run_info is not info:
                    info = read.run_info
                    run = _said(info)
                yield SignalRecord(name, checked(path, f"read {name}", read.signal_pa), run)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # pod5 raises what Arrow and its own parts do: no list of these is whole
        what = " ".join(str(error).split()) or type(error).__name__
        place = f"after read {number}" if number else ""
        raise InputError(path, place, f"is cut off or damaged ({what})", MAKE_AGAIN) from error


def _said(info: Any) -> dict[str, str]:
    """What a run says of itself, under the names that SLOW5 has for it."""
    tags = {**dict(info.tracking_id), **dict(info.context_tags)}
    own = {name: str(getattr(info, name)) for name in ("sequencing_kit", "flow_cell_product_code", "protocol_name")}
    return {**{str(name): str(value) for name, value in tags.items()}, **{name: own[name] for name in own if own[name]}}
