"""Speed of distances of sketches, on the CPU beside Mash and on a GPU.

    python benchmarks/distances.py --workdir /tmp/distances   # on the CPU
    python benchmarks/distances.py --device cuda              # on a GPU

Each figure is the best of --rounds, in CPU time of one thread. Mash (Debian) compares as many sketches of 1,024 hashes.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from processes import best_of_turns, made, measure
from tables import parser, write

import pairhmm
from pairhmm.map.sketch.base import COMPARERS
from pairhmm.map.sketch.cpu import CpuComparer, levels
from pairhmm.map.sketch.files import write_sketches
from pairhmm.map.sketch.pairs import distances_of, every_pair
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches
from pairhmm.simulate.files import letters
from pairhmm.simulate.reference import relative

K, LENGTH, SAMPLES = 21, 20_000, 1000
SHAPES = ((1024, 8), (8192, 1))
"""Slots and bits."""


def main() -> None:
    parsed = parser(__doc__, "distances-work", rounds=5)
    parsed.add_argument("--mash", default="mash", help="(default: %(default)s)")
    parsed.add_argument("--device", help="a backend with devices, whose speed is measured in place of the CPU's")
    parsed.add_argument("--samples", type=int, default=20_000, help="for --device (default: %(default)s)")
    options = parsed.parse_args()
    options.workdir.mkdir(parents=True, exist_ok=True)
    if options.device:
        name, rows = options.device, device_speeds(options.device, options.samples, options.rounds)
    else:
        name, rows = "speed", cpu_speeds(options.workdir, options.mash, options.rounds)
    write(options.output, {name: rows})


def make_relatives(path: Path) -> None:
    """Write an ancestor and its relatives."""
    rng = np.random.default_rng(0)
    ancestor = rng.integers(0, 4, LENGTH, dtype=np.uint8)
    with path.open("w") as out:
        out.write(f">ancestor\n{letters(ancestor)}\n")
        for number, jaccard in enumerate(np.linspace(0.01, 1, SAMPLES)):
            out.write(f">g{number}\n{letters(relative(ancestor, jaccard, K, rng))}\n")


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
    path = made(workdir / "relatives.fa", make_relatives)
    every = workdir / "all.msh"
    sketch = [mash, "sketch", "-k", str(K), "-s", "1024", "-i", "-o", every, path]
    subprocess.run(sketch, check=True, capture_output=True)
    spent = 1000 * measure([mash, "dist", every, every]).cpu
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
        distances_of(block.equal, sketches.kmers[block.query], sketches.kmers[block.target], sketches.scheme)


def best(rounds: int, work: Callable[[], object]) -> float:
    """The least CPU time of a call, in milliseconds."""
    return round(1000 * best_of_turns(rounds, {"work": work})["work"], 1)


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
