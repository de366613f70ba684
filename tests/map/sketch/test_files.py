"""Sketch files: what is written is read, what is not right is one clear line; and slots as bit planes."""

import zlib

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.map.sketch.files import HEADER, TAIL, create_sketches, open_sketches, read_sketches, write_sketches
from pairhmm.map.sketch.sketches import Scheme, Sketches, planes_of, values_of


def sketches(names, scheme=None, seed=1):
    scheme = scheme or Scheme()
    rng = np.random.default_rng(seed)
    planes = rng.integers(0, 2**63, (len(names), scheme.bits, scheme.slots // 64), dtype=np.uint64)
    kmers = rng.random(len(names)) * 1e6
    return Sketches(scheme, list(names), planes, kmers, np.arange(1, len(names) + 1, dtype=np.int32))


def assert_same(found, expected):
    assert found.scheme == expected.scheme
    assert list(found.names) == list(expected.names)
    assert np.array_equal(found.planes, expected.planes)
    assert np.array_equal(found.kmers, expected.kmers)
    assert np.array_equal(found.least_counts, expected.least_counts)


@pytest.mark.parametrize(
    "scheme", [Scheme(), Scheme(k=31, slots=128, bits=1), Scheme(slots=8192, bits=16), Scheme("published", 21, 128, 31)]
)
def test_what_is_written_is_read(tmp_path, scheme):
    made = sketches(["a", "b c", "dé"], scheme)
    write_sketches(tmp_path / "x.sketches", made)
    found = read_sketches(tmp_path / "x.sketches")
    assert_same(found, made)
    assert found.planes.dtype == np.uint64 and found.planes.shape == (3, scheme.bits, scheme.slots // 64)


def test_samples_are_read_some_at_a_time(tmp_path):
    made = sketches(["a", "b", "c", "d"])
    write_sketches(tmp_path / "x", made)
    with open_sketches(tmp_path / "x") as file:
        assert len(file) == 4 and file.names == ["a", "b", "c", "d"]
        assert_same(file.part(1, 3), made.part(1, 3))
        assert_same(file.part(3, 9), made.part(3, 4))


def test_files_are_joined(tmp_path):
    made = sketches(["a", "b", "c"])
    write_sketches(tmp_path / "1", made.part(0, 1))
    write_sketches(tmp_path / "2", made.part(1, 3))
    assert_same(read_sketches([tmp_path / "1", tmp_path / "2"]), made)


def test_files_of_different_schemes_are_refused(tmp_path):
    write_sketches(tmp_path / "1", sketches(["a"]))
    write_sketches(tmp_path / "2", sketches(["b"], Scheme(k=31)))
    with pytest.raises(InputError, match=r"2: permutation, k 31, .*, where .*1 has permutation, k 21"):
        read_sketches([tmp_path / "1", tmp_path / "2"])


def test_a_sample_or_a_file_given_twice_is_refused(tmp_path):
    write_sketches(tmp_path / "1", sketches(["a"]))
    write_sketches(tmp_path / "2", sketches(["b", "a"]))
    with pytest.raises(InputError, match=r"sample 'a': is in .*1 too"):
        read_sketches([tmp_path / "1", tmp_path / "2"])
    with pytest.raises(InputError, match="is given twice"):
        read_sketches([tmp_path / "1", tmp_path / "1"])
    with pytest.raises(InputError, match="sample 'a': would be in the file twice"):
        write_sketches(tmp_path / "3", sketches(["a", "a"]))
    assert not (tmp_path / "3").exists()


def test_nothing_is_left_of_a_file_that_was_not_finished(tmp_path):
    made = sketches(["a"])
    with pytest.raises(KeyError), create_sketches(tmp_path / "x", made.scheme) as writer:
        writer.add("a", made.planes[0], 1.0, 1)
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_a_cut_or_damaged_file_is_refused(tmp_path):
    path = tmp_path / "x"
    write_sketches(path, sketches(["a", "b"]))
    whole = path.read_bytes()
    for size in (1, 9, 40, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"is cut off|is no sketch file"):
            read_sketches(path)
    for at in (12, 17, 33, len(whole) // 2, len(whole) - 20):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(InputError, match="is damaged"):
            read_sketches(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is no sketch file"):
        read_sketches(path)
    with pytest.raises(InputError, match="No such file"):
        read_sketches(tmp_path / "none")


def sealed(data):
    body = data[: -TAIL.size]
    return body + TAIL.pack(zlib.crc32(body), 0, b"SKCHDONE")


@pytest.mark.parametrize(
    ("at", "value", "rule"),
    [
        (8, 2, "has version 2 of the format, and this pairhmm reads version 1"),
        (12, 7, "is damaged: its header has no scheme"),
        (16, 40, "is damaged: its header has no scheme"),
        (20, 1000, "is damaged: its header has no scheme"),
        (20, 2048, "is damaged: .* bytes where its table needs"),
        (-32, 3, "is damaged: .* bytes where its table needs"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(tmp_path, at, value, rule):
    path = tmp_path / "x"
    write_sketches(path, sketches(["a", "b"]))
    data = bytearray(path.read_bytes())
    at %= len(data)
    data[at : at + 4] = value.to_bytes(4, "little")
    path.write_bytes(sealed(bytes(data)))
    with pytest.raises(InputError, match=rule):
        read_sketches(path)


def test_names_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "x"
    write_sketches(path, sketches(["a", "b"]))
    data = path.read_bytes()
    for bad, rule in (
        (b"a\tb\n", "1 names for 2"),
        (b"\xff\nb\n", "is not UTF-8"),
        (b"\x01\nb\n", "control character"),
    ):
        path.write_bytes(sealed(data.replace(b"a\nb\n", bad)))
        with pytest.raises(InputError, match=rule):
            read_sketches(path)


def test_a_file_without_samples_is_refused(tmp_path):
    write_sketches(tmp_path / "x", sketches([]))
    with pytest.raises(InputError, match="has no sample"):
        read_sketches(tmp_path / "x")
    assert (tmp_path / "x").stat().st_size == HEADER.size + 32


def test_any_damage_is_an_input_error(tmp_path):
    """Changed files whose checksum was made again: they are read, or refused in one line."""
    path = tmp_path / "x"
    write_sketches(path, sketches(["a", "bc"], Scheme(slots=128, bits=1)))
    whole = path.read_bytes()
    rng = np.random.default_rng(4)
    refused = 0
    for _ in range(1000):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            data[at] = rng.integers(256)
        if rng.random() < 0.3:
            begin = int(rng.integers(len(data)))
            del data[begin : begin + int(rng.integers(1, 40))]
        path.write_bytes(sealed(bytes(data)) if rng.random() < 0.8 else bytes(data))
        try:
            read_sketches(path)
        except InputError:
            refused += 1
    assert refused > 500


@pytest.mark.parametrize("bits", [1, 8, 16, 31])
@pytest.mark.parametrize("slots", [128, 1024])
def test_slots_come_back(bits, slots):
    values = np.random.default_rng(bits).integers(0, 2**31, (5, slots), dtype=np.uint32)
    planes = planes_of(values, bits)
    assert planes.shape == (5, bits, slots // 64) and planes.dtype == np.uint64
    assert (values_of(planes) == values & np.uint32(2**bits - 1)).all()


def test_a_bit_stands_where_the_layout_says():
    values = np.zeros((1, 128), dtype=np.uint32)
    values[0, 67] = 0b100
    planes = planes_of(values, 3)
    assert planes[0, 2].tolist() == [0, 8]
    assert not planes[0, :2].any()
