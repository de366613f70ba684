"""Trees of haplotypes on the webgpu backend: the cases of every backend, with shuffles and with workgroup memory."""

import numpy as np
import pytest

from pairhmm.backends.webgpu import backend as backend_module
from pairhmm.backends.webgpu import kernels, layout, work
from pairhmm.engine import device_pool
from pairhmm.models.batch import FLOAT32, PairBatch
from tests.conftest import load_helper

cases = load_helper("backends/tree_cases")
globals().update({name: getattr(cases, name) for name in cases.CASES})


@pytest.fixture(scope="module", name="tree_layout")
def layout_of_trees():
    return layout


@pytest.fixture(scope="module")
def tall_in_trees():
    return False


@pytest.fixture(scope="module")
def of_tolerance():
    """Sums of columns are not compensated."""
    return 0.5


def test_sums_that_end_within_a_haplotype(make_backend, batches):
    """Haplotypes with halves longer than COLUMNS_OF_SUM: the same bits in any company."""
    backend, rng = make_backend(), np.random.default_rng(2)
    base = batches.noise(rng, 3 * work.COLUMNS_OF_SUM)
    changed = [np.where(np.arange(len(base)) == at, (base + 1) % 4, base).astype(np.uint8) for at in (100, 300, 500)]
    read = batches.read(rng, batches.copied(rng, base, 40), 10)
    given = PairBatch.from_groups([cases.Group([read], [base, *changed])])
    together = batches.forward(backend, given)
    assert (together.precision == FLOAT32).all()
    batches.check(together, given)
    for k, haplotype in enumerate([base, *changed]):
        alone = batches.forward(backend, PairBatch.from_groups([cases.Group([read], [haplotype])])).log10
        assert batches.same(alone, together.log10[k : k + 1].copy())


def test_columns_of_an_iteration_change_no_bit(make_backend, batches, monkeypatch):
    """GPUs take more at once where events are far from each other."""
    rng = np.random.default_rng(4)
    base = batches.noise(rng, 90)
    haplotypes = [base, base[:61], np.concatenate([base[:17], base[20:]]), batches.noise(rng, 33)]
    reads = [batches.read(rng, batches.copied(rng, base, length), 10) for length in (5, 12, 40)]
    given = PairBatch.from_groups([cases.Group(reads, haplotypes)])
    few = batches.forward(make_backend(), given).log10
    monkeypatch.setattr(backend_module, "SOFTWARE_PART", kernels.LONG_TREE_PART)
    assert batches.same(batches.forward(make_backend(), given).log10, few)


def test_letters_of_base_calls_that_are_no_best_ones(make_backend, batches):
    """Reads and haplotypes with N, and bases of quality 0, which mismatch rather than match."""
    backend, rng = make_backend(), np.random.default_rng(3)
    haplotypes = [batches.noise(rng, 60, letters=5) for _ in range(3)]
    kinds = [(4, (0, 4)), (5, (1, 4))]  # no haplotype is possible for an N of quality 0
    reads = [
        batches.read(rng, batches.noise(rng, length, letters), base=base)
        for length in (1, 12, 13, 40)
        for letters, base in kinds
    ]
    given = PairBatch.from_groups([cases.Group(reads, haplotypes)])
    scores = batches.forward(backend, given)
    assert (scores.precision == FLOAT32).all()
    batches.check(scores, given)


def test_reads_with_more_rows_than_lanes_with_exponents_have(make_backend, batches):
    """The CPU scores what the rescue's lanes would: reads of up to 1,024 bases that match nothing."""
    backend, rng = make_backend(), np.random.default_rng(7)
    base = batches.noise(rng, 1100)
    changed = np.where(np.arange(len(base)) == 600, (base + 1) % 4, base).astype(np.uint8)
    reads = [batches.read(rng, batches.copied(rng, base, length, 0.005)) for length in (640, 641, 1000, 1024)]
    reads.append(batches.read(rng, batches.noise(rng, 1024), base=(35, 36)))
    given = PairBatch.from_groups([cases.Group(reads, [base, changed])])
    scores = batches.forward(backend, given)
    assert (scores.precision == FLOAT32).tolist() == [True] * 8 + [False] * 2
    batches.check(device_pool.score(given, backend, 1), given)
