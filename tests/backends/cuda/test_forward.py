"""The cuda backend against the oracle: emulated everywhere, and the same tests on the GPU where there is one.

In the emulator the kernels are the real ones, compiled by g++, and so is the Python that packs and launches them; only
CuPy is replaced (emulated_cupy.py). Shapes that these batches do not reach are compiled in test_compile.py.
"""

import dataclasses

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.backends import tiles
from pairhmm.backends.cuda import layout
from pairhmm.backends.cuda.slot import ForwardSlot
from pairhmm.bench.lengths import make_groups
from pairhmm.engine import device_pool
from pairhmm.engine.device_pool import DevicePool
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.models import gatk, profile
from pairhmm.models.batch import FLOAT32, FLOAT64, SCALED_FLOAT32, Group, PairBatch, Read
from pairhmm.sequences.letters import codes_of

# Each has kernels of its own, which take long to compile.
PRESETS = ["normalised", pytest.param("published", marks=pytest.mark.nightly)]
# What varies stays within the range of forward_scaled (kMostFall of strips.cuh); test_gap_qualities goes beyond.
GAPS = [pytest.param(10, id="constant gap"), pytest.param((5, 13), id="varying gap")]


@pytest.mark.parametrize("gap", GAPS)
def test_all_lane_counts(gap, backend, batches):
    """Reads of every number of lanes and tall ones, haplotypes of different lengths in a warp, N in both.

    Each length is a kernel to compile: where the gap varies there are some.
    """
    lengths = batches.LENGTHS + batches.TALL if gap == 10 else (9, 40, 150, 500, 700)
    given = batches.batch(1, lengths, letters=5, gap=gap)
    scores = batches.forward(backend, given)
    expected = batches.oracle(given)
    held = ~np.isnan(scores.log10)
    short = np.diff(given.read_offset)[given.pair_indices(np.arange(given.pairs))[0]] <= 640
    assert held[short].all() and (expected[~held] < -55).all()
    batches.check(dataclasses.replace(scores, log10=np.where(held, scores.log10, expected)), given, expected)
    assert set(np.unique(scores.precision[held])) == {FLOAT32, SCALED_FLOAT32}


@pytest.mark.parametrize("gap", GAPS)
def test_quality_bytes_are_rows(gap, backend, batches):
    """The same reads given as rows of doubles."""
    given = batches.batch(2, (9, 150, 500), gap=gap)
    as_rows = dataclasses.replace(given, qualities=None, rows=gatk.rows(given.qualities))
    scores = batches.forward(backend, as_rows)
    batches.check(scores, as_rows)
    assert np.abs(scores.log10 - batches.forward(backend, given).log10).max() <= batches.ABSOLUTE


def check_held(scores, given, backend, batches):
    """All scores are right; WGSL, which has no float64, may leave long reads to the CPU, where nothing is deleted."""
    expected, held = batches.oracle(given), ~np.isnan(scores.log10)
    batches.check(dataclasses.replace(scores, log10=np.where(held, scores.log10, expected)), given, expected)
    is_short = np.diff(given.read_offset)[given.pair_indices(np.arange(given.pairs))[0]] <= 300
    assert held[is_short].all() if backend.name == "webgpu" else held.all()


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("start", profile.STARTS)
def test_profiles(name, start, backend, batches):
    rng = np.random.default_rng(3)
    model = profile.preset(name)
    rows = [model.rows(rng.dirichlet(np.full(4, 0.2), m)) for m in (1, 9, 150, 150, 700)]
    targets = [batches.noise(rng, n, 5) for n in (1, 40, 200, 333)]
    given = batches.of_rows(rows, targets, profile.STARTS[start])
    check_held(device_pool.score(given, backend, 1), given, backend, batches)


def with_repeats(given):
    """The batch of a profile model whose gaps grow likelier with the copies of a tandem repeat."""
    rates = np.array([np.geomspace(1e-5, 0.1, 20), np.geomspace(1e-4, 0.2, 20)])
    model = dataclasses.replace(profile.preset("normalised"), by_copies=rates)
    return dataclasses.replace(given, profiles=model.with_repeats(given.profiles, given.read_offset))


def test_profiles_with_repeats(backend, batches):
    """Kernels of kinds have a transition a kind. Where each base has its own probabilities, reads become rows."""
    rng = np.random.default_rng(17)
    haplotypes = [batches.noise(rng, n) for n in (40, 333)]
    haplotypes[1][100:112] = 2
    calls = [batches.called(rng, batches.copied(rng, haplotypes[1], m)) for m in (1, 9, 150, 300)]
    for given in map(with_repeats, batches.of_calls(calls, haplotypes, profile.preset("normalised"))):
        check_held(device_pool.score(given, backend, 1), given, backend, batches)
        expected = dataclasses.replace(given, profiles=None, rows=profile.rows(given.profiles))
        for score in (batches.forward, lambda one, batch: one.forward_pairs(batch, np.arange(batch.pairs), 1)):
            held = score(backend, expected).log10
            is_near = batches.same if given.profiles.kinds is None else batches.near
            assert is_near(np.nan_to_num(score(backend, given).log10), np.nan_to_num(held))


def test_insertions_that_a_kind_does_not_open(backend, batches):
    """MI of zero in some repeats: what is not opened there may be extended, which only the CPU scores."""
    rng = np.random.default_rng(18)
    haplotype = batches.noise(rng, 200)
    haplotype[60:66] = 1
    calls = [batches.called(rng, haplotype[a:b]) for a, b in ((0, 50), (20, 170))]
    given = with_repeats(batches.of_calls(calls, [haplotype], profile.preset("normalised"))[1])
    transitions = given.profiles.transitions.copy()
    transitions[transitions[:, 3] > 1e-5 * 1.01, 3] = 0
    given = dataclasses.replace(given, profiles=dataclasses.replace(given.profiles, transitions=transitions))
    assert (transitions[:, 3] == 0).any() and (transitions[:, 3] > 0).any()
    batches.check(engine.forward(given, backend), given)


def test_profiles_from_probabilities(backend, batches):
    """What crosses to the device is four probabilities a base, zeros of either sign among them; rows are made there."""
    rng = np.random.default_rng(13)
    model = profile.preset("published")
    probabilities = [rng.dirichlet(np.full(4, 0.2), m) for m in (1, 9, 150, 700)]
    probabilities.append(np.tile([1.0, -0.0, 0.0, -0.0], (30, 1)))
    targets = [batches.noise(rng, n, 5) for n in (1, 40, 333)]
    rows = batches.of_rows([model.rows(p) for p in probabilities], targets, model.start)
    given = dataclasses.replace(rows, rows=None, profiles=model.profiles(np.concatenate(probabilities)))
    check_held(device_pool.score(given, backend, 1), given, backend, batches)


@pytest.mark.parametrize("name", PRESETS)
def test_kinds_are_their_rows(name, backend, batches):
    """The number of a distinct row for each base, instead of probabilities: reads of all lanes, tall ones and long
    pairs, noise for the rescue, and a chunk whose kinds begin anywhere."""
    rng = np.random.default_rng(14)
    model = profile.preset(name)
    haplotypes = [batches.noise(rng, n, 5) for n in (1, 40, 333, 760)]
    reads = [batches.copied(rng, haplotypes[-1], m) for m in (1, 9, 150, 500, 700)]
    reads += [batches.noise(rng, 150, 5), np.full(9, 4, np.uint8)]
    full, kinds = batches.of_calls([batches.called(rng, bases) for bases in reads], haplotypes, model)
    for score in (device_pool.score, lambda given, backend, _: backend.forward_pairs(given, np.arange(given.pairs), 1)):
        expected, scores = score(full, backend, 1), score(kinds, backend, 1)
        check_held(scores, kinds, backend, batches)
        assert (np.isnan(scores.log10) == np.isnan(expected.log10)).all()
        held = ~np.isnan(scores.log10)
        assert batches.near(scores.log10[held], expected.log10[held])
    part, whole = kinds.take_reads(1, 4), batches.forward(backend, kinds).log10
    assert batches.same(batches.forward(backend, part).log10, whole[len(haplotypes) : 4 * len(haplotypes)])


def test_kinds_that_are_never_inserted_or_emitted(backend, batches):
    """A row with a zero in it is one of the kinds too. A read with a letter that nothing emits is the CPU's."""
    rng = np.random.default_rng(15)
    given = profile.preset("normalised")
    emissions, inserted = np.array(given.match), np.array([0.0, 0.25, 0.5, 0.25])
    model = dataclasses.replace(given, match=emissions, insertion=inserted)
    haplotype = batches.noise(rng, 200)
    reads = [haplotype[10:160], np.delete(haplotype[10:160], [40, 41]), np.insert(haplotype[10:160], 50, [1, 2])]
    calls = [(bases, np.zeros(len(bases))) for bases in reads]
    full, kinds = batches.of_calls(calls, [haplotype, haplotype[5:170]], model)
    for each in (full, kinds):
        batches.check(engine.forward(each, backend), each)
    emissions[0] = 0
    silent = batches.of_calls([*calls[:1], (haplotype[haplotype > 0][:30], np.zeros(30))], [haplotype], model)[1]
    scores = engine.forward(silent, backend).log10
    assert scores[0] == -np.inf
    assert abs(scores[1] - batches.oracle(silent)[1]) <= batches.ABSOLUTE


def test_kinds_send_two_bytes_a_base(backend, batches, monkeypatch):
    """Instead of four float64; also where the kinds have transitions of their own."""
    rng = np.random.default_rng(16)
    reads = [batches.called(rng, batches.noise(rng, 500)) for _ in range(30)]
    sizes = []
    parts = tiles.Plan.parts
    monkeypatch.setattr(tiles.Plan, "parts", lambda plan: (sizes.append(plan.size), parts(plan))[1])
    full, kinds = batches.of_calls(reads, [batches.noise(rng, 40)], profile.preset("normalised"))
    repeats = with_repeats(kinds)
    for given in (full, kinds, repeats):
        batches.forward(backend, given)
    for size, given in zip(sizes[1:], (kinds, repeats), strict=True):
        table = size - (sizes[0] - (32 - 2) * 500 * 30)
        assert 0 < table <= 96 * (len(given.profiles.probabilities) + 1)


def test_smallest(backend, batches):
    """Reads of one base, haplotypes of one letter, and reads longer than their haplotype."""
    rng = np.random.default_rng(4)
    sizes = (1, 2, 3, 9)
    found = [
        Group(
            [batches.read(rng, batches.noise(rng, m, 5)) for m in (1, *sizes)],
            [batches.noise(rng, n, 5) for n in (1, *sizes)],
        )
        for _ in range(10)
    ]
    given = PairBatch.from_groups(found)
    scores = batches.forward(backend, given)
    batches.check(scores, given)
    assert (scores.precision == FLOAT32).all()


def test_only_n(backend, batches):
    """N matches everything: in the read, in the haplotype, in both."""
    rng = np.random.default_rng(5)
    n = np.full(77, 4, np.uint8)
    reads = [batches.read(rng, bases) for bases in (n, n[:9], batches.noise(rng, 77))]
    given = PairBatch.from_groups([Group(reads, [n, n[:1], batches.noise(rng, 90)])])
    batches.check(batches.forward(backend, given), given)


@pytest.mark.parametrize("quality", [0, 1, 2, 3, 60, 93, 127])
def test_base_qualities(quality, backend, batches):
    """Below Phred 1.25 the letters that do not match are the likelier ones; high ones make any mismatch rare."""
    given = batches.batch(6, (9, 77, 150), each=4, base=(quality, quality + 1))
    batches.check(engine.forward(given, backend), given)


def test_all_base_qualities_at_once(backend, batches):
    given = batches.batch(7, (9, 77, 150), each=6, base=(0, 128), letters=4)
    batches.check(device_pool.score(given, backend, 1), given)


@pytest.mark.parametrize("indel", [(4, 8), (4, 128), (60, 128), (100, 128)], ids=str)
@pytest.mark.parametrize("gap", [(1, 128), (0, 2), (60, 62), (90, 92), 127], ids=str)
def test_gap_qualities(indel, gap, backend, batches):
    """The whole range. What float32 cannot hold has to be NaN, and what neither kernel can, too.

    A gap that is the same everywhere is compiled in: one stands for all.
    """
    given = batches.batch(8, (9, 150), each=6, indel=indel, gap=gap)
    expected = batches.oracle(given)
    scores = device_pool.score(given, backend, 1)
    held = ~np.isnan(scores.log10)
    batches.check(dataclasses.replace(scores, log10=np.where(held, scores.log10, expected)), given, expected)
    # What is not held: gaps that never end or are rarer than Phred 93, and insertions likelier than a base without one.
    assert held.all() or gap not in ((60, 62), (90, 92)) or indel[0] < 10


@pytest.mark.parametrize("length", [40, 100, 250, 500])
@pytest.mark.parametrize("quality", [25, 30, 37, 41])
def test_rounding_does_not_add_up(length, quality, backend, batches):
    """A perfect match with one quality everywhere: every rounding error has the same sign."""
    haplotype = batches.noise(np.random.default_rng(length), length + 80)
    given = batches.pair(haplotype[40 : 40 + length].copy(), haplotype, quality)
    scores = batches.forward(backend, given)
    batches.check(scores, given)
    assert scores.precision[0] == FLOAT32


@pytest.mark.parametrize("gap", GAPS)
def test_noise_needs_scaling(gap, backend, batches):
    """Scores far below what float32 without exponents holds, beside reads that match."""
    rng = np.random.default_rng(9)
    haplotypes = [batches.noise(rng, n) for n in (333, 300, 64)]
    bases = [
        batches.noise(rng, m) if k % 2 else haplotypes[k % 3][-m:].copy()
        for k, m in enumerate((150, 151, 250, 500) * 3)
    ]
    given = PairBatch.from_groups([Group([batches.read(rng, b, gap, base=(30, 42)) for b in bases], haplotypes)])
    scores, expected = batches.forward(backend, given), batches.oracle(given)
    batches.check(scores, given, expected)
    assert expected.min() < -250
    assert (scores.precision[expected < -80] == SCALED_FLOAT32).all()
    assert (scores.precision[expected > -30] == FLOAT32).all()


def test_a_chimera(backend, batches):
    """The second half matches where the best path is hundreds of orders of magnitude below the others."""
    rng = np.random.default_rng(10)
    haplotype = batches.noise(rng, 1100)
    for split, m in ((100, 250), (150, 500)):
        bases = np.concatenate([haplotype[800 : 800 + split], haplotype[: m - split]])
        given = batches.pair(bases, haplotype, 37, 45, 45, 10)
        scores = batches.forward(backend, given)
        batches.check(scores, given)
        assert scores.precision[0] == SCALED_FLOAT32
        batches.check(backend.forward_pairs(given, np.array([0]), 1), given)


def unfoldable(rng, batches):
    """Reads whose rows have no path without a gap (mm = 0) at one position, beside one that has."""
    haplotype = batches.noise(rng, 100)
    reads = []
    for at in (None, 0, 40, 76, None):
        insertion = np.full(77, 45, np.uint8)
        if at is not None:
            insertion[at] = 0
        values = (np.full(77, value, np.uint8) for value in (30, 45, 10))
        base, deletion, gap = values
        reads.append(Read(haplotype[10:87].copy(), base, insertion, deletion, gap))
    return PairBatch.from_groups([Group(reads, [haplotype, haplotype[:50]])])


def test_rows_that_cannot_be_folded(backend, batches):
    """NaN from both kernels, for the CPU to score; their neighbours in the warp are not disturbed."""
    given = unfoldable(np.random.default_rng(11), batches)
    pairs = np.arange(given.pairs)
    folds = np.isin(pairs // 2, (0, 4))
    for scores in (batches.forward(backend, given), backend.forward_pairs(given, pairs, 1)):
        assert np.isnan(scores.log10[~folds]).all()
        batches.check(dataclasses.replace(scores, log10=scores.log10[folds]), given, None, pairs[folds])
    alone = batches.forward(backend, given.take_reads(0, 1)).log10
    assert batches.same(batches.forward(backend, given).log10[:2], alone)
    batches.check(engine.forward(given, backend), given)


@pytest.mark.parametrize("zero", [None, *range(12)], ids=lambda zero: "none" if zero is None else f"column {zero}")
def test_any_rows(zero, backend, batches):
    """Any rows: right, or NaN for the CPU to score; and through the engine always right."""
    rng = np.random.default_rng(12)
    rows = [rng.random((m, 12)) for m in (1, 3, 9, 9, 77, 77)]
    if zero is not None:
        for values in rows:
            values[rng.random(len(values)) < 0.5, zero] = 0
    rows[-1][:, 11] = rows[-1][0, 11]
    given = batches.of_rows(rows, [batches.noise(rng, n, 5) for n in (1, 5, 33, 90)])
    expected = batches.oracle(given)
    for scores in (batches.forward(backend, given), backend.forward_pairs(given, np.arange(given.pairs), 1)):
        held = ~np.isnan(scores.log10)
        batches.check(dataclasses.replace(scores, log10=np.where(held, scores.log10, expected)), given, expected)
    assert zero is not None or held.all()
    batches.check(engine.forward(given, backend), given, expected)


def test_skipped_reads(backend, batches):
    given = batches.batch(13, (9, 77, 150))
    everything = batches.forward(backend, given).log10
    for skip in (np.arange(given.reads) % 3 == 0, np.arange(given.reads) == 0, np.ones(given.reads, bool)):
        skipped = skip[given.pair_indices(np.arange(given.pairs))[0]]
        scores = batches.forward(backend, given, skip).log10
        assert np.isnan(scores[skipped]).all() and batches.same(scores[~skipped], everything[~skipped])


def test_short_haplotype_beside_a_long_one(backend, batches):
    """Lanes that are done, or have no haplotype, read on until the warp is: never qualities as letters."""
    rng = np.random.default_rng(26)
    long = batches.noise(rng, 900)
    reads = [batches.read(rng, long[k : k + 150].copy(), base=(40, 41)) for k in range(4)]
    found = [Group([reads[0]], [long]), Group([reads[1]], [long[:2]]), Group(reads[2:], [long[:1], long[5:170]])]
    given = PairBatch.from_groups(found)
    batches.check(batches.forward(backend, given), given)
    batches.check(backend.forward_pairs(given, np.arange(given.pairs), 1), given)


def test_empty(backend, batches):
    """No pairs at all, and groups without reads or haplotypes between others."""
    rng = np.random.default_rng(14)
    haplotype = batches.noise(rng, 90)
    read = batches.read(rng, haplotype[:77].copy())
    assert engine.forward(PairBatch.from_groups([]), backend).log10.shape == (0,)
    assert batches.forward(backend, PairBatch.from_groups([Group([], [haplotype])])).log10.shape == (0,)
    assert batches.forward(backend, PairBatch.from_groups([Group([read], [])])).log10.shape == (0,)
    full = Group([read, read], [haplotype, haplotype[:50]])
    hollow = [Group([], [haplotype]), Group([read], []), Group([], [])]
    given = PairBatch.from_groups([*hollow, full, *hollow, full, *hollow])
    batches.check(batches.forward(backend, given), given)


@pytest.mark.parametrize("gap", GAPS)
def test_scores_do_not_depend_on_company(gap, backend, batches, monkeypatch):
    """Bit-identical whatever else is in the batch, its order, and the haplotypes of a work item."""
    found = batches.groups(15, (9, 40, 150, 151, 500, 700), gap=gap)
    given = PairBatch.from_groups(found)
    whole = batches.forward(backend, given).log10
    assert (~np.isnan(whole)).sum() > 20

    order = np.random.default_rng(1).permutation(len(found))
    shuffled = batches.forward(backend, PairBatch.from_groups([found[k] for k in order])).log10
    of_group = [whole[slice(*given.group_pair[k : k + 2])] for k in range(given.groups)]
    assert batches.same(shuffled, np.concatenate([of_group[k] for k in order]))

    reversed_reads = batches.forward(
        backend, PairBatch.from_groups([Group(g.reads[::-1], g.haplotypes) for g in found])
    )
    turned = [
        scores.reshape(-1, len(g.haplotypes))[::-1].reshape(-1) for scores, g in zip(of_group, found, strict=True)
    ]
    assert batches.same(reversed_reads.log10, np.concatenate(turned))

    for letters in (1, 150, 10**6):  # of a work item
        monkeypatch.setattr(layout, "ITEM_SIZES", (1, letters, letters))
        layout.shapes.cache_clear()
        assert batches.same(batches.forward(backend, given).log10, whole)
    monkeypatch.undo()
    layout.shapes.cache_clear()

    for read in range(0, given.reads, 5):
        alone = given.take_reads(read, read + 1)
        pairs = given.pair_indices(np.arange(given.pairs))[0] == read
        assert batches.same(batches.forward(backend, alone).log10, whole[pairs])


def test_compiled_gap_quality_gives_the_same_bits(backend, batches):
    """A read with another gap quality in the batch takes another variant of each kernel."""
    lengths = (9, 40, 150, 500, 700)
    found = batches.groups(16, lengths, gap=10)
    rng = np.random.default_rng(2)
    other = Group([batches.read(rng, batches.noise(rng, 9), gap=25)], [batches.noise(rng, 30)])
    given, mixed = PairBatch.from_groups(found), PairBatch.from_groups([*found, other])
    constant, varying = (batches.forward(backend, each).log10[: given.pairs] for each in (given, mixed))
    assert batches.same(constant, varying)

    pairs = np.arange(given.pairs)
    constant, varying = (backend.forward_pairs(each, pairs, 1).log10 for each in (given, mixed))
    assert batches.same(constant, varying)


def test_long_pairs(backend, batches):
    """forward_pairs: strips that follow each other, single ones, and scores of any size."""
    rng = np.random.default_rng(17)
    haplotype = batches.noise(rng, 1300)
    lengths = (1, 9, 255, 256, 257, 512, 513, 1100)
    reads = [batches.read(rng, batches.copied(rng, haplotype, m, 0.02)) for m in lengths]
    reads.append(batches.read(rng, batches.noise(rng, 700)))
    given = PairBatch.from_groups([Group(reads, [haplotype, haplotype[:200], haplotype[:1]])])
    pairs = rng.permutation(given.pairs)[:-3]
    scores = backend.forward_pairs(given, pairs, 1)
    expected = batches.oracle(given, pairs)
    assert expected.min() < -1000
    batches.check(scores, given, expected, pairs)
    assert (scores.precision != FLOAT32).all()
    assert batches.same(backend.forward_pairs(given, pairs[::-1].copy(), 1).log10[::-1], scores.log10)


@pytest.fixture(scope="module")
def backend_of_halves(make_backend):
    """Its kernels are compiled on first use: with what `halves` sets."""
    return make_backend()


@pytest.fixture
def halves(backend_of_halves, monkeypatch):
    """A backend that cuts all haplotypes of long pairs."""
    monkeypatch.setattr(tiles, "LEAST_CUT", 1)
    return backend_of_halves


@pytest.mark.parametrize("start", profile.STARTS)
def test_halves_of_any_length(start, halves, batches):
    """Haplotypes are cut at n // 2: halves of no letter, of one, and shorter than the lanes of a strip are wide. A
    score depends on its read and haplotype alone."""
    rng = np.random.default_rng(26)
    model = profile.preset("normalised")
    haplotypes = [batches.noise(rng, n, 5) for n in (1, 2, 3, 4, 7, 31, 32, 33, 70, 150)]
    reads = [batches.copied(rng, haplotypes[-1], m, 0.02) for m in (1, 2, 3, 9, 150, 600)]
    rows = [model.rows(profile.one_hot(bases, np.full(len(bases), 0.02))) for bases in reads]
    given = batches.of_rows(rows, haplotypes, profile.STARTS[start])
    pairs = np.arange(given.pairs)
    scores = halves.forward_pairs(given, pairs, 1)
    batches.check(scores, given)
    for pair in rng.permutation(pairs)[:12]:
        alone = batches.of_rows([rows[pair // 10]], [haplotypes[pair % 10]], given.start)
        score = halves.forward_pairs(alone, np.array([0]), 1).log10
        assert batches.same(score, scores.log10[pair : pair + 1])


@pytest.mark.parametrize("gap", GAPS)
def test_halves_of_paths_that_cross_the_cut(gap, halves, batches):
    """A deletion over the middle of the haplotype, an insertion at it, and a read that lies on either side."""
    rng = np.random.default_rng(27)
    haplotype = batches.noise(rng, 501)
    left, right = haplotype[100:250], haplotype[250:400]
    joined = {
        "deletion": [left[:140], right[20:]],
        "insertion": [left, batches.noise(rng, 30), right],
        "left": [left],
        "right": [haplotype[252:420]],
        "first letters": [haplotype[:100]],
        "last letters": [haplotype[-100:]],
        "twice": [right, left],
    }
    reads = [batches.read(rng, np.concatenate(parts), gap) for parts in joined.values()]
    given = PairBatch.from_groups([Group(reads, [haplotype, haplotype[:-1]])])
    batches.check(halves.forward_pairs(given, np.arange(given.pairs), 1), given)


def test_halves_are_as_good_as_the_whole(halves, batches):
    """Every test of long pairs with each pair in halves."""
    test_long_pairs(halves, batches)
    if halves.name == "cuda":
        test_long_pairs_of_rare_gaps(halves, batches)
    for bits in (3, 5, 8.4):
        test_long_insertions_of_any_cost(bits, halves, batches)
    for name in profile.PRESETS:
        test_long_profiles(name, halves, batches)


def test_long_pairs_of_rare_gaps(backend, batches):
    """Gaps beyond float32's range of a lane are for float64."""
    rng = np.random.default_rng(18)
    haplotype = batches.noise(rng, 700)
    bases = np.concatenate([haplotype[:200], batches.noise(rng, 40), haplotype[200:500]])
    given = batches.pair(bases, haplotype, 40, 90, 90, 60)
    scores = backend.forward_pairs(given, np.array([0]), 1)
    batches.check(scores, given)
    assert scores.precision[0] == FLOAT64


@pytest.mark.parametrize("length", [20, 27, 28, 107])
def test_the_last_row_ends_within_a_lane(length, backend, batches):
    """What leaves the last row passes all lanes below it within a few steps, and their exponents have to hold it."""
    (group,) = make_groups(length, 1)
    (read,), (haplotype,) = group.reads, codes_of(group.haplotypes)
    model, ends = profile.preset("normalised"), np.array([0, length])
    profiles = model.profiles(profile.one_hot(read.bases, gatk.ERROR[read.base_quality]))
    one = np.array([0, 1])
    given = PairBatch(one, one, ends, ends, haplotype, model.start, profiles=profiles)
    scores = backend.forward_pairs(given, np.array([0]), 1)
    assert scores.precision[0] == SCALED_FLOAT32
    batches.check(scores, given)


@pytest.mark.parametrize("bits", [3, 5, 5.6, 6.5, 8.4, 10.6, 14])
def test_long_insertions_of_any_cost(bits, backend, batches):
    """That many bits a row of an insertion: up to where float32 holds them, and beyond."""
    rng = np.random.default_rng(20)
    model = profile.preset("normalised")
    haplotype = batches.noise(rng, 600)
    reads = [
        batches.noise(rng, 530),
        np.concatenate([haplotype[:100], batches.noise(rng, 500), haplotype[300:400], batches.noise(rng, 60)]),
    ]
    rows = [model.rows(profile.one_hot(bases, np.full(len(bases), 0.01))) for bases in reads]
    for read in rows:
        read[:, 9] = 2.0**-bits * read[:, 5] * read[:, :5].max(axis=1)
    given = batches.of_rows(rows, [haplotype, haplotype[:40], haplotype[:300]], model.start)
    scores = backend.forward_pairs(given, np.arange(given.pairs), 1)
    scored = np.flatnonzero(~np.isnan(scores.log10))
    batches.check(scores.log10[scored], given, batches.oracle(given, scored), scored)
    assert len(scored) == given.pairs or (backend.name == "webgpu" and bits > 5.5), "WGSL has no float64"


@pytest.mark.parametrize("bits", [3.7, 4.2, 4.7])
def test_insertions_that_the_rescuing_lanes_do_not_hold(bits, backend, batches):
    """Lanes of 16 rows hold insertions that those of 20 rows, which rescue their pairs, do not: 78 bits a lane."""
    rng = np.random.default_rng(21)
    model = profile.preset("normalised")
    read = model.rows(profile.one_hot(batches.noise(rng, 500), np.full(500, 0.01)))
    read[:, 9] = 2.0**-bits * read[:, 5] * read[:, :5].max(axis=1)
    given = batches.of_rows([read], [batches.noise(rng, n) for n in (60, 90)], model.start)
    assert np.isnan(batches.forward(backend, given).log10).all() == (bits * 20 > 78)
    batches.check(device_pool.score(given, backend, 1), given)


@pytest.mark.parametrize("name", PRESETS)
def test_long_profiles(name, backend, batches):
    rng = np.random.default_rng(19)
    model = profile.preset(name)
    haplotype = batches.noise(rng, 800, 5)
    rows = [model.rows(profile.one_hot(haplotype[:m], np.full(m, 0.05))) for m in (300, 600)]
    given = batches.of_rows(rows, [haplotype, haplotype[:100]], model.start)
    check_held(backend.forward_pairs(given, np.arange(given.pairs), 1), given, backend, batches)


def test_through_the_engine(backend, batches):
    """Everything at once: no score is NaN, and chunks and calls at the same time change no bit."""
    given = batches.batch(20, batches.LENGTHS + batches.TALL, letters=5)
    scores = engine.forward(given, backend)
    batches.check(scores, given)
    for cells in (1, 200_000):
        again = engine.forward(given, backend, chunk_cells=cells)
        assert batches.same(again.log10, scores.log10)
        assert (again.precision == scores.precision).all()


def test_two_devices(make_backend, batches, monkeypatch):
    """Which device takes what does not matter."""
    given = batches.batch(21, (9, 77, 150), each=10)
    devices = [make_backend(), make_backend()]
    for device in devices:
        monkeypatch.setattr(device, "first_chunk_cells", 1, raising=False)
    expected = engine.forward(given, devices[0])
    for _ in range(3):
        scores = DevicePool(devices).forward(given, chunk_cells=20_000)
        assert batches.same(scores.log10, expected.log10)


def test_budget(make_backend, batches, caplog):
    """A budget that chunks must be halved for; and one that nothing fits into."""
    given = batches.batch(22, (77, 150), each=160)
    whole = engine.forward(given, make_backend())
    tight = make_backend(memory=600_000)
    scores = engine.forward(given, tight)
    assert batches.same(scores.log10, whole.log10)
    assert "out of memory; chunks of" in caplog.text
    caplog.clear()
    nothing = engine.forward(given.take_reads(0, 8), make_backend(memory=3000))
    batches.check(nothing, given.take_reads(0, 8))
    assert "do not fit the device's memory" in caplog.text


def test_a_call_that_does_not_fit_is_sent_once(make_backend, batches, monkeypatch):
    """Whether its slot is new or has buffers of an earlier call. A call that fits later says so."""
    large, small = (batches.batch(22, (77, 150), each=each) for each in (160, 8))
    tight = make_backend(memory=600_000)
    sent = []
    begin = ForwardSlot.begin
    monkeypatch.setattr(ForwardSlot, "begin", lambda slot, *sizes: sent.append(sizes) or begin(slot, *sizes))
    for _ in range(2):
        with pytest.raises(OutOfDeviceMemory) as caught:
            tight.forward(large, np.zeros(large.reads, bool), 1)
        assert len(sent) == 1 and not caught.value.fits_later
        batches.check(tight.forward(small, np.zeros(small.reads, bool), 1), small)
        sent.clear()


def test_full_device(emulated, batches, caplog):
    """No budget, but a device that has less memory than a batch needs even with fewer warps, some of it taken."""
    given = batches.batch(23, (77, 150), each=160)
    roomy = emulated()
    roomy.forward(given, np.zeros(given.reads, bool), 1)
    scores = engine.forward(given, emulated(size=roomy._cupy.peak // 3))
    batches.check(scores, given)
    assert "out of memory; chunks of" in caplog.text


@pytest.mark.parametrize("limit", ["size", "memory"])
def test_long_pairs_in_parts(limit, emulated, batches):
    """Borders that do not fit at once into a small device, or into a budget."""
    rng = np.random.default_rng(24)
    haplotype = batches.noise(rng, 400)
    reads = [batches.read(rng, batches.copied(rng, haplotype, m)) for m in (300, 10, 500, 257, 300)]
    given = PairBatch.from_groups([Group(reads, [haplotype, haplotype[:300]])])
    pairs = np.arange(given.pairs)
    whole = emulated().forward_pairs(given, pairs, 1).log10
    for memory in (1_400_000, 1_000_000):
        assert batches.same(emulated(**{limit: memory}).forward_pairs(given, pairs, 1).log10, whole)


def test_kernel_seconds(backend, batches):
    seconds = backend.kernel_seconds(batches.batch(25, (9, 77)), 3)
    assert len(seconds) == 3 and min(seconds) >= 0
