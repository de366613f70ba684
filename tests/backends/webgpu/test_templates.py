"""Directives of the WGSL sources, what modules import and export, and every text that the shapes need."""

import re

import pytest

from pairhmm.backends.webgpu.long_pairs import workgroup_bytes
from pairhmm.backends.webgpu.templates import assemble


def assembled(text, numbers=None, given=None, choices=None, **files):
    return assemble("main", {"main": text, **files}.__getitem__, given or {}, numbers or {}, choices)


@pytest.mark.parametrize("text", ["//#for k K\nx", "//#if X\n//#if Y\n//#end", "//#repeat"])
def test_wrong_directives(text):
    with pytest.raises(ValueError, match=r"main: (no end: //#|unknown directive: //#)"):
        assembled(text, {"K": 1})


PART = "// export: f\nfn f() -> u32 { return hidden; }\nconst hidden = 1u;\n"


@pytest.mark.parametrize(
    ("main", "message"),
    [
        ("// import part: h\nconst x = h;", "main imports h of part, which does not export it"),
        ("// import part: hidden\nconst x = hidden;", "main imports hidden of part, which does not export it"),
        ("// import host: H\nconst x = H;", "main imports H of host, which does not export it"),
        ("// import part: f\nconst x = 1;", "main imports f of part and does not use it"),
        ("// import part: f\nconst x = f() + hidden;", "main uses hidden of part and does not import it"),
        ("// import part: f\nconst x = f() + A;", "main uses A of host and does not import it"),
        ("// import part: f\nfn hidden() { f(); }", "main defines hidden, and so does part"),
        ("// import part: f\nconst A = f();", "main defines A, and so does host"),
        ("// export: g\nfn f() {}", "main exports g, which it does not define"),
        ("const a = 1;\nvar<workgroup> a: u32;", "main defines a twice"),
    ],
)
def test_what_modules_say_is_checked(main, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        assembled(main, None, {"A": "const A = 1u;\n"}, part=PART)


def test_every_text_is_complete(shader_texts):
    """No directive or placeholder is left, and no subgroup operation where lanes do not shuffle."""
    for variant, text in shader_texts.items():
        code = re.sub(r"//.*", "", text)
        assert "$" not in code and "//#" not in text, variant
        assert ("subgroup" in code) == variant.shuffles, variant


SIZES = {"u32": 4, "i32": 4, "f32": 4, "vec2<i32>": 8, "vec2<f32>": 8, "vec4<f32>": 16, "Tile": 12, "Lane": 16}
"""Bytes of types; the last two are structs of the shaders."""


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


def test_workgroup_memory_is_what_webgpu_guarantees(shader_texts):
    """16 KiB, each variable of which begins at a multiple of 16 bytes: the emissions take most of it."""
    for variant, text in shader_texts.items():
        constants = Constants(text)
        sizes = [size(declared, constants) for declared in re.findall(r"var<workgroup> \w+: (.*);", text)]
        taken = sum(-(-size // 16) * 16 for size in sizes)
        assert len(sizes) >= 2 and taken <= 16384, variant
        if variant.kernel == "forward_long" and variant.shuffles:
            assert workgroup_bytes(variant.segment) <= taken
