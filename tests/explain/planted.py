"""Reads of a made-up genome with a planted site, as a BAM."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pysam

LENGTH, READ, SITE = 4_000, 100, 2_000
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}
"""What an SNV makes of each base."""
THIRD = {"A": "G", "C": "T", "G": "A", "T": "C"}
"""What another SNV makes of it."""
GENOME = "".join(np.random.default_rng(11).choice(list("ACGT"), LENGTH))
REVERSE, DUPLICATE = 16, 1024


@dataclass
class Planted:
    """A folder with q.fa, and reads that become q.bam."""

    folder: object
    lines: list[tuple[int, str]] = field(default_factory=list)

    def read(self, start, snvs=(), *, letters=OTHER, deletion=(0, 0), flag=0, mapq=60, quality=30, poor=None):
        """A read with SNVs (0-based places), a deletion, and a lower quality at its SNVs."""
        first, end = deletion
        places = [at for at in range(start, start + READ + end - first) if not first <= at < end]
        assert len(places) == READ
        bases = "".join(letters[GENOME[at]] if at in snvs else GENOME[at] for at in places)
        qualities = "".join(chr(33 + (poor if poor is not None and at in snvs else quality)) for at in places)
        left = sum(at < first for at in places)
        cigar = f"{left}M{end - first}D{READ - left}M" if 0 < left < READ else f"{READ}M"
        self.add(start, cigar, bases, qualities, flag, mapq)

    def add(self, start, cigar, bases, qualities, flag=0, mapq=60):
        """A read by its columns."""
        name = f"r{len(self.lines)}"
        text = f"{name}\t{flag}\tq\t{start + 1}\t{mapq}\t{cigar}\t*\t0\t0\t{bases}\t{qualities}\tRG:Z:s"
        self.lines.append((start, text))

    def reads(self, count, snvs=(), *, flags=(0, REVERSE), **given):
        """So many reads over the site, spread evenly, in turn with each of the flags."""
        for number in range(count):
            start = SITE - 90 + (number * 80) // count
            self.read(start, snvs, flag=flags[number % len(flags)], **given)

    def write(self):
        """Write both files. Returns the arguments of a command that reads them."""
        (self.folder / "q.fa").write_text(f">q\n{GENOME}\n>empty\n{GENOME}\n")
        pysam.faidx(str(self.folder / "q.fa"), catch_stdout=False)
        head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
        body = "".join(f"{line}\n" for _, line in sorted(self.lines))
        (self.folder / "q.sam").write_text(head + body)
        bam = str(self.folder / "q.bam")
        pysam.view("-b", "-o", bam, str(self.folder / "q.sam"), catch_stdout=False)
        pysam.index(bam)
        return bam, str(self.folder / "q.fa")

    def write_list(self, position, alt, *, ref=None):
        """Write a list of one variant (0-based place), an SNV unless `ref` is given."""
        text = f"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nq\t{position + 1}\t.\t"
        path = self.folder / "list.vcf"
        path.write_text(f"{text}{ref or GENOME[position]}\t{alt}\t.\t.\t.\n")
        return str(path)

    def inserted_reads(self, starts, inserted):
        """Reads of a chromosome with an insertion behind `SITE`. Those that end in it are aligned without a gap."""
        genome = GENOME[: SITE + 1] + inserted + GENOME[SITE + 1 :]
        for number, start in enumerate(starts):
            behind = start + READ - (SITE + 1) - len(inserted)
            cigar = f"{READ}M" if behind < 1 else f"{SITE + 1 - start}M{len(inserted)}I{behind}M"
            self.add(start, cigar, genome[start : start + READ], "?" * READ, REVERSE * (number % 2))
