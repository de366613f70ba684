"""The texts of `cuda/`, put together for NVRTC and compiled. The kernels are handed their constants here.

A kernel's text is the constants (as macros), files of `cuda/`, and a check of each struct that Python fills. What is a
number on both sides is written in Python alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from pairhmm.backends.cuda.setup import keep_loaded

OPTIONS = ("--std=c++17",)
"""NVRTC's, for every kernel."""

Constant = int | float | str


def source(
    constants: Mapping[str, Constant], *names: str, structs: Mapping[str, np.dtype[np.void]] | None = None
) -> str:
    """One text for NVRTC.

    Parameters
    ----------
    constants : mapping of str to int, float or str
        Macros: whole numbers, floating-point ones (written so that no bit is lost) or words.
    *names : str
        Files of `cuda/`, in their order: ``"forward/rows.cuh"``. Messages of the compiler name the file and its line.
    structs : mapping of str to dtype
        Structs of these files, each with what Python fills it as: the text compiles only if they are the same.
    """
    lines = [f"#define {name} {_spelled(value)}" for name, value in constants.items()]
    folder = files("pairhmm") / "cuda"
    for name in names:
        lines += [f'#line 1 "cuda/{name}"', folder.joinpath(*name.split("/")).read_text()]
    for name, layout in (structs or {}).items():
        lines += [f'#line 1 "layout of {name}"', *_checks(name, layout)]
    return "\n".join(lines)


def compiled(cupy: Any, text: str, name: str) -> Any:
    """The kernel of that name, compiled for the current device."""
    kernel = cupy.RawKernel(text, name, options=OPTIONS)
    kernel.compile()
    keep_loaded(kernel)
    return kernel


def _spelled(value: Constant) -> str:
    return value.hex() if isinstance(value, float) else str(value)


def _checks(name: str, layout: np.dtype[np.void]) -> list[str]:
    """Assertions that a struct has the size of a dtype, and its fields the places and sizes."""
    checks = [f"sizeof({name}) == {layout.itemsize}"]
    for field, (kind, place, *_) in (layout.fields or {}).items():
        checks.append(f"__builtin_offsetof({name}, {field}) == {place} && sizeof({name}::{field}) == {kind.itemsize}")
    return [f'static_assert({check}, "{name} is not what Python fills");' for check in checks]
