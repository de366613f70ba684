"""Local assembly in plain Python, the meaning of `cpu/calling/assembly.hpp`: slow, over dictionaries of text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from pairhmm.align.api import align
from pairhmm.align.scoring import PRESETS

KS = range(25, 126, 10)
MOST_DETOURS = 16
LEAST_COPIED = 50
LEAST_OVERLAP, INNER, LONGEST_UNIT, MOST_ENDS = 15, 12, 6, 32
NEAR, MOST_APART, MOST_INDELS, LEFT_OF_EACH = 10, 3, 1, 2

Allele = tuple[int, int, bool, str]
"""Position, bases replaced or deleted, whether it is an indel, its letters: as native.assembled_alleles has it."""


def assembled_alleles(
    start: int, reference: str, reads: list[str], counts: tuple[int, int], fractions: tuple[float, float]
) -> list[Allele]:
    """The alleles that reads of a window spell. Counts and fractions are the least for SNVs and for indels."""
    longest = max(map(len, reads), default=0)
    for k in KS:
        if k > min(longest - 10, len(reference) // 2):
            break
        weights = _edges(reads, k)
        edges = {reference[i : i + k + 1] for i in range(len(reference) - k)} | set(weights)
        edges -= _errors(reference, edges, weights, k, min(counts))
        united = _united(reference, edges, weights, k, min(counts))
        weights += united
        joined = _joined_ends(reference, _chains(reference, edges, weights, k), k, min(counts))
        for letters, weight in joined if len(joined) <= MOST_ENDS else []:
            for i in range(len(letters) - k):
                weights[letters[i : i + k + 1]] += weight
                edges.add(letters[i : i + k + 1])
        chains = _chains(reference, edges, weights, k)
        kept = _kept(reference, chains, k, min(counts))
        if kept is None or _is_cyclic(_beside(reference, kept, k)):
            continue
        ways = _detours(reference, weights, chains, kept, k, united)
        if any(way.end - k <= way.begin and _copied(way, k) < LEAST_COPIED for way in ways):
            continue
        found = set()
        for way in ways:
            if way.end - k <= way.begin:
                # It leads back: behind it comes the reference up to where it left.
                copy = reference[way.end : way.begin + k]
                way = way._replace(letters=way.letters + copy, end=way.begin + k)
            shown = list(_joined(reference, list(_differences(reference, way))))
            if way.is_united and not any(allele[2] for allele in shown):
                continue  # alignments show SNVs that stand alone
            for allele in shown:
                is_indel = allele[2]
                if way.weight >= max(counts[is_indel], fractions[is_indel] * way.leaving):
                    found.add((start + allele[0], *allele[1:]))
        return sorted(found)
    return []


def _edges(reads: list[str], k: int) -> Counter[str]:
    """How often each stretch of k + 1 letters is read: an edge from its first k letters to its last k."""
    return Counter(read[i : i + k + 1] for read in reads for i in range(len(read) - k))


def _runs(reference: str, edges: set[str], k: int) -> list[list[str]]:
    """The edges of each chain. Only nodes beside the reference with one edge on either side lie inside one."""
    behind, before = defaultdict(list), defaultdict(list)
    for edge in edges:
        behind[edge[:-1]].append(edge)
        before[edge[1:]].append(edge)
    own = {reference[i : i + k] for i in range(len(reference) - k + 1)}
    inside = {node for node in behind if node not in own and len(behind[node]) == len(before[node]) == 1}
    runs = []
    for edge in edges:
        if edge[:-1] not in inside:
            runs.append([edge])
            while runs[-1][-1][1:] in inside:
                runs[-1].append(behind[runs[-1][-1][1:]][0])
    return runs


def _chains(reference: str, edges: set[str], weights: Counter[str], k: int) -> dict[str, int]:
    """The weight of each edge's chain."""
    chains = {}
    for run in _runs(reference, edges, k):
        chains |= dict.fromkeys(run, max(weights[edge] for edge in run))
    return chains


def _errors(reference: str, edges: set[str], weights: Counter[str], k: int, least: int) -> set[str]:
    """The edges of light chains between heavier ones or the reference, or beside one of these and nothing else."""
    chains = _chains(reference, edges, weights, k)
    own = {reference[i : i + k] for i in range(len(reference) - k + 1)}
    leaving, arriving = defaultdict(int), defaultdict(int)
    for edge, weight in chains.items():
        leaving[edge[:-1]] = max(leaving[edge[:-1]], weight)
        arriving[edge[1:]] = max(arriving[edge[1:]], weight)
    dropped = set()
    for run in _runs(reference, edges, k):
        start, end, weight = run[0][:-1], run[-1][1:], chains[run[0]]
        if weight >= least or run[0] in reference:
            continue  # the reference, or no error
        leaves_heavier, meets_heavier = start in own or leaving[start] > weight, end in own or arriving[end] > weight
        begins, ends = start not in own and start not in arriving, end not in own and end not in leaving
        if (leaves_heavier and (meets_heavier or ends)) or (meets_heavier and begins):
            dropped |= set(run)
    return dropped


def _united(reference: str, edges: set[str], weights: Counter[str], k: int, least: int) -> Counter[str]:
    """What light chains weigh more with all that leave, or reach, a node beside the reference."""
    own = {reference[i : i + k] for i in range(len(reference) - k + 1)}
    chains = _chains(reference, edges, weights, k)
    runs = [run for run in _runs(reference, edges, k) if run[0] not in reference]
    leaving, arriving = defaultdict(list), defaultdict(list)
    for run in runs:
        leaving[run[0][:-1]].append(chains[run[0]])
        arriving[run[-1][1:]].append(chains[run[0]])

    def of_all(node: str, of: list[int]) -> int:
        return sum(of) if node not in own and max(of) < least else 0

    more = Counter[str]()
    for run in runs:
        start, end, weight = run[0][:-1], run[-1][1:], chains[run[0]]
        together = max(of_all(start, leaving[start]), of_all(end, arriving[end]))
        if together >= least:
            more[run[0]] = max(0, together - weight)
    return more


def _joined_ends(reference: str, chains: dict[str, int], k: int, least: int) -> list[tuple[str, int]]:
    """The letters that lead dangling ends to the reference, and the weights of their edges."""
    own = {reference[i : i + k] for i in range(len(reference) - k + 1)}
    arriving, leaving = defaultdict(int), defaultdict(int)
    for edge, weight in chains.items():
        if weight >= least:
            leaving[edge[:-1]] = max(leaving[edge[:-1]], weight)
            arriving[edge[1:]] = max(arriving[edge[1:]], weight)
    found = []
    for node in (arriving.keys() ^ leaving.keys()) - own:
        stops = node in arriving
        for size in range(k - 1, LEAST_OVERLAP - 1, -1):
            shared = node[-size:] if stops else node[:size]
            places = [i for i in range(len(reference) - size + 1) if reference.startswith(shared, i)]
            if not places:
                continue
            begin = places[0] if stops else places[0] + size - k
            inner = shared[:INNER] if stops else shared[-INNER:]
            is_repeat = any(inner[unit:] == inner[:-unit] for unit in range(1, LONGEST_UNIT + 1))
            if len(places) == 1 and not is_repeat and 0 <= begin <= len(reference) - k:
                behind = node + reference[begin + size : begin + k]
                before = reference[begin : begin + k - size] + node
                found.append((behind if stops else before, max(arriving.get(node, 0), leaving.get(node, 0))))
            break
    return found


def _kept(reference: str, chains: dict[str, int], k: int, least: int) -> set[str] | None:
    """The edges on ways from the reference back to it; None where the reference repeats itself."""
    nodes = [reference[i : i + k] for i in range(len(reference) - k + 1)]
    if len(set(nodes)) < len(nodes):
        return None
    edges = {reference[i : i + k + 1] for i in range(len(reference) - k)}
    edges |= {edge for edge, weight in chains.items() if weight >= least}
    following, preceding = defaultdict(set), defaultdict(set)
    for edge in edges:
        following[edge[:-1]].add(edge[1:])
        preceding[edge[1:]].add(edge[:-1])
    behind, before = _reached(nodes, following), _reached(nodes, preceding)
    return {edge for edge in edges if edge[:-1] in behind and edge[1:] in before}


def _reached(nodes: list[str], neighbours: dict[str, set[str]]) -> set[str]:
    seen, open_nodes = set(nodes), list(nodes)
    while open_nodes:
        for node in neighbours.get(open_nodes.pop(), ()):
            if node not in seen:
                seen.add(node)
                open_nodes.append(node)
    return seen


def _beside(reference: str, edges: set[str], k: int) -> set[str]:
    """The edges between nodes that the reference lacks."""
    nodes = {reference[i : i + k] for i in range(len(reference) - k + 1)}
    return {edge for edge in edges if edge[:-1] not in nodes and edge[1:] not in nodes}


def _is_cyclic(edges: set[str]) -> bool:
    left = set(edges)
    while left:
        starts = {edge[:-1] for edge in left} - {edge[1:] for edge in left}
        if not starts:
            return True
        left = {edge for edge in left if edge[:-1] not in starts}
    return False


class _Way(NamedTuple):
    """A way beside reference[begin:end]: letters, weights of its lightest chain and of all edges where it leaves.

    `is_united`: it has chains that errors split.
    """

    begin: int
    end: int
    letters: str
    weight: int
    leaving: int
    is_united: bool


def _copied(way: _Way, k: int) -> int:
    """The letters from those that a way comes back to, to their copy."""
    return way.begin - (way.end - k) + len(way.letters) - k


def _detours(
    reference: str, weights: Counter[str], chains: dict[str, int], kept: set[str], k: int, united: Counter[str]
) -> list[_Way]:
    """Ways that leave the reference and come back, the heaviest of each place."""
    place = {reference[i : i + k]: i for i in range(len(reference) - k + 1)}
    own = {reference[i : i + k + 1] for i in range(len(reference) - k)}
    found = []
    for node, begin in place.items():
        leaving = sum(weights[node + letter] for letter in "ACGT")
        ways = []
        unfinished = [(node + letter, chains[node + letter]) for letter in "ACGT" if node + letter in kept - own]
        while unfinished:
            letters, weight = unfinished.pop()
            if letters[-k:] in place:
                is_united = any(united[letters[i : i + k + 1]] for i in range(len(letters) - k))
                ways.append(_Way(begin, place[letters[-k:]] + k, letters, weight, leaving, is_united))
                continue
            edges = [letters[-k:] + letter for letter in "ACGT"]
            unfinished += [(letters + edge[-1], min(weight, chains[edge])) for edge in edges if edge in kept]
        found += sorted(ways, key=lambda way: (-way.weight, way.letters))[:MOST_DETOURS]
    return found


def _differences(reference: str, way: _Way) -> Iterator[Allele]:
    """Where a way differs from the reference. Indels are shifted left, up to the difference before them."""
    target = reference[way.begin : way.end]
    scoring = replace(PRESETS["gatk-haplotype"], mode="global")
    if len(target) - len(way.letters) >= 50:
        scoring = replace(scoring, gap_open=-600)
    (pair,) = align(way.letters, target, scoring=scoring, backend="cpu")
    position, query, lowest = way.begin, 0, 0
    for length, operation in re.findall(r"(\d+)([MID])", pair.cigar):
        size = int(length)
        anchor = position - 1
        if operation == "M":
            for i in range(size):
                if reference[position + i] != way.letters[query + i]:
                    lowest = position + i
                    yield lowest, 1, False, way.letters[query + i]
        elif operation == "I":
            letters = way.letters[query : query + size]
            while anchor > lowest and reference[anchor] == letters[-1]:
                anchor, letters = anchor - 1, letters[-1] + letters[:-1]
            yield anchor, 0, True, letters
            lowest = position
        else:
            while anchor > lowest and reference[anchor] == reference[anchor + size]:
                anchor -= 1
            yield anchor, size, True, ""
            lowest = position + size
        position += size * (operation != "I")
        query += size * (operation != "D")


def _joined(reference: str, differences: list[Allele]) -> Iterator[Allele]:
    """Differences of a way: several near each other, or an insertion and a deletion behind one base, are one."""

    def begin(of: Allele) -> int:
        return of[0] + of[2]

    def end(of: Allele) -> int:
        return begin(of) + of[1]

    while differences:
        size = 1
        while size < len(differences) and begin(differences[size]) <= end(differences[size - 1]) + NEAR:
            size += 1
        near, differences = differences[:size], differences[size:]
        indels = [position for position, _, is_indel, _ in near if is_indel]
        left = sum(begin(one) - end(before) for before, one in pairwise(near))
        are_related = left >= LEFT_OF_EACH * sum(max(one[1], len(one[3])) for one in near)
        few = len(set(indels)) == len(indels) and not (size > MOST_APART and len(indels) > MOST_INDELS)
        if are_related or few:
            yield from near
            continue
        first, letters = begin(near[0]), ""
        last = first
        for one in near:
            letters += reference[last : begin(one)] + one[3]
            last = end(one)
        yield first - 1, last - first, True, letters
