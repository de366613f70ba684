"""Which virus a read is of: `pairhmm scan --tile` beside kraken2 and minimap2 (Debian), one thread each.

    python benchmarks/viruses.py [--reads 20000] [--rounds 3] [--workdir viruses-work]

The references are 19 viral genomes or segments and SARS-CoV-2, from the reference data (`PAIRHMM_SHARED_DATA`). Reads
are a patient's HIV-1 (2,314, most of 290 to 301 bases), and simulated ones of 300 bases with 0.3% errors: of HIV-1 and
of SARS-CoV-2 at 5, 10 and 15% divergence (substitutions, each read's its own), of HIV-1 at 10% where one difference in
ten is an insertion or deletion of a base, and random ones. A read is of the virus that has most of its matches (scan),
of the primary alignment (minimap2 -x sr), or of the taxon (kraken2, a node for each reference). Time is CPU time (user
and system) from start to end, the best of --rounds; making kraken2's database and minimap2's index is left out of it,
and scan's index is not. The second table is the speed of matching alone, one thread: 200,000 reads of 150 bases, 5% of
them HIV-1 at 10% divergence.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from processes import SHARED, pairhmm
from tables import parser, write

from pairhmm.alignments.record_blocks import sample_blocks
from pairhmm.backends.cpu import chosen_isa
from pairhmm.scan.base import SCANNERS, Patterns, Scanner, ScanOptions, Tiling
from pairhmm.scan.files import CHUNK_SIZE
from pairhmm.scan.tiles import load_tiles
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures, read_signatures

READ_LENGTH, ERRORS = 300, 0.003
BASES = np.frombuffer(b"ACGT", dtype=np.uint8)
Calls = dict[str, str]


def main() -> None:
    parsed = parser(__doc__, "viruses-work", rounds=3)
    parsed.add_argument("--reads", type=int, default=20_000, help="simulated reads of a sample")
    options = parsed.parse_args()
    folder = options.workdir
    folder.mkdir(parents=True, exist_ok=True)
    references = read_references()
    library = folder / "references.fa"
    library.write_text("".join(f">{name}\n{letters}\n" for name, letters in references.items()))
    samples = dict(make_samples(folder, references, options.reads))
    tools = {**scans(library, folder), "minimap2 -x sr": minimap2(library, folder), "kraken2": kraken2(library, folder)}
    rows = []
    for sample, (path, virus, count) in samples.items():
        for tool, (command, read_calls) in tools.items():
            figures = measured(command, read_calls, path, options.rounds)
            rows.append({"sample": sample, "tool": tool} | scored(figures, virus, count))
    matching = speeds(folder, library, references["HIV-1"], options.rounds)
    versions = {tool: version(tool) for tool in ("minimap2", "kraken2")}
    write(options.output, {"reads": rows, "matching": matching}, level=chosen_isa(), **versions)


def version(tool: str) -> str:
    return subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def read_references() -> dict[str, str]:
    """Sequences by the first word of their headers."""
    found: dict[str, str] = {}
    for path in (SHARED / "viruses" / "references.fasta", SHARED / "sigfish-sarscov2" / "nCoV-2019.reference.fasta"):
        for record in path.read_text().split(">")[1:]:
            head, *lines = record.splitlines()
            found["SARS-CoV-2" if "sigfish" in str(path) else head.split()[0]] = "".join(lines).upper()
    return found


def make_samples(folder: Path, references: dict[str, str], count: int) -> Iterator[tuple[str, tuple[Path, str, int]]]:
    """Path, virus and number of reads of each sample; no virus for random reads."""
    patient = SHARED / "viruses" / "hiv-env-CAP188-4_R1.fastq.gz"
    yield "patient", (patient, "HIV-1", 2314)
    genomes = {name: np.frombuffer(letters.encode(), dtype=np.uint8) for name, letters in references.items()}
    kinds = [(virus, percent, 0.0) for virus in ("HIV-1", "SARS-CoV-2") for percent in (5, 10, 15)]
    for virus, percent, gaps in [*kinds, ("HIV-1", 10, 0.1)]:
        name = f"{virus}, {percent}%" + (", gaps" if gaps else "")
        path = folder / f"{name.replace(', ', '-')}.fq"
        write_reads(path, genomes[virus], count, READ_LENGTH, percent / 100, gaps)
        yield name, (path, virus, count)
    random = np.random.default_rng(0).choice(BASES, 10_000_000)
    write_reads(folder / "random.fq", random, count, READ_LENGTH, 0, 0)
    yield "random", (folder / "random.fq", "", count)


def other_bases(rng: np.random.Generator, letters: np.ndarray) -> np.ndarray:
    codes = np.searchsorted(BASES, letters)
    return BASES[(codes + rng.integers(1, 4, len(letters))) % 4]


def write_reads(path: Path, genome: np.ndarray, count: int, length: int, divergence: float, gaps: float) -> None:
    """Reads of both strands. Of the letters that diverge, `gaps` are deleted or stand twice."""
    rng = np.random.default_rng(round(100 * divergence))
    complement = np.zeros(256, dtype=np.uint8)
    complement[BASES] = BASES[::-1]
    with path.open("w") as out:
        for number in range(count):
            begin = int(rng.integers(0, len(genome) - length + 1))
            read = genome[begin : begin + length].copy()
            changed = np.flatnonzero(rng.random(length) < divergence + ERRORS)
            read[changed] = other_bases(rng, read[changed])
            copies = np.ones(length, dtype=np.int64)
            in_gaps = changed[rng.random(len(changed)) < gaps]
            copies[in_gaps] = rng.choice([0, 2], len(in_gaps))
            read = np.repeat(read, copies)
            if rng.random() < 0.5:
                read = complement[read[::-1]]
            out.write(f"@r{number}\n{read.tobytes().decode()}\n+\n{'F' * len(read)}\n")


def speeds(folder: Path, library: Path, hiv: str, rounds: int) -> list[dict[str, Any]]:
    """Matching alone, of tiles at every position and of 1,000 signatures of their lengths."""
    some, other, both = (folder / f"{name}.fq" for name in ("speed-hiv", "speed-random", "speed"))
    write_reads(some, np.frombuffer(hiv.encode(), dtype=np.uint8), 10_000, 150, 0.1, 0)
    write_reads(other, np.random.default_rng(1).choice(BASES, 10_000_000), 190_000, 150, 0, 0)
    both.write_text(some.read_text() + other.read_text())
    blocks = [block.samples for block in sample_blocks(str(both), CHUNK_SIZE, None, None, lambda _: None)]
    reads = sum(len(block) for block in blocks)
    known = read_signatures(library)
    rows = []
    for length, mismatches in ((31, 0), (31, 1), (31, 2), (21, 0), (21, 1), (21, 2)):
        options = ScanOptions(max_mismatches=mismatches)
        tiling = Tiling(length)
        places = [
            (index, at) for index in range(len(known)) for at in range(0, int(known.lengths[index]) - length, 228)
        ]
        cut = [known.sequence(index)[at : at + length] for index, at in places]
        short = Signatures.of([f"{index}:{at}" for index, at in places], cut)
        scanners = {
            "tiles at every position": load_tiles("cpu", Patterns.of(known, options, tiling), options, tiling),
            f"{len(short)} signatures": SCANNERS.load("cpu", Patterns.of(short, options), options),
        }
        for name, scanner in scanners.items():
            seconds = min(cpu_seconds(scanner, blocks) for _ in range(rounds))
            row = {"what": name, "letters": length, "k": mismatches, "M reads/s": round(reads * 1e-6 / seconds, 2)}
            rows.append(row)
    return rows


def cpu_seconds(scanner: Scanner, blocks: Sequence[Samples]) -> float:
    began = time.process_time()
    for block in blocks:
        scanner.scan(block, 1)
    return time.process_time() - began


Tool = tuple[Callable[[Path], list[str]], Callable[[], Calls]]


def scans(library: Path, folder: Path) -> dict[str, Tool]:
    settings = {
        "scan --tile 31, k 0": ("31", "1", "0"),
        "scan --tile 31, k 1": ("31", "1", "1"),
        "scan --tile 31 --step 31, k 1": ("31", "31", "1"),
        "scan --tile 21, k 2": ("21", "1", "2"),
    }
    table = folder / "hits.tsv"

    def command(tile: str, step: str, mismatches: str) -> Callable[[Path], list[str]]:
        told = ["--tile", tile, "--step", step, "--max-mismatches", mismatches, "--summary", str(folder / "scan")]
        start = pairhmm("scan", "--signatures", library, *told, "-o", table)
        return lambda path: [*start, str(path)]

    def calls() -> Calls:
        matches: dict[str, dict[str, int]] = {}
        for line in table.read_text().splitlines()[1:]:
            row = line.split("\t")
            matches.setdefault(row[1], {})[row[3]] = int(row[9])
        return {read: max(found, key=lambda name: found[name]) for read, found in matches.items()}

    return {name: (command(*setting), calls) for name, setting in settings.items()}


def called_present(folder: Path) -> list[str]:
    rows = [line.split("\t") for line in (folder / "scan.signatures.tsv").read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[2] == "present"]


def minimap2(library: Path, folder: Path) -> Tool:
    index, paf = folder / "references.mmi", folder / "minimap2.paf"
    subprocess.run(["minimap2", "-x", "sr", "-d", index, library], check=True, capture_output=True)

    def calls() -> Calls:
        rows = [line.split("\t") for line in paf.read_text().splitlines()]
        return {row[0]: row[5] for row in reversed(rows) if "tp:A:P" in row}

    return lambda path: ["minimap2", "-x", "sr", "-t", "1", "-o", str(paf), str(index), str(path)], calls


def kraken2(library: Path, folder: Path) -> Tool:
    database, out = folder / "kraken2", folder / "kraken2.tsv"
    names = [line[1:] for line in library.read_text().splitlines() if line.startswith(">")]
    shutil.rmtree(database, ignore_errors=True)
    (database / "taxonomy").mkdir(parents=True)
    nodes, taxa = ["1\t|\t1\t|\tno rank\t|\t-\t|"], ["1\t|\troot\t|\t\t|\tscientific name\t|"]
    with (database / "library.fa").open("w") as fasta:
        for number, record in enumerate(library.read_text().split(">")[1:], start=2):
            name, letters = record.splitlines()
            fasta.write(f">{name}|kraken:taxid|{number}\n{letters}\n")
            nodes.append(f"{number}\t|\t1\t|\tspecies\t|\t-\t|")
            taxa.append(f"{number}\t|\t{name}\t|\t\t|\tscientific name\t|")
    (database / "taxonomy" / "nodes.dmp").write_text("\n".join(nodes) + "\n")
    (database / "taxonomy" / "names.dmp").write_text("\n".join(taxa) + "\n")
    for told in (["--add-to-library", str(database / "library.fa"), "--no-masking"], ["--build"]):
        subprocess.run(["kraken2-build", *told, "--db", str(database)], check=True, capture_output=True)

    def calls() -> Calls:
        rows = [line.split("\t") for line in out.read_text().splitlines()]
        return {row[1]: names[int(row[2]) - 2] for row in rows if row[0] == "C" and int(row[2]) > 1}

    start = ["kraken2", "--db", str(database), "--threads", "1", "--output", str(out)]
    return lambda path: [*start, *(["--gzip-compressed"] if path.suffix == ".gz" else []), str(path)], calls


def measured(
    command: Callable[[Path], list[str]], read_calls: Callable[[], Calls], path: Path, rounds: int
) -> dict[str, Any]:
    """What a tool says of a sample, and what it takes."""
    seconds, megabytes = [], 0.0
    told = command(path)
    for _ in range(rounds):
        # A child of this process would count its memory, too.
        timed = ["/usr/bin/time", "-f", "%U %S %M", *told]
        done = subprocess.run(timed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
        user, system, kilobytes = map(float, done.stderr.splitlines()[-1].split())
        seconds.append(user + system)
        megabytes = max(megabytes, kilobytes * 1024 / 1e6)
    present = called_present(Path(told[told.index("-o") + 1]).parent) if "scan" in told else None
    return {"calls": read_calls(), "present": present, "CPU s": round(min(seconds), 2), "MB": round(megabytes)}


def scored(figures: dict[str, Any], virus: str, count: int) -> dict[str, Any]:
    calls = Counter(figures.pop("calls").values())
    return {
        "right, %": round(100 * calls.get(virus, 0) / count, 2),
        "of other viruses": [f"{name} {times}" for name, times in sorted(calls.items()) if name != virus],
        "called present": figures.pop("present"),
        **figures,
    }


if __name__ == "__main__":
    main()
