"""What the host declares to the kernels stands once, in Python: no kernel repeats it."""

import re
from pathlib import Path

import numpy as np
import pytest

from pairhmm.backends.webgpu.kernels import KernelVariant, source
from pairhmm.backends.webgpu.long_pairs import LONG, strip_entries
from pairhmm.backends.webgpu.rows import PROFILE, TABLES, tables
from pairhmm.backends.webgpu.setup import MOST_WORKGROUPS
from pairhmm.backends.webgpu.templates import FOURS, SCALARS, Field, Record, constants, float_bits, places
from pairhmm.backends.webgpu.work import WORK
from pairhmm.models import scaling
from pairhmm.scan.webgpu import PARAMS

SHADERS = Path(__file__).parents[3] / "shaders"
CODE = {
    path.relative_to(SHADERS).as_posix(): re.sub(r"//.*", "", path.read_text()) for path in SHADERS.glob("*/*.wgsl")
}
HOSTS = [
    scaling.START_EXPONENT,
    scaling.TOP_EXPONENT,
    -scaling.NO_EXPONENT,
    scaling.GAP_RANGE,
    scaling.DELETION_RANGE,
    scaling.LEAST_SUM,
    scaling.MOST_SUM,
    scaling.LEAST_OPENING,
    float_bits(scaling.LEAST_SUM),
    float_bits(scaling.MOST_SUM),
    2.0**scaling.START_EXPONENT,
    MOST_WORKGROUPS,
    TABLES["UNOPENED"],
]
"""Numbers that kernels are given."""


@pytest.mark.parametrize("name", sorted(CODE))
def test_no_kernel_repeats_a_number_of_the_host(name):
    code = re.sub(r"\b0xf+u", "", CODE[name])  # masks
    found = re.findall(r"(?<![\w.$])(?:0[xX][\da-fA-F]+(?:p\d+)?|\d[\d.]*(?:e-?\d+)?)(?=[uif]?\b)", code)
    values = {float.fromhex(text) if text[:2] in ("0x", "0X") else float(text) for text in found}
    assert not values & {float(number) for number in HOSTS}


@pytest.mark.parametrize("name", sorted(CODE))
def test_no_kernel_repeats_a_layout_of_the_host(name):
    """Structs that the host writes, flags, and where the parts of arrays begin."""
    assert not re.search(r"struct (Work|Params|Brute|Diagonal)\b", CODE[name])
    assert not re.search(r"const (UN(FOLDED|SCALED|ORDERED|FINISHED)|COEFFICIENTS|STATES|PHRED|ITEM_\w+) ", CODE[name])


def test_a_record_is_a_dtype_and_a_struct():
    record = Record("R", Field("a", "u32", "first"), Field("b", "f32", "second"))
    assert record.dtype == np.dtype([("a", "<u4"), ("b", "<f4")])
    assert record.declaration == "struct R {\n    a: u32,  // first\n    b: f32,  // second\n}\n"
    assert record.values({"b": 0.5, "a": 3}).tolist() == [(3, 0.5)]


def test_constants_have_the_types_of_their_numbers():
    lines = constants({"A": 3, "B": np.int32(-4), "C": 0.1})
    assert lines == {"A": "const A = 3u;\n", "B": "const B = -4i;\n", "C": "const C = 0x1.99999a0000000p-4f;\n"}


def test_parts_follow_each_other():
    assert places({"a": 3, "b": 1, "c": 2}) == {"a": 0, "b": 3, "c": 4}
    assert sum(TABLES.values()) == len(tables())
    assert sum(PROFILE.values()) == 32


def test_texts_have_the_host_s_layouts():
    variant = KernelVariant("forward_long", LONG, LONG.lanes, True, "folded", None, segment=32)
    text = source(variant)
    assert WORK.declaration in text
    assert f"const STRIP_ENTRIES = {strip_entries(32)}u;" in text


@pytest.mark.parametrize("record", [WORK, PARAMS], ids=lambda record: record.name)
def test_uniform_records_are_words(record):
    fours = sum(int(found[1]) for field in record.fields if (found := FOURS.fullmatch(field.kind)))
    words = sum(field.kind in SCALARS for field in record.fields)
    assert record.dtype.itemsize == 16 * fours + 4 * words
