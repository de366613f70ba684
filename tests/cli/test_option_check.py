"""Options that a workflow gives to commands, checked before any job."""

from __future__ import annotations

import pytest

from pairhmm.cli.option_check import why_wrong
from pairhmm.errors import InputError

REQUIRED = {
    "call": ["-f", "ref.fa"],
    "scatter": ["-f", "ref.fa", "-n", "1", "-o", "pieces"],
    "scan": ["--signatures", "s.fa"],
    "map sketch": ["-o", "x.sketches"],
    "map draw": ["-o", "x.tsv"],
}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        *(("call", ""), ("call", "--min-mapq 30 --no-version -q"), ("call", "--sample-sex 'a b=F'")),
        *(("call", "--min-mapq $MAPQ"), ("scatter", "--min-alt-count 3 4"), ("scan", "--tile=31 --max-mismatches 1")),
        *(("map sketch", "--k 31"), ("map draw", "--weight sheet=0")),
    ],
)
def test_sound(command, text):
    assert why_wrong(command, text, REQUIRED[command]) == ""


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("call", "--min-mapqq 30", "No such option '--min-mapqq'"),
        ("call", "--min-mapq x", "Invalid value for '--min-mapq': 'x'"),
        ("call", "--min-mapq 300", "Invalid value for '--min-mapq': 300 is not in the range"),
        ("call", "--min-mapq", "Invalid value for '--min-mapq'"),
        ("call", "--preset hifii", "Invalid value for '--preset': 'hifii' is not one of"),
        ("call", "30", "'30' is no option"),
        ("call", "--help", "No such option '--help'"),
        ("call", "--sample-sex 'a=F", "No closing quotation"),
        ("scatter", "--min-qual 30", "No such option '--min-qual'"),
        ("map sketch", "-k 31", "No such option '-k'"),
        ("map draw", "--weight", "Option '--weight' requires an argument"),
    ],
)
def test_wrong(command, text, expected, capsys):
    found = why_wrong(command, text, REQUIRED[command])
    assert found.startswith(expected)
    assert "\n" not in found
    assert capsys.readouterr() == ("", "")


def test_a_file_that_an_option_names():
    with pytest.raises(InputError, match=r"none\.toml: No such file"):
        why_wrong("call", "--str-model none.toml", REQUIRED["call"])
