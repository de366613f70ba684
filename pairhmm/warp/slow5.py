"""Reads and writes SLOW5; reads BLOW5 through `pairhmm.warp.blow5`, and writes it through pyslow5.

pyslow5 reads neither: where a file is damaged, it ends the process, or writes past its memory.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.files.bgzf import CUT_OFF, MAKE_AGAIN
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.formats import BLOW5, SLOW5
from pairhmm.files.text_lines import stream_texts
from pairhmm.warp.blow5 import read_blow5
from pairhmm.warp.signal_records import SignalRecord, library
from pairhmm.warp.slow5_header import (
    COLUMNS,
    Sampling,
    Slow5Header,
    check_version,
    count_of_groups,
    damaged_header,
    parse_header,
    read_name,
)

ENDINGS = (".slow5", ".blow5")
_LIBRARY = "pyslow5"
_GROUPS = b"#num_read_groups\t"
_OF_SAMPLES = b"0123456789-,"
_LIMITS = np.iinfo(np.int16)

# What a record says of its sampling; `write_signals` stores picoamperes in hundredths.
_STEPS_A_PICOAMPERE = 100.0
_DIGITISATION = 8192.0


def read_slow5(path: str) -> Iterator[SignalRecord]:
    """The reads of a SLOW5 or BLOW5 file, in pA. Its first bytes tell which.

    Raises
    ------
    InputError
        For a file that is cut off or damaged; names the record.
    """
    with ByteStream(path, lambda _: None) as stream:
        if stream.head.startswith(BLOW5):
            yield from read_blow5(stream)
        else:
            yield from _read_text(path, _lines(stream))


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


def _read_text(path: str, lines: Iterator[bytes]) -> Iterator[SignalRecord]:
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
    pyslow5 = library(_LIBRARY, str(path), "a SLOW5 or BLOW5 file")
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
    limits = np.iinfo(np.int16)
    steps: NDArray[np.int16] = np.clip(np.rint(values * _STEPS_A_PICOAMPERE), limits.min, limits.max).astype(np.int16)
    return steps
