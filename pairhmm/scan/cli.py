"""`pairhmm scan`: signatures in samples."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.compute import one_device_options, threads_option
from pairhmm.cli.fields import default_of, option, output_option
from pairhmm.cli.help_style import COMPUTE, INPUT, MATCHES, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE, Size
from pairhmm.cli.progress import byte_progress
from pairhmm.scan import files as scan
from pairhmm.scan.base import ScanOptions, Tiling
from pairhmm.scan.outputs import Reports

EXAMPLES = (
    "pairhmm scan --signatures viruses.fa -o hits.tsv sample.fastq.gz",
    "pairhmm scan --signatures viruses.fa --tile 31 --step 31 sample.fastq.gz",
    "pairhmm scan --signatures viruses.fa --all --max-mismatches 2 sample.fastq.gz",
)

BOTH, FORWARD = "both", "forward"

_DEFAULTS = ScanOptions()


@click.command("scan", cls=Command, examples=EXAMPLES)
@click.argument(
    "samples",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="SAMPLES...",
    panel=INPUT,
    help="FASTQ, FASTA, BAM, CRAM or SAM files, plain or gzipped. '-' is stdin.",
)
@click.option(
    "--signatures",
    required=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The sequences to look for (FASTA).",
)
@click.option(
    "-f",
    "--reference",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The reference genome (FASTA) that CRAM files are decoded with.",
)
@option(
    scan.scan_files,
    "per_file",
    panel=INPUT,
    help="Each file is one sample. Without this option, each record of a file is one.",
)
@click.option(
    "--strand",
    type=click.Choice([BOTH, FORWARD]),
    default=BOTH if _DEFAULTS.both_strands else FORWARD,
    show_default=True,
    metavar="NAME",
    panel=MATCHES,
    help=f"The strands to look at. {BOTH!r} looks for the reverse complement of each signature too; {FORWARD!r} does"
    " not.",
)
@click.option(
    "--tile",
    type=int,
    metavar="N",
    panel=MATCHES,
    help="Each signature is cut into tiles of N letters, and a match is one of a tile. Use it for whole references. N"
    " is 8 to 1000.",
)
@click.option(
    "--step",
    type=int,
    metavar="N",
    panel=MATCHES,
    help="A tile begins at every N-th letter of a signature. Without this option, at every letter.",
)
@click.option(
    "--no-mask",
    is_flag=True,
    panel=MATCHES,
    help="Tiles of low complexity, such as runs of A, are searched for, too. They match reads of any genome.",
)
@option(
    _DEFAULTS,
    "max_mismatches",
    metavar="N",
    panel=MATCHES,
    help="A match has at most this many mismatches.",
)
@option(
    _DEFAULTS,
    "min_informative",
    metavar="N",
    panel=MATCHES,
    help="A match has at least this many columns where neither side is N.",
)
@option(
    _DEFAULTS,
    "min_score",
    metavar="PHRED",
    panel=MATCHES,
    help="The base qualities under a match sum to at least this score (Phred).",
)
@option(
    _DEFAULTS,
    "min_mean",
    metavar="PHRED",
    panel=MATCHES,
    help="The base qualities under a match have at least this mean (Phred).",
)
@option(
    _DEFAULTS,
    "every_match",
    "--all",
    panel=MATCHES,
    help="Every match is reported. Without this option, only the best match of each record and signature is.",
)
@option(
    Reports(),
    "min_breadth",
    metavar="SHARE",
    panel=MATCHES,
    help="The matches of tiles cover at least this share of a signature that is called present. --tile is needed.",
)
@one_device_options
@threads_option(scan.scan_files)
@option(
    scan.scan_files,
    "chunk_size",
    type=Size(),
    default=Size.text(default_of(scan.scan_files, "chunk_size")),
    metavar="SIZE",
    panel=COMPUTE,
    help="The unpacked records that are held in memory at once, in bytes or with K, M or G. The size changes no"
    " result.",
)
@output_option("The table of hits (TSV). '-' is stdout.")
@option(
    Reports(),
    "assignment",
    "--assignment-format",
    panel=OUTPUT,
    help="Lines of 'sample: signature (mean) [hash]' are written in place of the table.",
)
@click.option(
    "--summary",
    metavar="PREFIX",
    panel=OUTPUT,
    help="Two more tables are written: PREFIX.samples.tsv and PREFIX.signatures.tsv.",
)
@click.option(
    "--candidates",
    metavar="PREFIX",
    panel=OUTPUT,
    help="Each read that a tile matches is written to PREFIX.reads.fq, and the part of a signature that it lies"
    " on to PREFIX.parts.fa. 'align --mode semi-global' aligns them with insertions and deletions.",
)
@click.option(
    "--multiqc",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="A table for MultiQC is written too. The name of FILE ends in _mqc.json.",
)
@click.option(
    "--multiqc-sample",
    metavar="NAME",
    panel=OUTPUT,
    help="All files are of this sample, which gets one row in the table for MultiQC. Without this option, each file"
    " gets one.",
)
def command(
    samples: tuple[str, ...],
    signatures: str,
    reference: str | None,
    per_file: bool,
    strand: str,
    max_mismatches: int,
    min_informative: int,
    min_score: float,
    min_mean: float,
    every_match: bool,
    tile: int | None,
    step: int | None,
    no_mask: bool,
    min_breadth: float,
    backend: str,
    device: int | None,
    threads: int,
    chunk_size: int,
    output: str,
    assignment: bool,
    summary: str | None,
    candidates: str | None,
    multiqc: str | None,
    multiqc_sample: str | None,
) -> None:
    """Find signatures in samples, with the base qualities under each match.

    A match is the whole signature, or with --tile a part of it. IUPAC codes match where they have a base in common; N
    matches anything, on either side. docs/scan.md describes the columns of the tables.
    """
    if multiqc_sample is not None and multiqc is None:
        raise click.UsageError("--multiqc-sample needs --multiqc.")
    if step is not None and tile is None:
        raise click.UsageError("--step needs --tile.")
    if no_mask and tile is None:
        raise click.UsageError("--no-mask needs --tile.")

    options = ScanOptions(
        both_strands=strand == BOTH,
        max_mismatches=max_mismatches,
        min_informative=min_informative,
        min_score=min_score,
        min_mean=min_mean,
        every_match=every_match,
    )
    with byte_progress(samples) as watch:
        scan.scan_files(
            signatures,
            samples,
            output,
            options=options,
            tiling=None if tile is None else Tiling(tile, step if step is not None else 1, mask=not no_mask),
            per_file=per_file,
            reports=Reports(assignment, summary, multiqc, multiqc_sample, min_breadth, candidates),
            reference=reference,
            chunk_size=chunk_size,
            backend=backend,
            device=device,
            threads=threads,
            watch=watch,
        )
