"""Letters and codes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.sequences.letters import READ_LETTERS, as_n, codes_of, decode, encode, encode_read

IUPAC = "ACGTURYSWKMBDHVN"


def test_codes():
    assert encode("ACGTN").tolist() == [0, 1, 2, 3, 4]
    assert encode(b"acgtun").tolist() == [0, 1, 2, 3, 3, 4]
    assert encode("RYSWKMBDHV").tolist() == [4] * 10
    assert encode("").tolist() == []


def test_codes_of_reads():
    assert encode_read(READ_LETTERS).tolist() == list(range(15))
    assert encode_read(b"uryn").tolist() == [3, 5, 6, 4]
    assert as_n(encode_read(READ_LETTERS)).tolist() == encode(READ_LETTERS).tolist()


def test_decoding_gives_the_letters_of_reads_back():
    assert decode(encode_read(READ_LETTERS)) == READ_LETTERS


@given(st.text(IUPAC + IUPAC.lower()))
def test_decoding_gives_the_plain_letters_back(text):
    plain = "".join({"U": "T"}.get(letter, letter if letter in "ACGT" else "N") for letter in text.upper())
    assert decode(encode(text)) == plain


@pytest.mark.parametrize(("text", "message"), [("ACXG", r"'X' at position 3"), ("A-", r"'-' at position 2")])
def test_other_letters_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        encode(text)


@pytest.mark.parametrize("sequences", [{"A": "ACGT"}, {"ACGT"}, {"A": 1}.keys()])
def test_names_are_not_taken_for_letters(sequences):
    with pytest.raises(TypeError, match="give a list"):
        codes_of(sequences)
