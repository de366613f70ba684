"""Small random workloads that exercise every path of a scanner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pairhmm.scan.base import ScanOptions
from pairhmm.sequences.letters import ANY, encode_sets, reverse_complement
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures

BASES = np.array([1, 2, 4, 8], dtype=np.uint8)
AMBIGUOUS = np.array([3, 5, 6, 7, 9, 10, 11, 12, 13, 14], dtype=np.uint8)


@dataclass(frozen=True)
class Workload:
    """Signatures and samples with some of them planted.

    Attributes
    ----------
    planted : set of (segment, signature)
        Pairs that certainly match.
    """

    signatures: Signatures
    samples: Samples
    options: ScanOptions
    planted: set[tuple[int, int]]


def draw(rng: np.random.Generator, length: int, n_ratio: float, ambiguous: float, alphabet: np.ndarray) -> np.ndarray:
    letters = rng.choice(alphabet, length)
    is_ambiguous = rng.random(length) < ambiguous
    letters[is_ambiguous] = rng.choice(AMBIGUOUS, int(is_ambiguous.sum()))
    letters[rng.random(length) < n_ratio] = ANY
    return letters.astype(np.uint8)


def concrete(rng: np.random.Generator, letters: np.ndarray) -> np.ndarray:
    """One of the sequences of bases that ambiguous letters stand for."""
    allowed = (letters[:, None] & BASES) > 0
    return BASES[np.where(allowed, rng.random(allowed.shape), -1).argmax(axis=1)]


def differ(rng: np.random.Generator, letters: np.ndarray, places: int) -> np.ndarray:
    changed = letters.copy()
    for at in rng.choice(len(changed), min(places, len(changed)), replace=False):
        changed[at] = rng.choice([base for base in BASES if base != changed[at]])
    return changed


def random_workload(seed: int) -> Workload:
    """N ratio 0 to 0.5, ambiguous letters, overlaps, repeats, signatures longer than samples, K = 0 to 3."""
    rng = np.random.default_rng(seed)
    n_ratio = float(rng.choice([0.0, 0.01, 0.1, 0.3, 0.5]))
    ambiguous = float(rng.choice([0.0, 0.0, 0.05, 0.3]))
    # Few bases make repeats: overlapping matches, and palindromes.
    alphabet = BASES if rng.random() < 0.7 else rng.choice(BASES, 2, replace=False)
    mismatches = int(rng.integers(0, 4))
    longest = int(rng.choice([12, 40, 200]))
    sequences = [
        draw(rng, int(rng.integers(1, longest + 1)), n_ratio, ambiguous, alphabet) for _ in range(rng.integers(1, 12))
    ]
    half = draw(rng, int(rng.integers(1, longest)), 0.0, 0.0, BASES)
    sequences += [np.concatenate([half, reverse_complement(half)]), sequences[0]]
    signatures = Signatures.of([f"v{index}" for index in range(len(sequences))], sequences)
    options = ScanOptions(
        both_strands=bool(rng.random() < 0.7),
        max_mismatches=mismatches,
        min_informative=int(rng.choice([0, 1, 5, 12])),
        min_score=float(rng.choice([0, 0, 150])),
        min_mean=float(rng.choice([0, 0, 21.5])),
        every_match=bool(rng.random() < 0.5),
    )
    segments, qualities, planted = [], [], set()
    for segment in range(rng.integers(1, 6)):
        size = int(rng.choice([0, 1, 30, 300, 3000]))
        letters = draw(rng, size, n_ratio, ambiguous, alphabet)
        if size and rng.random() < 0.3:
            begin = int(rng.integers(0, size))
            letters[begin : begin + int(rng.integers(1, 400))] = ANY
        chosen = int(rng.integers(0, len(sequences)))
        if len(sequences[chosen]) <= size:
            copy = differ(rng, concrete(rng, sequences[chosen]), int(rng.integers(0, mismatches + 1)))
            copy[rng.random(len(copy)) < n_ratio] = ANY
            informative = int(((copy != ANY) & (sequences[chosen] != ANY)).sum())
            is_reverse = options.both_strands and rng.random() < 0.5
            if informative >= options.min_informative and not options.needs_qualities:
                planted.add((segment, chosen))
            if is_reverse:
                copy = reverse_complement(copy)
            begin = int(rng.integers(0, size - len(copy) + 1))
            letters[begin : begin + len(copy)] = copy
        segments.append(letters)
        qualities.append(rng.integers(0, 42, size).astype(np.uint8))
    carried = int(rng.integers(0, len(segments[0]) + 1)) if rng.random() < 0.2 else 0
    samples = Samples.of(segments, None if rng.random() < 0.2 else qualities)
    samples = Samples(samples.letters, samples.qualities, samples.offset, carried)
    return Workload(signatures, samples, options, {pair for pair in planted if pair[0] or not carried})


@pytest.fixture(scope="session")
def make_workload() -> Callable[[int], Workload]:
    """``make_workload(seed)``: one of many random workloads."""
    return random_workload


def signatures_of(*sequences: str) -> Signatures:
    """Signatures v0, v1 and so on."""
    return Signatures.of([f"v{number}" for number in range(len(sequences))], list(map(encode_sets, sequences)))


def samples_of(*sequences: str, quality: int = 30) -> Samples:
    """Samples of one quality."""
    sets = list(map(encode_sets, sequences))
    return Samples.of(sets, [np.full(len(one), quality, dtype=np.uint8) for one in sets])


def table(path: str = "out.tsv") -> list[dict[str, str]]:
    """The rows of a table."""
    head, *rows = Path(path).read_text().splitlines()
    return [dict(zip(head[1:].split("\t"), row.split("\t"), strict=True)) for row in rows]
