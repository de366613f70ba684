"""`pairhmm.backends.read_packing`: five bytes of a base as one number, and tables of distinct rows made once."""

import dataclasses

import numpy as np
import pytest

from pairhmm import engine
from pairhmm.backends.read_packing import RECIPROCAL_BITS, cached_row_table, pack_qualities
from pairhmm.backends.tiles import ALIGNMENT, Plan
from pairhmm.models import profile
from pairhmm.models.batch import Group, PairBatch, Qualities, Read
from pairhmm.native import is_compiled, native
from pairhmm.sequences.letters import HIGHEST_QUALITY

if not is_compiled():
    pytest.skip("the compiled part is not installed", allow_module_level=True)

# Ranges of base, base quality, and the qualities of insertions, deletions and gaps, ends included; bytes of a number.
RANGES = {
    "of a BAM file": (((0, 4), (6, 41), (45, 45), (45, 45), (10, 10)), 1),
    "recalibrated": (((0, 4), (6, 35), (33, 52), (32, 50), (10, 10)), 2),
    "all vary": (((0, 3), (2, 37), (40, 45), (40, 45), (8, 13)), 2),
    "highest": (((0, 1), (126, 127), (120, 127), (127, 127), (0, 127)), 2),
    "too many": (((0, 4), (0, 127), (0, 127), (45, 45), (10, 10)), None),
    "one varies": (((2, 2), (0, 40), (45, 45), (45, 45), (10, 10)), None),
    "none varies": (((2, 2), (30, 30), (45, 45), (45, 45), (10, 10)), None),
}


def read(rng, ranges, bases):
    """A read whose arrays hold both ends of their ranges."""
    arrays = [rng.integers(low, high + 1, bases).astype(np.uint8) for low, high in ranges]
    for values, (low, high) in zip(arrays, ranges, strict=True):
        values[:2] = rng.permutation([low, high])
    return Read(*arrays)


def batch_of(ranges, lengths=(9, 40, 150, 150)):
    rng = np.random.default_rng(3)
    groups = [
        Group([read(rng, ranges, m) for m in lengths], [rng.integers(0, 5, n).astype(np.uint8) for n in (120, 200)])
        for _ in range(3)
    ]
    return PairBatch.from_groups(groups)


class Host:
    def begin(self, size, behind):
        self.buffer = np.zeros(size, np.uint8)
        return self.buffer, self.buffer[behind:]

    def send(self, first, end):
        pass


@pytest.mark.parametrize("name", RANGES)
def test_numbers_have_all_that_the_arrays_have(name):
    ranges, width = RANGES[name]
    batch = batch_of(ranges, (9, 40, 5000))
    digits = pack_qualities(batch)
    if width is None:
        assert digits is None
        return
    assert digits.width == width
    plan, host = Plan(), Host()
    plan.add(np.zeros(3, dtype=np.uint8))
    at = plan.add_digits(digits)
    plan.send(host)
    assert at == ALIGNMENT
    rest = host.buffer[at:].view(f"<u{width}").astype(np.uint64)
    assert len(rest) == batch.bases
    for k, name in enumerate(Qualities.__dataclass_fields__):
        above = rest * digits.reciprocal[k] >> RECIPROCAL_BITS
        values = rest - above * digits.radix[k] + digits.least[k]
        assert np.array_equal(values, getattr(batch.qualities, name))
        rest = above


def test_every_quotient_is_exact():
    numbers = np.arange(1 << 16, dtype=np.uint64)
    for radix in range(1, HIGHEST_QUALITY + 2):
        reciprocal = -(-(1 << RECIPROCAL_BITS) // radix)
        assert np.array_equal(numbers * reciprocal >> RECIPROCAL_BITS, numbers // radix)
        as_floats = (numbers.astype(np.float32) + np.float32(0.5)) * np.float32(1 / radix)  # rows_qualities.wgsl
        assert np.array_equal(as_floats.astype(np.uint64), numbers // radix)


def test_a_chunk_has_the_ranges_of_its_batch():
    """Then its numbers need no other kernel, and nobody looks through its arrays again."""
    batch = batch_of(RANGES["recalibrated"][0])
    chunk = batch.take_reads(1, 3)
    assert chunk.quality_ranges == batch.quality_ranges
    assert pack_qualities(chunk).radix == pack_qualities(batch).radix


@pytest.mark.parametrize("name", [name for name, (_, width) in RANGES.items() if width and name != "highest"])
def test_scores_are_the_same_bits(name, backend):
    """As those of the arrays, which are sent where the ranges are too wide."""
    batch = batch_of(RANGES[name][0])
    as_bytes = batch_of(RANGES[name][0])
    varying = {k for k, (low, high) in batch.quality_ranges.items() if low < high}
    vars(as_bytes)["quality_ranges"] = {
        k: (0, HIGHEST_QUALITY) if k in varying else limits for k, limits in batch.quality_ranges.items()
    }
    assert pack_qualities(as_bytes) is None
    assert np.array_equal(engine.forward(batch, backend).log10, engine.forward(as_bytes, backend).log10)


def test_digits_are_checked_before_they_are_written():
    buffer, values = np.zeros(64, np.uint8), np.zeros(3, np.uint8)
    for arrays, weights in (([values], [1]), ([values] * 6, [1] * 6), ([values] * 2, [1])):
        with pytest.raises(ValueError, match="two to five arrays"):
            native.write_all(native.ThreadPool(0), buffer, [0], [(arrays, weights, 0, 1)], lambda first, end: None)


@pytest.fixture
def made():
    return []


@pytest.fixture
def table_of(made):
    @cached_row_table
    def table_of(profiles):
        made.append(profiles)
        return profiles.probabilities @ profiles.match + profiles.insertion[0] + profiles.shared_transitions[0]

    return table_of


@pytest.mark.parametrize("field", ["probabilities", "match", "insertion", "transitions"])
def test_another_model_has_its_own(field, made, table_of):
    """Also where an array is changed in place."""
    given = profile.preset("normalised").profiles(np.full((3, 4), 0.25))
    given = dataclasses.replace(given, match=given.match.copy())
    before = table_of(given)
    getattr(given, field)[:] *= 0.5
    assert len(made) == 1 and (table_of(given) != before).any() and len(made) == 2
