"""`pairhmm.backends.kinds`: a table is made once for equal rows and constants."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pairhmm.backends.kinds import made_once
from pairhmm.models import profile


@pytest.fixture
def made():
    return []


@pytest.fixture
def table_of(made):
    @made_once
    def table_of(profiles):
        made.append(profiles)
        return profiles.probabilities @ profiles.match + profiles.insertion[0] + profiles.shared_transitions[0]

    return table_of


def test_chunks_share_a_table(made, table_of):
    whole = profile.preset("normalised").profiles(np.eye(4), np.arange(4, dtype=np.uint16))
    first = table_of(whole)
    assert table_of(whole.sliced(slice(1, 3))) is first and len(made) == 1
    assert first.shape == (4, 5) and not first.flags.writeable


def test_rows_may_have_transitions_of_their_own(made, table_of):
    """A model of one row is not one of rows with their own transitions, though its arrays have the same bytes."""
    plain = profile.preset("normalised").profiles(np.full((1, 4), 0.25))
    for transitions in (plain.transitions, plain.transitions[None]):
        table_of(dataclasses.replace(plain, transitions=transitions))
    assert [one.transitions.shape for one in made] == [(7,), (1, 7)]


@pytest.mark.parametrize("field", ["probabilities", "match", "insertion", "transitions"])
def test_another_model_has_its_own(field, made, table_of):
    """Also where an array is changed in place."""
    given = profile.preset("normalised").profiles(np.full((3, 4), 0.25))
    given = dataclasses.replace(given, match=given.match.copy())
    before = table_of(given)
    getattr(given, field)[:] *= 0.5
    assert len(made) == 1 and (table_of(given) != before).any() and len(made) == 2
