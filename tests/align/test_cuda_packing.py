"""Letters as two and four bits, pairs in the order of tasks, and chunks of pairs."""

import numpy as np
import pytest

from pairhmm.align import cuda_packing
from pairhmm.align.base import SequencePairs, Sequences
from pairhmm.backends.tiles import team
from pairhmm.native import native

ROWS = [32, 64, 128]
SIZES = [32, 16, 8]
SHORTER, QUERY, TARGET = range(3)


def any_pairs(rng, count, longest=200, alphabet=4):
    def sequences():
        return Sequences.of([rng.integers(0, alphabet, rng.integers(0, longest), dtype=np.uint8) for _ in range(count)])

    order = rng.permutation(count).astype(np.int32)
    return SequencePairs(sequences(), sequences(), order, order[::-1].copy())


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 63, 64, 65, 1000, 300_000])
def test_letters_are_packed(count):
    codes = np.random.default_rng(count).integers(0, 5, count, dtype=np.uint8)
    words, unknown = np.full(-(-count // 16), 77, np.uint32), np.full(-(-count // 32), 77, np.uint32)
    has_n = native.pack_two_bits(team(), codes, words, unknown)
    at = np.arange(count)
    assert has_n == bool((codes == 4).any())
    assert np.array_equal(words[at // 16] >> (2 * (at % 16)).astype(np.uint32) & 3, codes & 3)
    if has_n:
        assert np.array_equal(unknown[at // 32] >> (at % 32).astype(np.uint32) & 1, codes == 4)
    fours = np.full(-(-count // 8), 77, np.uint32)
    native.pack_four_bits(team(), codes, fours)
    assert np.array_equal(fours[at // 8] >> (4 * (at % 8)).astype(np.uint32) & 15, codes)


def tasks_of(pairs, unknown=None, rows_are=QUERY, fits=(1, 0, 1000)):
    sides = cuda_packing.sides(pairs, whole=True)
    return native.PairTasks(team(), *(side.given for side in sides), unknown, ROWS, SIZES, rows_are, fits)


@pytest.mark.parametrize("rows_are", [SHORTER, QUERY, TARGET])
@pytest.mark.parametrize("count", [1, 40, 9000])
def test_each_pair_is_in_one_task(rows_are, count):
    pairs = any_pairs(np.random.default_rng(count), count)
    tasks = tasks_of(pairs, rows_are=rows_are)
    words, index = np.zeros((tasks.slots, 4), np.uint32), np.zeros(tasks.slots, np.uint32)
    tasks.write(team(), words.reshape(-1), index)
    queries, targets = pairs.queries.lengths[pairs.query_index], pairs.targets.lengths[pairs.target_index]
    left = tasks.left()
    assert np.array_equal(left, np.flatnonzero((queries == 0) | (targets == 0)))
    is_pair = index != 0xFFFFFFFF
    assert np.array_equal(np.sort(np.concatenate([index[is_pair], left])), np.arange(count))
    rows = {SHORTER: np.minimum(queries, targets), QUERY: queries, TARGET: targets}[rows_are]
    columns = queries + targets - rows
    assert np.array_equal(words[is_pair][:, [1, 3]], np.stack([rows, columns], axis=1)[index[is_pair]])
    for number, (low, high) in enumerate(zip([0, *ROWS[:-1]], [*ROWS[:-1], 1000], strict=True)):
        first, end = tasks.first_slot[number : number + 2]
        assert ((words[first:end, 1] > low) & (words[first:end, 1] <= high)).all()
        assert end - first == SIZES[number] * (tasks.first_task[number + 1] - tasks.first_task[number])
        assert tasks.longest_columns[number] == words[first:end, 3].max(initial=0)
        # The warp's pairs are alike: within a task no pair is followed by one with more columns.
        columns_of_tasks = words[first:end, 3].reshape(-1, SIZES[number]).astype(np.int64)
        assert (np.diff(columns_of_tasks, axis=1) <= 0).all()


def test_pairs_with_n_and_scores_that_do_not_fit_are_left():
    rng = np.random.default_rng(1)
    pairs = any_pairs(rng, 300, alphabet=5)
    pairs.queries.codes[rng.random(len(pairs.queries.codes)) < 0.99] &= 3
    pairs.targets.codes[:] &= 3
    queries, targets = cuda_packing.sides(pairs, whole=True)
    unknown = np.zeros(targets.end_letter // 32, np.uint32)
    words = np.zeros(targets.end_letter // 16, np.uint32)
    assert native.pack_two_bits(team(), queries.codes, words, unknown)
    expected = []
    for index, (query, target) in enumerate(zip(pairs.query_index, pairs.target_index, strict=True)):
        one, other = pairs.queries[query], pairs.targets[target]
        shorter = min(len(one), len(other))
        if shorter == 0 or (one == 4).any() or 3 * shorter + 2 * len(one) > 500:
            expected.append(index)
    assert tasks_of(pairs, unknown, fits=(3, 2, 500)).left().tolist() == expected


def test_some_pairs_are_taken_out():
    rng = np.random.default_rng(2)
    pairs = any_pairs(rng, 50)
    index = rng.choice(50, 9, replace=False).astype(np.int32)
    some = cuda_packing.subset_of(pairs, index)
    assert len(some.queries) == 9
    for number, each in enumerate(index):
        assert np.array_equal(some.queries[some.query_index[number]], pairs.queries[pairs.query_index[each]])
        assert np.array_equal(some.targets[some.target_index[number]], pairs.targets[pairs.target_index[each]])


def test_chunks_are_all_pairs(monkeypatch):
    pairs = any_pairs(np.random.default_rng(3), 100)
    monkeypatch.setattr(cuda_packing, "CHUNK_PAIRS", 7)
    for bounds in (cuda_packing.bounds_by_letters(pairs), cuda_packing.bounds_by_cells(pairs, 50_000)):
        assert [begin for begin, _ in bounds] == [0, *(end for _, end in bounds[:-1])]
        assert bounds[-1][1] == 100 and max(end - begin for begin, end in bounds) <= 8


class Host:
    """The buffers of a slot, full of ones; copies go nowhere."""

    stream = None

    def pinned(self, name, size):
        return np.full(size, 255, np.uint8)

    def device(self, name, size):
        return self

    def __add__(self, offset):
        return self

    ptr = 0

    def copy_from_host_async(self, *_):
        pass


@pytest.mark.parametrize("with_n", ["neither", "queries", "targets"])
def test_a_side_without_n_has_no_bits_of_n(with_n):
    pairs = any_pairs(np.random.default_rng(7), 20)
    if with_n != "neither":
        getattr(pairs, with_n).codes[5] = 4
    both = cuda_packing.sides(pairs, whole=True)
    unknown = cuda_packing.send(Host(), both, two_bits=True).unknown
    if with_n == "neither":
        assert unknown is None
        return
    at = (both[0] if with_n == "queries" else both[1]).letter + 5
    bits = np.unpackbits(unknown.view(np.uint8), bitorder="little")
    marked = [side.letter + np.flatnonzero(bits[side.letter :][: len(side.codes)]) for side in both]
    assert np.concatenate(marked).tolist() == [at]
