"""Lines of files that are open, and sample sheets that are no tables."""

import io

import pytest

from pairhmm.errors import InputError
from pairhmm.files.sample_sheet import read_sheet
from pairhmm.files.text_lines import lines_of


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"a", b"a\n\nb\n", b"\n\na", b"a" * 200_000 + b"\nb\n" + b"c" * 70_000, b"x\n" * 50_000]
)
def test_lines_are_those_of_the_text(text):
    assert list(lines_of(io.BytesIO(text))) == [line.rstrip(b"\n") for line in io.BytesIO(text)]


def test_a_cell_that_is_too_long(tmp_path):
    path = tmp_path / "sheet.tsv"
    path.write_text("sample\treads\none\t" + "x" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"sheet\.tsv: can't be read as a table"):
        read_sheet(path)
