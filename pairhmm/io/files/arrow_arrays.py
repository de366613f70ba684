"""Arrow arrays of NumPy arrays and packed texts, without a Python object for each value.

``pyarrow.array`` takes lists, which is slow. On its first call it also imports pandas where that is installed, which
takes as long as writing a million rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.genomics.names import Names


@dataclass(frozen=True, slots=True)
class Coded:
    """Texts as codes: int32[rows], indices into `names`."""

    codes: NDArray[np.int32]
    names: Sequence[str]


@dataclass(slots=True)
class Coder:
    """Gives a code to each distinct text, in the order in which they come."""

    _code: dict[str, int] = field(default_factory=dict)

    def codes(self, names: Sequence[str]) -> NDArray[np.int32]:
        """The code of each name."""
        known = self._code
        return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int32)

    @property
    def names(self) -> list[str]:
        """The names in the order of their codes."""
        return list(self._code)


def arrow_array(arrow: ModuleType, column: NDArray[Any] | Names | Coded, kind: Any) -> Any:
    """A column as an Arrow array of the type `kind`. Numbers are of this type already."""
    if isinstance(column, Coded):
        indices = arrow_array(arrow, column.codes, kind.index_type)
        names = arrow_array(arrow, Names.of(list(column.names)), kind.value_type)
        return arrow.DictionaryArray.from_arrays(indices, names)
    if isinstance(column, Names):
        offset = column.offset.astype(np.int32)
        return arrow.StringArray.from_buffers(len(column), arrow.py_buffer(offset), arrow.py_buffer(column.text))
    return arrow.Array.from_buffers(kind, len(column), [None, arrow.py_buffer(np.ascontiguousarray(column))])
