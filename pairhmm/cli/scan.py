"""`pairhmm scan`: signatures in samples."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.common import one_device_options, parse_size, threads_option
from pairhmm.cli.numbers import Real, Whole


@click.command("scan")
@click.argument("samples", nargs=-1, required=True, metavar="SAMPLE...")
@click.option("--signatures", required=True, metavar="FASTA", help="What is looked for.")
@click.option("-o", "--output", default="-", show_default=True, help="Table of hits (TSV); - is stdout.")
@click.option("--all", "every_match", is_flag=True, help="Every match, not the best of each record and signature.")
@click.option("--per-file", is_flag=True, help="A file is a sample; without it each record is one.")
@click.option(
    "--strand",
    type=click.Choice(["both", "forward"]),
    default="both",
    show_default=True,
    help="Whether reverse complements are looked for too.",
)
@click.option("--max-mismatches", type=Whole(0), default=0, show_default=True, help="Of a match.")
@click.option(
    "--min-informative",
    type=Whole(0),
    default=12,
    show_default=True,
    help="Columns of a match where neither side is N.",
)
@click.option("--min-score", type=Real(0), default=0, help="Sum of the base qualities of a match.")
@click.option("--min-mean", type=Real(0), default=0, help="Mean base quality of a match.")
@click.option("--assignment-format", is_flag=True, help="Write lines 'sample: signature (mean) [hash]' instead.")
@click.option("--summary", metavar="PREFIX", help="Write PREFIX.samples.tsv and PREFIX.signatures.tsv too.")
@click.option("--multiqc", metavar="NAME_mqc.json", help="Write a table for MultiQC too.")
@click.option("--multiqc-sample", metavar="NAME", help="All files are of this sample: one row for it, not one a file.")
@click.option("-f", "--reference", metavar="FASTA", help="What CRAM is decoded with.")
@click.option(
    "--chunk-size",
    callback=parse_size,
    default="8M",
    show_default=True,
    metavar="SIZE",
    help="Bytes of records held at once, unpacked: with it memory grows, not with the files.",
)
@one_device_options
@threads_option
def command(
    samples: tuple[str, ...],
    signatures: str,
    output: str,
    every_match: bool,
    per_file: bool,
    strand: str,
    max_mismatches: int,
    min_informative: int,
    min_score: float,
    min_mean: float,
    assignment_format: bool,
    summary: str | None,
    multiqc: str | None,
    multiqc_sample: str | None,
    reference: str | None,
    chunk_size: int,
    backend: str,
    device: int | None,
    threads: int,
) -> None:
    """Report every signature that occurs in a sample, with the base qualities under it.

    SAMPLE is FASTQ, FASTA, BAM, CRAM or SAM, plain or gzipped; - is stdin. A match is a whole signature; IUPAC codes
    match where their bases intersect, and N matches anything on either side. docs/scan.md has the columns.
    """
    if multiqc_sample is not None and multiqc is None:
        raise click.UsageError("--multiqc-sample names the row of --multiqc, which is missing.")

    from pairhmm.cli.progress import byte_progress
    from pairhmm.commands.scan_files import Reports, scan_files
    from pairhmm.scanning.batch import ScanOptions

    options = ScanOptions(
        both_strands=strand == "both",
        max_mismatches=max_mismatches,
        min_informative=min_informative,
        min_score=min_score,
        min_mean=min_mean,
        every_match=every_match,
    )
    with byte_progress(samples) as watch:
        scan_files(
            signatures,
            samples,
            output,
            options=options,
            per_file=per_file,
            reports=Reports(assignment_format, summary, multiqc, multiqc_sample),
            reference=reference,
            chunk_size=chunk_size,
            backend=backend,
            device=device,
            threads=threads,
            watch=watch,
        )
