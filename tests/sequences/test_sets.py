"""Letters as sets of bases."""

import pytest
from Bio.Data.IUPACData import ambiguous_dna_complement, ambiguous_dna_letters, ambiguous_dna_values

from pairhmm.sequences.letters import decode_sets, encode_sets, reverse_complement


def test_letters_match_where_their_bases_intersect():
    for one in ambiguous_dna_letters:
        for other in ambiguous_dna_letters:
            meet = bool(set(ambiguous_dna_values[one]) & set(ambiguous_dna_values[other]))
            assert bool(encode_sets(one)[0] & encode_sets(other)[0]) == meet, (one, other)


def test_case_and_u_do_not_matter():
    assert encode_sets("acgtun").tolist() == encode_sets("ACGTTN").tolist()


def test_complements_are_the_alphabets():
    letters = "".join(ambiguous_dna_letters)
    expected = "".join(ambiguous_dna_complement[letter] for letter in reversed(letters))
    assert decode_sets(reverse_complement(encode_sets(letters))) == expected


@pytest.mark.parametrize(("text", "message"), [("ACX", "'X' at position 3"), ("A-C", "'-' at position 2")])
def test_other_letters_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        encode_sets(text)
