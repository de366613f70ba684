"""Partially determined haplotypes on every backend: published scores, the oracle, and what the model says of itself."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import pairhmm
from pairhmm import engine
from pairhmm.backends import tiles
from pairhmm.models.batch import FLOAT32, FLOAT64, Group, PairBatch
from pairhmm.models.gatk import ERROR
from pairhmm.native import native
from pairhmm.sequences.letters import decode

SHAPES = ((1, 1), (3, 2), (10, 40), (40, 10), (60, 61), (150, 300))
LENGTHS = (1, 10, 40, 60, 150, 300, 501)


def pairs_of(any_pairs, seed, shapes=SHAPES):
    rng = np.random.default_rng(seed)
    return [
        any_pairs.Pair(int(rng.integers(2**32)), read, haplotype, "piece", ((2, 60), (20, 60), (20, 60), (5, 30)), 0.02)
        for read, haplotype in shapes
    ]


def published(read, haplotype, flags):
    """log10 likelihood by GATK's program: a cell has three more states, and rows go on where the last one ended."""
    bases, base, insertion, deletion, gap = (getattr(read, name) for name in type(read).__dataclass_fields__)
    m, n = len(bases), len(haplotype)
    match, ins, dele, b_match, b_ins, b_dele = np.zeros((6, m + 1, n + 1))
    dele[0] = 1 / n
    where = "outside"
    for i in range(1, m + 1):
        e, a, b, g = (ERROR[values[i - 1]] for values in (base, insertion, deletion, gap))
        mm, im = 1 - min(1.0, a + b), 1 - g
        for j in range(1, n + 1):
            x, y, f = int(bases[i - 1]), int(haplotype[j - 1]), int(flags[j - 1])
            same = x == y or 4 in (x, y) or (f & 1 and x & 7 < 4 and f & 8 << (x & 7))
            left = [state[i, j - 1] for state in (match, ins, dele)]
            branch = [state[i, j - 1] for state in (b_match, b_ins, b_dele)]
            now = {"outside": left, "inside": branch, "behind": np.maximum(branch, left)}[where]
            b_match[i, j], b_ins[i, j], b_dele[i, j] = now
            above, before = (i - 1, j), (i - 1, j - 1)
            if where == "behind":
                m0, i0, d0 = (
                    max(b_match[before], match[before]),
                    max(b_ins[before], ins[before]),
                    max(b_dele[before], dele[before]),
                )
                dele[i, j] = max(b_match[i, j - 1], match[i, j - 1]) * b + max(b_dele[i, j - 1], dele[i, j - 1]) * g
            else:
                m0, i0, d0 = match[before], ins[before], dele[before]
                dele[i, j] = match[i, j - 1] * b + dele[i, j - 1] * g
            match[i, j] = (1 - e if same else e / 3) * (m0 * mm + (i0 + d0) * im)
            m0, i0 = match[above], ins[above]
            if f & 4:
                m0, i0 = max(b_match[above], m0), max(b_ins[above], i0)
            ins[i, j] = m0 * a + i0 * g
            where = "behind" if f & 4 else "inside" if f & 2 else "outside" if where == "behind" else where
    return np.log10((match[m, 1:] + ins[m, 1:]).sum())


@pytest.mark.parametrize("any_byte", [False, True])
def test_the_oracle_is_gatks_program(any_pairs, any_byte):
    for seed in range(12):
        batch = any_pairs.with_flags(pairs_of(any_pairs, seed, SHAPES[:5]), any_byte)
        scores = engine.forward(batch, "reference").log10
        for k in range(batch.pairs):
            bases, letters = (slice(*at[k : k + 2]) for at in (batch.read_offset, batch.haplotype_offset))
            read = batch.qualities.sliced(bases)
            expected = published(read, batch.haplotypes[letters], batch.flags[letters])
            assert scores[k] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("any_byte", [False, True])
def test_any_flags(backend, any_pairs, any_byte):
    pairs = [pair for seed in range(20) for pair in pairs_of(any_pairs, seed)]
    batch = any_pairs.with_flags(pairs, any_byte)
    any_pairs.check(backend, batch, pairs)


@pytest.mark.parametrize("any_byte", [False, True])
def test_any_qualities(backend, any_pairs, any_byte):
    rng = np.random.default_rng(1)
    pairs = [any_pairs.random_pair(rng, 600) for _ in range(60)]
    if backend.name == "cuda":
        # Each shape of reads is a kernel to compile: one for each number of lanes, which other tests take, too.
        pairs = [replace(pair, read=min(LENGTHS, key=lambda length: abs(length - pair.read))) for pair in pairs]
    any_pairs.check(backend, any_pairs.with_flags(pairs, any_byte), pairs)


def test_no_flags_is_gatks_model(backend, any_pairs):
    batch = any_pairs.batch_of(pairs_of(any_pairs, 1))
    scores = engine.forward(replace(batch, flags=np.zeros_like(batch.haplotypes)), backend)
    np.testing.assert_allclose(scores.log10, engine.forward(batch, backend).log10, rtol=0, atol=1e-5)


def test_groups(backend, any_pairs):
    """Haplotypes that begin alike share columns, and no score depends on what shares a group or a vector."""
    rng = np.random.default_rng(2)
    whole = any_pairs.with_flags(pairs_of(any_pairs, 3, [(90, 200)] * 8))
    reads = [whole.qualities.sliced(slice(90 * k, 90 * k + int(rng.integers(1, 91)))) for k in range(8)] * 3
    haplotypes, flags = [], []
    for _ in range(9):
        letters, own = whole.haplotypes[:200].copy(), whole.flags[:200].copy()
        own[rng.integers(0, 200, 2)] ^= rng.choice([6, 9 + 16], 2).astype(np.uint8)
        end = int(rng.integers(150, 201))
        haplotypes.append(letters[:end])
        flags.append(own[:end])
    group = PairBatch.from_groups([Group(reads, haplotypes, flags)])
    single = [Group([read], [h], [f]) for read in reads for h, f in zip(haplotypes, flags, strict=True)]
    scores, alone = (engine.forward(batch, backend) for batch in (group, PairBatch.from_groups(single)))
    assert (scores.log10 == alone.log10).all()
    assert (scores.precision == alone.precision).all()
    assert backend.computed_cells(group) < 0.9 * group.cells or backend.name != "cpu"


def test_a_long_read_and_a_hopeless_one(backend, any_pairs):
    shapes = [(700, 900), (1500, 1200), (501, 30), (300, 400)]
    pairs = [replace(pair, relation="unrelated") for pair in pairs_of(any_pairs, 5, shapes)]
    batch = any_pairs.with_flags(pairs)
    assert (engine.forward(batch, backend).precision != FLOAT32).all()
    any_pairs.check(backend, batch, pairs)


def test_a_deletion_that_is_there():
    """The read of the haplotype without the letters, and with them: both fit about as well as in GATK's model."""
    left, deleted, right = "ACGTTGCATCGA", "GGTTA", "CTTAGCATTACG"
    flags = np.zeros(len(left + deleted + right), dtype=np.uint8)
    flags[len(left)], flags[len(left) + len(deleted) - 1] = 2, 4
    reads = [pairhmm.make_read(bases, 40) for bases in (left + deleted + right, left + right)]
    undetermined = pairhmm.forward(reads, left + deleted + right, flags=flags)[:, 0]
    determined = pairhmm.forward(reads, [left + deleted + right, left + right]).max(axis=1)
    np.testing.assert_allclose(undetermined, determined, rtol=0, atol=0.1)


def test_it_is_no_less_than_any_of_its_haplotypes(any_pairs):
    """n P of the sequence is at least n' P' of each haplotype of n' letters that it stands for (docs/model.md)."""
    rng = np.random.default_rng(4)
    letters = rng.integers(0, 4, 60).astype(np.uint8)
    flags = np.zeros(60, dtype=np.uint8)
    flags[[10, 30]], flags[[14, 33]], flags[20] = 2, 4, 1 + 8 * 15
    pairs = [any_pairs.Pair(k, 30, 60, "piece", ((20, 40),) * 4, 0) for k in range(10)]
    reads = [pairhmm.make_read(decode(np.delete(letters, range(10, 15))[k : k + 30]), 30) for k in range(25)]
    reads += [pair.group().reads[0] for pair in pairs]
    whole = 10 ** pairhmm.forward(reads, [letters], flags=[flags], backend="reference")[:, 0] * 60
    for kept in (letters, np.delete(letters, range(10, 15)), np.delete(letters, [*range(10, 15), *range(30, 34)])):
        assert (whole >= 10 ** pairhmm.forward(reads, [kept], backend="reference")[:, 0] * len(kept) * (1 - 1e-9)).all()


def test_threads_and_levels_agree(any_pairs):
    batch = any_pairs.with_flags(pairs_of(any_pairs, 7) * 20)
    scores = engine.forward(batch, "cpu", threads=3)
    assert (scores.log10 == engine.forward(batch, "cpu").log10).all()
    assert set(scores.precision.tolist()) <= {FLOAT32, FLOAT64}


def test_places_of_groups():
    """Haplotypes that begin alike are neighbours, go on from multiples of a run, and know where steps are near."""
    rng, run = np.random.default_rng(5), 8
    sizes = [4, 0, 1, 30, 2]
    lengths = rng.integers(1, 60, sum(sizes))
    root = rng.integers(0, 4, 60).astype(np.uint8)
    deletions = np.zeros(60, dtype=np.uint8)
    deletions[[6, 33]], deletions[[12, 45]] = 2, 4
    letters = np.concatenate([np.where(rng.random(n) < 0.02, 4, root[:n]).astype(np.uint8) for n in lengths])
    flags = np.concatenate([deletions[:n] for n in lengths])
    offset, group = (np.concatenate([[0], np.cumsum(each)]).astype(np.int64) for each in (lengths, sizes))
    columns, places = np.empty(len(letters), dtype=np.uint8), np.empty((len(lengths), 2), dtype=np.uint32)
    slots = native.pd_device_places(tiles.team(), letters, flags, offset, group, run, columns, places.reshape(-1))
    steps = columns >> 4 & 7
    near = [steps[at : at + run].any() for at in range(len(columns))]
    assert (columns >> 7).tolist() == near and 0 < sum(near) < len(near)
    kept = 0
    for first, end in pairwise(group):
        assert sorted(places[first:end, 0]) == list(range(first, end))
        texts = [(columns[offset[h] : offset[h + 1]] & 127).tolist() for h in places[first:end, 0]]
        assert texts == sorted(texts)
        shared = [0] * (end - first)
        for k in range(1, len(texts)):
            common = next((i for i, (a, b) in enumerate(zip(*texts[k - 1 : k + 1], strict=False)) if a != b), None)
            common = min(len(texts[k - 1]), len(texts[k])) if common is None else common
            shared[k] = min(common, len(texts[k]) - 1) // run * run
        assert places[first:end, 1].tolist() == shared
        # What a place behind k takes over is kept if no place from k on until then takes over less.
        for k in range(1, len(shared)):
            own = {min(shared[k : later + 1]) for later in range(k, len(shared))} - {0}
            kept = max(kept, len(own))
    assert slots == kept > 1
