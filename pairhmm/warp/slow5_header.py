"""The header of SLOW5 and BLOW5 files: what it says of each run, and which columns follow (specification, 1.0.0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.bgzf import CUT_OFF, MAKE_AGAIN
from pairhmm.warp.signal_records import SignalRecord, checked

_NAMES = b"#read_id\tread_group\tdigitisation\toffset\trange\tsampling_rate\tlen_raw_signal\traw_signal".split(b"\t")
_TYPES = b"#char*\tuint32_t\tdouble\tdouble\tdouble\tdouble\tuint64_t\tint16_t*".split(b"\t")
COLUMNS = len(_NAMES)
"""Columns that every record has. Auxiliary ones follow."""

_MOST_GROUPS = 1 << 20


@dataclass(frozen=True, slots=True)
class Slow5Header:
    """A header.

    Attributes
    ----------
    groups : int
        Read groups. Each is a run.
    attributes : dict of str to list of str
        The values of each attribute, one for each read group.
    auxiliary : list of str
        Types of the columns behind the first eight.
    """

    groups: int
    attributes: dict[str, list[str]]
    auxiliary: list[str]
    _runs: dict[int, Mapping[str, str]] = field(default_factory=dict)

    def run(self, group: int) -> Mapping[str, str]:
        """What the header says of a read group: the same mapping each time."""
        if group not in self._runs:
            self._runs[group] = {name: values[group] for name, values in self.attributes.items()}
        return self._runs[group]


@dataclass(frozen=True, slots=True)
class Sampling:
    """The columns of a record that turn its raw samples into pA."""

    read_id: str
    group: int
    digitisation: float
    offset: float
    range: float
    rate: float

    def record(self, path: str, place: str, header: Slow5Header, raw: NDArray[np.int16]) -> SignalRecord:
        """The read in pA, as pyslow5 computes it. Raises InputError for values that no sequencer writes."""
        values = {"digitisation": self.digitisation, "range": self.range, "sampling_rate": self.rate}
        for name, value in (("offset", self.offset), *values.items()):
            if not np.isfinite(value) or (name in values and value <= 0):
                rule = f"{name} is {value:g}, so that its samples have no meaning"
                raise InputError(path, place, rule, "repair or remove the read")
        if self.group >= header.groups:
            rule = f"read_group is {self.group}, and the header has {header.groups} (from 0)"
            raise InputError(path, place, rule, "repair or remove the read")
        with np.errstate(over="ignore"):
            picoamperes = ((raw + self.offset) * (self.range / self.digitisation)).astype(np.float32)
        return SignalRecord(self.read_id, checked(path, place, picoamperes), header.run(self.group))


def damaged_header(path: str, what: str) -> InputError:
    """The error for a header that can't be used."""
    return InputError(path, "header", f"{CUT_OFF}, or its header is damaged: {what}", MAKE_AGAIN)


def count_of_groups(path: str, text: bytes) -> int:
    """The number of read groups."""
    if not text.isdigit() or not 1 <= int(text[:20]) <= _MOST_GROUPS:
        raise damaged_header(path, f"num_read_groups is {_shown(text)}")
    return int(text)


def check_version(path: str, version: str) -> None:
    """Require a version that this reader knows: 0.1.0 to 1."""
    if version.split(".")[0] not in ("0", "1"):
        rule = f"is of SLOW5's version {version}, and this reader knows those before 2"
        raise InputError(path, "header", rule, "convert it by slow5tools")


def parse_header(path: str, lines: Iterable[bytes], groups: int) -> Slow5Header:
    """The header of the lines behind the version and the number of read groups, up to the names of columns.

    Raises
    ------
    InputError
        For lines of another form, and where no columns are named.
    """
    attributes: dict[str, list[str]] = {}
    types: list[bytes] = []
    for line in lines:
        fields = line.split(b"\t")
        if line.startswith(b"@"):
            name, *values = (text.decode("utf-8", "replace") for text in fields)
            if len(values) != groups:
                raise damaged_header(path, f"{name} has {len(values)} values for {groups} read groups")
            attributes[name[1:]] = values
        elif not types:
            if fields[:COLUMNS] != _TYPES:
                raise damaged_header(path, "it names no columns")
            types = fields
        else:
            if fields[:COLUMNS] != _NAMES or len(fields) != len(types):
                raise damaged_header(path, "it names no columns, or not as many as it has types")
            return Slow5Header(groups, attributes, [text.decode("utf-8", "replace") for text in types[COLUMNS:]])
    raise damaged_header(path, "it names no columns")


def read_name(path: str, place: str, text: bytes) -> str:
    """A read's name. Raises InputError for one that is no text, or empty."""
    try:
        name = text.decode()
    except UnicodeDecodeError as error:
        raise InputError(path, place, "its name is not text (UTF-8)", MAKE_AGAIN) from error
    if not name:
        raise InputError(path, place, "has no name", MAKE_AGAIN)
    return name


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))
