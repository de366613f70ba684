"""Includes of `cpu/` go down its folders, never up, and only `bind/` knows Python (docs/architecture.md)."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "cpu"

if not ROOT.exists():
    pytest.skip("a wheel has no C++", allow_module_level=True)

# What a folder's files may include besides those of their own folder.
BELOW = {
    "simd": set(),
    "threads": set(),
    "calling": {"simd", "align", "forward"},
    "align": {"simd", "threads"},
    "forward": {"simd", "threads"},
    "graph": {"simd", "threads", "forward"},
    "pdhmm": {"simd", "threads", "forward"},
    "posterior": {"simd", "threads", "forward"},
    "scan": {"simd", "threads", "calling"},
    "packing": {"simd", "threads", "calling"},
    "formats": {"simd", "threads", "calling", "scan"},
    "map": {"simd", "threads"},
    "warp": {"simd", "threads", "forward"},
    "wasm": {"simd", "threads", "calling", "forward", "packing", "pdhmm", "posterior", "formats"},
}
BELOW["bind"] = set(BELOW) - {"wasm"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

TYPE = re.compile(r"^(?:struct|class) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: :[^;]*)?\s*\{", re.MULTILINE)
NAMED = re.compile(r"\b[a-z_]+/[\w/.-]+\.(?:hpp|cpp|py|md|json)\b")


def sources() -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in ROOT.rglob("*") if path.suffix in {".hpp", ".cpp"})


def included(path: Path) -> tuple[set[str], set[str]]:
    """Files of `cpu/` and headers of others that a file includes."""
    found = INCLUDE.findall((ROOT / path).read_text())
    return {own for own, _ in found if own}, {other for _, other in found if other}


def test_every_source_is_in_a_folder_of_the_order():
    assert {str(path.parent) for path in sources()} == set(BELOW)


def test_includes_go_down_and_only_the_bindings_know_python():
    for path in sources():
        folder = path.parts[0]
        own, foreign = included(path)
        for name in own:
            assert (ROOT / name).is_file(), f"{path} includes {name}, which is no path from cpu/"
            assert Path(name).parts[0] in {folder} | BELOW[folder], f"{path} includes {name}, which is not below it"
        for name in foreign:
            assert folder == "bind" or not re.search("nanobind|python", name, re.IGNORECASE), (
                f"{path} includes <{name}>"
            )
        for name in NAMED.findall((ROOT / path).read_text()):
            assert (ROOT / name).exists() or (ROOT.parent / name).exists(), f"{path} names {name}"


def test_a_name_is_one_type():
    """Two types of one name are one to the linker, which takes the functions of either for both."""
    defined = defaultdict(set)
    for path in sources():
        text = (ROOT / path).read_text()
        # What has no namespace of its own is included in that of a level.
        if path.suffix == ".hpp" and "namespace pairhmm {" in text:
            for name in TYPE.findall(text):
                defined[name].add(str(path))
    assert not {name: paths for name, paths in defined.items() if len(paths) > 1}
