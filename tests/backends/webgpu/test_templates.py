"""Directives of the WGSL sources, and every text that the shapes need."""

from __future__ import annotations

import re

import pytest

from pairhmm.backends.webgpu import kernels as webgpu_kernels
from pairhmm.backends.webgpu import templates as wgsl


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


def test_every_text_is_complete(shader_variants):
    """No directive or placeholder is left, and no subgroup operation where lanes do not shuffle."""
    for variant in shader_variants:
        text = webgpu_kernels.source(variant)
        code = re.sub(r"//.*", "", text)
        assert "$" not in code and "//#" not in text, variant
        assert ("subgroup" in code) == variant.shuffles, variant


SIZES = {"u32": 4, "i32": 4, "f32": 4, "vec2<f32>": 8, "vec4<f32>": 16}


class Constants(dict):
    """Unsigned constants of a text, each reckoned when it is asked for."""

    def __init__(self, text):
        super().__init__()
        self.expressions = dict(re.findall(r"^const (\w+) = (.*?);", text, flags=re.MULTILINE))

    def __missing__(self, name):
        return self.value(self.expressions[name])

    def value(self, expression):
        return eval(re.sub(r"(\d)u\b", r"\1", expression).replace("/", "//"), {}, self)


def size(wgsl_type, constants):
    """Bytes of a type; its arrays are as long as constant expressions say."""
    array = re.fullmatch(r"array<(.*), ([^,<>]+)>", wgsl_type)
    if array is None:
        return SIZES[re.sub(r"atomic<(\w+)>", r"\1", wgsl_type)]
    return constants.value(array[2]) * size(array[1], constants)


def test_workgroup_memory_is_what_webgpu_guarantees(shader_variants):
    """16 KiB, each variable of which begins at a multiple of 16 bytes: the emissions take most of it."""
    for variant in shader_variants:
        text = webgpu_kernels.source(variant)
        constants = Constants(text)
        sizes = [size(declared, constants) for declared in re.findall(r"var<workgroup> \w+: (.*);", text)]
        assert len(sizes) >= 4 and sum(-(-taken // 16) * 16 for taken in sizes) <= 16384, variant
