"""Expectations from sheets and PED files."""

import pytest

from pairhmm.errors import InputError
from pairhmm.variants.pedigree import read_genealogy

PED = "#family id father mother sex phenotype\nfam kid dad mum 1 -9\nfam dad 0 0 1 0\nfam\tmum\t0\t0\t2\t0\n"
SHEET = "sample\tindividual\tfather\tmother\nk1\tkid\tdad\tmum\nk2\tkid\nd1\tdad\nx\n"


@pytest.fixture
def write(tmp_path):
    """``write(name, text)``: a file, as a path."""

    def made(name, text):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return made


def test_a_pedigree_names_individuals(write):
    found = read_genealogy(None, write("x.ped", PED), ["kid", "mum", "stranger"])
    assert found.individuals == {"kid": "kid", "mum": "mum"}
    assert found.parents == {"kid": ("dad", "mum")}


def test_a_sheet_says_who_samples_are_from(write):
    found = read_genealogy(write("s.tsv", SHEET), None, ["k1", "x"])
    assert found.individuals == {"k1": "kid", "k2": "kid", "d1": "dad", "x": "x"}
    assert found.parents == {"kid": ("dad", "mum")}


def test_both(write):
    sheet = write("s.tsv", "sample\tindividual\nk1\tkid\nm1\tmum\n")
    found = read_genealogy(sheet, write("x.ped", PED), ["k1", "m1"])
    assert found.individuals == {"k1": "kid", "m1": "mum"} and found.parents == {"kid": ("dad", "mum")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fam kid dad\n", "line 1: 3 columns, a PED file has 6"),
        ("", "names no individual"),
        ("fam kid kid mum 1 0\n", "line 1: kid can't have the parents 'kid' and 'mum'"),
        ("f kid dad mum 1 0\nf kid dad gran 1 0\n", "line 2: kid has the parents dad and mum elsewhere"),
        ("f other 0 0 1 0\n", "names none of the samples, such as kid"),
    ],
)
def test_a_pedigree_that_can_not_be(write, text, message):
    with pytest.raises(InputError, match=message):
        read_genealogy(None, write("x.ped", text), ["kid", "mum"])
