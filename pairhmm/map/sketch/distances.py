"""Distances of samples from the equal slots of their sketches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.map.sketch.sketches import Scheme

UNRELATED = 1.0
"""The Mash distance of samples that share nothing, and the largest one."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Distances:
    """How alike pairs of samples are. All arrays are float64, one value a pair.

    Attributes
    ----------
    jaccard : ndarray
        Shared k-mers as a part of the k-mers of both.
    mash_distance : ndarray
        Estimated mutations a base, 0 to 1.
    containment : ndarray
        The part of the smaller sample's k-mers that the other has.
    ani : ndarray
        Estimated identity of the bases of the smaller sample, 0 to 1 (average nucleotide identity).
    """

    jaccard: Floats
    mash_distance: Floats
    containment: Floats
    ani: Floats


def jaccard(equal: NDArray[np.integer], scheme: Scheme) -> Floats:
    """The Jaccard index of two samples from the slots that are equal.

    Slots of b bits are equal by chance with the probability 2^-b, so that an equal part e of the slots estimates
    ``(e - 2^-b) / (1 - 2^-b)`` (Li and Koenig, "b-Bit Minwise Hashing", WWW 2010, for sets that are small beside the
    universe of k-mers). Values below 0 are 0.
    """
    by_chance = 2.0**-scheme.bits
    return np.maximum((equal / scheme.slots - by_chance) / (1 - by_chance), 0.0)


def mash_distance(jaccard: Floats, k: int) -> Floats:
    """The Mash distance ``-ln(2j / (1 + j)) / k``, at most 1 (Ondov et al., "Mash", Genome Biology 17:132, 2016).

    It estimates how many mutations a base has, if they are independent of each other.
    """
    unshared = np.divide(1 + jaccard, 2 * jaccard, out=np.full_like(jaccard, np.inf), where=jaccard > 0)
    return np.minimum(np.log(unshared) / k, UNRELATED)


def containment(jaccard: Floats, kmers: Floats, other_kmers: Floats) -> Floats:
    """The part of the smaller sample's k-mers that the other one has.

    Two samples of n and m k-mers with the Jaccard index j share ``j (n + m) / (1 + j)``. The larger of both
    containments is the symmetric one that sourmash calls max containment (Koslicki and Zabeti, Applied Mathematics and
    Computation 354:206, 2019, estimate containment from minima likewise).
    """
    shared = jaccard / (1 + jaccard) * (kmers + other_kmers)
    smaller = np.minimum(kmers, other_kmers)
    part = np.divide(shared, smaller, out=np.zeros_like(shared), where=smaller > 0)
    return np.minimum(part, 1.0)


def identity(containment: Floats, k: int) -> Floats:
    """The average nucleotide identity ``c^(1/k)`` of a containment c.

    A k-mer is shared if none of its k bases is mutated (Hera, Pierce-Ward and Koslicki, Genome Research 33:1061, 2023).
    """
    return np.power(containment, 1 / k)


def distances(equal: NDArray[np.integer], kmers: Floats, other_kmers: Floats, scheme: Scheme) -> Distances:
    """All distances of pairs.

    Parameters
    ----------
    equal : ndarray of integers, shape (pairs,)
        Equal slots.
    kmers, other_kmers : ndarray, shape (pairs,), float64
        Distinct k-mers of the two samples of each pair.
    scheme : Scheme
    """
    # A scheme has at most 8,193 different numbers of equal slots, and so as many Jaccard indices.
    index = jaccard(np.arange(scheme.slots + 1), scheme)
    alike = index[equal]
    part = containment(alike, kmers, other_kmers)
    return Distances(alike, mash_distance(index, scheme.k)[equal], part, identity(part, scheme.k))


def least_equal(max_distance: float, scheme: Scheme) -> int:
    """The fewest equal slots of a pair whose Mash distance is at most `max_distance`; ``slots + 1`` if no pair has."""
    index = jaccard(np.arange(scheme.slots + 1), scheme)
    near = np.flatnonzero(mash_distance(index, scheme.k) <= max_distance)
    return int(near[0]) if len(near) else scheme.slots + 1
