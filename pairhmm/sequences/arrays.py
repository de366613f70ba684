"""Sequences and names laid end to end in one flat array, with the offset at which each begins or ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from pairhmm.native import native

_Kind = TypeVar("_Kind", bound=np.generic)


def offsets(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each sequence begins, and where the last one ends: int64[len(lengths) + 1]."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def joined(arrays: Sequence[NDArray[_Kind]], kind: type[_Kind] = np.uint8) -> NDArray[_Kind]:  # type: ignore[assignment]
    """Arrays of a kind laid end to end; an empty array where there are none."""
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=kind)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different values, in order. `numpy.unique` would import numpy.ma, which takes longer than all else here."""
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def gather(source: NDArray[np.uint8], starts: NDArray[np.int64], target_offset: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Slices of a flat array laid end to end: slice i begins at ``starts[i]`` and ends up at ``target_offset[i]``."""
    target = np.empty(int(target_offset[-1]), dtype=np.uint8)
    native.gather(source, np.ascontiguousarray(starts, dtype=np.int64), target_offset, target)
    return target


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Names laid end to end. They are decoded when one asks for them.

    Attributes
    ----------
    text : bytes
        UTF-8.
    end : int64[names]
        Where each name ends, and the next one begins.
    """

    text: bytes
    end: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[bytes] | Sequence[str]) -> Names:
        """Pack names."""
        packed = [name.encode() if isinstance(name, str) else name for name in names]
        return cls(b"".join(packed), offsets([len(name) for name in packed])[1:])

    @classmethod
    def concatenate(cls, parts: Sequence[Names]) -> Names:
        """The names of several, one after the other."""
        begins = offsets([len(part.text) for part in parts])[:-1].tolist()
        ends = [part.end + begin for part, begin in zip(parts, begins, strict=True)]
        return cls(b"".join([part.text for part in parts]), np.concatenate(ends))

    @property
    def offset(self) -> NDArray[np.int64]:
        """int64[names + 1]: where each name begins, and where the last one ends."""
        return np.concatenate([np.zeros(1, dtype=np.int64), self.end])

    def __len__(self) -> int:
        return len(self.end)

    def __iter__(self) -> Iterator[str]:
        ends = self.end.tolist()
        spans = zip([0, *ends[:-1]], ends, strict=True) if ends else ()
        if self.text.isascii():
            text = self.text.decode()
            return (text[begin:end] for begin, end in spans)
        return (self.text[begin:end].decode("utf-8", "replace") for begin, end in spans)

    def __eq__(self, other: object) -> bool:
        """Whether these are the same names, packed or in a list."""
        if isinstance(other, Names):
            return self.text == other.text and np.array_equal(self.end, other.end)
        return list(self) == list(other) if isinstance(other, list | tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} names>"

    def take(self, first: int, end: int) -> Names:
        """The names [first, end)."""
        begin = int(self.end[first - 1]) if first else 0
        stop = int(self.end[end - 1]) if end else 0
        return Names(self.text[begin:stop], self.end[first:end] - begin)

    def at(self, indices: NDArray[np.int64]) -> Names:
        """The names at some indices, in that order."""
        offset = self.offset
        begin = offset[indices]
        target = offsets(offset[indices + 1] - begin)
        return Names(gather(np.frombuffer(self.text, dtype=np.uint8), begin, target).tobytes(), target[1:])

    def raw(self, index: int) -> bytes:
        """A name, as the bytes in the file."""
        return self.text[int(self.end[index - 1]) if index else 0 : int(self.end[index])]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.raw(index).decode("utf-8", "replace")
