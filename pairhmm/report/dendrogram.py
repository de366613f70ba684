"""Average linkage: which samples join first, and an order of samples that puts like beside like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Dendrogram:
    """A tree of samples.

    Attributes
    ----------
    merges : list of (int, int, float)
        The two clusters that join, and their mean distance, lowest first. Clusters below the number of samples are
        samples. Merge `m` makes cluster ``samples + m``.
    order : list of int
        Samples as the tree has them, from one end to the other.
    """

    merges: list[tuple[int, int, float]]
    order: list[int]


def average_linkage(distances: NDArray[np.float64]) -> Dendrogram:
    """Join the two clusters with the least mean distance until one is left (UPGMA).

    Chains of nearest neighbours find the pairs, in time that grows with the square of the samples (Murtagh 1983).

    Parameters
    ----------
    distances : ndarray, shape (samples, samples), float64
        Symmetric.
    """
    count = len(distances)
    merges = _in_order(_joined(distances.astype(np.float64)), count)
    members: list[list[int]] = [[sample] for sample in range(count)]
    for one, other, _ in merges:
        members.append(members[one] + members[other])
    return Dendrogram(merges, members[-1] if members else [])


def _joined(work: NDArray[np.float64]) -> list[tuple[int, int, float]]:
    """The merges as the chain finds them: a sample of each cluster, and the distance. `work` is used up."""
    count = len(work)
    np.fill_diagonal(work, np.inf)
    sizes = np.ones(count)
    left = list(range(count))
    chain: list[int] = []
    found: list[tuple[int, int, float]] = []
    while len(found) < count - 1:
        if not chain:
            chain.append(left[0])
        while True:
            last = chain[-1]
            nearest = int(np.argmin(work[last]))
            # Of equally near ones the chain's own comes first. Otherwise it could run in a circle.
            if len(chain) > 1 and work[last, chain[-2]] <= work[last, nearest]:
                break
            chain.append(nearest)
        gone, kept = chain.pop(), chain.pop()
        found.append((kept, gone, float(work[kept, gone])))
        mean = (sizes[kept] * work[kept] + sizes[gone] * work[gone]) / (sizes[kept] + sizes[gone])
        work[kept], work[:, kept] = mean, mean
        work[gone], work[:, gone] = np.inf, np.inf
        work[kept, kept] = np.inf
        sizes[kept] += sizes[gone]
        left.remove(gone)
    return found


def _in_order(found: list[tuple[int, int, float]], count: int) -> list[tuple[int, int, float]]:
    """The merges by their distances, with the numbers of the clusters that they join."""
    cluster = list(range(count))

    def top(sample: int) -> int:
        while cluster[sample] != sample:
            sample = cluster[sample]
        return sample

    merges = []
    for one, other, distance in sorted(found, key=lambda merge: merge[2]):
        pair = sorted((top(one), top(other)))
        merges.append((pair[0], pair[1], distance))
        cluster.append(len(cluster))
        cluster[pair[0]] = cluster[pair[1]] = len(cluster) - 1
    return merges
