"""Speed and memory of `pairhmm scan` on one thread, beside a compiled brute force in the same run.

    python benchmarks/scan.py [--rounds 5] [--tables reference,many,short] [--workdir scan-work]

The workloads are made once, in the work folder, by `pairhmm simulate`. "Matching" is the scanner alone, on blocks that
have been read; a process is timed from its start to its end, on one core where the system can pin it, and its best
round counts. Needs a C++ compiler for the brute force.
"""

from __future__ import annotations

import ctypes
import gzip
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from processes import made, measure, pairhmm
from tables import parser, write

from pairhmm.alignments.record_blocks import sample_blocks
from pairhmm.backends.cpu import chosen_isa
from pairhmm.files import byte_stream
from pairhmm.scan.base import SCANNERS, Patterns, ScanOptions
from pairhmm.scan.files import CHUNK_SIZE
from pairhmm.sequences.fastx import open_sequences
from pairhmm.sequences.letters import ANY, reverse_complement
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import read_signatures
from pairhmm.simulate.signatures import simulate_samples, simulate_signatures

HERE = Path(__file__).resolve().parent
BRUTE_FORCE_BASES = 300_000
READS, READ_LENGTH = 1_000_000, 150
WITH_SIGNATURE = 0.2
QUALITIES, THEIR_SHARES = np.array([2, 12, 23, 37], dtype=np.uint8), [0.02, 0.05, 0.1, 0.83]


def main() -> None:
    parsed = parser(__doc__, "scan-work", rounds=5)
    parsed.add_argument("--tables", default="reference,many,short")
    options = parsed.parse_args()
    options.workdir.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[Path, int], dict[str, Any]]] = {"reference": reference, "many": many, "short": short}
    tables = {}
    for name in options.tables.split(","):
        figures = makers[name](options.workdir, options.rounds)
        tables[name] = [{"what": what, "figure": figure} for what, figure in figures.items()]
    write(options.output, tables, level=chosen_isa(), gunzip=byte_stream.gunzip.__name__)


def reference(folder: Path, rounds: int) -> dict[str, Any]:
    """1,000 signatures of 3,000 to 10,000 bases in 160 Mbp of samples, a tenth of all letters N."""
    signatures, samples, truth = folder / "signatures.fa", folder / "samples.fq", folder / "truth.tsv"
    made(signatures, lambda path: simulate_signatures(path))
    made(samples, lambda path: simulate_samples(signatures, path, truth=truth))
    packed = made(folder / "samples.fq.gz", lambda path: pack(samples, path))
    both = matching(signatures, samples, rounds, ScanOptions())
    forward = matching(signatures, samples, rounds, ScanOptions(both_strands=False))
    brute = brute_force(signatures, samples, truth)
    hits = folder / "hits.tsv"
    plain = process(signatures, samples, hits, rounds)
    rows = [line.split("\t") for line in hits.read_text().splitlines()[1:]]
    found = {(row[1], row[3], row[4], row[6]) for row in rows}
    planted = {
        (row[0], row[1], row[2], row[4]) for row in (line.split("\t") for line in truth.read_text().splitlines()[1:])
    }
    return {
        "bases": both["bases"],
        "planted": len(planted),
        "planted and found": len(planted & found),
        "hits": len(rows),
        "matching, both strands, s": both["seconds"],
        "matching, forward, s": forward["seconds"],
        "patterns and index, s": both["setup"],
        "brute force, ns a base and pattern": brute["ns"],
        "brute force finds the same on its slice": brute["same"],
        "brute force of all, both strands, s (from the slice)": round(
            brute["ns"] * 1e-9 * both["bases"] * both["patterns"]
        ),
        "times faster than brute force": round(brute["ns"] * 1e-9 * both["bases"] * both["patterns"] / both["seconds"]),
        "process, plain FASTQ, s": plain["seconds"],
        "process, gzip, s": process(signatures, packed, hits, rounds)["seconds"],
        "process, peak MB": plain["megabytes"],
        "process, four times the input, peak MB": process(signatures, samples, hits, 1, copies=4)["megabytes"],
    }


def many(folder: Path, rounds: int) -> dict[str, Any]:
    """The samples of `reference`, against ten times as many signatures."""
    signatures = made(folder / "signatures-10k.fa", lambda path: simulate_signatures(path, count=10_000))
    few, samples = folder / "signatures.fa", folder / "samples.fq"
    made(few, lambda path: simulate_signatures(path))
    made(samples, lambda path: simulate_samples(few, path, truth=folder / "truth.tsv"))
    one = matching(few, samples, rounds, ScanOptions())
    ten = matching(signatures, samples, rounds, ScanOptions())
    return {
        "matching, 1,000 signatures, s": one["seconds"],
        "matching, 10,000 signatures, s": ten["seconds"],
        "ratio": round(ten["seconds"] / one["seconds"], 2),
        "patterns and index, 10,000 signatures, s": ten["setup"],
        "process, 10,000 signatures, peak MB": process(signatures, samples, folder / "hits.tsv", 1)["megabytes"],
    }


def short(folder: Path, rounds: int) -> dict[str, Any]:
    """A million reads of 150 bases, 5,000 signatures of 30 to 60, both strands; a fifth of the reads have one."""
    signatures = made(
        folder / "short.fa",
        lambda path: simulate_signatures(path, count=5000, min_length=30, max_length=60, n_ratio=0.0),
    )
    reads = made(folder / "short.fq", lambda path: make_reads(signatures, path))
    bam = made(folder / "short.bam", lambda path: make_bam(reads, path))
    hits = folder / "hits.tsv"
    from_fastq, from_bam = (process(signatures, path, hits, rounds) for path in (reads, bam))
    return {
        "matching, s": matching(signatures, reads, rounds, ScanOptions())["seconds"],
        "process, FASTQ, s": from_fastq["seconds"],
        "FASTQ, M reads/s": round(READS * 1e-6 / from_fastq["seconds"], 2),
        "process, BAM, s": from_bam["seconds"],
        "BAM, M reads/s": round(READS * 1e-6 / from_bam["seconds"], 2),
        "peak MB": max(from_fastq["megabytes"], from_bam["megabytes"]),
        "hits": len(hits.read_text().splitlines()) - 1,
    }


def matching(signatures: Path, samples: Path, rounds: int, options: ScanOptions) -> dict[str, Any]:
    """Seconds of the scanner alone, one thread: the sum over the blocks of each block's best round."""
    known = read_signatures(signatures)
    began = time.perf_counter()
    patterns = Patterns.of(known, options)
    scanner = SCANNERS.load("cpu", patterns, options)
    setup = time.perf_counter() - began
    seconds, bases = 0.0, 0
    for block in sample_blocks(str(samples), CHUNK_SIZE, int(known.lengths.max()) - 1, None, lambda _: None):
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            scanner.scan(block.samples, 1)
            times.append(time.perf_counter() - began)
        seconds += min(times)
        bases += len(block.samples.letters)
    return {"seconds": round(seconds, 3), "setup": round(setup, 3), "bases": bases, "patterns": len(patterns)}


def process(signatures: Path, samples: Path, hits: Path, rounds: int, copies: int = 1) -> dict[str, Any]:
    """Best seconds and peak memory of the command on one core, on so many copies of the input."""
    command = pairhmm("scan", "--signatures", signatures, *[samples] * copies, "-o", hits)
    costs = [measure(command, preexec_fn=on_one_core) for _ in range(rounds)]
    megabytes = max(cost.peak_mb for cost in costs) * 2**20 / 1e6
    return {"seconds": round(min(cost.wall for cost in costs), 2), "megabytes": round(megabytes)}


def on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def brute_force(signatures: Path, samples: Path, truth: Path) -> dict[str, Any]:
    """Nanoseconds a base and pattern on the beginning of a sample that has signatures."""
    options = ScanOptions(min_informative=0, every_match=True)
    patterns = Patterns.of(read_signatures(signatures), options)
    name = truth.read_text().splitlines()[1].split("\t")[0]
    letters = letters_of(samples, name)[:BRUTE_FORCE_BASES]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "brute_force.so"
        source = HERE / "scan" / "brute_force.cpp"
        subprocess.run(["c++", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library], check=True)
        count = ctypes.CDLL(str(library)).count_matches
    count.restype = ctypes.c_int64
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    began = time.perf_counter()
    matches = count(
        pointer(letters.ctypes.data),
        number(len(letters)),
        pointer(patterns.letters.ctypes.data),
        pointer(patterns.offset.ctypes.data),
        number(len(patterns)),
    )
    seconds = time.perf_counter() - began
    found = SCANNERS.load("cpu", patterns, options).scan(Samples.of([letters]), 1).hits
    return {"ns": round(seconds * 1e9 / len(letters) / len(patterns), 3), "same": len(found) == matches}


def letters_of(samples: Path, name: str) -> np.ndarray:
    for block in sample_blocks(str(samples), CHUNK_SIZE, 0, None, lambda _: None):
        for index, record in enumerate(block.names):
            if record == name:
                begin, end = block.samples.offset[index : index + 2]
                return block.samples.letters[begin:end].copy()
    raise SystemExit(f"{samples}: no record {name}: remove the work folder")


def make_reads(signatures: Path, path: Path) -> None:
    """Random reads; some have a signature on either strand, and bases of the lowest quality are N."""
    rng = np.random.default_rng(7)
    known = read_signatures(signatures)
    with open_sequences(path) as write:
        for number in range(READS):
            letters = np.uint8(1) << rng.integers(0, 4, READ_LENGTH, dtype=np.uint8)
            quality = rng.choice(QUALITIES, READ_LENGTH, p=THEIR_SHARES)
            if rng.random() < WITH_SIGNATURE:
                copy = known.sequence(int(rng.integers(0, len(known))))
                at = int(rng.integers(0, READ_LENGTH + 1 - len(copy)))
                letters[at : at + len(copy)] = copy if rng.random() < 0.5 else reverse_complement(copy)
            letters[quality == QUALITIES[0]] = ANY
            write(f"r{number}", letters, quality)


def make_bam(reads: Path, path: Path) -> None:
    import pysam

    pysam.samtools.fqimport("-0", str(reads), "-o", str(path), catch_stdout=False)


def pack(source: Path, destination: Path) -> None:
    with source.open("rb") as plain, gzip.open(destination, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)


if __name__ == "__main__":
    main()
