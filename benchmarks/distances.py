"""Distances of sketches: their accuracy beside Mash and sourmash, and their speed on the CPU and on a GPU.

    python benchmarks/distances.py --workdir /tmp/distances              # speed on the CPU
    python benchmarks/distances.py --workdir /tmp/distances --accuracy   # accuracy
    python benchmarks/distances.py --device cuda                         # speed on a GPU

Accuracy: --genomes relatives of a random genome of 20,000 bases, whose Jaccard indices with it are 0.01 to 1 and are
counted from all k-mers. Mash (Debian) and sourmash (PyPI) sketch the same FASTA file, k 21, with as many hashes as a
sketch of ours has slots.

Speed: each figure is the best of --rounds, in CPU time of one thread. Mash compares as many sketches of 1,024 hashes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import pairhmm
from pairhmm.io.sketches.writer import write_sketches
from pairhmm.simulation.relatives import canonical_kmers, random_genome, relative, sequence_of, true_jaccard
from pairhmm.sketching.base import COMPARERS
from pairhmm.sketching.cpu import CpuComparer, levels
from pairhmm.sketching.distances import distances
from pairhmm.sketching.pairing import every_pair
from pairhmm.sketching.sketches import WORD_BITS, Scheme, Sketches

RESULTS = Path(__file__).parent / "results" / "distances.json"
K, LENGTH, SAMPLES = 21, 20_000, 1000
SHAPES = ((1024, 8), (8192, 1))
"""Slots and bits."""


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=Path, default=Path("distances-work"), help="for the made data")
    parser.add_argument("--accuracy", action="store_true", help="measure accuracy in place of speed")
    parser.add_argument("--genomes", type=int, default=SAMPLES, help="(default: %(default)s)")
    parser.add_argument("--mash", default="mash", help="(default: %(default)s)")
    parser.add_argument("--sourmash-python", default="python3", help="one that has sourmash (default: %(default)s)")
    parser.add_argument("--device", help="a backend with devices, whose speed is measured in place of the CPU's")
    parser.add_argument("--samples", type=int, default=20_000, help="for --device (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, default=RESULTS, help="(default: %(default)s)")
    options = parser.parse_args()
    options.workdir.mkdir(parents=True, exist_ok=True)
    if options.accuracy:
        name, rows = "accuracy", accuracy(options.workdir, options.genomes, options.mash, options.sourmash_python)
    elif options.device:
        name, rows = options.device, device_speeds(options.device, options.samples, options.rounds)
    else:
        name, rows = "speed", cpu_speeds(options.workdir, options.mash, options.rounds)
    known = json.loads(options.json.read_text()) if options.json.exists() else {}
    options.json.write_text(json.dumps(known | {name: rows}, indent=1) + "\n")
    columns = list(rows[0])
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(str(row[column]) for column in columns)} |")


def accuracy(workdir: Path, genomes: int, mash: str, python: str) -> list[dict[str, object]]:
    """How near estimates of each program are to the Jaccard indices of relatives with their ancestor."""
    path = workdir / "relatives.fa"
    truth = made_relatives(path, genomes)
    rows = []
    for slots, bits in SHAPES:
        sketches = pairhmm.sketch(path, each_record=True, k=K, slots=slots, bits=bits)
        found = pairhmm.distances(sketches, sketches.part(0, 1)).jaccard[1:]
        rows.append(compared(f"pairhmm, {slots} x {bits}", slots * bits // 8, truth, found))
        rows.append(compared(f"Mash, {slots}", slots * 8, truth, mash_jaccard(workdir, path, mash, slots)))
        found = sourmash_jaccard(path, python, slots)
        rows.append(compared(f"sourmash, {slots}", slots * 8, truth, found))
    return rows


def made_relatives(path: Path, genomes: int) -> np.ndarray:
    """Write an ancestor and its relatives; returns each relative's Jaccard index with it, from all k-mers."""
    rng = np.random.default_rng(0)
    ancestor = random_genome(LENGTH, rng)
    kmers, truth = canonical_kmers(ancestor, K), []
    with path.open("w") as out:
        out.write(f">ancestor\n{sequence_of(ancestor)}\n")
        for number, jaccard in enumerate(np.linspace(0.01, 1, genomes)):
            genome = relative(ancestor, jaccard, K, rng)
            truth.append(true_jaccard(kmers, canonical_kmers(genome, K)))
            out.write(f">g{number}\n{sequence_of(genome)}\n")
    return np.array(truth)


def compared(program: str, sketch_bytes: int, truth: np.ndarray, found: np.ndarray) -> dict[str, object]:
    """Correlation and differences of estimates."""
    differences = found - truth
    return {
        "program": program,
        "bytes a sketch": sketch_bytes,
        "correlation": round(float(np.corrcoef(truth, found)[0, 1]), 5),
        "mean difference": round(float(differences.mean()), 5),
        "root mean square difference": round(float(np.sqrt((differences**2).mean())), 5),
        "largest difference": round(float(np.abs(differences).max()), 4),
    }


def mash_jaccard(workdir: Path, path: Path, mash: str, hashes: int) -> np.ndarray:
    """The Jaccard indices of the relatives with the ancestor, by Mash."""
    every, first = workdir / "all.msh", workdir / "ancestor.fa"
    first.write_text("".join(path.open().readlines()[:2]))
    sketch = [mash, "sketch", "-k", str(K), "-s", str(hashes)]
    subprocess.run([*sketch, "-i", "-o", every, path], check=True, capture_output=True)
    subprocess.run([*sketch, "-o", workdir / "ancestor.msh", first], check=True, capture_output=True)
    told = [mash, "dist", workdir / "ancestor.msh", every]
    lines = subprocess.run(told, check=True, capture_output=True, text=True).stdout.splitlines()
    shared = {line.split("\t")[1]: line.split("\t")[4].split("/") for line in lines}
    return np.array([int(shared[f"g{i}"][0]) / int(shared[f"g{i}"][1]) for i in range(len(shared) - 1)])


SOURMASH = """
import sys, sourmash
path, k, hashes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
first = None
for record in open(path).read().split(">")[1:]:
    sketch = sourmash.MinHash(n=hashes, ksize=k)
    sketch.add_sequence(record.split("\\n")[1])
    if first is None:
        first = sketch
    else:
        print(first.jaccard(sketch))
"""


def sourmash_jaccard(path: Path, python: str, hashes: int) -> np.ndarray:
    """The Jaccard indices of the relatives with the ancestor, by sourmash."""
    told = [python, "-c", SOURMASH, path, str(K), str(hashes)]
    found = subprocess.run(told, check=True, capture_output=True, text=True).stdout.split()
    return np.array(found, dtype=np.float64)


def random_sketches(count: int, slots: int, bits: int) -> Sketches:
    """Sketches of random slots."""
    scheme, rng = Scheme(slots=slots, bits=bits), np.random.default_rng(0)
    planes = rng.integers(0, 2**64, (count, bits, slots // WORD_BITS), dtype=np.uint64)
    kmers = rng.uniform(1e6, 5e6, count)
    return Sketches(scheme, [f"s{number}" for number in range(count)], planes, kmers, np.ones(count, np.int32))


def cpu_speeds(workdir: Path, mash: str, rounds: int) -> list[dict[str, object]]:
    """Milliseconds for each two of 1,000 sketches: equal slots on each level, and all of the command."""
    rows = []
    for slots, bits in SHAPES:
        sketches = random_sketches(SAMPLES, slots, bits)
        row: dict[str, object] = {"sketch": f"{slots} x {bits}", "pairs": SAMPLES * (SAMPLES - 1) // 2}
        for level in levels():
            comparer = CpuComparer(level)
            row[f"{level}, ms"] = best(rounds, partial(counted, sketches, comparer))
        row["with distances, ms"] = best(rounds, partial(all_distances, sketches, comparer))
        write_sketches(workdir / "some.sketches", sketches)
        files = workdir / "some.sketches", workdir / "d.tsv"
        row["file to table, ms"] = best(rounds, partial(pairhmm.write_distances, *files))
        rows.append(row)
    path = workdir / "relatives.fa"
    if not path.exists():
        made_relatives(path, SAMPLES)
    every = workdir / "all.msh"
    sketch = [mash, "sketch", "-k", str(K), "-s", "1024", "-i", "-o", every, path]
    subprocess.run(sketch, check=True, capture_output=True)
    dist = partial(subprocess.run, [mash, "dist", every, every], check=True, stdout=subprocess.DEVNULL)
    spent = best(1, dist, in_children=True)
    row = dict.fromkeys(rows[0], "")
    rows.append(row | {"sketch": "Mash, 1024 hashes", "pairs": (SAMPLES + 1) ** 2, "file to table, ms": spent})
    return rows


def counted(sketches: Sketches, comparer: CpuComparer) -> None:
    """Equal slots of each two sketches."""
    for _ in every_pair(sketches, None, comparer, sketches.scheme.slots + 1, 1):
        pass


def all_distances(sketches: Sketches, comparer: CpuComparer) -> None:
    """Each two sketches, up to ANI."""
    for block in every_pair(sketches, None, comparer, 0, 1):
        distances(block.equal, sketches.kmers[block.query], sketches.kmers[block.target], sketches.scheme)


def best(rounds: int, work: Callable[[], object], in_children: bool = False) -> float:
    """The least CPU time of a call, in milliseconds."""
    who = resource.RUSAGE_CHILDREN if in_children else resource.RUSAGE_SELF
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(who)
        work()
        after = resource.getrusage(who)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(1000 * min(spent), 1)


def device_speeds(backend: str, samples: int, rounds: int) -> list[dict[str, object]]:
    """10^9 pairs a second of a device, each sketch with each: of its kernel by its clock; from sketches on the host to
    counts there; and to the nearest ten."""
    comparer = COMPARERS.load(backend)
    rows = []
    for slots, bits in SHAPES:
        sketches = random_sketches(samples, slots, bits)
        row: dict[str, object] = {"sketch": f"{slots} x {bits}", "samples": samples}
        seconds = comparer.kernel_seconds(sketches, sketches, rounds)
        row["kernel, G pairs/s"] = round(samples**2 / min(seconds) / 1e9, 3) if seconds else ""
        for name, work in (
            ("counts, G pairs/s", partial(comparer.equal_slots, sketches, sketches, 1)),
            ("nearest, G pairs/s", partial(comparer.nearest, sketches, sketches, 10, 1)),
        ):
            row[name] = round(samples**2 / wall(rounds, work) / 1e9, 3)
        rows.append(row)
    return rows


def wall(rounds: int, work: Callable[[], object]) -> float:
    """The least seconds of a call, after one that compiles."""
    spent = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begin)
    return min(spent[1:])


if __name__ == "__main__":
    main()
