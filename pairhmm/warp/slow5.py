"""Reads and writes SLOW5, and the header that it shares with BLOW5 (specification, 1.0.0).

pyslow5 writes both. It reads neither here: where a file is damaged, it ends the process, or writes past its memory.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.bgzf import CUT_OFF, MAKE_AGAIN
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.formats import SLOW5
from pairhmm.files.text_lines import stream_texts
from pairhmm.warp.signal_records import SignalRecord, checked, library

_NAMES = b"#read_id\tread_group\tdigitisation\toffset\trange\tsampling_rate\tlen_raw_signal\traw_signal".split(b"\t")
_TYPES = b"#char*\tuint32_t\tdouble\tdouble\tdouble\tdouble\tuint64_t\tint16_t*".split(b"\t")
COLUMNS = len(_NAMES)
"""Columns that every record has. Auxiliary ones follow."""

_MOST_GROUPS = 1 << 20


@dataclass(frozen=True, slots=True)
class Slow5Header:
    """A header."""

    groups: int  # Read groups. Each is a run.
    attributes: dict[str, list[str]]  # the values of each attribute, one for each read group
    auxiliary: list[str]  # types of the columns behind the first eight
    _runs: dict[int, Mapping[str, str]] = field(default_factory=dict)

    def run(self, group: int) -> Mapping[str, str]:
        """The header's fields of a read group: the same mapping each time."""
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

    Raises InputError for lines of another form, and where no columns are named.
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


ENDINGS = (".slow5", ".blow5")
"""Names of files that `write_slow5` writes."""

_GROUPS = b"#num_read_groups\t"
_OF_SAMPLES = b"0123456789-,"
_LIMITS = np.iinfo(np.int16)

# The sampling of a record that is written: picoamperes in hundredths.
_STEPS_A_PICOAMPERE = 100.0
_DIGITISATION = 8192.0


def read_slow5(stream: ByteStream) -> Iterator[SignalRecord]:
    """The reads of SLOW5 text, in pA. Raises InputError for a file that is cut off or damaged; names the record."""
    path, lines = stream.path, _lines(stream)
    version = next(lines, b"")
    if not version.startswith(SLOW5):
        raise damaged_header(path, "it does not begin with SLOW5's version")
    check_version(path, version.removeprefix(SLOW5).decode("utf-8", "replace"))
    groups = next(lines, b"")
    if not groups.startswith(_GROUPS):
        raise damaged_header(path, "its second line is not num_read_groups")
    header = parse_header(path, lines, count_of_groups(path, groups.removeprefix(_GROUPS)))
    for number, line in enumerate(lines, start=1):
        yield _text_record(path, f"record {number}", header, line.split(b"\t"))


def _lines(stream: ByteStream) -> Iterator[bytes]:
    """The lines of SLOW5 text, without their ends."""
    number = 0
    for text in stream_texts(stream):
        if not text.endswith(b"\n"):
            raise InputError(stream.path, "", f"{CUT_OFF}: its last line has no end", MAKE_AGAIN)
        for line in text[:-1].split(b"\n"):
            number += 1
            if line.endswith(b"\r"):
                rule = "ends in CR and LF, which SLOW5 does not allow"
                raise InputError(stream.path, f"line {number}", rule, "convert the file by dos2unix")
            yield line


def _text_record(path: str, place: str, header: Slow5Header, fields: list[bytes]) -> SignalRecord:
    expected = COLUMNS + len(header.auxiliary)
    if len(fields) != expected:
        rule = f"has {len(fields)} fields where the header names {expected}"
        raise InputError(path, place, rule, MAKE_AGAIN)
    name, group, digitisation, offset, limits, rate, size, text = fields[:COLUMNS]
    read_id = read_name(path, place, name)
    place = f"{place} ({read_id})"
    sampling = Sampling(
        read_id,
        _whole(path, place, "read_group", group),
        _number(path, place, "digitisation", digitisation),
        _number(path, place, "offset", offset),
        _number(path, place, "range", limits),
        _number(path, place, "sampling_rate", rate),
    )
    raw = _samples(path, place, text)
    if _whole(path, place, "len_raw_signal", size) != len(raw):
        rule = f"len_raw_signal is {size.decode()}, and its signal has {len(raw):,} samples"
        raise InputError(path, place, rule, "repair or remove the read")
    return sampling.record(path, place, header, raw)


def _samples(path: str, place: str, text: bytes) -> NDArray[np.int16]:
    if text in (b"", b"."):
        return np.empty(0, dtype=np.int16)
    try:
        if text.translate(None, _OF_SAMPLES):
            raise ValueError(text)  # such as 1_000, which Python reads as a number
        samples = np.array([int(part) for part in text.split(b",")], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        rule = "raw_signal is not whole numbers with commas between them"
        raise InputError(path, place, rule, "repair or remove the read") from error
    outside = (samples < _LIMITS.min) | (samples > _LIMITS.max)
    if outside.any():
        rule = f"sample {int(outside.argmax()) + 1} is {samples[outside][0]}, beyond 16 bits"
        raise InputError(path, place, rule, "repair or remove the read")
    return samples.astype(np.int16)


def _whole(path: str, place: str, name: str, text: bytes) -> int:
    if not text.isdigit() or len(text) > 20:
        raise InputError(path, place, f"{name} is {_shown(text)}, not a whole number", "repair or remove the read")
    return int(text)


def _number(path: str, place: str, name: str, text: bytes) -> float:
    try:
        if b"_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise InputError(path, place, f"{name} is {_shown(text)}, not a number", "repair or remove the read") from None


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))


def write_slow5(path: Path, signals: Iterator[SignalRecord], sampling_rate: float) -> None:
    """Write signals in pA, rounded to hundredths. The name's ending chooses SLOW5 or BLOW5."""
    pyslow5 = library("pyslow5", str(path), "a SLOW5 or BLOW5 file")
    file = pyslow5.Open(str(path), "w")
    try:
        file.write_header({"experiment_type": "genomic_dna"})
        for signal in signals:
            record = file.get_empty_record()
            record["read_id"] = signal.name
            record["read_group"] = 0
            record["digitisation"] = _DIGITISATION
            record["offset"] = 0.0
            record["range"] = _DIGITISATION / _STEPS_A_PICOAMPERE
            record["sampling_rate"] = sampling_rate
            record["signal"] = _steps(signal.values)
            record["len_raw_signal"] = len(signal.values)
            if file.write_record(record):
                raise OSError(errno.EIO, "pyslow5 could not write a record", str(path))
    finally:
        file.close()


def _steps(values: NDArray[np.floating]) -> NDArray[np.int16]:
    steps: NDArray[np.float64] = np.clip(np.rint(values * _STEPS_A_PICOAMPERE), _LIMITS.min, _LIMITS.max)
    return steps.astype(np.int16)
