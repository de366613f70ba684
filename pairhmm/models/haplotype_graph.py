"""Graphs of haplotypes: text with undetermined alleles, for the model `graph`, which sums over all paths.

``ACG[A|C]TT[GG:0.9|-:0.1]A`` is a chain of sites. A path takes one allele of each; ``-`` is the empty allele, and the
weights of a site are probabilities, the same for each allele where there are none. Determined letters are a site of one
allele.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairhmm.sequences.letters import Letters, encode

_SITE = re.compile(r"\[([^][]*)\]")
_DEVIATION = 1e-6  # of a sum of weights from 1
_LENGTH_ERROR = 1e-8  # relative, of `reciprocals`: 100 times less than what a score's last digit shows


@dataclass(frozen=True, slots=True, eq=False)
class WeightedAllele:
    """An allele of a site: its letters (uint8, possibly none), and the probability of the paths that take it."""

    letters: NDArray[np.uint8]
    weight: float


Site = tuple[WeightedAllele, ...]


@dataclass(frozen=True, slots=True, eq=False)
class HaplotypeGraph:
    """A chain of sites. Each path has at least one letter."""

    sites: tuple[Site, ...]

    @property
    def alleles(self) -> list[WeightedAllele]:
        """Those of all sites, one site after the other."""
        return [allele for site in self.sites for allele in site]

    @property
    def shortest_path(self) -> NDArray[np.uint8]:
        """uint8[n]: the letters of a path of the fewest letters."""
        return np.concatenate([min((allele.letters for allele in site), key=len) for site in self.sites])

    def weights_by_length(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights float64[k, alleles] and factors float64[k], which divide each path by its length n.

        The product of a path's k-th weights, times the k-th factor and summed over k, is its weight / n.
        """
        shortest = [min(len(allele.letters) for allele in site) for site in self.sites]
        longest = [max(len(allele.letters) for allele in site) for site in self.sites]
        bases, factors = reciprocals(sum(shortest), sum(longest))
        more = [
            len(allele.letters) - least for site, least in zip(self.sites, shortest, strict=True) for allele in site
        ]
        weight = np.array([allele.weight for allele in self.alleles])
        return weight * bases[:, None] ** np.array(more), factors


def graph_of(text: Letters) -> HaplotypeGraph:
    """The graph of a text; codes are a graph of one path.

    Raises
    ------
    ValueError
        For letters outside IUPAC, brackets without a partner, weights that are no probabilities of a site's alleles,
        and paths without letters.
    """
    if not isinstance(text, str | bytes):
        return HaplotypeGraph(((WeightedAllele(text, 1.0),),))
    pieces = _SITE.split(text.decode() if isinstance(text, bytes) else text)
    sites = [_site(piece) if at % 2 else (WeightedAllele(_letters(piece), 1.0),) for at, piece in enumerate(pieces)]
    if not any(all(len(allele.letters) for allele in site) for site in sites):
        raise ValueError("a path has no letters: give the graph a letter that all paths have")
    return HaplotypeGraph(tuple(sites))


def _site(text: str) -> Site:
    fields = [field.split(":") for field in text.split("|")]
    have_weights = any(len(field) > 1 for field in fields)
    try:
        weights = [float(weight) for _, weight in fields] if have_weights else [1 / len(fields)] * len(fields)
    except ValueError:
        raise ValueError(f"site [{text}]: not one weight behind each allele") from None
    if not (min(weights) >= 0 and abs(sum(weights) - 1) <= _DEVIATION):
        raise ValueError(f"site [{text}]: the weights are not probabilities that sum to 1")
    return tuple(_allele(text, field[0], weight) for field, weight in zip(fields, weights, strict=True))


def _allele(site: str, letters: str, weight: float) -> WeightedAllele:
    if not letters:
        raise ValueError(f"site [{site}]: an allele without letters is -")
    return WeightedAllele(_letters("" if letters == "-" else letters), weight)


def _letters(text: str) -> NDArray[np.uint8]:
    try:
        return encode(text)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r}: {error}") from None


def reciprocals(least: int, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bases t and factors c, float64[k] each, with ``sum(c * t**d) = 1 / (least + d)`` for lengths up to `most`.

    1/n is the integral of t^(n-1) over 0..1: Gauss-Jacobi quadrature, with as few nodes as have all relative errors
    below 1e-8. The weight function is that of the least length, for which 2 k lengths in a row are exact, or of the
    geometric mean, for which errors of all lengths fall fastest. The latter loses digits where lengths differ much.
    """
    more = np.arange(most - least + 1)
    for nodes in range(1, len(more) + 1):
        for length in (least, (least * most) ** 0.5):
            bases, factors = _quadrature(nodes, length)
            factors *= bases ** (least - length)
            error = (factors * bases ** more[:, None]).sum(axis=1) * (least + more) - 1
            if np.abs(error).max() <= _LENGTH_ERROR:
                return bases, factors
    raise AssertionError(f"no sum for lengths from {least} to {most}")


def _quadrature(nodes: int, length: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights for the weight function t^(length-1) on 0..1 (Golub and Welsch)."""
    b = length - 1
    j = np.arange(1, nodes)
    middle = np.append(b / (b + 2), b**2 / ((2 * j + b) * (2 * j + b + 2)))
    beside = 2 * j * (j + b) / ((2 * j + b) * np.sqrt((2 * j + b) ** 2 - 1))
    values, vectors = np.linalg.eigh(np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1))
    return (1 + values) / 2, vectors[0] ** 2 / length
