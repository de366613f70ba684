"""Options made from fields of option dataclasses and parameters of functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import click
import pytest
from click.testing import CliRunner

from pairhmm.cli import fields
from pairhmm.options import Within


@dataclass(frozen=True)
class Options:
    depth: Annotated[int, Within(2, 9)] = 3
    share: Annotated[float, Within(0, 1)] = 0.25
    floor: Annotated[float | None, Within(0)] = 4.5
    quality: Annotated[int | None, Within(0, 93)] = None
    mode: Literal["fast", "slow", "off"] = "slow"
    capped: bool = True


def work(path: str, worst: int = 7, quick: bool = False) -> None: ...


def given(*options, arguments=()):
    """What a command with these options gets of these arguments, or what it complains about."""
    got = {}

    def body(**values):
        got.update(values)

    for add in options:
        body = add(body)
    done = CliRunner().invoke(click.command()(body), list(arguments))
    return got if done.exit_code == 0 else done.output


def of(name, *flags, owner=None, **more):
    return fields.option(owner or Options(), name, *flags, panel="Model", help="A text.", metavar="X", **more)


def test_the_default_is_the_objects():
    assert given(of("depth")) == {"depth": 3}
    assert given(of("depth", owner=Options(depth=8))) == {"depth": 8}
    assert given(of("worst", owner=work)) == {"worst": 7}
    assert given(of("quality")) == {"quality": None}


@pytest.mark.parametrize(("name", "value"), [("depth", "1"), ("depth", "10"), ("share", "1.5"), ("quality", "94")])
def test_the_range_is_the_fields(name, value):
    told = given(of(name), arguments=[f"--{name}", value])
    assert f"{float(value):g}" in told and "is not in the range" in told
    assert "is not in the range 5 to 9" in given(of("depth", least=5), arguments=["--depth", "4"])


def test_choices_are_the_fields_and_told():
    option = of("mode")(lambda: None).__click_params__[0]
    assert option.help == "A text. X is fast, slow or off."
    assert given(of("mode"), arguments=["--mode", "off"]) == {"mode": "off"}
    assert "medium" in given(of("mode"), arguments=["--mode", "medium"])


def test_zero_is_none_where_that_switches_off():
    assert given(of("floor"), arguments=["--floor", "0"]) == {"floor": None}
    assert given(of("floor"), arguments=["--floor", "2"]) == {"floor": 2.0}
    assert given(of("quality"), arguments=["--quality", "0"]) == {"quality": 0}


def test_flags():
    assert given(of("quick", owner=work), arguments=["--quick"]) == {"quick": True}
    assert given(of("capped", "--cap/--no-cap"), arguments=["--no-cap"]) == {"capped": False}
    assert given(of("capped", "--cap/--no-cap")) == {"capped": True}


def test_what_has_no_default_may_be_required():
    assert "Missing option '--path'" in given(of("path", owner=work, required=True))


def test_two_fields_in_one_option():
    add = fields.pair(Options(), ("depth", "share"), "--both", panel="Model", help="A text.")
    assert given(add) == {"both": (3, 0.25)}
    assert given(add, arguments=["--both", "4", "1"]) == {"both": (4, 1.0)}
    assert "is not in the range" in given(add, arguments=["--both", "1", "1"])
