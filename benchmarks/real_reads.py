"""Real reads for throughput.py: NA12878's 100 kb of chromosome 20, ten times, beside simulated reads of that depth.

Each copy is a contig of its own, with the same reads (52x). CPU seconds are those of a megabase: a run on one site is
the start of a caller, and is subtracted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pysam
from accuracy import make_data
from processes import NA12878, Cost, bcftools, made, measure, pairhmm

BAM, FASTA, _, REGION = NA12878["chr20 100 kb"]
COPIES, MARGIN, DEPTH, SEED = 10, 1_000, 52, 1
CALLERS = {"pairhmm": 1, "pairhmm, 2 threads": 2, "bcftools": 1, "freebayes": 1}
"""Threads of each caller."""


def rows(workdir: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each kind of reads and caller, from runs that take turns: the best CPU and wall time count."""
    # The index is what is written last.
    indices = {
        "NA12878": made(workdir / "NA12878-52x" / "aligned.bam.bai", make_copies),
        "simulated": made(workdir / "simulated-52x" / "aligned.bam.bai", make_simulated),
    }
    callers = [name for name in CALLERS if name != "freebayes" or shutil.which(name)]
    kinds = [(reads, name) for reads in indices for name in callers]
    whole: dict[tuple[str, str], list[Cost]] = {kind: [] for kind in kinds}
    start: dict[tuple[str, str], list[Cost]] = {kind: [] for kind in kinds}
    for _ in range(repeats):
        for reads, name in kinds:
            folder = indices[reads].parent
            whole[reads, name].append(measure(command(name, folder)))
            start[reads, name].append(measure(command(name, folder, "-r", site(folder))))
    for reads, name in kinds:
        first = min(cost.cpu for cost in start[reads, name])
        yield {
            "reads": reads,
            "caller": name,
            "CPU s a megabase": min(cost.cpu for cost in whole[reads, name]) - first,
            "start, CPU s": first,
            "wall s": min(cost.wall for cost in whole[reads, name]),
        }


def site(folder: Path) -> str:
    """Two bases in the middle of the first contig: freebayes takes no single one."""
    with pysam.FastaFile(str(folder / "reference.fa")) as reference:
        middle = reference.lengths[0] // 2
        return f"{reference.references[0]}:{middle}-{middle + 1}"


def command(name: str, folder: Path, *limit: str) -> list[str]:
    """The command line of a caller, of the whole file or of a region."""
    reference, bam = folder / "reference.fa", folder / "aligned.bam"
    if name == "bcftools":
        return bcftools(reference, [bam], folder / "bcftools.vcf.gz", limit)
    if name == "freebayes":
        return ["freebayes", "-f", str(reference), *limit, str(bam)]
    out = folder / "calls.vcf"
    return pairhmm("call", "-f", reference, "-@", CALLERS[name], "--backend", "cpu", *limit, "-o", out, bam)


def make_simulated(index: Path) -> None:
    """Simulate one megabase."""
    make_data(index.parent, 1_000_000, DEPTH, SEED)


def make_copies(index: Path) -> None:
    """Write ten contigs that are one window, with some bases on either side, and the reads there."""
    folder = index.parent
    folder.mkdir(parents=True, exist_ok=True)
    chrom, span = str(REGION).replace(",", "").split(":")
    first, last = map(int, span.split("-"))
    start, end = first - 1 - MARGIN, last + MARGIN
    names = [f"copy{number}" for number in range(COPIES)]
    with pysam.FastaFile(str(FASTA)) as fasta:
        window = fasta.fetch(chrom, start, end)
    (folder / "reference.fa").write_text("".join(f">{name}\n{window}\n" for name in names))
    pysam.faidx(str(folder / "reference.fa"))
    with pysam.AlignmentFile(str(BAM)) as source:
        reads = list(source.fetch(chrom, start, end))
        groups = source.header.to_dict()["RG"]
    has_mate = [read.next_reference_id == read.reference_id for read in reads]
    for read in reads:
        read.reference_start -= start
        read.next_reference_start -= start
    contigs = [{"SN": name, "LN": len(window)} for name in names]
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": contigs, "RG": groups}
    with pysam.AlignmentFile(str(folder / "aligned.bam"), "wb", header=header) as copies:
        for number in range(COPIES):
            for read, is_near in zip(reads, has_mate, strict=True):
                read.reference_id = number
                read.next_reference_id = number if is_near else -1
                copies.write(read)
    pysam.index(str(folder / "aligned.bam"))
