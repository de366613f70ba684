"""Batches for kernels, and what their scores may be off by. sanitize.py uses it too, so it knows nothing of pytest."""

import pickle

import numpy as np

from pairhmm.backends import reference
from pairhmm.models import gatk, profile
from pairhmm.models.batch import Group, PairBatch, Read, Scores, Start
from pairhmm.sequences.arrays import offsets

# A length a shape: reads of 1, 2, 4 .. 32 lanes, tall ones, full and nearly empty last lanes. Few shapes, since each
# is compiled once for every model and kind of gap.
LENGTHS = (1, 9, 10, 40, 77, 150, 151, 250, 500)
TALL = (641, 700)
WIDTHS = (1, 2, 30, 31, 33, 64, 180, 333)

ABSOLUTE, LONGEST_ABSOLUTE, RELATIVE = 1e-5, 500, 1e-6


def noise(rng, length, letters=4):
    return rng.integers(0, letters, length).astype(np.uint8)


def copied(rng, haplotype, length, errors=0.03):
    """A read from within the haplotype, with errors and an indel now and then; noise beyond its ends."""
    begin = int(rng.integers(0, max(1, len(haplotype) - length + 1)))
    bases = haplotype[begin : begin + length].copy()
    if length > 20 and rng.random() < 0.5:
        at = int(rng.integers(5, len(bases))) if len(bases) > 5 else 0
        bases = np.concatenate([bases[:at], noise(rng, 2), bases[at:]]) if rng.random() < 0.5 else np.delete(bases, at)
    wrong = rng.random(len(bases)) < errors
    bases[wrong] = noise(rng, int(wrong.sum()))
    return np.concatenate([bases, noise(rng, length)])[:length]


def read(rng, bases, gap=10, base=(6, 42), indel=(30, 46)):
    """Qualities in ranges (half-open); `gap` is a range, or one number for every position."""
    low, high = gap if isinstance(gap, tuple) else (gap, gap + 1)
    ranges = (base, indel, indel, (low, high))
    return Read(bases, *(rng.integers(*limits, len(bases)).astype(np.uint8) for limits in ranges))


def groups(seed, lengths=LENGTHS, widths=WIDTHS, *, letters=4, each=3, **qualities):
    """Groups whose reads have all these lengths, and whose haplotypes some of these widths, in an order by chance."""
    rng = np.random.default_rng(seed)
    todo = rng.permutation(np.repeat(lengths, each)).tolist()
    result = []
    while todo:
        take = [todo.pop() for _ in range(min(len(todo), int(rng.integers(1, 6))))]
        targets = [noise(rng, int(width), letters) for width in rng.choice(widths, int(rng.integers(1, 4)))]
        reads = []
        for length in take:
            source = targets[int(rng.integers(len(targets)))]
            reads.append(read(rng, copied(rng, source, length), **qualities))
        result.append(Group(reads, targets))
    return result


def batch(seed, *args, **options):
    return PairBatch.from_groups(groups(seed, *args, **options))


def pair(bases, haplotype, base=30, insertion=45, deletion=45, gap=10):
    """A read with the same qualities, or arrays of them, at every position."""
    values = (
        np.broadcast_to(np.asarray(value, np.uint8), len(bases)).copy() for value in (base, insertion, deletion, gap)
    )
    return PairBatch.from_groups([Group([Read(bases, *values)], [haplotype])])


def of_rows(rows, haplotypes, start=None):
    """Reads given as rows (a list of float64[m, 12]), each against all haplotypes."""
    return PairBatch(
        group_read=offsets([len(rows)]),
        group_haplotype=offsets([len(haplotypes)]),
        read_offset=offsets([len(read) for read in rows]),
        haplotype_offset=offsets([len(haplotype) for haplotype in haplotypes]),
        haplotypes=np.concatenate(haplotypes),
        start=start or Start(match=1.0, deletion=0.0),
        rows=np.concatenate(rows),
    )


def of_calls(calls, haplotypes, model):
    """Reads given as called bases and their errors (uint8[m], float64[m]), as a profile model has them: twice the same
    batch, with a row of probabilities a base and with kinds."""
    probabilities = np.concatenate([profile.one_hot(bases, error) for bases, error in calls])
    distinct, kinds = np.unique(probabilities, axis=0, return_inverse=True)
    one, each = offsets([len(calls)]), offsets([len(haplotypes)])
    places = one, each, offsets([len(bases) for bases, _ in calls]), offsets([len(letters) for letters in haplotypes])
    return [
        PairBatch(*places, np.concatenate(haplotypes), model.start, profiles=profiles)
        for profiles in (
            model.profiles(probabilities),
            model.profiles(distinct, kinds.reshape(-1).astype(np.uint16)),
        )
    ]


def called(rng, bases):
    """Bases with the errors of base qualities as sequencers give them."""
    return bases, gatk.ERROR[rng.integers(6, 42, len(bases))]


def forward(backend, given, skip=None):
    """Scores of all pairs in the backend's fast arithmetic."""
    return backend.forward(given, np.zeros(given.reads, bool) if skip is None else skip, 1)


_known: dict[bytes, np.ndarray] = {}


def oracle(given, pairs=None):
    """The oracle's scores of pairs, made once for all tests."""
    key = pickle.dumps((given, pairs))
    if key not in _known:
        every = np.arange(given.pairs) if pairs is None else pairs
        _known[key] = reference.make().forward_pairs(given, every, 1).log10
    return _known[key]


def excess(scores, given, expected=None, pairs=None):
    """Each score's difference in units of what it may be: more than 1, or NaN, is wrong (float64[pairs])."""
    pairs = np.arange(given.pairs) if pairs is None else pairs
    expected = oracle(given, pairs) if expected is None else expected
    log10 = scores.log10 if isinstance(scores, Scores) else scores
    lengths = np.diff(given.read_offset)[given.pair_indices(pairs)[0]]
    allowed = np.where(lengths <= LONGEST_ABSOLUTE, ABSOLUTE, np.maximum(ABSOLUTE, RELATIVE * np.abs(expected)))
    with np.errstate(invalid="ignore"):
        return np.where(log10 == expected, 0.0, np.abs(log10 - expected) / allowed)


def check(scores, given, expected=None, pairs=None):
    """Every score is as near to the oracle's as the design says."""
    off = excess(scores, given, expected, pairs)
    wrong = np.flatnonzero(~(off <= 1))
    assert not len(wrong), describe(scores, given, off, wrong, pairs)


def describe(scores, given, off, wrong, pairs):
    which = wrong if pairs is None else pairs[wrong]
    reads, haplotypes = given.pair_indices(which)
    lengths, widths = np.diff(given.read_offset)[reads], np.diff(given.haplotype_offset)[haplotypes]
    expected = oracle(given, which)
    lines = [f"{len(wrong)} of {len(off)} scores are off; (read, haplotype): score, oracle, times the tolerance"]
    for k in range(min(8, len(wrong))):
        lines.append(f"{lengths[k]} x {widths[k]}: {scores.log10[wrong[k]]}, {expected[k]}, {off[wrong[k]]:.3g}")
    return "\n".join(lines)


def near(a, b):
    """What float32 rounds differently at the most, in log10: far less than a score may be off by."""
    return np.allclose(a, b, rtol=RELATIVE, atol=ABSOLUTE / 4)


def same(a, b):
    """Bit for bit, NaN equal to NaN."""
    return np.array_equal(np.asarray(a).view(np.int64), np.asarray(b).view(np.int64)) or bool(
        np.array_equal(a, b, equal_nan=True)
    )
