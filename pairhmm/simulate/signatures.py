"""Random signatures, and samples in which some of them are planted. Letters are sets of bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.sequences.letters import ANY

BASES = np.array([1, 2, 4, 8], dtype=np.uint8)
"""The sets of A, C, G and T alone (`pairhmm.sequences.letters`)."""


@dataclass(frozen=True, slots=True)
class SimulatedSample:
    """A sample and the signatures that are planted in it.

    Attributes
    ----------
    letters : uint8[n]
    qualities : uint8[n]
        Phred.
    planted : list of int
        Indices of the planted signatures, from left to right.
    starts : list of int
        0-based position at which each begins.
    """

    letters: NDArray[np.uint8]
    qualities: NDArray[np.uint8]
    planted: list[int]
    starts: list[int]


def draw_bases(rng: np.random.Generator, length: int) -> NDArray[np.uint8]:
    """Random bases, each as likely as the others."""
    return BASES[rng.integers(0, len(BASES), length, dtype=np.uint8)]


def with_ns(rng: np.random.Generator, letters: NDArray[np.uint8], n_ratio: float) -> NDArray[np.uint8]:
    """The letters, each replaced by N with probability `n_ratio`."""
    return np.where(rng.random(len(letters), dtype=np.float32) < n_ratio, np.uint8(ANY), letters)


def draw_signature(rng: np.random.Generator, length: int, n_ratio: float) -> NDArray[np.uint8]:
    """A random signature with Ns."""
    return with_ns(rng, draw_bases(rng, length), n_ratio)


def draw_sample(
    rng: np.random.Generator,
    background: int,
    signatures: Sequence[NDArray[np.uint8]],
    planted: Sequence[int],
    phred: tuple[int, int],
    n_ratio: float,
) -> SimulatedSample:
    """Random bases with signatures between them, on the forward strand. A signature's N becomes a random base.

    Parameters
    ----------
    rng : numpy.random.Generator
    background : int
        Bases around the signatures.
    signatures : sequence of uint8 arrays
    planted : sequence of int
        Indices of the signatures to plant, from left to right.
    phred : (int, int)
        The lowest and the highest quality. Qualities are uniform between them.
    n_ratio : float
        Probability that a letter of the sample is N, inside planted signatures too.
    """
    around = draw_bases(rng, background)
    cuts = np.sort(rng.integers(0, background + 1, len(planted)))
    stretches, starts, done, length = [], [], 0, 0
    for index, cut in zip(planted, cuts.tolist(), strict=True):
        signature = signatures[index]
        copy = np.where(signature == ANY, draw_bases(rng, len(signature)), signature)
        starts.append(length + cut - done)
        stretches += [around[done:cut], copy]
        length, done = starts[-1] + len(copy), cut
    stretches.append(around[done:])
    letters = with_ns(rng, np.concatenate(stretches), n_ratio)
    qualities = rng.integers(phred[0], phred[1] + 1, len(letters), dtype=np.uint8)
    return SimulatedSample(letters, qualities, list(planted), starts)
