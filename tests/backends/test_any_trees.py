"""Haplotypes that share columns: every shape of tree, every model, and the same bits in any company.

Ten thousand such groups: `python tests/backends/any_trees.py --backend NAME`.
"""

import numpy as np
import pytest

from pairhmm import backends, engine
from pairhmm.backends import cpu
from pairhmm.models.batch import FLOAT32, Group, PairBatch, Read
from tests.conftest import load_helper

LEVELS = [name for name, runs in cpu.instruction_sets() if runs]


any_trees = load_helper("backends/any_trees")


@pytest.fixture(params=LEVELS)
def level(request, monkeypatch):
    monkeypatch.setenv(cpu.ISA_VARIABLE, request.param)
    return backends.load("cpu")


def perfect_read(letters, gap=10):
    qualities = (np.full(len(letters), quality, dtype=np.uint8) for quality in (35, 45, 45, gap))
    return Read(letters, *qualities)


@pytest.mark.parametrize("model", any_trees.MODELS)
@pytest.mark.parametrize("shape", any_trees.SHAPES)
def test_trees_of_every_shape(shape, model, level, any_pairs):
    rng = np.random.default_rng([any_trees.SHAPES.index(shape), any_trees.MODELS.index(model)])
    for seed in range(3):
        haplotypes = any_trees.haplotypes_of(shape, rng, int(rng.integers(1, 120)), int(rng.integers(1, 9)))
        reads = any_trees.random_group(rng, 120)[0].reads
        batch = any_trees.batch_of(Group(reads, haplotypes), model, seed)
        any_pairs.check(level, batch, [(shape, model, seed)] * batch.pairs)
        assert any_trees.depends_on_company(level, batch, rng) == 0


def test_more_haplotypes_than_one_tree_holds(level, any_pairs):
    """Trees of 256 haplotypes at most: the bits do not depend on which share one."""
    rng = np.random.default_rng(3)
    root = rng.integers(0, 4, 40).astype(np.uint8)
    haplotypes = [any_trees._substituted(root, rng.integers(0, 40, 6)) for _ in range(600)]
    batch = PairBatch.from_groups([Group([perfect_read(root[5:30])], haplotypes)])
    any_pairs.check(level, batch, list(range(batch.pairs)))
    assert any_trees.depends_on_company(level, batch, rng) == 0


@pytest.mark.parametrize("length", [1, 2, 3, 8, 9, 17])
@pytest.mark.parametrize("read", [1, 2, 3, 4, 5, 13])
def test_short_haplotypes_and_reads(read, length, level, any_pairs):
    """Halves without columns, and reads that are longer than their haplotype."""
    letters = np.arange(length, dtype=np.uint8) % 4
    batch = PairBatch.from_groups([Group([perfect_read(np.resize(letters, read))], [letters])])
    any_pairs.check(level, batch, [(read, length)])


@pytest.mark.parametrize("model", ["gatk", "gatk, varying gaps", "normalised", "published", "any rows"])
@pytest.mark.parametrize(("unit", "read"), [(1, 150), (2, 150), (10_000, 1)])
def test_a_read_that_fits_at_many_places_of_a_wide_haplotype(unit, read, model, level, any_pairs):
    """The sum over the last row has thousands of terms. Their rounding errors must not add up."""
    haplotype = np.resize(np.random.default_rng(unit).permutation(np.arange(unit) % 4), 10_000).astype(np.uint8)
    batch = any_trees.batch_of(Group([perfect_read(haplotype[:read])], [haplotype, haplotype[:-1]]), model, 1)
    any_pairs.check(level, batch, [0, 1])
    assert any_trees.depends_on_company(level, batch, np.random.default_rng(1)) == 0


def test_a_low_half_beside_a_likely_one(level, any_pairs):
    """Each half holds what float32 holds: a read that matches in one half alone is scored without the rescue."""
    rng = np.random.default_rng(11)
    haplotype = rng.integers(0, 4, 200).astype(np.uint8)
    reads = []
    for wrong in (slice(0, 8), slice(92, 100), slice(46, 54)):
        bases = haplotype[50:150].copy()
        bases[wrong] = (bases[wrong] + 1) % 4
        reads.append(perfect_read(bases))
    batch = PairBatch.from_groups([Group(reads, [haplotype])])
    any_pairs.check(level, batch, [0, 1, 2])
    assert (engine.forward(batch, level).precision == FLOAT32).all()


@pytest.mark.parametrize(
    "given", [{"threads": 2}, {"threads": 3}, {"chunk_cells": 1}, {"chunk_cells": 90_000}], ids=str
)
def test_scores_do_not_depend_on_threads_or_chunks(given, level):
    rng = np.random.default_rng(5)
    groups = [any_trees.random_group(rng, 150)[0] for _ in range(30)]
    batch = PairBatch.from_groups(groups)
    alone = engine.forward(batch, level, threads=1).log10
    assert (engine.forward(batch, level, **given).log10 == alone).all()
    for number, group in enumerate(groups):
        scores = engine.forward(PairBatch.from_groups([group]), level).log10
        assert (scores == alone[slice(*batch.group_pair[number : number + 2])]).all()


def cells_of(reads, haplotypes):
    batch = PairBatch.from_groups([Group(reads, haplotypes)])
    return backends.load("cpu").computed_cells(batch), batch.cells


def test_cells_that_are_computed():
    """Columns of both trees, and the middle letter of each different haplotype."""
    read = perfect_read(np.zeros(10, dtype=np.uint8))
    first, other = (np.array(letters, dtype=np.uint8) for letters in ([0, 1, 2, 3, 0, 1, 2], [0, 1, 3, 3, 0, 2, 2]))
    assert cells_of([read], [first]) == (70, 70)
    assert cells_of([read], [first, first]) == (70, 140)
    # 0 1 and its two ends on the left; 2, and 1 0 and 2 0 before it, on the right; two middle letters.
    assert cells_of([read], [first, other]) == (10 * (4 + 5 + 2), 140)
    long_read = perfect_read(np.zeros(501, dtype=np.uint8))
    assert cells_of([long_read], [first, first]) == (2 * 7 * 501, 2 * 7 * 501)
