"""The page's models (web/src/models) are those of the package."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import CALL_PROBABILITIES, distinct_rows, preset

WEB = Path(__file__).resolve().parents[2] / "web"


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
    presets = json.dumps((WEB / "src/models/presets.js").as_uri())
    made = f"new own.ProfileModel((await import({presets})).PRESETS.{name})"
    found = evaluated("models/profile.js", f"Array.from({made}.rows)")
    np.testing.assert_allclose(np.array(found).reshape(rows.shape), rows, rtol=1e-15)
    start = evaluated("models/presets.js", f"own.PRESETS.{name}.start")
    assert (model.start.match, model.start.deletion) == {"match": (1, 0), "anywhere": (0, 1)}[start]


ABSENT = {"indel_qualities", "indel_tags", "str_model"}
"""Options that the page does not have."""


def test_options_have_the_same_defaults(evaluated):
    found = evaluated("models/gatk.js", "own.GATK_OPTIONS")
    options = GatkOptions()
    names = {name: "".join([name.split("_")[0], *map(str.title, name.split("_")[1:])]) for name in options.__slots__}
    assert found == {names[name]: getattr(options, name) for name in names if name not in ABSENT}
