"""Viral reads from FASTQ to consensus, beside iVar (Debian): alleles of 5% and more, and the bases of the consensus.

    python benchmarks/viral.py [--workdir viral-work]

The reads are a patient's HIV-1 from the reference data (`PAIRHMM_SHARED_DATA`), as they are and without their first
four bases, which are random, and simulated amplicons of SARS-CoV-2: tiles of 400 bases, pairs of 220, a depth that
varies from tile to tile (log-normal, 400 in the mean) with three dropouts, and four strains of 62, 25, 10 and 3% that
differ from the reference in SNVs and in insertions and deletions of 1 to 9 bases. minimap2 aligns all. Of iVar's
alleles those count that are PASS, of pairhmm's those without a failed filter, both at a depth of 10 or more. Time is
CPU time of calling and consensus, trimming of primers included.
"""

from __future__ import annotations

import csv
import gzip
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pysam
from processes import SHARED, measure, pairhmm
from tables import parser, write

from pairhmm import align

LEAST, DEPTH = 0.05, 10
TILE, STEP, PRIMER, READ, MEAN = 400, 310, 24, 220, 400
WEIGHTS = (0.62, 0.25, 0.10, 0.03)
CARRIERS = ((0, 1, 2, 3), (1,), (0,), (2,), (3,), (1, 2), (0, 3))
Allele = tuple[int, str, str]


class Sample(NamedTuple):
    """Aligned reads. `primers` is None where they are of no scheme."""

    folder: Path
    reference: Path
    bam: Path
    primers: Path | None = None

    @property
    def bases(self) -> str:
        with pysam.FastaFile(str(self.reference)) as file:
            return file.fetch(file.references[0]).upper()


def main() -> None:
    options = parser(__doc__, "viral-work").parse_args()
    makers: dict[str, Callable[[Path], Sample]] = {
        "HIV-1, a patient's": lambda folder: patient(folder, 0),
        "HIV-1, first 4 bases cut": lambda folder: patient(folder, 4),
        "SARS-CoV-2, simulated tiles": tiles,
    }
    rows, differences = [], []
    for number, (name, make) in enumerate(makers.items()):
        folder = options.workdir / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        row, own = compared(make(folder))
        rows.append({"data": name} | row)
        differences += [{"data": name} | one for one in own]
    write(options.output, {"agreement": rows, "differences": differences})


def shell(line: str) -> None:
    subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], check=True, capture_output=True)


def aligned(folder: Path, reference: Path, reads: str, seeds: str, primers: Path | None = None) -> Sample:
    bam = folder / "reads.bam"
    sort = f"samtools sort --write-index -o {bam}##idx##{bam}.bai -"
    group = r"'@RG\tID:s\tSM:s'"
    shell(f"minimap2 -a -x sr {seeds} -R {group} {reference} {reads} | {sort}")
    return Sample(folder, reference, bam, primers)


def patient(folder: Path, cut: int) -> Sample:
    reference, reads = folder / "ref.fa", folder / "reads.fq"
    shell(f"samtools faidx {SHARED / 'viruses' / 'references.fasta'} HIV-1 > {reference}")
    with gzip.open(SHARED / "viruses" / "hiv-env-CAP188-4_R1.fastq.gz", "rt") as lines, open(reads, "w") as out:
        out.writelines(line[cut:] if number % 2 else line for number, line in enumerate(lines))
    return aligned(folder, reference, str(reads), "-k 11")


def tiles(folder: Path) -> Sample:
    """Amplicons of four strains."""
    source = SHARED / "sigfish-sarscov2" / "nCoV-2019.reference.fasta"
    with pysam.FastaFile(str(source)) as file:
        (name,), bases = file.references, file.fetch(file.references[0]).upper()
    (folder / "ref.fa").write_text(f">{name}\n{bases}\n")
    rng = np.random.default_rng(1)
    starts = range(30, len(bases) - TILE, STEP)
    strains = list(strains_of(bases, planted(bases, starts, rng)))
    primers, pairs = [], ([], [])
    for number, start in enumerate(starts, start=1):
        end = start + TILE
        primers.append(f"{name}\t{start}\t{start + PRIMER}\tv_{number}_LEFT\t1\t+")
        primers.append(f"{name}\t{end - PRIMER}\t{end}\tv_{number}_RIGHT\t1\t-")
        depth = {21: 2, 40: 7, 64: 3}.get(number) or rng.poisson(rng.lognormal(np.log(MEAN), 0.6))
        for copy in range(depth):
            bases_of, place_of = strains[rng.choice(len(WEIGHTS), p=WEIGHTS)]
            inner = bases_of[place_of(start + PRIMER) : place_of(end - PRIMER)]
            fragment = bases[start : start + PRIMER] + inner + bases[end - PRIMER : end]
            add_pair(pairs, f"{number}.{copy}", fragment, rng)
    for mate, texts in enumerate(pairs, start=1):
        (folder / f"{mate}.fq").write_text("".join(texts))
    (folder / "primers.bed").write_text("\n".join(primers) + "\n")
    reads = f"{folder}/1.fq {folder}/2.fq"
    return aligned(folder, folder / "ref.fa", reads, "", folder / "primers.bed")


def planted(bases: str, starts: range, rng: np.random.Generator) -> Iterator[tuple[int, str, str, tuple[int, ...]]]:
    """Alleles at least 40 bases apart and beside no primer, with the strains that carry them."""
    near = [*starts, *(start + TILE - PRIMER for start in starts)]
    last = 0
    for number, position in enumerate(sorted(rng.choice(np.arange(300, len(bases) - 300), 60, replace=False).tolist())):
        if position - last < 40 or any(place - 14 < position < place + PRIMER + 2 for place in near):
            continue
        last, length = position, int(rng.choice([1, 3, 6, 9]))
        ref, alt = bases[position], "ACGT"[("ACGT".index(bases[position]) + rng.integers(1, 4)) % 4]
        if number % 10 == 0:
            alt = ref + "".join(rng.choice(list("ACGT"), length))
        elif number % 5 == 0:
            ref, alt = bases[position : position + length + 1], ref
        yield position, ref, alt, CARRIERS[rng.integers(len(CARRIERS))]


def strains_of(bases: str, alleles: Iterator[Any]) -> Iterator[tuple[str, Callable[[int], int]]]:
    """The bases of each strain, and where a position of the reference lies in them."""
    listed = list(alleles)
    for strain in range(len(WEIGHTS)):
        parts, at, shifts = [], 0, []
        for position, ref, alt, carriers in listed:
            if strain in carriers:
                parts += [bases[at:position], alt]
                at = position + len(ref)
                shifts.append((at, len(alt) - len(ref)))
        yield "".join([*parts, bases[at:]]), lambda x, shifts=shifts: x + sum(by for end, by in shifts if end <= x)


def add_pair(mates: tuple[list[str], list[str]], name: str, fragment: str, rng: np.random.Generator) -> None:
    reverse = fragment.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    for texts, letters in zip(mates, (fragment, reverse), strict=True):
        quality = np.clip(rng.normal(36, 3, min(READ, len(letters))), 15, 40).astype(int)
        wrong = rng.random(len(quality)) < 10 ** (-quality / 10)
        read = "".join("ACGT"[rng.integers(4)] if bad else base for base, bad in zip(letters, wrong, strict=False))
        texts.append(f"@{name}\n{read}\n+\n{''.join(chr(33 + one) for one in quality)}\n")


def compared(sample: Sample) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The row of a sample, and its alleles that one of the two lacks or gives another fraction."""
    bases = sample.bases
    ivar, ivar_seconds = run_ivar(sample, bases)
    own, seconds = run_pairhmm(sample, bases)
    both = [allele for allele in ivar if allele in own]
    apart = [own[allele] - ivar[allele] for allele in both]
    sequences = [consensus_of(sample.folder / name) for name in ("ivar.fa", "pairhmm.fa")]
    row = {
        "iVar": sum(share >= LEAST for share in ivar.values()),
        "pairhmm": sum(share >= LEAST for share in own.values()),
        "both": sum(max(ivar[allele], own[allele]) >= LEAST for allele in both),
        "mean difference": float(np.mean(apart)),
        "median |difference|": float(np.median(np.abs(apart))),
        "largest": float(np.max(np.abs(apart))),
        "consensus bases": sum(base != "N" for base in sequences[1]),
        "that differ from iVar's": differing(*sequences),
        "iVar CPU s": ivar_seconds,
        "pairhmm CPU s": seconds,
    }
    listed = [
        {
            "position": at + 1,
            "ref": ref,
            "alt": alt,
            "iVar": ivar.get((at, ref, alt)),
            "pairhmm": own.get((at, ref, alt)),
        }
        for at, ref, alt in sorted({*ivar, *own})
        if max(ivar.get((at, ref, alt), 0), own.get((at, ref, alt), 0)) >= LEAST
        and abs(ivar.get((at, ref, alt), 0) - own.get((at, ref, alt), 0)) > 0.03
    ]
    return row, listed


def run_ivar(sample: Sample, bases: str) -> tuple[dict[Allele, float], float]:
    folder, bam = sample.folder, sample.bam
    lines = []
    if sample.primers is not None:
        lines.append(f"ivar trim -e -b {sample.primers} -p {folder}/trimmed -i {bam}")
        bam = folder / "sorted.bam"
        lines.append(f"samtools sort -o {bam} {folder}/trimmed.bam")
    pileup = "samtools mpileup -aa -A -d 0 -Q 0"
    lines.append(
        f"{pileup} -B -f {sample.reference} {bam} | ivar variants -p {folder}/ivar -t 0.01 -r {sample.reference}"
    )
    lines.append(f"{pileup} {bam} | ivar consensus -p {folder}/ivar -t 0.5 -m {DEPTH}")
    cost = measure(["bash", "-c", " && ".join(lines)])
    alleles: dict[Allele, float] = {}
    with open(folder / "ivar.tsv") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            if row["PASS"] == "TRUE" and int(row["TOTAL_DP"]) >= DEPTH:
                at, alt = int(row["POS"]) - 1, row["ALT"]
                ref = bases[at] + (alt[1:] if alt[0] == "-" else "")
                alt = bases[at] + alt[1:] if alt[0] == "+" else bases[at] if alt[0] == "-" else alt
                alleles[leftmost(bases, at, ref, alt)] = float(row["ALT_FREQ"])
    return alleles, cost.cpu


def run_pairhmm(sample: Sample, bases: str) -> tuple[dict[Allele, float], float]:
    folder = sample.folder
    given = ["-f", sample.reference, *(["--primers", sample.primers] if sample.primers else [])]
    calls, out = folder / "pairhmm.vcf", folder / "pairhmm.fa"
    costs = [
        measure(pairhmm("call", "--mixture", *given, "-o", calls, sample.bam)),
        measure(pairhmm("consensus", *given, "-b", sample.bam, "-o", out, "--min-depth", DEPTH, calls)),
    ]
    alleles: dict[Allele, float] = {}
    with pysam.VariantFile(str(calls)) as records:
        for record in records:
            call = record.samples[0]
            if list(record.filter) != ["PASS"] or call["DP"] < DEPTH:
                continue
            for number, alt in enumerate(record.alts or (), start=1):
                if number in call["GT"] and alt != "*":
                    for one in split(record.start, record.ref, alt):
                        allele = leftmost(bases, *one)
                        alleles[allele] = alleles.get(allele, 0) + call["AF"][number - 1]
    return alleles, sum(cost.cpu for cost in costs)


def split(at: int, ref: str, alt: str) -> list[Allele]:
    """The bases of an MNV, or the allele as it is."""
    if len(ref) != len(alt):
        return [(at, ref, alt)]
    return [(at + i, a, b) for i, (a, b) in enumerate(zip(ref, alt, strict=True)) if a != b]


def leftmost(bases: str, at: int, ref: str, alt: str) -> Allele:
    """An insertion or deletion behind its anchor base, as far to the left as it goes."""
    while len(ref) != len(alt) and at and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
        if not ref or not alt:
            at -= 1
            ref, alt = bases[at] + ref, bases[at] + alt
    while min(len(ref), len(alt)) > 1 and ref[0] == alt[0]:
        at, ref, alt = at + 1, ref[1:], alt[1:]
    return at, ref, alt


def consensus_of(path: Path) -> str:
    return "".join(line for line in path.read_text().upper().split("\n") if not line.startswith(">"))


def differing(one: str, other: str) -> int:
    """Columns of the alignment of two sequences in which they differ. N differs from nothing."""
    (pair,) = align(one, other, scoring="edit")
    count = at = place = 0
    for length, operation in ((int(number), kind) for number, kind in re.findall(r"(\d+)([=XMID])", pair.cigar)):
        own = one[at : at + length] if operation != "D" else "-" * length
        others = other[place : place + length] if operation != "I" else "-" * length
        count += sum(a != b and "N" not in (a, b) for a, b in zip(own, others, strict=True))
        at += length * (operation != "D")
        place += length * (operation != "I")
    return count


if __name__ == "__main__":
    main()
