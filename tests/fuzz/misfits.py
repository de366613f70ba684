"""The compiled functions, called with arrays that do not fit: each is refused, or taken without harm to memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from bindings import BINDINGS
from mutate import EXTREMES, pick
from numpy.random import Generator
from numpy.typing import NDArray

_ODDS = 0.15
# What a driver raises over results that make no sense; harm to memory ends the process in another way.
_EXPECTED = (ValueError, TypeError, IndexError, OverflowError, AssertionError, MemoryError, KeyError, RuntimeError)


def run_misfit(name: str, seed: int) -> None:
    """Call one of `BINDINGS` while some arrays are cut or changed on their way into the compiled part."""
    import pairhmm.native as compiled

    rng = np.random.default_rng(seed)
    real = compiled.native
    misfits = _Misfits(real, rng, [])
    for module in [module for key, module in sys.modules.items() if key.startswith("pairhmm.")]:
        if getattr(module, "native", None) is real:
            module.native = misfits
    with suppress(*_EXPECTED):
        BINDINGS[name](rng)


class _Misfits:
    """A module, an object or a function of the compiled part whose arguments are changed on their way."""

    def __init__(self, real: Any, rng: Generator, held: list[Any]) -> None:
        # Callers keep the arrays that the compiled part goes on with: so do these.
        self._real, self._rng, self._held = real, rng, held

    def __getattr__(self, name: str) -> Any:
        return self._wrapped(getattr(self._real, name))

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        changed = [self._changed(one) for one in arguments]
        return self._wrapped(self._real(*changed, **{key: self._changed(one) for key, one in keywords.items()}))

    def _wrapped(self, value: Any) -> Any:
        is_ours = callable(value) or type(value).__module__.startswith("pairhmm._cpu")
        return _Misfits(value, self._rng, self._held) if is_ours else value

    def _changed(self, value: Any) -> Any:
        if isinstance(value, _Misfits):
            return value._real
        if isinstance(value, np.ndarray) and self._rng.random() < _ODDS:
            self._held.append(pick(self._rng, _CHANGES)(self._rng, value))
            return self._held[-1]
        return value


def _shorter(rng: Generator, values: NDArray[Any]) -> NDArray[Any]:
    return values[: int(rng.integers(len(values) + 1))].copy()


def _extreme(rng: Generator, values: NDArray[Any]) -> NDArray[Any]:
    changed = values.copy()
    if changed.size and changed.dtype.kind in "iu":
        low, high = np.iinfo(changed.dtype).min, np.iinfo(changed.dtype).max
        changed.flat[int(rng.integers(changed.size))] = min(max(pick(rng, EXTREMES), low), high)
    return changed


def _near(rng: Generator, values: NDArray[Any]) -> NDArray[Any]:
    changed = values.copy()
    if changed.size and changed.dtype.kind in "iu":
        at = int(rng.integers(changed.size))
        changed.flat[at : at + 1] += changed.dtype.type(pick(rng, (1, 1, 2, 9)))  # wraps, as arrays do
    return changed


def _shuffled(rng: Generator, values: NDArray[Any]) -> NDArray[Any]:
    return values[rng.permutation(len(values))]


_CHANGES: tuple[Callable[[Generator, NDArray[Any]], NDArray[Any]], ...] = (_shorter, _extreme, _near, _shuffled)
