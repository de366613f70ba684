"""Trees of haplotypes on the cuda backend: how their streams are packed, and scores against the oracle."""

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.backends import tiles
from pairhmm.backends.cuda import layout
from pairhmm.engine import device_pool
from pairhmm.models.batch import FLOAT32, Group, PairBatch
from pairhmm.native import native
from pairhmm.sequences.arrays import offsets
from tests.conftest import load_helper

cases = load_helper("backends/tree_cases")
groups_of, reads_for = cases.groups_of, cases.reads_for
globals().update({name: getattr(cases, name) for name in cases.CASES})


@pytest.fixture(scope="module")
def tree_layout():
    return layout


@pytest.fixture(scope="module")
def tall_in_trees():
    return True


@pytest.fixture(scope="module")
def of_tolerance():
    return 0.1


def streams_of(groups, most=64, threads=1, lead=0, tail=0):
    joined = [haplotype for group in groups for haplotype in group]
    letters = np.concatenate(joined) if joined else np.zeros(0, np.uint8)
    sizes = offsets(list(map(len, groups))), offsets(list(map(len, joined)))
    return native.TreeStreams(*sizes, letters, most, native.ThreadPool(threads - 1), lead=lead, tail=tail)


def test_equal_neighbours_share_trees():
    _, groups = groups_of(5, 3)
    made = streams_of([groups[0], *([groups[1]] * 3), groups[2], groups[1]])
    numbers = made.of_group.view("<u4").reshape(-1, 2)[:, 0].tolist()
    assert numbers == [0, 1, 1, 1, 2, 3]


class Host:
    """A `Staging` that sends nothing."""

    packer = native.Packer(native.ThreadPool(3))

    def begin(self, size, behind):
        self.buffer = np.zeros(size, np.uint8)
        return self.buffer, self.buffer[behind:]

    def send(self, first, end):
        self.sent = end


def test_long_items_come_first(batches):
    """Within a launch, and the launches themselves; trees lie behind the items."""
    rng, groups = groups_of(14, 60)
    given = PairBatch.from_groups([Group(reads_for(rng, group, batches, 10), group) for group in groups])
    host = Host()
    packed = layout.pack(given, np.zeros(given.reads, bool), 2048, host)
    header = host.buffer[: layout.HEADER.itemsize].view(layout.HEADER)[0]
    order, group = (host.buffer[header[name] :][: 4 * given.reads].view("<u4") for name in ("order", "read_group"))
    for tier in packed.tiers:
        items = host.buffer[packed.items + 8 * tier.first_item :][: 8 * tier.items].view("<u4").reshape(-1, 2)
        columns = packed.trees.columns[group[order[items[:, 0]]]].astype(int)
        assert columns[0] == tier.longest and (np.diff(columns) <= 0).all()
    longest = [tier.longest * (tier.shape.rows + layout.STEP_COST) for tier in packed.tiers]
    assert longest == sorted(longest, reverse=True)
    assert packed.trees.streams + len(streams_of(groups, 64).streams) <= host.sent <= len(host.buffer)


STRIPS = [(900, (30, 641, 700)), pytest.param(2400, (1290, 2048), marks=pytest.mark.nightly)]


@pytest.mark.parametrize("gap", [10, (8, 13)], ids=["constant gap", "varying gap"])
@pytest.mark.parametrize(("length", "lengths"), STRIPS)
def test_reads_of_several_strips(length, lengths, gap, backend, batches, monkeypatch):
    """Beside short reads, in any company, whatever shares their trees."""
    rng = np.random.default_rng(21)
    group = cases.any_trees.haplotypes_of("mutated", rng, length, 5)
    copies = [batches.copied(rng, group[1], m, 0.002) for m in lengths]
    reads = [batches.read(rng, bases, gap, base=(20, 42)) for bases in copies]
    given = PairBatch.from_groups([Group(reads, group)])
    monkeypatch.setattr(layout, "ITEMS_AT_ONCE", 1)
    scores = batches.forward(backend, given)
    batches.check(scores, given)
    assert (scores.precision == FLOAT32).all()
    monkeypatch.undo()
    assert batches.same(batches.forward(backend, given).log10, scores.log10)
    log10 = scores.log10.reshape(len(reads), -1)
    for k in (0, len(group) - 1):
        alone = PairBatch.from_groups([Group(reads[-1:], [group[k]])])
        assert batches.same(batches.forward(backend, alone).log10, log10[-1:, k].copy())


def test_haplotypes_shorter_than_the_lanes_of_all_strips(backend, batches):
    """Nearly all of the read is inserted. Its sum is below float32's range."""
    rng = np.random.default_rng(22)
    group = cases.any_trees.haplotypes_of("mutated", rng, 40, 3)
    given = PairBatch.from_groups([Group([batches.read(rng, batches.noise(rng, 700), 1)], group)])
    batches.check(device_pool.score(given, backend, 1), given)


@pytest.mark.parametrize(("lead", "tail", "most"), [(0, 0, 64), (31, 31, 64), (63, 63, 1), (127, 127, 2)])
@pytest.mark.parametrize("length", [1, 2, 9])
@pytest.mark.parametrize("count", [1, 65, 300])
def test_the_room_for_trees_is_enough(count, length, lead, tail, most):
    """Trees of many branches."""
    rng = np.random.default_rng(count)
    groups = [list(rng.integers(0, 4, (count, length)).astype(np.uint8)) for _ in range(33)]
    made = streams_of(groups, most, threads=4, lead=lead, tail=tail)
    size = sum(-(-len(getattr(made, name)) // 16) * 16 for name in tiles.TREE_ARRAYS)
    assert size <= tiles._most_tree_bytes(PairBatch.from_groups([Group([], group) for group in groups]), lead, tail)


def test_rows_that_do_not_fit_are_made_in_parts(make_backend, batches, caplog):
    """What tree_rows.cu makes is within a call's memory, too: a smaller budget halves the chunk."""
    haplotypes = [batches.noise(np.random.default_rng(k), 30) for k in range(2)]
    reads = [batches.read(np.random.default_rng(15), haplotypes[0].copy()) for _ in range(8)]
    given = PairBatch.from_groups([Group(reads, haplotypes)] * 200)
    roomy = make_backend()
    whole = engine.forward(given, roomy)
    sizes = {name: held.size for name, held in roomy._slots.queue[-1]._device._held.items()}
    a_call = sum(sizes.values()) - sizes["scratch"] - sizes["made"] // 4
    scores = engine.forward(given, make_backend(memory=roomy.concurrency * a_call))
    assert "out of memory; chunks of" in caplog.text
    assert batches.same(scores.log10, whole.log10)


def test_tables_of_shapes():
    """Reads that one strip holds are never tall. A tree takes one of four kernels."""
    for in_trees in (False, True):
        table = layout.shapes(2048, in_trees)
        taken = [table.known[k] for k in table.of_length]
        assert all(shape.tall == (length > 640) for length, shape in enumerate(taken))
        assert all(shape.tall or shape.lanes * shape.rows >= length for length, shape in enumerate(taken))
    assert {shape.rows for shape in taken if not shape.tall} == {13, 16, 19, 20}
