"""Trees of haplotypes on the webgpu backend: the cases of every backend, with shuffles and with workgroup memory."""

import numpy as np
import pytest

from pairhmm.backends.tiles import SentTrees, TreeSizes
from pairhmm.backends.webgpu import backend as backend_module
from pairhmm.backends.webgpu import kernels, layout, work
from pairhmm.backends.webgpu.work import EVENT_FLAGS, NODE
from pairhmm.models.batch import FLOAT32, PairBatch
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from tests.conftest import load_helper

cases = load_helper("backends/tree_cases")
globals().update({name: getattr(cases, name) for name in cases.CASES})


@pytest.fixture(scope="module", name="tree_layout")
def layout_of_trees():
    return layout


@pytest.fixture(scope="module")
def of_tolerance():
    """Sums of columns are not compensated."""
    return 0.5


def test_sums_end_at_depths():
    """The nodes that end a sum are those at a multiple of a depth, on every path."""
    rng = np.random.default_rng(1)
    base = rng.integers(0, 4, 70).astype(np.uint8)
    haplotypes = [base, base[:61], np.concatenate([base[:17], base[20:]])]
    made = native.TreeStreams(
        offsets([len(haplotypes)]),
        offsets(list(map(len, haplotypes))),
        np.concatenate(haplotypes),
        64,
        native.ThreadPool(0),
        8,
    )
    tree = made.trees.view("<u4")
    for first, nodes, first_event in zip(tree[:2], tree[2:4], tree[4:6], strict=True):
        stream = made.streams[first : first + nodes]
        with_flag = np.flatnonzero(stream > NODE["LETTER"])
        events = made.events.view("<u4")[first_event : first_event + len(with_flag)]
        assert (events // EVENT_FLAGS).tolist() == with_flag.tolist()
        looked_at = (stream[with_flag] & (NODE["SAVE"] | NODE["SUM"])) > 0
        assert ((events % EVENT_FLAGS * NODE["RESTORE"] & NODE["SAVE"]) > 0).tolist() == looked_at.tolist()
        depth, branches, found = -1, [], []
        for byte in stream.tolist():
            if byte & NODE["RESTORE"]:
                depth = branches[-1]
                if byte & NODE["POP"]:
                    branches.pop()
            depth += 1
            found.append((bool(byte & NODE["SUM"]), depth > 0 and depth % 8 == 0))
            if byte & NODE["SAVE"]:
                branches.append(depth)
        assert all(flag == wanted for flag, wanted in found) and any(flag for flag, _ in found)


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


@pytest.mark.parametrize(("columns", "is_long"), [(1, False), (100, True)])
def test_trees_of_few_events(columns, is_long):
    """Columns between events decide how many are taken at once."""
    trees = SentTrees(0, 0, 0, 8, 8 + 4 * 10, 100, TreeSizes(1, 1, 1, 1), np.full(10, columns, dtype=np.uint32))
    assert work.has_long_runs(trees) == is_long


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
