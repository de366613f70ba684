"""Calls of the page beside those of the command line."""

from __future__ import annotations

import re

import pytest


def records(text: str) -> list[list[str]]:
    """The fields of a VCF's records."""
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def header(text: str) -> list[str]:
    """A VCF's header, without the folder of its reference."""
    return [re.sub(r"(##reference=).*/", r"\1", line) for line in text.splitlines() if line.startswith("#")]


def assert_same_records(ours: str, theirs: str) -> None:
    """Records are equal, up to the last digit of QUAL, QD and PL: the SIMD levels round their scores differently."""
    assert len(records(ours)) == len(records(theirs)) > 0
    for our, their in zip(records(ours), records(theirs), strict=True):
        if our[5] == ".":
            assert our == their
            continue
        assert float(our[5]) == pytest.approx(float(their[5]), abs=0.02)
        (our_info, our_qd), (their_info, their_qd) = without_qd(our[7]), without_qd(their[7])
        assert [*our[:5], our[6], our_info, our[8]] == [*their[:5], their[6], their_info, their[8]]
        assert our_qd == pytest.approx(their_qd, abs=0.011, nan_ok=True)
        for columns in zip(our[9:], their[9:], strict=True):
            fields, others = (dict(zip(our[8].split(":"), column.split(":"), strict=True)) for column in columns)
            likelihoods, expected = (map(int, own.pop("PL", "0").split(",")) for own in (fields, others))
            assert fields == others
            assert list(likelihoods) == pytest.approx(list(expected), abs=1)


def without_qd(info: str) -> tuple[list[str], float]:
    """INFO without QD, and QD; NaN without one."""
    fields = info.split(";")
    quality = [field for field in fields if field.startswith("QD=")]
    return [field for field in fields if field not in quality], float(quality[0][3:]) if quality else float("nan")
