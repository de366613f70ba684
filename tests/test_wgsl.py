"""Directives of the WGSL sources, and every text that the shapes need."""

from __future__ import annotations

import re

import pytest

from pairhmm import webgpu_kernels, webgpu_packed, wgsl
from pairhmm.webgpu_kernels import LONG, Variant
from pairhmm.webgpu_runtime import WIDTH


def expand(text, constants=None, **files):
    return wgsl.expand("main", {"main": text, **files}.__getitem__, constants or {})


def test_repetitions_nest():
    text = "a\n//#for u N\n//#for k K\n  x$u += y$k.axis * $k.quad + $k.byte;\n//#end\n//#end\nb"
    expected = "".join(f"  x{u} += y{'xyzw'[k % 4]} * {k // 4} + {8 * (k % 4)};\n" for u in range(2) for k in range(5))
    assert expand(text, {"N": 2, "K": 5}) == f"a\n{expected}b\n"


@pytest.mark.parametrize(("value", "kept"), [(1, "yes"), (0, "no"), (None, "no")])
def test_conditions(value, kept):
    text = "//#if X\nyes\n//#else\nno\n//#end"
    assert expand(text, {} if value is None else {"X": value}) == f"{kept}\n"


def test_a_condition_without_another_half():
    assert expand("a\n  //#if X\nyes\n  //#end\nb") == "a\nb\n"


def test_includes_are_expanded_where_they_stand():
    assert expand("//#for k K\n//#include part\n//#end", {"K": 2}, part="p$k;") == "p0;\np1;\n"


@pytest.mark.parametrize("text", ["//#for k K\nx", "//#if X\n//#if Y\n//#end", "//#repeat"])
def test_wrong_directives(text):
    with pytest.raises(ValueError, match=r"no end: //#|unknown directive: //#"):
        expand(text, {"K": 1})


def variants():
    shapes, _ = webgpu_packed.shapes()
    for kernel, known in (("forward", shapes), ("forward_scaled", webgpu_packed.RESCUERS), ("forward_long", (LONG,))):
        for shape in known:
            for shuffles in (True, False):
                for rows in ("qualities", "profiles", "folded"):
                    for extension in (0.1, None):
                        yield Variant(kernel, shape, WIDTH, shuffles, rows, extension, 4)


def test_every_text_is_complete():
    """No directive or placeholder is left, and no subgroup operation where lanes do not shuffle."""
    for variant in variants():
        text = webgpu_kernels.source(variant)
        code = re.sub(r"//.*", "", text)
        assert "$" not in code and "//#" not in text, variant
        assert ("subgroup" in code) == variant.shuffles, variant


def test_workgroup_memory_is_what_webgpu_guarantees():
    """16 KiB: the emissions take most of it."""
    for variant in variants():
        text = webgpu_kernels.source(variant)
        quads, letters = (int(re.search(rf"const {name} = (\d+)u;", text)[1]) for name in ("QUADS", "LETTERS"))
        assert 16 * quads * letters * WIDTH + 4 * 8 * WIDTH <= 16384, variant
