"""`forward_backward`: posteriors of reads of either model, on either backend."""

from __future__ import annotations

import numpy as np
import pytest

import pairhmm
from pairhmm.models.profile import one_hot, preset
from pairhmm.native import is_compiled

READS = ["ACGTTGCATTACG", "ACGTTCATTACG"]
HAPLOTYPES = ["TTACGTTGCATTACGAA", "ACGTTGCATTACG"]


@pytest.mark.parametrize("backend", ["cpu", "reference", "auto"])
def test_posteriors_of_every_read_with_every_haplotype(backend: str, require) -> None:
    if backend == "cpu":
        require("cpu", is_compiled(), "pairhmm has no compiled part here")
    reads = [pairhmm.make_read(bases, 30) for bases in READS]
    found = pairhmm.forward_backward(reads, HAPLOTYPES, backend=backend)
    scores = pairhmm.forward(reads, HAPLOTYPES, backend="reference")
    assert [len(row) for row in found] == [2, 2]
    for (at, which), score in np.ndenumerate(scores):
        one = found[at][which]
        assert one.log10 == pytest.approx(score, abs=1e-9)
        assert one.match.shape == (len(READS[at]), len(HAPLOTYPES[which])) == one.deletion.shape
        assert one.base_match + one.base_insertion == pytest.approx(1, abs=1e-9)
    # The second read lacks the G: its letter is the one that is deleted.
    assert found[1][1].letter_deletion.argmax() == 5 and found[1][1].letter_deletion[5] > 0.99


def test_a_profile_model_has_posteriors_too() -> None:
    bases = np.array([0, 1, 2, 3, 3, 2], dtype=np.uint8)
    read = one_hot(bases, np.full(6, 0.01))
    model = preset("normalised")
    ((one,),) = pairhmm.forward_backward(read, "ACGTTG", model=model)
    assert one.log10 == pytest.approx(pairhmm.forward(read, "ACGTTG", model=model, backend="reference")[0, 0], abs=1e-9)
    assert np.diag(one.match) == pytest.approx(1, abs=1e-2)


def test_another_backend_is_refused() -> None:
    with pytest.raises(pairhmm.OptionError, match="backend='cuda' is not one of auto, cpu, reference"):
        pairhmm.forward_backward(pairhmm.make_read("ACGT", 30), "ACGT", backend="cuda")


def test_no_haplotypes_are_no_posteriors() -> None:
    assert pairhmm.forward_backward([pairhmm.make_read("ACGT", 30)] * 2, []) == [[], []]
