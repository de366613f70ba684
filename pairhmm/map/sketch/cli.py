"""`pairhmm map sketch` and `pairhmm map distances`: MinHash sketches, and how similar samples are."""

from __future__ import annotations

from functools import partial
from typing import Any

import rich_click as click

from pairhmm.cli.compute import device_list_options, threads_option
from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import INPUT, MATCHES, SAMPLES, SKETCHES, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.cli.progress import byte_progress
from pairhmm.map.sketch.api import Samples, samples_of_sheet, sketch_files
from pairhmm.map.sketch.distances import write_distances
from pairhmm.map.sketch.sketches import READS_LEAST_COUNT, Scheme, SketchOptions

SKETCH_EXAMPLES = (
    "pairhmm map sketch -o cohort.sketches sample.bam ref.fa",
    "pairhmm map sketch -o a.sketches --sample NA12878 sample.fastq.gz",
    "pairhmm map sketch -o v.sketches --each-record viruses.fa",
)

sketch_option = partial(option, SketchOptions(), panel=SKETCHES)
match_option = partial(option, write_distances, panel=MATCHES)


@click.command("sketch", cls=Command, examples=SKETCH_EXAMPLES)
@click.argument(
    "files",
    nargs=-1,
    type=INPUT_FILE,
    metavar="FILES...",
    panel=INPUT,
    help="FASTQ, FASTA, BAM, CRAM or SAM files, plain or gzipped. '-' is stdin. Each file is a sample.",
)
@click.option(
    "-f",
    "--reference",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The reference genome (FASTA) that CRAM files are decoded with.",
)
@click.option(
    "--sheet",
    type=INPUT_FILE,
    metavar="FILE",
    panel=SAMPLES,
    help="A sample sheet (TSV) of samples and their files, in place of FILES. If a sample has reads and alignments,"
    " its reads are sketched.",
)
@click.option("--sample", metavar="NAME", panel=SAMPLES, help="The name of the one sample that all FILES belong to.")
@option(
    sketch_files,
    "each_record",
    panel=SAMPLES,
    help="Sketch each record of a file as a sample of its own, such as the signatures of a collection.",
)
@sketch_option("k", metavar="N", help="The length of the k-mers.")
@sketch_option(
    "slots",
    metavar="N",
    show_default=str(Scheme().slots),
    help="The sketch size in slots, a power of two. More slots are more accurate.",
)
@sketch_option(
    "bits",
    metavar="N",
    show_default=str(Scheme().bits),
    help="The number of bits kept of each slot: 1 to 16, or 31 in the scheme 'published'.",
)
@sketch_option("scheme", metavar="NAME", help="The MinHash scheme. 'published' has 128 slots of 31 bits.")
@sketch_option(
    "min_count",
    metavar="N",
    show_default=f"{READS_LEAST_COUNT} for reads, 1 for FASTA and --each-record",
    help=f"The minimum k-mer count. A count of {READS_LEAST_COUNT} leaves out most sequencing errors. Give 1 for reads"
    " of a depth below 5.",
)
@threads_option(sketch_files)
@output_option("The sketch file. '-' is stdout.", required=True)
def sketch(files: tuple[str, ...], sheet: str | None, sample: str | None, output: str, **options: Any) -> None:
    """Make MinHash sketches of samples.

    Read groups (SM) name the samples, or else their files do. Sketches do not depend on the number of threads.
    docs/map.md describes them.
    """
    samples: Samples = files
    if (sheet is None) == (not files):
        raise click.UsageError("FILES or --sheet is needed, and not both.")
    if sample is not None and (sheet is not None or options["each_record"]):
        raise click.UsageError("--sample does not go with --sheet or --each-record.")
    if sheet is not None:
        named = samples_of_sheet(sheet)
        samples, files = named, tuple(path for paths in named.values() for path in paths)
    elif sample is not None:
        samples = {sample: files}
    with byte_progress(files) as watch:
        sketch_files(samples, output, watch=watch, **options)


DISTANCE_EXAMPLES = (
    "pairhmm map distances samples.sketches -o distances.tsv",
    "pairhmm map distances --nearest 5 samples.sketches -o nearest.tsv",
    "pairhmm map distances --queries new.sketches collection.sketches -o d.tsv",
)


@click.command("distances", cls=Command, examples=DISTANCE_EXAMPLES)
@click.argument(
    "sketches",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="SKETCHES...",
    panel=INPUT,
    help="Sketch files of 'pairhmm map sketch': the collection.",
)
@click.option(
    "--queries",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="Compare the samples of this sketch file with the collection. By default, the collection is compared with"
    " itself.",
)
@match_option(
    "nearest",
    metavar="N",
    help="Write the N nearest neighbours of each sample, nearest first. By default, every pair is written once.",
)
@match_option("max_distance", metavar="X", help="Leave out pairs with a larger Mash distance.")
@device_list_options
@threads_option(write_distances)
@output_option("The table of distances (TSV). '-' is stdout.")
def distances(sketches: tuple[str, ...], output: str, **options: Any) -> None:
    """Compare sketches: Jaccard index, Mash distance, containment and ANI of each pair.

    docs/map.md describes the columns and their formulas.
    """
    write_distances(sketches, output, **options)
