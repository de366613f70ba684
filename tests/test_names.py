"""One name a thing: no two classes share one, and the glossary says where each thing is."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import pairhmm

PACKAGE = Path(pairhmm.__file__).parent
GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"

TWINS = ("backends/cuda/", "backends/webgpu/")
"""CUDA's and WebGPU's counterparts of one class may share its name."""


def class_names(*, with_twins):
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith("workflows/") and (with_twins or not place.startswith(TWINS)):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    yield node.name


def test_no_two_classes_share_a_name():
    assert [name for name, count in Counter(class_names(with_twins=False)).items() if count > 1] == []


def test_public_classes_share_their_name_with_none():
    counts = Counter(class_names(with_twins=True))
    assert [name for name in pairhmm.__all__ if counts[name] > 1] == []


@pytest.mark.skipif(not GLOSSARY.exists(), reason="a wheel has no documents")
def test_the_glossary_names_places_that_exist():
    places = set(re.findall(r"`((?:pairhmm|cpu|cuda|shaders)/[\w/.]*)`", GLOSSARY.read_text()))
    assert len(places) > 30
    assert [place for place in sorted(places) if not (GLOSSARY.parents[1] / place).exists()] == []
