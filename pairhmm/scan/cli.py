"""`pairhmm scan`: signatures in samples."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.cli.compute import one_device_options, threads_option
from pairhmm.cli.fields import default_of, option, output_option
from pairhmm.cli.help_style import COMPUTE, INPUT, MATCHES, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE, OUTPUT_FILE, Size, Whole
from pairhmm.cli.progress import byte_progress
from pairhmm.scan import files as scan
from pairhmm.scan.base import LONGEST_TILE, SHORTEST_TILE, ScanOptions, Tiling
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
    help="Treat each file as one sample. By default, each record of a file is a sample.",
)
@click.option(
    "--strand",
    type=click.Choice([BOTH, FORWARD]),
    default=BOTH if _DEFAULTS.both_strands else FORWARD,
    show_default=True,
    metavar="NAME",
    panel=MATCHES,
    help=f"The strands to search: {BOTH}, with the reverse complement of each signature, or {FORWARD}.",
)
@click.option(
    "--tile",
    type=Whole(SHORTEST_TILE, LONGEST_TILE),
    metavar="N",
    panel=MATCHES,
    help="Cut each signature into tiles (k-mers) of N letters, and match tiles in place of whole signatures: for"
    " reference genomes. By default, 31 if most signatures are longer than the first reads; else whole"
    " signatures are matched.",
)
@click.option(
    "--step",
    type=Whole(1),
    metavar="N",
    show_default=str(default_of(Tiling, "step")),
    panel=MATCHES,
    help="Start a tile at every N-th letter of a signature.",
)
@click.option(
    "--no-mask",
    is_flag=True,
    panel=MATCHES,
    help="Keep tiles of low complexity, such as poly-A. By default, they are masked, since they match reads of any"
    " genome.",
)
@option(_DEFAULTS, "max_mismatches", metavar="N", panel=MATCHES, help="Allow at most N mismatches in a match.")
@option(
    _DEFAULTS,
    "min_informative",
    metavar="N",
    panel=MATCHES,
    help="Require at least N columns of a match where neither side is N.",
)
@option(
    _DEFAULTS,
    "min_score",
    metavar="PHRED",
    panel=MATCHES,
    help="Require at least this sum of the base qualities under a match.",
)
@option(
    _DEFAULTS,
    "min_mean",
    metavar="PHRED",
    panel=MATCHES,
    help="Require at least this mean of the base qualities under a match.",
)
@option(
    _DEFAULTS,
    "every_match",
    "--all",
    panel=MATCHES,
    help="Report all matches. By default, only the best match of each record and signature is reported.",
)
@option(
    Reports(),
    "min_breadth",
    metavar="SHARE",
    panel=MATCHES,
    help="The minimum breadth of coverage of a present signature: the share of it that matching tiles cover. Needs"
    " --tile.",
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
    help="The uncompressed size of the records held in memory, in bytes or with K, M or G. Results do not depend on"
    " it.",
)
@output_option("The table of hits (TSV). '-' is stdout.")
@option(
    Reports(),
    "assignment",
    "--assignment-format",
    panel=OUTPUT,
    help="Write lines of 'sample: signature (mean) [hash]' in place of the table.",
)
@click.option(
    "--summary",
    metavar="PREFIX",
    panel=OUTPUT,
    help="Also write summaries: PREFIX.samples.tsv and PREFIX.signatures.tsv, and of tiles PREFIX.kreport.",
)
@click.option(
    "--candidates",
    metavar="PREFIX",
    panel=OUTPUT,
    help="Also write candidates for 'align --mode semi-global': reads with a matching tile (PREFIX.reads.fq), and the"
    " part of the signature under each (PREFIX.parts.fa).",
)
@click.option(
    "--multiqc",
    type=OUTPUT_FILE,
    metavar="FILE",
    panel=OUTPUT,
    help="Also write a table for MultiQC. The name of FILE must end in _mqc.json.",
)
@click.option(
    "--multiqc-sample",
    metavar="NAME",
    panel=OUTPUT,
    help="The sample that all files belong to: one row in the table for MultiQC. By default, each file has a row.",
)
def command(
    samples: tuple[str, ...],
    signatures: str,
    strand: str,
    tile: int | None,
    step: int | None,
    no_mask: bool,
    min_breadth: float,
    output: str,
    assignment: bool,
    summary: str | None,
    candidates: str | None,
    multiqc: str | None,
    multiqc_sample: str | None,
    **options: Any,
) -> None:
    """Search samples for signatures, and report the base qualities under each match.

    A match is the whole signature, or with tiles a part of it. IUPAC codes match if they share a base; N matches
    anything, on either side. docs/scan.md describes the columns of the tables.
    """
    if multiqc_sample is not None and multiqc is None:
        raise click.UsageError("--multiqc-sample needs --multiqc.")
    if step is not None and tile is None:
        raise click.UsageError("--step needs --tile.")
    if no_mask and tile is None:
        raise click.UsageError("--no-mask needs --tile.")
    with byte_progress(samples) as watch:
        scan.scan_files(
            signatures,
            samples,
            output,
            both_strands=strand == BOTH,
            tiling=None if tile is None else Tiling(tile, step if step is not None else 1, mask=not no_mask),
            reports=Reports(assignment, summary, multiqc, multiqc_sample, min_breadth, candidates),
            watch=watch,
            **options,
        )
