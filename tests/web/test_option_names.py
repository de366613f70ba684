"""The names of options in the page, in its core, and on the command line, read from the sources."""

import re
from pathlib import Path

import pytest

from pairhmm.calling import web_parameters
from pairhmm.calling.cli import command

PROJECT = Path(__file__).resolve().parents[2]
PARAMETERS = web_parameters.parameters()


def text_of(path):
    return (PROJECT / path).read_text()


def words_between(text, begin, end):
    """The quoted words between two texts."""
    return set(re.findall(r'"(\w+)"', text.split(begin, 1)[1].split(end, 1)[0]))


@pytest.fixture(scope="module")
def of_the_core():
    """Options that the core takes."""
    return set(re.findall(r'\{"(\w+)", &', text_of("cpu/wasm/run_options.cpp")))


@pytest.fixture(scope="module")
def of_the_page():
    """Options that the page deals with itself."""
    return words_between(text_of("web/src/call/options.js"), "NOT_OF_THE_CORE = new Set([", "]);")


@pytest.fixture(scope="module")
def fields():
    """Fields of the page's form: their names, options of the command line, and choices."""
    text = text_of("web/src/page/run_options.js").split("const FIELDS = [", 1)[1].split("\n];", 1)[0]
    found = re.findall(r'\[\s*"(\w+)",\s*"[^"]*",\s*"(--[\w-]+)",?\s*(\{[^}]*\})?', text)
    assert len(found) == len(re.findall(r'"--', text)) > 10
    return {name: (option, re.findall(r'"?([\w-]*)"?: "', choices)) for name, option, choices in found}


def test_each_option_is_one_of_the_core_or_one_of_the_page(of_the_core, of_the_page):
    """A new option of the package needs a field of cpu/wasm/run_options.cpp, or a name in web/src/call/options.js."""
    options = set(PARAMETERS["OPTIONS"])
    assert options <= of_the_core | of_the_page
    assert not of_the_core & of_the_page
    assert of_the_page <= options


def test_values_of_presets_are_options():
    for values in (*PARAMETERS["READ_PRESETS"].values(), PARAMETERS["MIXTURE"]):
        assert set(values) <= set(PARAMETERS["OPTIONS"])


def test_the_core_gets_each_of_its_options(of_the_core):
    set_by_name = {
        name
        for path in (PROJECT / "web/src/call").glob("*.js")
        for name in re.findall(r'\.set\("(\w+)"', path.read_text())
    }
    assert set(PARAMETERS["CORE"]) <= of_the_core
    assert of_the_core == set_by_name | set(PARAMETERS["CORE"]) | (of_the_core & set(PARAMETERS["OPTIONS"]))


def test_fields_have_the_names_and_the_defaults_of_the_command_line(fields):
    of_command = {option: one for one in command.params for option in one.opts}
    options = PARAMETERS["OPTIONS"]
    assert {name for name in fields if name not in options} == {"gpu"}
    for name, (option, choices) in fields.items():
        own = of_command[option]
        if isinstance(own.default, int | float | str) and name in options:
            assert options[name] == own.default, name
        if hasattr(own.type, "choices") and name != "gpu":
            assert choices == list(own.type.choices), name
