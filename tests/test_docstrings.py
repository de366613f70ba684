"""Public names say what they take, give and raise: the API reference is made of their docstrings."""

import dataclasses
import doctest
import inspect
import re

import pytest

import pairhmm

PUBLIC = [name for name in pairhmm.__all__ if name != "__version__"]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(pairhmm, name))]
RECORDS = [
    name for name in PUBLIC if dataclasses.is_dataclass(getattr(pairhmm, name)) and name not in ("Group", "Read")
]


def sections(name):
    """The sections of a docstring, each a title with a line of dashes below it, and the names that each describes."""
    text = inspect.getdoc(getattr(pairhmm, name)) or ""
    titles = re.findall(r"^(\w+)\n-+$", text, re.MULTILINE)
    blocks = re.split(r"^\w+\n-+$", text, flags=re.MULTILINE)[1:]
    described = {}
    for title, block in zip(titles, blocks, strict=True):
        heads = re.findall(r"^(\S[^:\n]*?)(?: :.*)?$", block, re.MULTILINE)
        described[title] = {one.strip().lstrip("*") for head in heads for one in head.split(",")}
    return described


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_take_give_and_raise(name):
    signature = inspect.signature(getattr(pairhmm, name))
    found = sections(name)
    assert set(signature.parameters) <= found["Parameters"]
    assert ("Returns" in found) == (signature.return_annotation not in ("None", None))
    assert "Raises" in found and "Examples" in found


@pytest.mark.parametrize("name", RECORDS)
def test_records_say_what_they_hold(name):
    found = sections(name)
    described = found.get("Attributes", set()) | found.get("Parameters", set())
    assert {field.name for field in dataclasses.fields(getattr(pairhmm, name))} <= described


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_give_what_they_say(name):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for example in finder.find(getattr(pairhmm, name), name, globs={"pairhmm": pairhmm}):
        assert runner.run(example).failed == 0
