"""Sample sheets that are no tables."""

from __future__ import annotations

import pytest

from pairhmm.errors import InputError
from pairhmm.files.sample_sheet import read_sheet


def test_a_cell_that_is_too_long(tmp_path):
    path = tmp_path / "sheet.tsv"
    path.write_text("sample\treads\none\t" + "x" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"sheet\.tsv: can't be read as a table"):
        read_sheet(path)
