"""Assembles the files of `cuda/` into texts for NVRTC, and compiles them.

A text consists of constants (as macros), files of `cuda/`, and a check of each struct that Python fills. A number that
both sides need is written only in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np

from pairhmm.backends.cuda.setup import keep_loaded

OPTIONS = ("--std=c++17",)
"""NVRTC's options, for every kernel."""

Constant = int | float | str

AnyKey = TypeVar("AnyKey", bound=Hashable)


def source(
    constants: Mapping[str, Constant], *names: str, structs: Mapping[str, np.dtype[np.void]] | None = None
) -> str:
    """The text of a kernel for NVRTC.

    Parameters
    ----------
    constants : mapping of str to int, float or str
        Macros: integers, floating-point numbers (written so that no bit is lost) or words.
    *names : str
        Files of `cuda/`, in their order: ``"forward/rows.cuh"``. Messages of the compiler name the file and its line.
    structs : mapping of str to dtype
        Structs of these files, with the dtype that Python fills each with. The text compiles only if they agree.
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


def compile_new(
    cupy: Any, device: Any, kernels: dict[AnyKey, Any], wanted: Mapping[AnyKey, tuple[Callable[[], str], str]]
) -> None:
    """Compile the missing kernels in parallel. `wanted` has what returns the text of each, and its name."""
    new = [key for key in wanted if key not in kernels]

    def compiled_there(key: AnyKey) -> Any:
        text, name = wanted[key]
        with device:
            return compiled(cupy, text(), name)

    if new:
        with ThreadPoolExecutor(len(new)) as pool:
            kernels.update(zip(new, pool.map(compiled_there, new), strict=True))


def _spelled(value: Constant) -> str:
    return value.hex() if isinstance(value, float) else str(value)


def _checks(name: str, layout: np.dtype[np.void]) -> list[str]:
    """Assertions that a struct has the size of a dtype, and its fields in the same order and of the same sizes.

    Not every NVRTC has offsetof (13.0 has none). So a constant struct is initialised with the number of each field.
    """
    fields = list((layout.fields or {}).items())
    numbers = [_braced(str(number), kind.ndim) for number, (_, (kind, *_)) in enumerate(fields, start=1)]
    checks = [f"sizeof({name}) == {layout.itemsize}"]
    for number, (field, (kind, *_)) in enumerate(fields, start=1):
        first = f"k{name}.{field}{'[0]' * kind.ndim}"
        checks.append(f"{first} == {number} && sizeof({name}::{field}) == {kind.itemsize}")
    asserted = [f'static_assert({check}, "{name} is not what Python fills");' for check in checks]
    return [f"constexpr {name} k{name} = {{{', '.join(numbers)}}};", *asserted]


def _braced(number: str, dimensions: int) -> str:
    """The initialiser of an array whose first element is that number."""
    return "{" * dimensions + number + "}" * dimensions
