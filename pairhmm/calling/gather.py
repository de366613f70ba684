"""`gather`: merge the outputs of the shards of a run; the function and its command."""

from __future__ import annotations

import rich_click as click

from pairhmm.arguments import AnyPath, Paths, Texts, path_of, some_paths_of, texts_of
from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, check_given_once, kept_apart
from pairhmm.files.htslib import quiet
from pairhmm.files.names import check_names, check_row_names
from pairhmm.likelihoods.gathered import gather_parquet, gather_table
from pairhmm.likelihoods.table import Format, companion
from pairhmm.variants.gathered import gather_vcf, has_variants, is_vcf

EXAMPLES = (
    "pairhmm gather -o calls.vcf.gz 1.vcf.gz 2.vcf.gz",
    "pairhmm gather -o all.tsv --sample first --sample second first.tsv second.tsv",
)


@kept_apart()
def gather(pieces: Paths, output: AnyPath, samples: Texts = ()) -> None:
    """Merge the outputs of the shards of a run, in the order that they are given in.

    Parameters
    ----------
    pieces : path or sequence of paths
        VCF (plain or bgzipped), BCF, tables that pairhmm wrote (plain or bgzipped), or Parquet.
    output : path
        ``.vcf``, ``.vcf.gz`` and ``.bcf`` take VCF, ``.parquet`` Parquet, ``.tsv`` and ``.tsv.gz`` tables; ``-`` is
        stdout. What is compressed gets its index.
    samples : str or sequence of str
        One name for each table, for a first column `sample`.

    Raises
    ------
    InputError
        Where the shards are not of one run or not in order, and where the output can't be written.

    Examples
    --------
    >>> pairhmm.gather(["1-of-2.vcf.gz", "2-of-2.vcf.gz"], "calls.vcf.gz")  # doctest: +SKIP
    """
    pieces, output, samples = some_paths_of(pieces, "pieces"), path_of(output), texts_of(samples)
    check_given_once(pieces)
    is_parquet = Format.of(output) is Format.PARQUET
    is_calls = is_vcf(output) or has_variants(pieces[0])
    if samples and (len(samples) != len(pieces) or is_calls or is_parquet):
        rule = f"{len(samples)} names for {len(pieces)} files"
        raise InputError("--sample", "", rule, "name each table once; VCF and Parquet take no names")
    check_names("--sample", "", samples, "choose another name")
    check_row_names("--sample", "", samples, "choose another name")
    check_apart((*pieces, *(() if is_calls else map(companion, pieces))), [("-o", output)])
    # htslib says on stderr what it thinks of records that it indexes.
    with quiet():
        if is_calls:
            gather_vcf(pieces, output)
        elif is_parquet:
            gather_parquet(pieces, output)
        else:
            gather_table(pieces, output, samples)


@click.command("gather", cls=Command, examples=EXAMPLES)
@click.argument(
    "pieces",
    nargs=-1,
    required=True,
    type=INPUT_FILE,
    metavar="PIECES...",
    panel=INPUT,
    help="The outputs of 'call', 'likelihoods' or 'scan' over the shards of a run, in the order of the shards.",
)
@output_option(
    "The merged output: .vcf, .vcf.gz or .bcf for calls; .parquet, .tsv or .tsv.gz for tables. '-' is stdout."
)
@click.option(
    "--sample",
    "samples",
    multiple=True,
    metavar="NAME",
    panel=OUTPUT,
    help="The sample of a table, which fills a first column 'sample'. Repeat this option once per table, in their"
    " order.",
)
def command(pieces: tuple[str, ...], output: str, samples: tuple[str, ...]) -> None:
    """Merge the outputs of the shards of a run.

    Rows are copied unchanged, in the order of the shards. The header of a VCF is that of the first shard, with the
    provenance of all. Bgzipped outputs are indexed.
    """
    gather(pieces, output, samples)
