"""Declarations that host and kernels share: constants, records, and where the parts of an array begin.

Each is written once, in Python, and its WGSL is generated. So no kernel repeats a number or a layout of the host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KINDS = {"u32": "<u4", "i32": "<i4", "f32": "<f4"}
"""The 32-bit types of WGSL, with NumPy's name of each."""

FOURS = re.compile(r"array<vec4<u32>, (\d+)>")
"""Fours of u32 in WGSL, with their count. They begin at multiples of 16 bytes: a record has them first."""

Number = int | float | np.int32


class Field(NamedTuple):
    """A field of a record: its name, its WGSL type, and its meaning."""

    name: str
    kind: str
    meaning: str


class Record:
    """A struct of 32-bit fields, and fours of them at its beginning, that the host writes and kernels read.

    Parameters
    ----------
    name : str
        Name of the WGSL struct.
    fields : Field
        The fields in their order in memory.
    """

    def __init__(self, name: str, *fields: Field) -> None:
        self.name, self.fields = name, fields

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype([(field.name, _numpy_kind(field.kind)) for field in self.fields])

    @property
    def declaration(self) -> str:
        """The struct in WGSL."""
        fields = "".join(f"    {field.name}: {field.kind},  // {field.meaning}\n" for field in self.fields)
        return f"struct {self.name} {{\n{fields}}}\n"

    def values(self, given: Mapping[str, Any]) -> NDArray[np.void]:
        """One record; every field must be given."""
        return np.array([tuple(given[field.name] for field in self.fields)], dtype=self.dtype)


def _numpy_kind(kind: str) -> str:
    fours = FOURS.fullmatch(kind)
    return f"({fours[1]},4)<u4" if fours else KINDS[kind]


def constants(values: Mapping[str, Number]) -> dict[str, str]:
    """WGSL declarations by name. An int becomes u32, an np.int32 becomes i32, a float becomes the nearest f32."""
    return {name: f"const {name} = {_literal(value)};\n" for name, value in values.items()}


def _literal(value: Number) -> str:
    if isinstance(value, np.int32):
        return f"{int(value)}i"
    if isinstance(value, float):
        return f"{float(np.float32(value)).hex()}f"
    return f"{value}u"


def places(sizes: Mapping[str, int]) -> dict[str, int]:
    """Where each part of an array begins, from the sizes of the parts in their order."""
    ends = np.cumsum([*sizes.values()]).tolist()
    return {name: end - size for (name, size), end in zip(sizes.items(), ends, strict=True)}


def float_bits(value: float) -> int:
    """The bits of the float32 that is nearest to a number."""
    return int(np.float32(value).view(np.uint32))
