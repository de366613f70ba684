"""Calls of real reads with truth, beside bcftools and freebayes.

    python benchmarks/real.py --workdir /tmp/real

The windows are those of the folder of reference data (`PAIRHMM_SHARED_DATA`): two of NA12878 (Illumina), and halves of
two of HG002 (PacBio HiFi and nanopore). Those that are missing are left out. Each caller has its options for the kind
of reads, and one thread; QUAL 20 passes for freebayes. An allele is right if it has as many copies as in the truth, and
wrong with another number. Extra are alleles that are not in the truth, where that is complete, and elsewhere. Seconds
are CPU time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pysam
from calling import freebayes, is_there
from models import MORE_TRUTH, compare
from processes import CONFIDENT, NA12878, SHARED, bcftools, made, measure, pairhmm
from tables import parser, write

from pairhmm.bench.dosages import read_dosages


class Window(NamedTuple):
    """Reads with truth, and the options of callers for them.

    `confident` is a BED where the truth is complete, None for everywhere.
    """

    bam: Path
    reference: Path
    truth: Path
    region: str | None
    confident: Path | None
    preset: str = "illumina"
    mpileup: tuple[str, ...] = ()


def hg002(folder: str, region: str, preset: str, mpileup: str) -> Window:
    """A window of long reads of HG002."""
    bam, reference, truth, confident = (
        SHARED / folder / name for name in ("HG002.bam", "ref.fa", "truth.vcf.gz", "confident.bed")
    )
    return Window(bam, reference, truth, region, confident, preset, ("-X", mpileup))


WINDOWS = {
    "chr22 tiny": Window(*NA12878["chr22 tiny"], None),
    "chr20 100 kb": Window(*NA12878["chr20 100 kb"], CONFIDENT),
    "HiFi 52 kb": hg002("hg002-hifi-50kb", "w:60,001-112,463", "hifi", "pacbio-ccs-1.20"),
    "ONT 15 kb": hg002("hg002-ont-15kb", "w:150,001-165,000", "ont", "ont-sup-1.20"),
}


def main() -> None:
    options = parser(__doc__, "real-work")
    options.add_argument("--only", default="", help="only the callers whose name contains this word")
    options.add_argument("--data", default="", help="only the windows whose name contains this word")
    given = options.parse_args()
    rows: list[dict[str, Any]] = []
    for name, window in WINDOWS.items():
        if given.data not in name:
            continue
        if not window.bam.exists():
            print(f"no {window.bam}: left out", file=sys.stderr)
            continue
        folder = given.workdir / name.replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        truth = read_dosages(window.truth, window.reference) | MORE_TRUTH.get(name, {})
        for caller, line in command_lines(window, folder):
            if given.only not in caller or not is_there(caller):
                continue
            cost = measure(line)
            counts = compare(read_dosages(folder / f"{caller}.vcf.gz", window.reference), truth, window.confident)
            rows.append({"data": name, "caller": caller, **counts, "CPU s": cost.cpu})
    write(given.output, {"windows": rows})


def command_lines(window: Window, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The callers with their command lines. Each writes to a file of its name."""
    bam, reference = window.bam, window.reference
    region = ["-r", window.region.replace(",", "")] if window.region else []
    out = {caller: folder / f"{caller}.vcf.gz" for caller in ("pairhmm", "bcftools", "freebayes")}
    options = ["--preset", window.preset, "-@", 1, "--backend", "cpu", *region]
    yield "pairhmm", pairhmm("call", "-f", reference, *options, "-o", out["pairhmm"], bam)
    yield "bcftools", bcftools(reference, [bam], out["bcftools"], [*window.mpileup, *region])
    if window.preset == "ont":  # of which freebayes does not come to an end
        return
    if reference.suffix == ".gz":  # which it doesn't read
        reference = made(folder / "reference.fa", lambda path: unpack(window.reference, path))
    yield "freebayes", freebayes(reference, [bam], out["freebayes"], 2, region)


def unpack(source: Path, target: Path) -> None:
    """Write a bgzipped file as it is without compression."""
    with pysam.BGZFile(str(source), "rb", index=None) as packed:
        target.write_bytes(packed.read())


if __name__ == "__main__":
    main()
