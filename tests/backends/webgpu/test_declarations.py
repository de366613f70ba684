"""What the host declares to the kernels stands once, in Python: no kernel repeats it."""

import numpy as np
import pytest

from pairhmm.backends.webgpu.kernels import KernelVariant, source
from pairhmm.backends.webgpu.long_pairs import LONG, strip_entries
from pairhmm.backends.webgpu.rows import PROFILE, TABLES, tables
from pairhmm.backends.webgpu.templates import FOURS, SCALARS, Field, Record, constants, places
from pairhmm.backends.webgpu.work import WORK
from pairhmm.scan.webgpu import PARAMS


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
