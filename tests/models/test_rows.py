"""Batches as the kernels of GPUs take them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pairhmm.models.batch import PairBatch
from pairhmm.models.profile import preset, rows
from pairhmm.models.rows import with_one_gap_model
from pairhmm.sequences.letters import encode


def test_rates_by_copies_become_rows() -> None:
    """Other batches stay as they are."""
    model = replace(preset("normalised"), by_copies=np.array([np.arange(1, 21) / 500] * 2))
    bases, one, each = encode("ACGTTTTTAC"), np.array([0, 1]), np.array([0, 10])
    plain = model.base_calls(bases, np.full(10, 30, dtype=np.uint8))
    batch = PairBatch(one, one, each, each, bases, model.start, profiles=plain)
    assert with_one_gap_model(batch) is batch
    kinds = replace(batch, profiles=model.with_repeats(plain, each))
    assert with_one_gap_model(kinds) is kinds
    own = model.with_repeats(model.profiles(plain.at_bases), each)
    made = with_one_gap_model(replace(batch, profiles=own))
    assert made.profiles is None
    assert np.array_equal(made.rows, rows(own))
