"""Reads and writes SLOW5 and BLOW5 through pyslow5.

pyslow5 ends the process where a header is cut off, so that headers are looked at before it opens a file. It reports
other damage by its logger, and then stops as at the end of the file.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.io.files.end_markers import CUT_OFF, MAKE_AGAIN, check_end
from pairhmm.io.files.magic import BLOW5, SLOW5
from pairhmm.io.signals.records import SignalRecord, checked, library

ENDINGS = (".slow5", ".blow5")
_LIBRARY = "pyslow5"
_HEADER_SIZE = slice(64, 68)
"""Where a BLOW5 file has the length of its header's text (SLOW5 specification, version 1.0.0)."""
_COLUMNS = b"#read_id\tread_group\tdigitisation\toffset\trange\tsampling_rate\tlen_raw_signal\traw_signal"
_LONGEST_HEADER = 1 << 26

# What a record says of its sampling; `write_signals` stores picoamperes in hundredths.
_STEPS_A_PICOAMPERE = 100.0
_DIGITISATION = 8192.0


def read_slow5(path: str) -> Iterator[SignalRecord]:
    """The reads of a SLOW5 or BLOW5 file, in pA.

    Raises
    ------
    InputError
        For a file that is cut off or damaged, and where pyslow5 is missing.
    """
    _check_header(path)
    check_end(path)
    pyslow5 = library(_LIBRARY, path, "a SLOW5 or BLOW5 file")
    number = 0
    with _told() as told:
        file = pyslow5.Open(path, "r")
        try:
            for number, read in enumerate(file.seq_reads(pA=True), start=1):  # noqa: B007
                yield SignalRecord(read["read_id"], checked(path, f"read {read['read_id']}", read["signal"]))
        finally:
            file.close()
    if told:
        what = CUT_OFF if "truncated" in told[0] else f"is damaged ({told[0]})"
        raise InputError(path, f"after read {number}", what, MAKE_AGAIN)


def write_slow5(path: Path, signals: Iterator[SignalRecord], sampling_rate: float) -> None:
    """Write signals in pA, rounded to hundredths. The name's ending chooses SLOW5 or BLOW5."""
    pyslow5 = library(_LIBRARY, str(path), "a SLOW5 or BLOW5 file")
    file = pyslow5.Open(str(path), "w")
    try:
        header, _ = file.get_empty_header(aux=True)
        header["experiment_type"] = "genomic_dna"
        file.write_header(header)
        for signal in signals:
            record, _ = file.get_empty_record(aux=True)
            record["read_id"] = signal.name
            record["read_group"] = 0
            record["digitisation"] = _DIGITISATION
            record["offset"] = 0.0
            record["range"] = _DIGITISATION / _STEPS_A_PICOAMPERE
            record["sampling_rate"] = sampling_rate
            record["signal"] = _steps(signal.values)
            record["len_raw_signal"] = len(signal.values)
            file.write_record(record)
    finally:
        file.close()


def _steps(values: NDArray[np.floating]) -> NDArray[np.int16]:
    limits = np.iinfo(np.int16)
    steps: NDArray[np.int16] = np.clip(np.rint(values * _STEPS_A_PICOAMPERE), limits.min, limits.max).astype(np.int16)
    return steps


def _check_header(path: str) -> None:
    """Require a header that pyslow5 can take."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEADER_SIZE.stop)
            size = _LONGEST_HEADER
            if head.startswith(BLOW5):
                size = int.from_bytes(head[_HEADER_SIZE], "little")
                head = b"\n"
            text = head + file.read(min(size, _LONGEST_HEADER))
    except OSError as error:
        raise InputError(path, "", error.strerror or "can't be read", "check the path") from error
    begin = text.find(b"\n" + _COLUMNS)
    if begin < 0 or b"\n" not in text[begin + 1 :] or b"\n#char*\t" not in text[: begin + 1]:
        rule = f"{CUT_OFF}, or its header is damaged: it names no columns"
        raise InputError(path, "header", rule, MAKE_AGAIN)
    if text.startswith(SLOW5) and not _ends_in_line(path):
        raise InputError(path, "", f"{CUT_OFF}: its last line has no end", MAKE_AGAIN)


def _ends_in_line(path: str) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(" ".join(record.getMessage().split()))


@contextmanager
def _told() -> Iterator[list[str]]:
    """What pyslow5 reports within the block, in place of its own lines on stderr."""
    logger = logging.getLogger(_LIBRARY)
    kept: dict[str, Any] = {"handlers": logger.handlers[:], "propagate": logger.propagate}
    errors = _Errors()
    # pyslow5 adds a handler of its own, unless there is one.
    logger.handlers[:], logger.propagate = [errors], False
    try:
        yield errors.told
    finally:
        logger.handlers[:], logger.propagate = kept["handlers"], kept["propagate"]
