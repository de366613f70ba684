"""Tables of `pairhmm map` for a made-up cohort: families, swapped labels, duplicates and contaminated samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

SITES, ALPHA, PASSES, NEAR = 1500, 0.3, 5, 4
GROUPS = {"kmers": 0.5, "genotypes": 0.3, "sheet": 0.2}
DISTANCES = "#sample_1\tsample_2\tjaccard\tmash_distance\tcontainment\tani\n"
PAIRS = "#sample_1\tsample_2\tsites\tconcordance\tibs0\tibs2\tshared_hets\trelatedness\texpected\tfound\tflags\tnote\n"
CHECKS = "#sample\tsites\tdepth\theterozygosity\tcontamination\tcontamination_low\tcontamination_high\tflags\n"


@dataclass(frozen=True)
class CohortTables:
    """Paths of the four tables, and who is in them."""

    map: Path
    distances: Path
    pairs: Path
    checks: Path
    samples: list[str]

    @property
    def arguments(self) -> list[object]:
        return [
            *("--map", self.map, "--distances", self.distances),
            *("--pairs", self.pairs, "--sample-checks", self.checks),
        ]


def write_tables(folder: Path, families: int = 15, *, clean: bool = False) -> CohortTables:
    """Families of two parents and two children. Unless `clean`, three pairs are swapped, two samples duplicates of
    others, and two contaminated."""
    rng = np.random.default_rng(21)
    people = [person for family in range(families) for person in family_of(rng, family)]
    roles = "father", "mother", "child1", "child2"
    labels = [f"F{number // 4 + 1:02}-{roles[number % 4]}" for number in range(len(people))]
    genotypes = np.array(people)
    flags: list[set[str]] = [set() for _ in labels]
    expected = {pair: relation_by_sheet(*pair) for pair in combinations(range(len(labels)), 2)}
    if not clean:
        for one, other in ((2, 9), (17, 30), (40, 53)):
            genotypes[[one, other]] = genotypes[[other, one]]
            flags[one].add("swap?")
            flags[other].add("swap?")
        for one, other in ((5, 25), (36, 48)):
            genotypes[other] = genotypes[one]
            flags[one].add("duplicate")
            flags[other].add("duplicate")
        flags[13].add("contaminated")
        flags[58].add("contaminated")
    tables = CohortTables(
        folder / "positions.tsv", folder / "distances.tsv", folder / "pairs.tsv", folder / "samples.tsv", labels
    )
    write_pairs(tables, genotypes, expected, flags)
    write_checks(tables, genotypes, flags, rng)
    write_positions(tables, write_distances(tables, genotypes, rng), rng)
    return tables


def family_of(rng: np.random.Generator, family: int) -> list[np.ndarray]:
    shares = np.random.default_rng(5).uniform(0.1, 0.9, SITES)
    parents = [rng.random((2, SITES)) < shares for _ in range(2)]

    def child() -> np.ndarray:
        return np.array([np.where(rng.random(SITES) < 0.5, *parent) for parent in parents])

    return [one.sum(axis=0) for one in (*parents, child(), child())]


def relation_by_sheet(one: int, other: int) -> str:
    if one // 4 != other // 4 or (one % 4, other % 4) == (0, 1):
        return "unrelated"
    return "siblings" if one % 4 > 1 else "parent-child"


def relation_found(relatedness: float, ibs0: int) -> str:
    if relatedness > 0.9:
        return "identical"
    if relatedness < 0.2:
        return "unrelated"
    return "parent-child" if ibs0 < 0.005 * SITES else "siblings"


def write_pairs(tables, genotypes, expected, flags) -> None:
    rows = [PAIRS]
    for (one, other), by_sheet in expected.items():
        a, b = genotypes[one], genotypes[other]
        ibs0, ibs2, both = int((abs(a - b) == 2).sum()), int((a == b).sum()), int(((a == 1) & (b == 1)).sum())
        relatedness = (both - 2 * ibs0) / min((a == 1).sum(), (b == 1).sum())
        found = relation_found(relatedness, ibs0)
        own = {"duplicate"} & flags[one] & flags[other] if found == "identical" else set()
        if found != by_sheet and "swap?" in flags[one] | flags[other]:
            own = own | {"swap?"}
        numbers = [SITES, f"{ibs2 / SITES:.4f}", ibs0, ibs2, both, f"{relatedness:.4f}"]
        names = tables.samples[one], tables.samples[other]
        note = f"allelic imbalance in {names[0]}" if "duplicate" in own else "."
        rows.append("\t".join(map(str, [*names, *numbers, by_sheet, found, ",".join(own) or ".", note])) + "\n")
    tables.pairs.write_text("".join(rows))


def write_checks(tables, genotypes, flags, rng) -> None:
    rows = [CHECKS]
    for number, name in enumerate(tables.samples):
        share = {13: 0.031, 58: 0.098}.get(number, 0.0004) if "contaminated" in flags[number] else 0.0004
        numbers = [SITES, f"{rng.normal(30, 2):.1f}", f"{(genotypes[number] == 1).mean():.4f}"]
        interval = [share, round(max(0, share - 0.004), 4), round(share + 0.004, 4)]
        rows.append("\t".join(map(str, [name, *numbers, *interval, ",".join(sorted(flags[number])) or "."])) + "\n")
    tables.checks.write_text("".join(rows))


def write_distances(tables, genotypes, rng) -> np.ndarray:
    rows, count = [DISTANCES], len(tables.samples)
    matrix = np.zeros((count, count))
    for one, other in combinations(range(count), 2):
        mash = 0.003 * abs(genotypes[one] - genotypes[other]).mean() * rng.uniform(0.97, 1.03)
        matrix[one, other] = matrix[other, one] = mash
        jaccard = np.exp(-21 * mash) / (2 - np.exp(-21 * mash))
        numbers = [f"{jaccard:.5f}", f"{mash:.6f}", f"{2 * jaccard / (1 + jaccard):.5f}", f"{1 - mash:.6f}"]
        rows.append("\t".join([tables.samples[one], tables.samples[other], *numbers]) + "\n")
    tables.distances.write_text("".join(rows))
    return matrix


def write_positions(tables, distances, rng) -> None:
    count = len(tables.samples)
    nearest = np.argsort(distances + 9 * np.eye(count), axis=1)[:, :NEAR]
    family = np.repeat(rng.normal(0, 0.8, (len(GROUPS), count // 4, 2)), 4, axis=1)
    own = np.round(family + rng.normal(0, 0.35, (len(GROUPS), count, 2)), 6)
    start = sum(weight * group for weight, group in zip(GROUPS.values(), own, strict=True))
    places = start
    for _ in range(PASSES):
        places = (1 - ALPHA) * start + ALPHA * places[nearest].mean(axis=1)
    squares = distances**2
    centred = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centred @ squares @ centred)
    exact = vectors[:, -2:] * np.sqrt(values[-2:])
    weights = ",".join(f"{name}={weight}" for name, weight in GROUPS.items())
    rows = [
        f"##pairhmmMapSeed=1\n##pairhmmMapWeights={weights}\n##pairhmmMapAlpha={ALPHA}\n##pairhmmMapPasses={PASSES}\n",
        f"##pairhmmMapNeighbours={NEAR}\n##pairhmmMapTrustworthiness=map=0.713,exact=0.934\n",
        "#sample\tx\ty\texact_x\texact_y\tcell_x\tcell_y\tneighbours\t",
        "\t".join(f"{name}_{axis}" for name in GROUPS for axis in "xy") + "\n",
    ]
    for number, name in enumerate(tables.samples):
        numbers = [*(f"{value:.6f}" for value in (*places[number], *exact[number])), 0, 0]
        others = ",".join(tables.samples[other] for other in nearest[number])
        rows.append("\t".join(map(str, [name, *numbers, others, *own[:, number].ravel()])) + "\n")
    tables.map.write_text("".join(rows))
