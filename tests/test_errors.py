"""Errors are one line: where, what, and what helps."""

from __future__ import annotations

import pytest

from pairhmm.errors import BackendUnavailable, InputError, PairhmmError


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (("x.bam", "read r", "has no bases", "remove it"), "x.bam: read r: has no bases; remove it"),
        (("x.bam", "", "is cut off", ""), "x.bam: is cut off"),
        (("", "", "nothing to do", "give a file"), "nothing to do; give a file"),
    ],
)
def test_input_error_drops_empty_parts(parts, line):
    error = InputError(*parts)
    assert str(error) == line
    assert (error.path, error.record, error.rule, error.cure) == parts
    assert isinstance(error, PairhmmError)


def test_backend_unavailable():
    error = BackendUnavailable("cuda", "no driver", "install one")
    assert str(error) == "backend cuda: no driver; install one"
