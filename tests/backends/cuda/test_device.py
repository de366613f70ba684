"""The cuda backend on a real GPU: real data, every shape, long pairs, budgets, several devices.

test_forward.py runs there, too; this is what takes too long in the emulator, or needs a device to go wrong on.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pairhmm import backends, engine
from pairhmm.engine.device_pool import DevicePool, score
from pairhmm.models import profile
from pairhmm.models.batch import FLOAT64, Group, PairBatch

pytestmark = pytest.mark.usefixtures("gpus")


@pytest.fixture(scope="module")
def device(gpus):
    return backends.load("cuda")


@pytest.fixture(scope="module")
def many(batches, gpus):
    """A few thousand pairs of all kinds, and their scores."""
    lengths = (*range(1, 320, 7), 333, 400, 500, 650, 1000)
    given = batches.batch(1, lengths, (30, 100, 150, 151, 300, 800), each=12, letters=5, gap=(8, 12))
    return given, engine.forward(given, backends.load("cuda"))


@pytest.mark.parametrize("name", ["10s.in", "1m.in"])
def test_real_groups(name, device, shared_data, batches):
    from pairhmm.forward.pair_texts import read_in

    given = PairBatch.from_groups(list(read_in(shared_data / name)))
    scores = score(given, device, 2)
    assert (scores.precision != FLOAT64).all()
    batches.check(scores, given)


def test_reference_likelihoods(shared_data, gpus):
    from pairhmm.forward.validate import validate

    found = validate(shared_data / "gatk-pairhmm-testdata.txt", backend="cuda", tolerance=1e-5)
    assert found.pairs == 104
    assert found.holds, found.worst[0]


@pytest.mark.parametrize("gap", [10, (5, 13)], ids=["constant gap", "varying gap"])
def test_every_length(gap, device, batches):
    """Each read length up to 700, so every shape, in groups whose haplotypes differ in length."""
    rng = np.random.default_rng(2)
    found = []
    for lengths in np.array_split(rng.permutation(700) + 1, 70):
        targets = [batches.noise(rng, int(n)) for n in rng.integers(1, 400, 2)]
        reads = [batches.copied(rng, targets[k % 2], int(m), 0.01) for k, m in enumerate(lengths)]
        found.append(Group([batches.read(rng, bases, gap) for bases in reads], targets))
    given = PairBatch.from_groups(found)
    batches.check(score(given, device, 2), given)


@pytest.mark.parametrize("model", ["gatk", *profile.PRESETS])
def test_long_pairs(model, device, batches):
    """Thousands of bases, a tenth of them wrong, and a chimera."""
    rng = np.random.default_rng(4)
    haplotype = batches.noise(rng, 4000)
    bases = batches.copied(rng, haplotype, 3900, 0.1)
    reads = [bases, np.concatenate([bases[2000:], bases[:1500]]), batches.noise(rng, 2500)]
    if model == "gatk":
        given = PairBatch.from_groups([Group([batches.read(rng, b, base=(8, 20)) for b in reads], [haplotype])])
    else:
        preset = profile.preset(model)
        rows = [preset.rows(profile.one_hot(b, np.full(len(b), 0.1))) for b in reads]
        given = batches.of_rows(rows, [haplotype], preset.start)
    scores = engine.forward(given, device)
    batches.check(scores, given)


def test_order_chunks_and_calls_at_once(many, device, batches):
    given, whole = many
    for cells in (10_000, 1_000_000, 10**9):
        again = engine.forward(given, device, chunk_cells=cells)
        assert batches.same(again.log10, whole.log10) and (again.precision == whole.precision).all()
    order = np.random.default_rng(5).permutation(given.groups)
    parts = [given.take_reads(*given.group_read[k : k + 2]) for k in order]
    with ThreadPoolExecutor(6) as pool:
        for k, scores in zip(order, pool.map(lambda part: score(part, device, 1), parts), strict=True):
            assert batches.same(scores.log10, whole.log10[given.group_pair[k] : given.group_pair[k + 1]])


def test_devices_share_a_batch(many, batches, gpus):
    """Devices of one kind give the same bits."""
    if len(gpus) < 2:
        pytest.skip("one GPU")
    given, whole = many
    devices = [backends.load("cuda", device) for device in range(len(gpus))]
    for backend in devices:
        assert batches.same(engine.forward(given, backend).log10, whole.log10)
    scores = DevicePool(devices).forward(given, chunk_cells=1_000_000)
    assert batches.same(scores.log10, whole.log10)
