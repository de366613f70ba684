"""From FASTA to distances: the Jaccard indices of genomes whose k-mers are known."""

import numpy as np
import pytest

import pairhmm
from pairhmm.backends import status
from pairhmm.simulate.files import letters
from pairhmm.simulate.reference import relative
from tests.map.sketch.permutation import kmer_hashes

K, GENOMES, LENGTH = 21, 150, 20_000


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """A FASTA of an ancestor and its relatives, and the Jaccard index of each relative and the ancestor."""
    rng = np.random.default_rng(21)
    ancestor = rng.integers(0, 4, LENGTH, dtype=np.uint8)
    genomes = [relative(ancestor, jaccard, K, rng) for jaccard in np.linspace(0.01, 1, GENOMES)]
    path = tmp_path_factory.mktemp("relatives") / "genomes.fa"
    named = zip(["ancestor", *(f"g{i}" for i in range(GENOMES))], [ancestor, *genomes], strict=True)
    path.write_text("".join(f">{name}\n{letters(genome)}\n" for name, genome in named))
    first, *others = (set(kmer_hashes(np.uint8(1) << genome, K).tolist()) for genome in (ancestor, *genomes))
    return path, np.array([len(first & other) / len(first | other) for other in others])


@pytest.mark.parametrize(
    ("slots", "bits", "least", "bias"), [(1024, 8, 0.99, 0.01), (8192, 1, 0.997, 0.01), (128, 16, 0.97, 0.03)]
)
def test_estimates_are_near_the_truth(known, require, slots, bits, least, bias):
    """The correlation says nothing of a wrong correction for chance; the mean difference does."""
    require("cpu", status("cpu").available, "the compiled part is missing")
    path, truth = known
    sketches = pairhmm.sketch(path, each_record=True, k=K, slots=slots, bits=bits)
    found = pairhmm.distances(sketches, sketches.part(0, 1))
    assert found.sample_2[1:] == [f"g{i}" for i in range(GENOMES)]
    estimates = found.jaccard[1:]
    assert np.corrcoef(truth, estimates)[0, 1] >= least
    assert abs(float((estimates - truth).mean())) <= bias
    contained = 2 * truth / (1 + truth)  # of genomes of equal size
    assert abs(float((found.containment[1:] - contained).mean())) <= 2 * bias


def test_relatives_have_the_jaccard_index_that_was_asked_for(known):
    _, truth = known
    assert np.abs(truth - np.linspace(0.01, 1, GENOMES)).max() < 0.05
