"""The report's scripts: modules that web/ bundles, and one text in the report."""

import re
from collections import Counter
from importlib.resources import files

import pytest

from pairhmm.report.page_writer import scripts

FOLDER = files("pairhmm") / "report" / "page"
TEXTS = {one.name: one.read_text(encoding="utf-8") for one in FOLDER.iterdir() if one.name.endswith(".js")}
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
IMPORTED = re.compile(r'^import \{([^}]*)\} from "\./(\w+\.js)";$', re.MULTILINE)


def test_scripts_share_one_scope_and_main_is_last():
    texts = scripts()
    assert not any(re.search(r"^(import|export)\b", text, re.MULTILINE) for text in texts)
    names = Counter(name for text in texts for name in DECLARED.findall(text))
    assert [name for name, count in names.items() if count > 1] == []
    assert texts[-1].startswith(TEXTS["main.js"].split("import ")[0])
    assert len(texts) == len(TEXTS)


def test_every_module_is_reached_from_main():
    reached = ["main.js"]
    for name in reached:
        reached += {source for _, source in IMPORTED.findall(TEXTS[name])} - set(reached)
    assert set(reached) == set(TEXTS)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_modules_import_what_they_use(name):
    imports = {
        source: {one.strip() for one in names.split(",") if one.strip()}
        for names, source in IMPORTED.findall(TEXTS[name])
    }
    for source, wanted in imports.items():
        assert wanted <= set(EXPORTED.findall(TEXTS[source]))
    owners = {one: source for source, text in TEXTS.items() for one in EXPORTED.findall(text) if source != name}
    code = re.sub(r'//.*$|"(?:[^"\\\n]|\\.)*"', "", IMPORTED.sub("", TEXTS[name]), flags=re.MULTILINE)
    called = set(re.findall(r"(?<![.\w])(\w+)\(", code)) - set(DECLARED.findall(TEXTS[name]))
    assert {one for one in called if one in owners} <= set().union(*imports.values())
