"""Trees of haplotypes, for the tests of every GPU backend: groups of all shapes, and cases against the oracle.

The cases need the fixtures `batches`, `make_backend`, `backend`, `tree_layout` (the backend's module that has
HAPLOTYPES_OF_TREES), `tall_in_trees` (whether it has trees for tall reads) and `of_tolerance` (how much of the
tolerance a sum of ten thousand columns may take).
"""

import dataclasses

import numpy as np
import pytest

from pairhmm.backends import tiles
from pairhmm.engine import device_pool
from pairhmm.models import profile
from pairhmm.models.batch import FLOAT32, Group, PairBatch
from tests.conftest import load_helper

CASES = (
    "test_trees_of_every_shape",
    "test_trees_of_profiles",
    "test_same_bits_in_any_company",
    "test_rounding_of_many_columns_does_not_add_up",
    "test_reads_that_must_begin_at_the_start_take_whole_haplotypes",
    "test_computed_cells",
    "test_memory_for_one_warp",
)

any_trees = load_helper("backends/any_trees")
SHAPES = tuple(shape for shape in any_trees.SHAPES if shape != "wide")


def groups_of(seed, count=16):
    rng = np.random.default_rng(seed)
    lengths, counts = rng.choice([2, 30, 130], count), rng.integers(1, 8, count)
    sizes = zip(lengths.tolist(), counts.tolist(), strict=True)
    return rng, [any_trees.haplotypes_of(SHAPES[k % len(SHAPES)], rng, *size) for k, size in enumerate(sizes)]


def reads_for(rng, group, batches, gap):
    lengths = rng.choice([1, 5, 9, 30, 77, 150], 3)
    return [
        batches.read(rng, batches.copied(rng, group[int(rng.integers(len(group)))], int(m)), gap, base=(6, 42))
        for m in lengths
    ]


@pytest.mark.parametrize("gap", [10, (5, 13)], ids=["constant gap", "varying gap"])
@pytest.mark.parametrize("seed", range(3))
def test_trees_of_every_shape(seed, gap, backend, batches):
    rng, groups = groups_of(seed)
    given = PairBatch.from_groups([Group(reads_for(rng, group, batches, gap), group) for group in groups])
    batches.check(batches.forward(backend, given), given)


@pytest.mark.parametrize("name", ["normalised", pytest.param("published", marks=pytest.mark.nightly)])
def test_trees_of_profiles(name, backend, batches):
    model = profile.preset(name)
    start = profile.STARTS["anywhere"]
    for seed in range(3):
        rng, (*_, group) = groups_of(seed, 4 + seed)
        rows = [model.rows(rng.dirichlet(np.full(4, 0.2), m)) for m in (1, 9, 77, 150)]
        given = batches.of_rows(rows, group, start)
        assert (batches.forward(backend, given).precision == FLOAT32).any()
        batches.check(device_pool.score(given, backend, 1), given)


def test_same_bits_in_any_company(make_backend, batches, monkeypatch, tree_layout):
    """A haplotype alone, in its group, in a shuffled group, in a larger one, in more than one pair of trees."""
    rng, groups = groups_of(11)
    backend = make_backend()
    for group in groups[3:8]:
        reads = reads_for(rng, group, batches, 10)

        def scores(haplotypes, reads=reads):
            given = PairBatch.from_groups([Group(reads, haplotypes)])
            return batches.forward(backend, given).log10.reshape(len(reads), -1)

        together = scores(group)
        for k, haplotype in enumerate(group):
            assert batches.same(scores([haplotype])[:, 0].copy(), together[:, k].copy())
        order = rng.permutation(len(group))
        assert batches.same(scores([group[k] for k in order]), together[:, order].copy())
        larger = scores([*any_trees.haplotypes_of("mutated", rng, 50, 5), *group, *group])
        assert batches.same(larger[:, -len(group) :].copy(), together)
        monkeypatch.setattr(tree_layout, "HAPLOTYPES_OF_TREES", 2)
        assert batches.same(scores(group), together)
        monkeypatch.undo()


@pytest.mark.parametrize("unit", [1, 5])
def test_rounding_of_many_columns_does_not_add_up(unit, backend, batches, of_tolerance):
    """Ten thousand columns of a repeat, each of which adds nearly the same."""
    haplotype = np.resize(np.array([0, 2, 1, 3, 1], np.uint8)[:unit], 10_000)
    given = batches.pair(haplotype[:150].copy(), haplotype, 30)
    scores = batches.forward(backend, given)
    assert scores.precision[0] == FLOAT32
    assert batches.excess(scores, given)[0] < of_tolerance


def test_reads_that_must_begin_at_the_start_take_whole_haplotypes(backend, batches):
    given = batches.batch(31, (9, 77), each=2)
    elsewhere = dataclasses.replace(given, start=profile.STARTS["match"])
    assert tiles.takes_trees(given.start) and not tiles.takes_trees(elsewhere.start)
    batches.check(batches.forward(backend, elsewhere), elsewhere)


def test_computed_cells(backend, batches, tall_in_trees):
    """Columns of trees, two of them roots, times rows; whole matrices for other starts, and for some tall reads."""
    rng = np.random.default_rng(1)
    base = batches.noise(rng, 100)
    changed = np.where(np.arange(100) == 50, (base + 1) % 4, base).astype(np.uint8)
    given = PairBatch.from_groups(
        [Group([batches.read(rng, batches.noise(rng, m)) for m in (9, 1200)], [base, changed])]
    )
    columns = 1 + 50 + 1 + 51
    assert backend.computed_cells(given) == 9 * columns + 1200 * (columns if tall_in_trees else 200)
    elsewhere = dataclasses.replace(given, start=profile.STARTS["match"])
    assert backend.computed_cells(elsewhere) == given.cells == 1209 * 200


def test_memory_for_one_warp(make_backend, batches):
    """Scratch memory of fewer warps than the device holds: the same bits."""
    rng, groups = groups_of(13, 40)
    given = PairBatch.from_groups([Group(reads_for(rng, group, batches, 10), group) for group in groups])
    whole = batches.forward(make_backend(), given)
    tight = make_backend(memory=8_000_000)
    assert batches.same(batches.forward(tight, given).log10, whole.log10)
