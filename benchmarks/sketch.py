"""Speed of `pairhmm map sketch` beside sourmash and Mash, on the same file in the same run.

    python benchmarks/sketch.py [--rounds 5] [--sourmash sourmash] [--mash mash]

One thread, k 21, from the command's start to its file. Ours keeps 1,024 slots of 8 bits, Mash 1,024 hashes, and
sourmash one hash in 1,000. All take turns by CPU time (user and system), and the best round counts. A sketch of 100 kb
in the same rounds tells what the start of each program takes; it is subtracted. The genome is 100 Mb of random letters,
plain and gzipped, and the reads are FASTQ at a depth of 30 of 2 Mb with 0.5% errors, where k-mers must be seen twice
(sourmash has no such option).
"""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
from processes import measure, pairhmm
from tables import parser, write

from pairhmm.simulate.files import LETTERS, write_fasta

GENOME, SMALL = 100_000_000, 100_000
READ, DEPTH, SEQUENCED, ERRORS = 150, 30, 2_000_000, 0.005


def write_reads(path: Path, rng: np.random.Generator, genome: np.ndarray, count: int) -> None:
    starts = rng.integers(0, len(genome) - READ, count)
    reads = genome[starts[:, np.newaxis] + np.arange(READ)]
    errors = rng.random(reads.shape) < ERRORS
    reads = np.where(errors, (reads + rng.integers(1, 4, reads.shape)) % 4, reads)
    turned = rng.random(count) < 0.5
    reads[turned] = 3 - reads[turned][:, ::-1]
    with path.open("wb") as file:
        for number, read in enumerate(LETTERS[reads]):
            file.write(b"@r%d\n%b\n+\n%b\n" % (number, read.tobytes(), b"I" * READ))


def inputs(folder: Path) -> dict[str, tuple[Path, Path, int]]:
    """Of each kind of input: a file, a small one, and the bases that the first has more."""
    rng = np.random.default_rng(1)
    genome = rng.integers(0, 4, GENOME)
    for name, size in (("genome", GENOME), ("small", SMALL)):
        write_fasta(folder / f"{name}.fa", {"genome": genome[:size]})
        (folder / f"{name}.fa.gz").write_bytes(gzip.compress((folder / f"{name}.fa").read_bytes(), 6))
    reads = SEQUENCED * DEPTH // READ
    write_reads(folder / "genome.fq", rng, genome[:SEQUENCED], reads)
    write_reads(folder / "small.fq", rng, genome[: SMALL // DEPTH], SMALL // READ)
    sizes = {"fa": GENOME - SMALL, "fa.gz": GENOME - SMALL, "fq": reads * READ - SMALL // READ * READ}
    return {kind: (folder / f"genome.{kind}", folder / f"small.{kind}", size) for kind, size in sizes.items()}


def commands(sourmash: str, mash: str, folder: Path, path: Path) -> dict[str, list[str]]:
    is_reads = path.suffix == ".fq"
    found = {"pairhmm": pairhmm("map", "sketch", "-o", folder / "ours", path)}
    if sourmash:
        out = folder / "theirs.zip"
        found["sourmash"] = [sourmash, "sketch", "dna", "-p", "k=21,scaled=1000", "-f", "-o", f"{out}", f"{path}"]
    if mash:
        cut = ["-m", "2"] if is_reads else []
        found["mash"] = [mash, "sketch", *cut, "-k", "21", "-s", "1024", "-p", "1", "-o", f"{folder / 'm'}", f"{path}"]
    return found


def measured(rounds: int, sourmash: str, mash: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, (path, small, bases) in inputs(folder).items():
            best: dict[tuple[str, Path], float] = {}
            for _ in range(rounds):
                for one in (path, small):
                    for tool, command in commands(sourmash, mash, folder, one).items():
                        best[tool, one] = min(best.get((tool, one), np.inf), measure(command).cpu)
            speed = {
                tool: bases / (took - best[tool, small]) / 1e6 for (tool, one), took in best.items() if one == path
            }
            ratio = {tool: speed["pairhmm"] / other for tool, other in speed.items() if tool != "pairhmm"}
            rows.append({"input": kind, "Mbp": bases / 1e6, "Mbp/s": speed, "times as fast as": ratio})
    return rows


def main() -> None:
    parsed = parser(__doc__, rounds=5)
    parsed.add_argument("--sourmash", default="sourmash", help="its command; empty for none")
    parsed.add_argument("--mash", default="mash", help="its command; empty for none")
    given = parsed.parse_args()
    write(given.output, {"sketch": measured(given.rounds, given.sourmash, given.mash)}, cores=os.cpu_count())


if __name__ == "__main__":
    main()
