"""Profiles: reads as probabilities, in and out."""

import gzip

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.models.profile_reader import ENDINGS, read_profiles
from pairhmm.models.profile_writer import MadeProfile, open_profiles

HEADER = "name\tposition\tA\tC\tG\tT"


def test_profiles(tmp_path):
    path = tmp_path / "x.profile"
    path.write_text(">p1 x\n1 0 0 0\n.25 .25 .25 .25\n\n>p2\n0 0 0 1\n")
    (first, one), (second, two) = read_profiles(path)
    assert (first, second) == ("p1", "p2")
    assert (one.shape, two.tolist()) == ((2, 4), [[0, 0, 0, 1]])


def test_tables(tmp_path):
    path = tmp_path / "any-name"
    path.write_text(f"{HEADER}\tcolour\np\t1\t1\t0\t0\t0\tred\np\t2\t.25\t.25\t.25\t.25\t\np\t1\t0\t0\t0\t1\tblue\n")
    (first, one), (second, two) = read_profiles(path)
    assert (first, second) == ("p", "p"), "mates share a name"
    assert (one.shape, two.tolist()) == ((2, 4), [[0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">p\n1 0 0 0\n.5 .5 .5 0\n", "p: row 2 sums to 1.5 instead of 1; normalise the row"),
        (">p\n1 0 0\n", "line 2: not four numbers"),
        ("1 0 0 0\n", "line 1: numbers before the first >name"),
        (">p\n>q\n1 0 0 0\n", "p: empty profile"),
        (">p\n1 0 0 0\n>q\n", "q: empty profile"),
        (">p\nnan 0 0 1\n", "p: row 1 sums to nan"),
        (">p\n1e308 1e308 0 0\n", "p: row 1 sums to inf"),
        (">p\n1 0 0 0\n1.5 -0.5 0 0\n", "p: row 2 has 1.5, which is not a probability"),
        (">p positions=2\n1 0 0 0\n", "p: 1 of 2 positions; the file may be cut off"),
        ("", "no profile in it"),
        (f"{HEADER}\n", "no profile in it"),
        ("name\tposition\tA\tC\tG\np\t1\t1\t0\t0\n", "line 1: the columns do not begin with name position A C G T"),
        (f"{HEADER}\np\t1\t1\t0\t0\n", "line 2: 5 fields where the header has 6; the file may be cut off"),
        (f"{HEADER}\np\t1\t1\t0\t0\t?\n", "line 2: not four numbers"),
        (f"{HEADER}\np\t1\t1\t0\t0\t1\n", "p: row 1 sums to 2 instead of 1; normalise the row"),
        (f"{HEADER}\np\t2\t1\t0\t0\t0\n", "line 2: position 2 of p is not the next one"),
        (f"{HEADER}\np\t1\t1\t0\t0\t0\nq\t2\t1\t0\t0\t0\n", "line 3: position 2 of q is not the next one"),
    ],
)
def test_bad_profiles(tmp_path, text, message):
    path = tmp_path / "x.profile"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_profiles(path))


def placed(name="read:1", mate=1):
    rows = np.random.default_rng(1).dirichlet(np.ones(4) / 8, 5)
    return MadeProfile(name, "s", "chr1", 9, 2, mate, rows)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    one, other = placed(), placed(mate=2)
    with open_profiles(path) as write:
        write(one)
        write(other)
    found = list(read_profiles(path))
    assert [name for name, _ in found] == ["read:1", "read:1"]
    for (_, read), written in zip(found, (one, other), strict=True):
        np.testing.assert_array_equal(read, written.probabilities)
    assert [path.name for path in tmp_path.iterdir()] == [f"x{ending}"]


def test_what_is_written_says_where_it_lies(tmp_path):
    for name in ("x.profile", "x.tsv"):
        with open_profiles(tmp_path / name) as write:
            write(placed())
    assert (tmp_path / "x.profile").read_text().startswith(">read:1 mate=1 reads=2 positions=5 place=chr1:10\n")
    rows = [line.split("\t") for line in (tmp_path / "x.tsv").read_text().splitlines()]
    assert rows[0] == [*f"#{HEADER}".split("\t"), "sample", "mate", "reads", "place"]
    assert all(row[6:] == ["s", "1", "2", "chr1:10"] for row in rows[1:])


@pytest.mark.parametrize("ending", [".profile.gz", ".tsv.gz"])
def test_a_packed_file_that_is_cut_off(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    with open_profiles(path) as write:
        write(placed())
    path.write_bytes(path.read_bytes()[:-28])
    with pytest.raises(InputError, match="is cut off"):
        list(read_profiles(path))
    path.write_bytes(gzip.compress(b">p\n1 0 0 0\n")[:-4])
    with pytest.raises(InputError, match=r"cut off|damaged"):
        list(read_profiles(path))


def test_other_endings_and_names(tmp_path):
    with pytest.raises(InputError, match=r"not a name for profiles; end it in \.profile"), open_profiles("x.txt"):
        pass
    with pytest.raises(InputError, match="white space in its name"), open_profiles(tmp_path / "x.profile") as write:
        write(placed(name="a b"))
    assert not list(tmp_path.iterdir())
