"""The compiled reader of `.in` files against the one in Python: the same groups, or the same error."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.errors import InputError
from pairhmm.forward import batches as pair_batches
from pairhmm.forward.batches import read_batches
from pairhmm.forward.pair_texts import read_in
from pairhmm.models.batch import PairBatch, Qualities

FIELDS = tuple(Qualities.__dataclass_fields__)
ONE = "1 1\nACGT IIII JJJJ KKKK ++++\nACGTT\n"


@pytest.fixture(autouse=True)
def compiled(require):
    require("cpu", pair_batches.is_compiled(), "the compiled part is not installed")


def contents(batches):
    """Groups of reads and haplotypes, as lists; or the error that reading them ends with."""
    groups = []
    try:
        for batch in batches:
            columns = [getattr(batch.qualities, name) for name in FIELDS]
            for g in range(batch.groups):
                reads = cut(columns, batch.read_offset, *batch.group_read[g : g + 2])
                groups.append(
                    (reads, cut([batch.haplotypes], batch.haplotype_offset, *batch.group_haplotype[g : g + 2]))
                )
    except InputError as error:
        return str(error)
    return groups


def cut(columns, offset, first, end):
    return [[column[offset[i] : offset[i + 1]].tolist() for column in columns] for i in range(first, end)]


def assert_read_alike(path):
    expected = contents(PairBatch.from_groups([group]) for group in read_in(path))
    for block_bytes in (1, 100, 1 << 20):
        for threads in (1, 2):
            assert contents(read_batches(path, threads, block_bytes)) == expected
    return expected


spaces = st.text(" \t\x0b\x1c", min_size=1, max_size=2) | st.just(" ")
line_ends = st.sampled_from(["\n", "\r\n", "\r"])
letters = st.text("ACGTUNRYKMSWBDHVacgtunrykmswbdhv", min_size=1, max_size=20)


@st.composite
def texts(draw):
    """Groups as they may be written: any case, fields parted in any way, blank lines between groups."""
    lines = []
    for _ in range(draw(st.integers(0, 3))):
        lines += draw(st.lists(st.sampled_from(["", " ", "\t"]), max_size=2))
        reads, haplotypes = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        lines.append(f"{reads}{draw(spaces)}{haplotypes}")
        for _ in range(reads):
            bases = draw(letters)
            quality = st.text(
                st.characters(min_codepoint=33, max_codepoint=127), min_size=len(bases), max_size=len(bases)
            )
            lines.append(
                draw(spaces).join([bases, *(draw(quality) for _ in range(4))]) + draw(st.sampled_from(["", " "]))
            )
        lines += [draw(letters) for _ in range(haplotypes)]
    end = draw(line_ends)
    return (end.join(lines) + draw(st.sampled_from(["", end]))).encode()


@given(text=texts())
def test_the_same_groups(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "same.in"
    path.write_bytes(text)
    assert isinstance(assert_read_alike(path), list)


@given(text=texts(), data=st.data())
def test_the_same_of_damaged_files(text, data, tmp_path_factory):
    damaged = bytearray(text)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged)))
        what = data.draw(
            st.sampled_from([b"", b"\n", b"\r", b" ", b"1", b"A", b"\0", b"\x7f", b"\x80", b"\xc3\xa4", b"\x1c"])
        )
        damaged[at : at + data.draw(st.integers(0, 2))] = what
    path = tmp_path_factory.getbasetemp() / "damaged.in"
    path.write_bytes(damaged)
    assert_read_alike(path)


@given(text=texts(), data=st.data())
def test_the_same_of_files_that_are_cut_off(text, data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "cut.in"
    path.write_bytes(text[: data.draw(st.integers(0, len(text)))])
    assert_read_alike(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE + "1 1\nAC II II II II\n", "ends inside a group; the file is cut off"),
        (ONE + "\n1 1\nAC II II II\nACGT\n", "line 6: not a read and four quality strings"),
        (ONE + "1 1\nAC II III II II\nACGT\n", "line 5: 3 insertion qualities for 2 bases"),
        (ONE + "1 1\nAC II I\x1f II II\nACGT\n", "line 5: 1 insertion qualities for 2 bases"),
        (ONE + "1 1\nAC II I\x01 II II\nACGT\n", "line 5: insertion quality outside Phred"),
        (ONE + "1 1\nAC II I\xe9 II II\nACGT\n", "line 5: insertion quality outside Phred"),
        (ONE + "1 1\nAC II II II II\nAC!T\n", "line 6: letter '!' at position 3 is not an IUPAC base"),
        (ONE + "1 1\nAC II II II II\nAC GT\n", "line 6: not a haplotype"),
        (ONE + "1 1 1\n", "line 4: not a line `reads haplotypes`"),
        (ONE + "-1 1\n", "line 4: not a line `reads haplotypes`"),
        # More reads than there are lines: the line that is no read is told of before all of the file is in memory.
        ("99999999999999999999 1\n" + ONE[4:] + ONE, "line 3: not a read and four quality strings"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_errors_name_the_line(tmp_path, text, message, end):
    path = tmp_path / "bad.in"
    path.write_bytes(text.replace("\n", end).encode("latin-1"))
    assert message in assert_read_alike(path)


def test_fields_that_only_look_right(tmp_path):
    """Spaces where a read of three bases would have them, but the read has one."""
    path = tmp_path / "odd.in"
    path.write_bytes(b"1 1\nA\tI I I I          \nAC\n")
    assert assert_read_alike(path) == [([[[0], [40], [40], [40], [40]]], [[[0, 1]]])]


@pytest.mark.parametrize("name", ["10s.in", "1m.in"])
def test_real_groups(shared_data, name):
    path = shared_data / name
    expected = PairBatch.from_groups(list(read_in(path)))
    batches = list(read_batches(path, 2, 100_000))
    assert len(batches) > 1
    (whole,) = read_batches(path, 2, 1 << 30)
    for name in ("group_read", "group_haplotype", "read_offset", "haplotype_offset", "haplotypes"):
        assert np.array_equal(getattr(whole, name), getattr(expected, name))
    for name in FIELDS:
        assert np.array_equal(getattr(whole.qualities, name), getattr(expected.qualities, name))
        parts = np.concatenate([getattr(batch.qualities, name) for batch in batches])
        assert np.array_equal(parts, getattr(expected.qualities, name))


def test_a_pipe(tmp_path):
    path = tmp_path / "pipe.in"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(100 * ONE,))
    writer.start()
    batches = list(read_batches(path, 1, 1000))
    writer.join()
    assert len(batches) > 1
    assert sum(batch.groups for batch in batches) == 100


def test_the_python_reader_is_announced(tmp_path, monkeypatch, caplog):
    path = tmp_path / "x.in"
    path.write_text(10 * ONE)
    expected = contents(read_batches(path))
    monkeypatch.setattr(pair_batches, "is_compiled", lambda: False)
    batches = list(read_batches(path, 1, 60))
    assert "x.in is read and its scores are written in Python, slowly; install a C++ compiler" in caplog.text
    assert contents(batches) == expected
    assert len(batches) == 4, "of about 60 bytes each"
