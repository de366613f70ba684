"""The report's scripts: modules that web/ bundles, and one text in the report."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

import pytest

from pairhmm.io.report.page import SCRIPTS, in_one_scope

FOLDER = files("pairhmm") / "report_page"
TEXTS = {name: (FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS}
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
IMPORTED = re.compile(r'^import \{([^}]*)\} from "\./(\w+\.js)";$', re.MULTILINE)


def test_every_script_is_in_the_report():
    assert sorted(SCRIPTS) == sorted(one.name for one in FOLDER.iterdir() if one.name.endswith(".js"))


def test_one_scope_has_each_name_once():
    names = Counter(name for text in TEXTS.values() for name in DECLARED.findall(text))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_modules_become_plain_scripts(name):
    assert not re.search(r"^(import|export)\b", in_one_scope(TEXTS[name]), re.MULTILINE)
    for imported, source in IMPORTED.findall(TEXTS[name]):
        wanted = {one.strip() for one in imported.split(",") if one.strip()}
        assert wanted <= set(EXPORTED.findall(TEXTS[source]))


@pytest.mark.parametrize("name", SCRIPTS)
def test_modules_import_what_they_use(name):
    owners = {one: source for source, text in TEXTS.items() for one in EXPORTED.findall(text) if source != name}
    imported = {one.strip() for names, _ in IMPORTED.findall(TEXTS[name]) for one in names.split(",")}
    code = re.sub(r'//.*$|"(?:[^"\\\n]|\\.)*"', "", IMPORTED.sub("", TEXTS[name]), flags=re.MULTILINE)
    own = set(DECLARED.findall(TEXTS[name]))
    called = set(re.findall(r"(?<![.\w])(\w+)\(", code)) - own
    assert {one for one in called if one in owners} <= imported
