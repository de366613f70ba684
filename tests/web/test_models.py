"""The page's models (web/src/models) are those of the package."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pairhmm.calling import web_parameters
from pairhmm.errors import InputError
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.labels import label_of
from pairhmm.models.profile import CALL_PROBABILITIES, distinct_rows, preset
from pairhmm.models.str_parameters import read_str_model, str_model_of, str_toml
from pairhmm.variants.pedigree import Pedigree, read_pedigree

WEB = Path(__file__).resolve().parents[2] / "web"
PARAMETERS = WEB / "src/models/parameters.js"


@pytest.fixture
def evaluated(node):
    """``evaluated(module, expression)``: what an expression over a module's exports is in Node."""

    def run(module, expression):
        address = json.dumps((WEB / "src" / module).as_uri())
        program = f"import * as own from {address}; console.log(JSON.stringify({expression}))"
        done = subprocess.run(
            [node, "--input-type=module", "-e", program], capture_output=True, text=True, check=True, timeout=60
        )
        return json.loads(done.stdout)

    return run


@pytest.mark.parametrize("name", ["normalised", "published"])
def test_the_rows_of_called_bases(evaluated, name):
    model = preset(name)
    rows = distinct_rows(model.profiles(CALL_PROBABILITIES))
    parameters = json.dumps((WEB / "src/models/parameters.js").as_uri())
    made = f"(await import({parameters})).PROFILES.{name}"
    each = "(one) => ({...own.STARTS[one.start], rows: Array.from(own.distinctRows(one))})"
    found = evaluated("models/profile.js", f"({each})({made})")
    np.testing.assert_allclose(np.array(found["rows"]).reshape(rows.shape), rows, rtol=1e-15)
    assert (model.start.match, model.start.deletion) == (found["startMatch"], found["startDeletion"])


def test_the_parameters_are_those_of_the_package(node):
    assert PARAMETERS.read_text() == web_parameters.module()


def in_javascript(name):
    """The page's name of an option."""
    first, *rest = name.split("_")
    return "".join([first, *map(str.title, rest)])


LABELLED = (
    {},
    {"gap_quality": 5, "insertion_quality": 30, "deletion_quality": 0, "pcr_indel_model": "none"},
    {"indel_tags": False, "cap_by_mapping_quality": False, "base_quality_threshold": None, "error_rate": 0.1},
)
"""Options of models that files name."""


def test_labels_are_those_of_the_package(evaluated):
    made, expected = [], []
    for changed in LABELLED:
        options = GatkOptions(**changed)
        here = {in_javascript(name): value for name, value in changed.items()}
        for of_model in ({"model": "profile", "parameters": "published"}, {"strModel": "pcr"}, {}):
            made.append({**here, **of_model})
            str_model = str_model_of("pcr") if "strModel" in of_model else None
            profile = preset("published") if "model" in of_model else None
            expected.append(label_of(replace(options, str_model=str_model), profile))
    chosen = f"(await import({json.dumps((WEB / 'src/call/options.js').as_uri())})).chosenOptions"
    each = "async (one) => own.modelText(chosen(one), await own.strModelOf({}, chosen(one)))"
    program = f"await (async (chosen) => Promise.all({json.dumps(made)}.map({each})))({chosen})"
    assert evaluated("call/option_files.js", program) == expected


WRONG = {
    "unknown table": lambda text: text + "[other]\n",
    "table missing": lambda text: text[: text.index("[gap_continuation]")],
    "unit missing": lambda text: text.replace("unit_3", "# unit_3", 1),
    "unknown unit": lambda text: text.replace("unit_3", "unit_9", 1),
    "too few values": lambda text: text.replace("45, ", "", 1),
    "no quality": lambda text: text.replace("45, ", "128, ", 1),
    "empty": lambda text: "# nothing\n",
}


def test_files_of_str_models(evaluated, tmp_path):
    model, expected, texts = tmp_path / "own.toml", {}, {}
    sound = str_toml(str_model_of("pcr"), ["by hand"])
    for name, change in WRONG.items():
        texts[name] = change(sound)
        model.write_text(texts[name])
        with pytest.raises(InputError) as error:
            read_str_model(model)
        expected[name] = str(error.value).replace(f"{tmp_path}/", "")
    texts |= {"right": sound.replace("= [", "= [\n"), "no TOML": "some text"}
    read = "own.readStrModel({name: 'own.toml', data: new Blob([text])})"
    each = f"Object.entries({json.dumps(texts)}).map(async ([name, text]) => [name, await {read}.then(...TOLD)])"
    told = "[(one) => Array.from(one.deletion), (error) => error.message]"
    found = evaluated("files/str_file.js", f"Object.fromEntries(await Promise.all({each.replace('TOLD', told)}))")
    assert found.pop("right") == np.ravel(str_model_of("pcr").deletion).tolist()
    assert found.pop("no TOML").startswith("own.toml: no file of an STR model; ")
    assert found == expected


PEDIGREES = {
    "too few columns": "f cid ann bob 1\n",
    "its own parent": "f cid ann cid 1 0\n",
    "one parent twice": "f\tcid\tann\tann\t1\t0\n",
    "other parents elsewhere": "# a\n\nf cid ann bob 1 0\nf cid ann 0 1 0\n",
    "no parents": "f cid 0 . 1 0\n",
    "no one": "# f cid ann bob 1 0\n",
}


def test_pedigrees(evaluated, tmp_path):
    path, expected = tmp_path / "own.ped", {}
    for name, text in PEDIGREES.items():
        path.write_text(text)
        with pytest.raises(InputError) as error:
            read_pedigree(str(path))
        expected[name] = str(error.value).replace(f"{tmp_path}/", "")
    read = "own.readPed({name: 'own.ped', data: new Blob([text])})"
    told = f"async ([name, text]) => [name, await {read}.then(() => '', (error) => error.message)]"
    each = f"await Promise.all(Object.entries({json.dumps(PEDIGREES)}).map({told}))"
    assert evaluated("files/ped.js", f"Object.fromEntries({each})") == expected


def test_families(evaluated):
    """Of three generations, with a loop, and with a parent that is no sample."""
    parents = {"c": ("a", "b"), "d": ("a", "b"), "e": ("c", "x"), "f": ("d", "e"), "g": ("a", "c"), "h": ("", "a")}
    samples = list("abcdefghx")
    families, left_out = Pedigree(parents).families(samples)
    expected = [{"father": one.father, "mother": one.mother, "children": list(one.children)} for one in families]
    given = f"new Map(Object.entries({json.dumps(parents)})), {json.dumps(samples)}"
    found = evaluated("files/ped.js", f"own.familiesOf({given})")
    assert found == {"families": expected, "leftOut": left_out}
    assert len(expected) > 1 and left_out
