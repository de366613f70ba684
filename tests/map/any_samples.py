"""Random properties and neighbours, for tests of embedders."""

import numpy as np

from pairhmm.map.sketch.published import PRIME
from pairhmm.map.tokens import Neighbours, TokenSets


def token_sets(sets):
    """The token sets of lists of tokens."""
    rows = [np.unique(np.asarray(tokens, dtype=np.uint32)) for tokens in sets]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
    return TokenSets(np.concatenate([np.empty(0, np.uint32), *rows]), offsets)


def any_tokens(random, samples, most, pool=PRIME):
    """Random sets of 0 to `most` tokens out of `pool` tokens."""
    sizes = random.integers(0, most, samples, endpoint=True)
    return token_sets([random.integers(0, pool, size) for size in sizes])


def any_neighbours(random, samples, most):
    """Up to `most` neighbours for each sample; the first has none."""
    counts = random.integers(0, most, samples, endpoint=True)
    counts[0] = 0
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Neighbours(random.integers(0, samples, offsets[-1]).astype(np.int32), offsets)


def any_matrices(random, groups):
    return (random.standard_normal((groups, 128, 2)) / np.sqrt(128)).astype(np.float32)
