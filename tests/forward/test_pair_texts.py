"""`.in` groups and reference likelihoods."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.errors import InputError
from pairhmm.forward.pair_texts import read_in, read_reference_likelihoods, write_in
from pairhmm.models.batch import Group, Read

codes = st.lists(st.integers(0, 4), min_size=1, max_size=30).map(lambda values: np.array(values, dtype=np.uint8))


@st.composite
def groups(draw):
    reads = []
    for bases in draw(st.lists(codes, min_size=1, max_size=4)):
        quality = st.lists(st.integers(0, 93), min_size=len(bases), max_size=len(bases))
        reads.append(Read(bases, *(np.array(draw(quality), dtype=np.uint8) for _ in range(4))))
    return Group(reads, draw(st.lists(codes, min_size=1, max_size=3)))


@given(written=st.lists(groups(), max_size=3))
def test_in_round_trip(written, tmp_path_factory):
    path = tmp_path_factory.mktemp("in") / "groups.in"
    write_in(path, written)
    found = list(read_in(path))
    assert len(found) == len(written)
    for one, other in zip(found, written, strict=True):
        assert [h.tolist() for h in one.haplotypes] == [h.tolist() for h in other.haplotypes]
        for read, expected in zip(one.reads, other.reads, strict=True):
            for name in Read.__dataclass_fields__:
                assert getattr(read, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ACGT AC II II II II\n", "line 1: 6 columns instead of 7"),
        ("# comment\n\nACGT AC II II II II x\n", "line 3: 'x' is not a number"),
        ("ACGT AC II II II I -1\n", "line 1: 1 gap continuation qualities for 2 bases"),
    ],
)
def test_bad_reference_likelihoods(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_reference_likelihoods(path))


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        list(read_in(tmp_path / "none.in"))
