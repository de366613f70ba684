"""Every CUDA kernel on small batches, for compute-sanitizer: `make test-gpu` runs it.

compute-sanitizer --tool memcheck --error-exitcode 1 python tests/backends/cuda/sanitize.py
"""

from __future__ import annotations

import dataclasses

import batches
import cupy
import numpy as np

from pairhmm import backends
from pairhmm.engine.device_pool import score
from pairhmm.models import gatk, profile
from pairhmm.models.batch import Group, PairBatch


def cases():
    """Both kinds of gap, all numbers of lanes, tall reads, noise for scaled.cu, rows, profiles, trees, rare gaps."""
    for gap in (10, (5, 13)):
        yield batches.batch(1, batches.LENGTHS + batches.TALL, each=2, letters=5, gap=gap)
    qualities = batches.batch(2, (9, 77, 700))
    yield dataclasses.replace(qualities, qualities=None, rows=gatk.rows(qualities.qualities))
    yield dataclasses.replace(qualities, start=profile.STARTS["match"])  # whole matrices
    rng = np.random.default_rng(3)
    haplotype = batches.noise(rng, 700)
    model = profile.preset("normalised")
    rows = [model.rows(profile.one_hot(haplotype[:m], np.full(m, 0.05))) for m in (20, 300)]
    yield batches.of_rows(rows, [haplotype, haplotype[:1]], model.start)
    calls = [batches.called(rng, haplotype[:m]) for m in (9, 150, 301)]
    yield from batches.of_calls(calls, [haplotype, haplotype[:1]], model)
    bases = np.concatenate([haplotype[:200], batches.noise(rng, 40), haplotype[200:500]])
    yield batches.pair(bases, haplotype, 40, 90, 90, 60)
    # Trees: branches within branches, prefixes, copies, more haplotypes than a pair of trees has.
    alike = [haplotype[:60].copy() for _ in range(70)]
    for target in alike:
        target[rng.integers(0, 60, 3)] = batches.noise(rng, 3)
    targets = [*alike, alike[0], *(haplotype[:n] for n in (1, 2, 30, 60, 61))]
    yield PairBatch.from_groups([Group([batches.read(rng, haplotype[:m].copy()) for m in (5, 40, 150)], targets)])
    # Short haplotypes at the end of the buffer, beside long ones.
    reads = [batches.read(rng, haplotype[k : k + 150].copy()) for k in range(2)]
    yield PairBatch.from_groups([Group(reads, [haplotype]), Group(reads, [haplotype[:1]])])


def main() -> None:
    cupy.cuda.set_allocator(None)  # an allocation each: a pool's own would hide what reaches beyond one
    backend = backends.load("cuda")
    for given in cases():
        batches.check(score(given, backend, 1), given)
        batches.check(backend.forward_pairs(given, np.arange(given.pairs), 1), given)
    print("scores are right")


if __name__ == "__main__":
    main()
