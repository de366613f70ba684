"""TOML files that are no parameters: one line, whatever the parser makes of them."""

from __future__ import annotations

import pytest

from pairhmm.errors import InputError
from pairhmm.models.parameter_file import read_table

DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"a = {'[' * DEEP}{']' * DEEP}", r"not a TOML file \(maximum recursion depth exceeded"),
        ("a = " + "{a = " * DEEP, r"not a TOML file \(maximum recursion depth exceeded"),
        (f"[{'.'.join('a' * DEEP)}]\nb = 1", "a key of more than 20 parts"),
        ("match." + " . ".join('"a"' for _ in range(DEEP)) + " = 1", "a key of more than 20 parts"),
        (f"a = {'[' * 50}{']' * 50}", "within each other, more than 20 deep"),
        (f"a = {'9' * 10_000}", "not a TOML file"),
        ("a", "not a TOML file"),
    ],
    ids=["lists", "tables", "heading", "key", "levels", "digits", "text"],
)
def test_odd_files(tmp_path, text, rule):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"x\.toml: .*{rule}"):
        read_table(path, "str")


def test_a_path_with_a_zero_byte():
    with pytest.raises(InputError, match="not a TOML file"):
        read_table("x\0", "str")
